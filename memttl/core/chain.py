"""The chain of digests that runs through the audit log: what each line carries, and whether all of them hold. Pure.

`files/audit.py` appends and reads by it; `log verify`, the thinning and whatever rebuilds a lost ledger ask `check`.
Stubs (`core/stubs.py`) carry the chain over what was erased or thinned.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from memttl.core.digests import raw_digest, text_digest
from memttl.core.stubs import STUBS, carried, stub_problem

FIRST = "0" * 64  # what the first line of a log carries

What = Literal["damaged", "edited", "missing", "order changed", "cut"]


class Break(NamedTuple):
    """The first place at which the chain does not hold: a line, from 1, what is wrong with it, and its run."""

    line: int
    what: What
    why: str
    run: str | None = None


class Checked(NamedTuple):
    """What a log holds, line by line. `torn` are the numbers of lines that a kill tore and that the chain runs over.

    `is_end_torn`: the last line is one that was begun only; the next run settles it. `broken` is None for a whole log.
    """

    lines: int
    erased: int
    summaries: int
    torn: tuple[int, ...]
    is_end_torn: bool
    digest: str
    broken: Break | None


def event_of(line: bytes) -> dict[str, Any] | None:
    """Read one line; None where it is torn, or no event."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def line_of(event: dict[str, Any]) -> bytes:
    """Write one event as a line without its LF: the one way, so that every change of a byte shows."""
    return json.dumps(event, separators=(",", ":")).encode()


def digest_of(line: bytes, before: str = "") -> str:
    """Give what the next line carries: SHA-256 of this line's JSON without `raw`, in sorted keys; of a stub, its `was`.

    Of a torn line, SHA-256 of what it should have carried, `before`, and its bytes: so that what stands before it
    cannot be changed either.
    """
    event = event_of(line)
    if event is None:
        return hashlib.sha256(before.encode() + line).hexdigest()
    return carried(event) or digest_of_event(event)


def digest_of_event(event: dict[str, Any]) -> str:
    """Give the digest of an event that is no stub, whether its raw text is in it still or not."""
    bare = {key: value for key, value in event.items() if key != "raw"}
    return hashlib.sha256(json.dumps(bare, separators=(",", ":"), sort_keys=True).encode()).hexdigest()


def lines_of(data: bytes) -> list[bytes]:
    """Split a log into its lines; what stands behind the last LF is the last one."""
    return data.removesuffix(b"\n").split(b"\n") if data else []


def check(data: bytes) -> Checked:
    """Follow the chain from the first line to the last; what it finds wrong first is in `broken`."""
    lines = lines_of(data)
    before, torn, kinds = FIRST, list[int](), Counter[str]()
    broken = None
    for number, line in enumerate(lines, start=1):
        event = event_of(line)
        if event is None:
            torn.append(number)
        else:
            kinds[str(event.get("event"))] += 1
            broken = broken or _wrong(lines, number, event, before)
        before = digest_of(line, before)
    is_end_torn = (bool(data) and not data.endswith(b"\n")) or bool(torn and torn[-1] == len(lines))
    return Checked(len(lines), kinds["erased"], kinds["summary"], tuple(torn), is_end_torn, before, broken)


def _wrong(lines: Sequence[bytes], number: int, event: dict[str, Any], before: str) -> Break | None:
    """Say what is wrong with a whole line, or with the place where it stands."""
    line, run = lines[number - 1], _run_of(event)
    if event.get("prev") != before:
        return _misplaced(lines, number, event)
    if str(event.get("event")) in STUBS:
        problem = stub_problem(event, is_first=number == 1)
        if problem:
            return Break(number, "edited", problem, run)
    if line_of(event) != line:
        return Break(number, "edited", "it is not written as memttl writes", run)
    if not has_its_text(event):
        return Break(number, "edited", "its text is not the one of its digest", run)
    return None


def _misplaced(lines: Sequence[bytes], number: int, event: dict[str, Any]) -> Break:
    """Tell, as far as it can be told, why a line does not follow the one before."""
    carries, last = event.get("prev"), number - 1
    run = _run_of(event)
    if number == 1:
        return Break(1, "missing", "it is not the first one: what stood before it is gone, or it was edited", run)
    digests = [digest_of(line) for line in lines]
    others = [n for n, digest in enumerate(digests, start=1) if digest == carries and n != number]
    if others:
        return Break(number, "order changed", f"it belongs behind line {others[0]}", run)
    if number > 2 and carries == FIRST:
        return Break(number, "order changed", "it is the first line of a log", run)
    if event_of(lines[last - 1]) is None:
        return Break(last, "damaged", "it cannot be read, and is not as it was when the next line was written", run)
    follows = event_of(lines[number]) if number < len(lines) else None
    if follows is not None and follows.get("prev") != digests[number - 1]:
        return Break(number, "edited", "neither the line before nor the one behind it fits to it", run)
    why = f"it is not as it was when line {number} was written; or lines between the two are missing"
    return Break(last, "edited", why, _run_of(event_of(lines[last - 1]) or {}) or run)


def has_its_text(event: Mapping[str, Any]) -> bool:
    """Say whether the raw text, which the chain does not run over, is the one of the digest beside it."""
    raw = event.get("raw")
    if raw is None and "raw" not in event:
        return True
    if not isinstance(raw, str):
        return False
    if "raw_digest" in event:
        return bool(event["raw_digest"] == raw_digest(raw))
    if event.get("event") == "set" and "digest" in event:
        try:
            text = json.loads(raw)
        except (ValueError, RecursionError):
            return False
        return isinstance(text, str) and text_digest(text) == event["digest"]
    return False  # a text that nothing holds


def _run_of(event: dict[str, Any]) -> str | None:
    run = event.get("run")
    return run if isinstance(run, str) else None
