"""Requests that cannot be answered, by their method and parameters alone, refused in the stock memory server's words.

Its SDK names each wrong parameter as zod does; the Python SDK says only "Invalid request parameters". `serve.py` asks
here before the SDK looks at a request.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote

from memttl.server.shapes import MISSING, type_of

_AROUND_A_URL = "".join(map(chr, range(0x21)))
_PLAIN = "".join(map(chr, range(0x20, 0x7F)))


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
    "tools/call": (
        Parameter("task", "object", is_needed=False),
        Parameter("name", "string"),
        Parameter("arguments", "record", is_needed=False),
    ),
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
    task = (params or {}).get("task") if method == "tools/call" else None
    if isinstance(task, dict) and type_of(task.get("ttl", 0)) != "number":
        wrong.insert(0, _issue("number", task["ttl"], "task", "ttl"))
    if wrong:
        return json.dumps(wrong, indent=2, ensure_ascii=False)
    return "" if task is None else "Server does not support task creation (required for tools/call)"


def url_of(uri: str) -> str:
    """Give a URI as the stock server compares and names it, which is as URLs are read; "" for what is none.

    It is not all that a browser would do (a blank within stays one): there is no such resource either way.
    """
    scheme, colon, rest = re.sub("[\t\n\r]", "", uri.strip(_AROUND_A_URL)).partition(":")
    if not (colon and re.fullmatch("[A-Za-z][A-Za-z0-9+.-]*", scheme)):
        return ""
    return f"{scheme.lower()}:{quote(rest, safe=_PLAIN)}"


def _is_wrong(parameter: Parameter, params: Mapping[str, object]) -> bool:
    if parameter.name not in params:
        return parameter.is_needed
    return not isinstance(params[parameter.name], str if parameter.expected == "string" else dict)


def _issue(expected: str, value: object, *names: str) -> dict[str, object]:
    """One issue, its keys in zod's order."""
    message = f"Invalid input: expected {expected}, received {type_of(value)}"
    return {"expected": expected, "code": "invalid_type", "path": ["params", *names], "message": message}
