"""A plan and the bytes that it was made from into the new bytes. Called by the workflow, once something goes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from memttl.core.cut import check_cut, cut_line
from memttl.core.memory import BOM, line_spans
from memttl.core.plan import Plan


def apply_plan(data: bytes, plan: Plan) -> bytes:
    """Give the file's bytes without what the plan removes; every other byte stays.

    Raises:
        ValueError: the plan was made from other bytes.
        AssertionError: a cut would have changed more than whole observations.
    """
    if hashlib.sha256(data).hexdigest() != plan.digest:
        raise ValueError("the plan belongs to another version of the file")
    indexes: dict[int, list[int]] = {}
    for verdict in plan.removals:
        indexes.setdefault(verdict.line, []).append(verdict.index)
    whole = {removal.line for removal in plan.lines}
    pieces = [BOM] if data.startswith(BOM) else []
    for number, start, end, after in line_spans(data):
        if number in whole:
            continue
        pieces += _kept(data[start:end], indexes.get(number), data[end:after])
    return _without_new_line_end(pieces, data)


def _kept(line: bytes, remove: list[int] | None, line_end: bytes) -> Iterable[bytes]:
    if remove is None:
        return line, line_end
    cut = cut_line(line, remove)
    check_cut(line, cut, remove)
    return cut, line_end


def _without_new_line_end(pieces: list[bytes], data: bytes) -> bytes:
    """Where the last line went and the file had no last newline, the line before it must not end with one."""
    out = b"".join(pieces)
    if out.endswith(b"\n") and not data.endswith(b"\n"):
        out = out[:-1].removesuffix(b"\r")
    return out
