"""The shapes of arguments and answers: one description of each, which gives its JSON schema and checks what came.

The complaints are word for word those of the stock memory server (release 2026.8.31, which checks with zod), since
clients show them to their model. `tools.py` is made of these shapes, and `calls.py` checks every call by them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

DIALECT = "http://json-schema.org/draft-07/schema#"
MISSING = object()


class Scalar(NamedTuple):
    """A value of one of a few plain types, by their JSON names, such as ("number", "string")."""

    types: tuple[str, ...]
    description: str = ""
    default: Any = None


class Items(NamedTuple):
    """A list of equal shapes."""

    of: Shape
    description: str = ""


class Fields(NamedTuple):
    """An object. `needed` must be there; `extra` are optional: of the stock server's tools what only memttl has."""

    needed: Mapping[str, Shape] = {}
    extra: Mapping[str, Shape] = {}
    description: str = ""


Shape = Scalar | Items | Fields


def schema(shape: Shape, *, closed: bool = False) -> dict[str, Any]:
    """Give the JSON schema of a shape; `closed` allows no other keys in its objects."""
    match shape:
        case Scalar(types, description, default):
            found: dict[str, Any] = {"type": types[0] if len(types) == 1 else list(types)}
            if default is not None:
                found["default"] = default
        case Items(of, description):
            found = {"type": "array", "items": schema(of, closed=closed)}
        case Fields(needed, extra, description):
            both = {**needed, **extra}
            found = {"type": "object", "properties": {name: schema(s, closed=closed) for name, s in both.items()}}
            if needed:
                found["required"] = list(needed)
            if closed:
                found["additionalProperties"] = False
    return {**found, "description": description} if description else found


def whole_schema(shape: Fields, *, closed: bool = False) -> dict[str, Any]:
    """Give the schema of a tool's whole input or output."""
    return {"$schema": DIALECT, **schema(shape, closed=closed)}


def complaints(shape: Shape, value: object, at: str = "") -> Iterator[str]:
    """Yield a sentence for each part of a value that has another shape; keys that no shape names are no fault."""
    match shape:
        case Scalar(types):
            if type_of(value) not in types:
                yield _wrong(" or ".join(types), value, at)
        case Items(of):
            if not isinstance(value, list):
                yield _wrong("array", value, at)
                return
            for index, item in enumerate(value):
                yield from complaints(of, item, f"{at}[{index}]")
        case Fields(needed, extra):
            if not isinstance(value, dict):
                yield _wrong("object", value, at)
                return
            for name, inner in needed.items():
                yield from complaints(inner, value.get(name, MISSING), f"{at}.{name}" if at else name)
            for name, inner in extra.items():
                if value.get(name) is not None:  # an optional one may be null, which some clients send for "not given"
                    yield from complaints(inner, value[name], f"{at}.{name}" if at else name)


def type_of(value: object) -> str:
    """Give the name of a value's type as JavaScript's JSON has it."""
    if value is MISSING:
        return "undefined"
    if value is None:
        return "null"
    if value in (math.inf, -math.inf):  # 1e400
        return "Infinity" if value == math.inf else "-Infinity"
    names = {bool: "boolean", str: "string", int: "number", float: "number", list: "array", dict: "object"}
    return names.get(type(value), type(value).__name__)


def _wrong(expected: str, value: object, at: str) -> str:
    return f"Invalid input: expected {expected}, received {type_of(value)}{f' at {at}' if at else ''}"
