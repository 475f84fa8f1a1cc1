"""The bytes of a damaged audit log into what of it can still be relied on: lines, settings, baseline. Pure.

`files/mending.py` makes a new log of them for `doctor --repair`. A line that may have been edited can add a pin, but
take none away.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from memttl.core.chain import FIRST, digest_of, event_of, has_its_text, line_of, lines_of
from memttl.core.known import Setting
from memttl.core.stubs import STUBS, stub, stub_problem
from memttl.core.told_by_log import UNREADABLE, baseline_told, logged_in, setting_told

Event = dict[str, Any]
_OF_RUNS = ("begin", "end", "removed", "restored", "quarantined")


class _Line(NamedTuple):
    """One line that can be read. `is_proven`: the line behind it, or the noted end of the log, carries its digest."""

    event: Event
    is_proven: bool


class KeptLines(NamedTuple):
    """What a damaged log still tells. `events` are its sound lines in order, `runs` those that are whole among them.

    `left_out` counts lines that cannot be read or were edited; `lacking` are runs of which some are, `torn_apart` those
    that lost their begin or end, and with it all that they did. `unsure` counts settings in lines that may have been
    edited. `gap` says which settings may be missing, "" where none can be.
    """

    events: tuple[Event, ...] = ()
    settings: tuple[Setting, ...] = ()
    entity_pins: tuple[str, ...] = ()
    baseline: datetime | None = None
    runs: int = 0
    left_out: int = 0
    lacking: tuple[str, ...] = ()
    torn_apart: tuple[str, ...] = ()
    unsure: int = 0
    gap: str = ""


def kept_lines(data: bytes, *, is_held: bool) -> KeptLines:
    """Read what can be read; `is_held`: the log still has the line that its noted end tells of."""
    lines = list(dict.fromkeys(line for line in lines_of(data) if line.strip()))  # none is there twice by right
    events = [event_of(line) for line in lines]
    proven = _proven(lines, events, is_held=is_held)
    sound = [
        _Line(found, proven[place])
        for place, event in enumerate(events)
        if event is not None and (found := cleaned(event)) is not None
    ]
    whole, is_open = _whole_runs(line.event for line in sound)
    kept = [line for line in sound if _is_kept(line, {*whole, is_open})]
    settings, pins, unsure = _settings(kept)
    segments = sum(1 for event in events if event and event.get("event") == "segment")
    apart = _runs_in(line.event for line in sound if _is_of_run(line.event)) - {*whole, is_open}
    return KeptLines(
        tuple(line.event for line in kept),
        settings,
        pins,
        baseline_told(line.event for line in kept),
        len(whole),
        len(lines) - segments - len(kept),
        tuple(sorted(_lacking(events, proven) & whole)),
        tuple(sorted(apart)),
        unsure,
        _gap(events, proven, is_held=is_held),
    )


def _proven(lines: Sequence[bytes], events: Sequence[Event | None], *, is_held: bool) -> list[bool]:
    digests, before = list[str](), FIRST
    for line in lines:
        before = digest_of(line, before)
        digests.append(before)
    out = [is_held] * len(lines)
    for place in range(len(lines) - 2, -1, -1):
        follows = events[place + 1]
        # the digest of a torn line runs over the one before it
        out[place] = out[place + 1] if follows is None else follows.get("prev") == digests[place]
    return out


def cleaned(event: Event) -> Event | None:
    """Give an event as it may stand in a new log; None for one that was edited, or that nobody can read."""
    kind = event.get("event")
    if not isinstance(kind, str) or kind == "segment":
        return None
    if kind in STUBS and stub_problem(event, is_first=False):
        return None
    if not has_its_text(event):
        if kind != "set" or "digest" not in event:
            return None
        event = {key: value for key, value in event.items() if key != "raw"}  # the digest tells what it is about
    try:
        logged_in([event])
        baseline_told([event])
    except UNREADABLE:
        return None
    return None if _is_of_run(event) and not isinstance(event.get("run"), str) else event


def _is_kept(line: _Line, runs: Collection[str | None]) -> bool:
    """Say whether a line may stand in a new log: not part of a run, nor an arrival that may have been made older."""
    if line.event.get("event") == "arrived":
        return line.is_proven
    return not _is_of_run(line.event) or line.event.get("run") in runs


def _is_of_run(event: Event) -> bool:
    return str(event.get("event")).startswith(_OF_RUNS)


def _runs_in(events: Iterable[Event]) -> set[str]:
    return {run for event in events if isinstance(run := event.get("run"), str)}


def _whole_runs(events: Iterable[Event]) -> tuple[set[str], str | None]:
    """Give the runs that have both their begin and an end, and the last one that has begun and not ended."""
    begun, whole, is_open = set[str](), set[str](), None
    for event in events:
        run = str(event.get("run"))
        if event.get("event") == "begin":
            is_open = run
            if event.get("again") is not True:
                begun.add(run)
        elif event.get("event") == "end":
            is_open = None
            whole |= {run} & begun
    return whole, is_open


def _settings(lines: Iterable[_Line]) -> tuple[tuple[Setting, ...], tuple[str, ...], int]:
    settings: dict[tuple[str, str], Setting] = {}
    pins: dict[str, bool] = {}
    unsure = 0
    for event, is_proven in lines:
        if event.get("event") != "set":
            continue
        unsure += not is_proven
        if "entity_pin" in event:
            pinned = logged_in([event]).entity_pins[event["entity_pin"]]
            pins[event["entity_pin"]] = pinned or (not is_proven and pins.get(event["entity_pin"], False))
            continue
        setting = setting_told(event)
        key = setting.entity, setting.digest
        if not is_proven and key in settings and settings[key].asked.pinned:
            setting = setting._replace(asked=setting.asked._replace(pinned=True))
        settings[key] = setting
    return tuple(settings.values()), tuple(pin for pin, pinned in pins.items() if pinned), unsure


def _lacking(events: Sequence[Event | None], proven: Sequence[bool]) -> set[str]:
    """Give the runs within which a line was left out, edited or lost."""
    found = set[str]()
    run: object = None
    is_broken = False
    for event, is_proven in zip(events, proven, strict=True):
        if event is None:
            is_broken = is_broken or not is_proven
            continue
        own = event.get("run")
        if isinstance(own, str) and ((is_broken and own == run) or cleaned(event) is None):
            found.add(own)
        run, is_broken = own, not is_proven
    return found


def _gap(events: Sequence[Event | None], proven: Sequence[bool], *, is_held: bool) -> str:
    """Say which settings may be missing, by the times that stand beside the places where the chain does not hold."""
    times = [event.get("time") if event else None for event in events]
    breaks = [place for place in range(len(events) - 1) if not proven[place]]
    words = []
    if breaks or (events and (events[0] or {}).get("prev") != FIRST):
        after = breaks[-1] + 1 if breaks else 0
        time = next((t for t in times[after:] if isinstance(t, str)), None)
        words.append(f"before {time}" if time else "at some time")
    if not is_held or not any(times):
        time = next((t for t in reversed(times) if isinstance(t, str)), None)
        words.append(f"after {time}" if time else "so far")
    return f"pins and settings made {' or '.join(words)} may be missing" if words else ""


def chained_anew(events: Iterable[Event]) -> bytes:
    """Write events as the lines of a new log, behind its segment line."""
    before, out = FIRST, list[bytes]()
    for event in events:
        bare = {key: value for key, value in event.items() if key not in ("v", "prev")}
        if bare["event"] in STUBS:
            fields = {key: value for key, value in bare.items() if key not in ("was", "own")}
            made = stub(fields, prev=before, was=bare.get("was"))
        else:
            made = {"v": 1, **bare, "prev": before}
        line = line_of(made)
        before = digest_of(line)
        out.append(line + b"\n")
    return b"".join(out)
