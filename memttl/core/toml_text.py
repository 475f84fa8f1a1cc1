"""TOML text into its table, where reading it takes no longer than its size says, and values into TOML text.

The policy's reader and that of clients' configs read with it: either text may come from a stranger's repository. What
shows or proposes a policy, and what prints a piece of a config, writes with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from memttl.core.durations import Duration

_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"|\'[^\']*+\'')
# of each key the parts are gone through once a part: 1,000 of them are read at once, 100,000 take minutes
_MANY_DOTS, _MOST_DOTS = 50, 1_000_000


def read_toml(text: str) -> dict[str, Any]:
    """Read TOML.

    Raises:
        ValueError: it is none (TOML's numbers have 64 bits), or has keys of so many parts that it would take long.
        RecursionError: it is nested too deep.
    """
    import tomllib  # here: most runs read no TOML

    if _dots(text) > _MOST_DOTS:
        raise ValueError("keys of too many parts")
    found = tomllib.loads(text)
    if any(type(value) is int and not -(1 << 63) <= value < 1 << 63 for value in _values(found)):
        raise ValueError("a number of more than 64 bits")  # of 5,000 digits Python could not even be told which
    return found


def _values(found: object) -> Iterator[object]:
    pending = [found]
    while pending:
        value = pending.pop()
        pending += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        yield value


def _dots(text: str) -> int:
    long = (line for line in text.split("\n") if line.count(".") > _MANY_DOTS)
    return sum(_STRING.sub("", line).count(".") ** 2 for line in long)


def toml_key(name: str) -> str:
    """Write a key as TOML, bare where it may be."""
    is_bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if is_bare else toml(name)


def toml(value: object) -> str:
    """Write one value as TOML; None, which TOML lacks, as the empty text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    if isinstance(value, str | Duration):
        return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")  # raw, TOML refuses it
    return str(value)
