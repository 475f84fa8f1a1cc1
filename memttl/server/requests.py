"""Requests that cannot be answered, by their method and parameters alone, refused in the stock memory server's words.

Its SDK names each wrong parameter as zod does; the Python SDK says only "Invalid request parameters". `serve.py` asks
here before the SDK looks at a request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from memttl.server.shapes import MISSING, type_of


class Parameter(NamedTuple):
    """One parameter of a method, and the type that zod names for it."""

    name: str
    expected: str
    is_needed: bool = True


_CURSOR = (Parameter("cursor", "string", is_needed=False),)
_URI = (Parameter("uri", "string"),)
_TAKES = {
    "initialize": (
        Parameter("protocolVersion", "string"),
        Parameter("capabilities", "object"),
        Parameter("clientInfo", "object"),
    ),
    "tools/list": _CURSOR,
    "tools/call": (Parameter("name", "string"), Parameter("arguments", "record", is_needed=False)),
    "resources/list": _CURSOR,
    "resources/templates/list": _CURSOR,
    "resources/read": _URI,
    "resources/subscribe": _URI,
    "resources/unsubscribe": _URI,
}


def refusal(method: str, params: Mapping[str, object] | None) -> str:
    """Say what is wrong with the parameters of a request; the empty text where nothing is."""
    takes = _TAKES.get(method, ())
    if params is None:
        wrong = [_issue("object", MISSING)] if any(p.is_needed for p in takes) else []
    else:
        wrong = [_issue(p.expected, params.get(p.name, MISSING), p.name) for p in takes if _is_wrong(p, params)]
    return json.dumps(wrong, indent=2, ensure_ascii=False) if wrong else ""


def _is_wrong(parameter: Parameter, params: Mapping[str, object]) -> bool:
    if parameter.name not in params:
        return parameter.is_needed
    return not isinstance(params[parameter.name], str if parameter.expected == "string" else dict)


def _issue(expected: str, value: object, *names: str) -> dict[str, object]:
    """One issue, its keys in zod's order."""
    message = f"Invalid input: expected {expected}, received {type_of(value)}"
    return {"expected": expected, "code": "invalid_type", "path": ["params", *names], "message": message}
