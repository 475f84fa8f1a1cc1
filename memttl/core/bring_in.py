"""A stranger's version of the memory file into today's: three ways, or additions alone where it was begun anew. Pure.

`files/recover.py` and the moves of a memory file call it. A server that finds no file takes it for an empty memory, and
what it then saves lacks nearly everything: that says nothing about what somebody wanted gone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from memttl.core.memory import read_lines
from memttl.core.merge import merge


class Brought(NamedTuple):
    """The new bytes. `kept`: the version lacked something that was kept, since it says nothing about that."""

    data: bytes
    kept: bool = False


def bring_in(base: bytes, theirs: bytes, live: bytes, *, adds_only: bool = False) -> Brought:
    """Bring what a stranger made of `base` into `live`: all of it, or with `adds_only` what was added.

    A version that lacks most of `base` only adds: it was begun anew, or cut off.
    """
    whole = merge(base, theirs, live)
    if not adds_only and not lacks_most(base, theirs):
        return Brought(whole)
    added = additions(base, theirs, live)
    return Brought(added, kept=added != whole)


def additions(base: bytes, theirs: bytes, live: bytes) -> bytes:
    """Bring in what a stranger added, and take nothing away; what went from `live` since `base` does not return."""
    return merge(base, merge(b"", theirs, base), live)


def lacks_most(base: bytes, theirs: bytes) -> bool:
    """Say whether less than half of the names in `base`, or of its observations, is in `theirs`."""
    names, texts = _names_and_texts(base)
    names_left, texts_left = _names_and_texts(theirs)
    return 2 * len(names & names_left) < len(names) or 2 * len(texts & texts_left) < len(texts)


def _names_and_texts(data: bytes) -> tuple[set[str], set[tuple[str, str]]]:
    records = [line.record for line in read_lines(data) if line.is_judged and line.record is not None]
    names = {str(record["name"]) for record in records}
    return names, {(str(r["name"]), text) for r in records for text in _texts(r["observations"])}


def _texts(observations: Iterable[object]) -> Iterable[str]:
    return (json.dumps(value, sort_keys=True) for value in observations)
