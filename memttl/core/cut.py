"""Cutting observations out of a raw entity line: the bytes of whole elements go, every other byte stays.

Called by `apply.py` for each line that loses something. Which bytes go is written in fixtures/cases/README.md.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from memttl.core.spans import elements, top_level_items


def cut_line(line: bytes, remove: Collection[int]) -> bytes:
    """Give the line without the observations at the indexes `remove` (from 0).

    With an element before it, one goes from the end of that one to its own end; at the front of the list, from its
    start to the start of the next one that stays; when all go, from the first's start to the last's end.

    Raises:
        ValueError: the line has no list of observations, or an index lies outside it.
    """
    spans = observation_spans(line)
    gone = set(remove)
    if not gone <= set(range(len(spans))):
        raise ValueError(f"indexes {sorted(gone)} of {len(spans)} observations")
    if not gone:
        return line
    first_kept = next((i for i in range(len(spans)) if i not in gone), None)
    if first_kept is None:
        return line[: spans[0][0]] + line[spans[-1][1] :]
    pieces = [line[: spans[0][0]], line[spans[first_kept][0] : spans[first_kept][1]]]
    for i in range(first_kept + 1, len(spans)):
        if i not in gone:
            pieces.append(line[spans[i - 1][1] : spans[i][1]])
    pieces.append(line[spans[-1][1] :])
    return b"".join(pieces)


def observation_spans(line: bytes) -> list[tuple[int, int]]:
    """Give the (start, end) of each observation of a raw entity line.

    Raises:
        ValueError: it has no list of observations, or two.
    """
    found = [start for key, start, _ in top_level_items(line) if key == "observations"]
    if len(found) != 1 or line[found[0] : found[0] + 1] != b"[":
        raise ValueError("the line has no single list of observations")
    return elements(line, found[0])


def raw_elements(line: bytes) -> list[str]:
    """Give the JSON of each observation of a raw entity line, as it stands there."""
    return [line[start:end].decode() for start, end in observation_spans(line)]


def check_cut(before: bytes, after: bytes, remove: Collection[int]) -> None:
    """Prove that a cut took whole observations and nothing else, by parsing both lines anew.

    Raises:
        AssertionError: it did not; the caller must not write.
    """
    old, new = _loads(before), _loads(after)
    gone = set(remove)
    old["observations"] = [o for i, o in enumerate(old["observations"]) if i not in gone]
    if old != new:
        raise AssertionError("a cut would have changed more than whole observations; nothing was written")


def _loads(line: bytes) -> dict[str, Any]:
    # numbers as their own text: NaN never equals itself, and 1e400 equals 1e500 as a float
    found = json.loads(line.decode(), parse_float=str, parse_int=str)
    assert isinstance(found, dict)
    return found
