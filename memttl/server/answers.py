"""Results of tools as JSON-RPC has them: structured content, the same as text, and what memttl has to say besides.

Values may hold JSON that is ready, as `orjson.Fragment`; `encoded` writes them, and half pairs of surrogates, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from memttl.core.js_json import as_json
from memttl.core.serving_json import pretty

METADATA = "memttl/metadata"  # the key in `_meta` under which reads tell when observations came and expire


def succeeded(structured: dict[str, Any], shown: object = None, notes: Sequence[str] = ()) -> dict[str, Any]:
    """Give a result; `shown` is what stands in the text (None: the structured content), `notes` in a second text."""
    text = shown if isinstance(shown, str) else pretty(structured if shown is None else shown).decode()
    return {"content": [text_block(text), *_noted(notes)], "structuredContent": structured}


def failed(text: str, notes: Sequence[str] = ()) -> dict[str, Any]:
    """Give the result of a call that came to nothing, and `notes` in a second text."""
    return {"content": [text_block(text), *_noted(notes)], "isError": True}


def text_block(text: str) -> dict[str, Any]:
    """Give a block of text."""
    return {"type": "text", "text": text}


def raw_text(quoted: bytes) -> dict[str, Any]:
    """Give a block of text that is a string of JSON already."""
    return {"type": "text", "text": orjson.Fragment(quoted)}


def encoded(value: Any) -> bytes:
    """Write a value as JSON."""
    try:
        return orjson.dumps(value)
    except TypeError:  # half of a pair of surrogates, or a number of more than 64 bits
        return _slowly(value)


def _slowly(value: Any) -> bytes:
    if isinstance(value, orjson.Fragment):
        return orjson.dumps(value)
    if isinstance(value, dict):
        return b"{" + b",".join(as_json(k).encode() + b":" + _slowly(v) for k, v in value.items()) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(map(_slowly, value)) + b"]"
    return as_json(value).encode()


def _noted(notes: Sequence[str]) -> list[dict[str, Any]]:
    return [text_block("\n".join(notes))] if notes else []
