"""Results of tools as JSON-RPC has them: structured content, the same as text, and what memttl has to say besides."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import orjson


def succeeded(structured: dict[str, Any], shown: object = None, notes: Sequence[str] = ()) -> dict[str, Any]:
    """Give a result; `shown` is what stands in the text (None: the structured content), `notes` in a second text."""
    text = shown if isinstance(shown, str) else _pretty(structured if shown is None else shown)
    return {"content": [_text(text), *map(_text, notes)], "structuredContent": structured}


def failed(text: str) -> dict[str, Any]:
    """Give the result of a call that came to nothing."""
    return {"content": [_text(text)], "isError": True}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _pretty(value: object) -> str:
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:  # half of a pair of surrogates
        return json.dumps(value, indent=2)
