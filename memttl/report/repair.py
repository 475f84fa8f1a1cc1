"""A repair's outcome as lines of text, and as a JSON document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memttl.core.repair import Mending, RepairPlan
from memttl.core.repair_outcome import RepairOutcome
from memttl.core.wording import plural
from memttl.report.documents import run_head
from memttl.report.fitting import cut
from memttl.report.text import run_words, visible

_ON_SCREEN = 40
_IN_PIPE = 2000
_CHUNK = 4096
_RAW = re.compile("[\\t\\n\\r]")


def render(outcome: RepairOutcome, *, with_plan: bool = True, width: int | None = None) -> str:
    """Give each change with what goes and what comes, then the totals; the totals alone without `with_plan`.

    Bytes are shortened to `width` columns where a screen has so many, and not all of very many changes are shown.
    """
    lines = [*_plan_lines(outcome, width)] if with_plan and outcome.is_needed else []
    return "".join(visible(line) + "\n" for line in (*lines, *_closing(outcome, with_plan=with_plan)))


def question(outcome: RepairOutcome) -> str:
    """Give the question that stands below the plan."""
    if not outcome.plan.is_needed:
        return visible(f"Mend the state of {outcome.file}?")
    return visible(f"Repair {outcome.file}{' and mend its state' if outcome.state else ''}?")


def _plan_lines(outcome: RepairOutcome, width: int | None) -> Iterator[str]:
    yield from _file_lines(outcome.plan, width)
    yield from (f"{mending.what}: {mending.done}" for mending in outcome.state)
    yield ""


def _file_lines(plan: RepairPlan, width: int | None) -> Iterator[str]:
    if plan.is_converted:
        yield "The whole file is written in UTF-16, which the server cannot read: it is written anew in UTF-8."
    shown = plan.mendings if width is None else plan.mendings[:_ON_SCREEN]
    for mending in shown:
        yield f"line {mending.line}: {mending.reason}: {mending.done}"
        yield from _bytes_lines(plan.text[mending.start : mending.end], mending.new, width)
    if len(shown) < len(plan.mendings):
        yield f"… and {plural(len(plan.mendings) - len(shown), 'change')} more: `--dry-run --json` lists all of them."


def _bytes_lines(taken: bytes, new: bytes, width: int | None) -> Iterator[str]:
    """Give what goes and what comes; where they are long, from a little before the first byte that differs."""
    limit = _IN_PIPE if width is None else max(8, width - 4)
    start = max(0, _first_difference(taken, new) - limit // 3) if max(len(taken), len(new)) > limit else 0
    while start and taken[start : start + 1] and taken[start] & 0xC0 == 0x80:  # not in the middle of a character
        start -= 1
    if taken:
        yield _fitted(f"  - {_shown(taken, start, limit)}", width)
    if new.strip():
        yield _fitted(f"  + {_shown(new, start, limit)}", width)


def _fitted(line: str, width: int | None) -> str:
    return line if width is None else cut(line, width)


def _first_difference(one: bytes, other: bytes) -> int:
    """Give the place of the first byte that differs; 0 where one of them is empty."""
    end, at = min(len(one), len(other)), 0
    while at < end and one[at : at + _CHUNK] == other[at : at + _CHUNK]:
        at = min(end, at + _CHUNK)
    return next((i for i in range(at, min(end, at + _CHUNK)) if one[i] != other[i]), min(end, at + _CHUNK))


def _shown(raw: bytes, start: int, limit: int) -> str:
    """Give bytes as text, those that are no text, tabs and line ends as such: an escape in JSON must look different."""
    text = raw[start : start + 4 * limit].decode("utf-8", "backslashreplace")
    text = visible(_RAW.sub(lambda found: f"\\x{ord(found[0]):02x}", text))
    is_all = len(text) <= limit and len(raw) - start <= 4 * limit
    return ("…" if start else "") + (text if is_all else f"{text[:limit]}… ({len(raw)} bytes)")


def _closing(outcome: RepairOutcome, *, with_plan: bool) -> Iterator[str]:
    if not outcome.is_needed:
        yield f"Nothing to repair in {outcome.file}: the memory server can read every line."
        return
    if outcome.plan.is_needed:
        yield from _file_closing(outcome, with_plan=with_plan)
    if outcome.state:
        what = f"{plural(len(outcome.state), 'thing')} in ledger and audit log"
        rest = "" if outcome.plan.is_needed else "; the memory file needs no repair and is as it was"
        if outcome.is_state_mended:
            yield f"Mended: {what}{rest}."
        elif with_plan:
            yield f"Would mend: {what}{rest}."
    if outcome.declined:
        yield "Nothing was changed."
    elif outcome.dry_run:
        yield "Dry run: nothing was written."


def _file_closing(outcome: RepairOutcome, *, with_plan: bool) -> Iterator[str]:
    plan = outcome.plan
    taken = sum(len(piece.raw) for piece in plan.pieces)
    what = f"{plural(len(plan.mendings) + plan.is_converted, 'change')} in {outcome.file}"
    goes = f"{plural(taken, 'byte')} into quarantine" if taken else "no byte taken out"
    if outcome.applied:
        yield f"Repaired: {what}, {goes}."
        if outcome.quarantine:
            yield f"What was taken out: {outcome.quarantine}"
        yield run_words(outcome.run, outcome.backup)
    elif with_plan:
        yield f"Would repair: {what}, {goes}."


def repair_document(outcome: RepairOutcome) -> dict[str, Any]:
    """Give what a repair did or would do."""
    plan = outcome.plan
    return {
        **run_head(outcome),
        "backup": outcome.backup,
        "quarantine": outcome.quarantine,
        "converted": plan.is_converted,
        "mended": [_mended(plan, mending) for mending in plan.mendings],
        "state": [{"what": mending.what, "done": mending.done} for mending in outcome.state],
        "warnings": list(outcome.warnings),
    }


def _mended(plan: RepairPlan, mending: Mending) -> dict[str, Any]:
    return {
        "line": mending.line,
        "offset": mending.start,
        "reason": mending.reason,
        "done": mending.done,
        "removed": plan.text[mending.start : mending.end].decode("utf-8", "replace"),
        "removed_bytes": mending.end - mending.start,
        "added": mending.new.decode("utf-8", "replace"),
    }
