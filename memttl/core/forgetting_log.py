"""The bytes of the audit log into the bytes without what is to be forgotten, line by line: its chain holds. Pure.

`raw` goes where its digest stands beside it; a line that would still tell becomes a stub, which carries the digest of
what stood there. `files/erasing.py` calls it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from memttl.core.chain import FIRST, digest_of, event_of, line_of, lines_of
from memttl.core.forgetting import MeansEntity, Met, Targets, is_meant, met_element, met_in, without
from memttl.core.places import element_key
from memttl.core.stubs import STUBS, erased

Fate = Literal["stays", "without its text", "stub"]
_FRAME = ("begin", "end", "forgotten", "repaired", "baseline", "moved", *STUBS)  # they tell of no observation


class LogWithout(NamedTuple):
    """What is left of a log, line for line; and how many lines changed."""

    data: bytes
    changed: int


def events_in(log: bytes) -> Iterator[dict[str, Any]]:
    """Give the events that can be read."""
    for line in log.split(b"\n"):
        event = event_of(line)
        if event is not None:
            yield event


def met_in_log(log: bytes, means: MeansEntity, matches: Callable[[str], bool]) -> tuple[set[str], list[Met]]:
    """Give the names of all entities of which a log tells, and the observations that are meant."""
    names, met = set[str](), list[Met]()
    for event in events_in(log):
        name, raw = event.get("entity"), event.get("raw")
        if isinstance(name, str):
            names.add(name)
        if not isinstance(raw, str):
            continue
        if _is_line(event):
            more, found = met_in(_as_line(raw), means, matches)
            names |= more
            met += found
        elif isinstance(name, str) and means(name):
            value = _value(raw)
            if value is not None and is_meant(value, matches):
                met.append(met_element(name, raw, value))
    return names, met


def log_without(log: bytes, targets: Targets) -> LogWithout:
    """Give the log without what is to be forgotten; a line stays a line, so that the chain can be followed."""
    before, out, count = FIRST, list[bytes](), 0
    for line in lines_of(log):
        new = _line(line, targets, before)
        count += new != line
        before = digest_of(line, before)
        out.append(new + b"\n")
    data = b"".join(out)
    if data and not log.endswith(b"\n") and new == line:  # a torn last line stays torn
        data = data[:-1]
    return LogWithout(data, count)


def _line(line: bytes, targets: Targets, before: str) -> bytes:
    event = event_of(line)
    if event is None or not isinstance(event.get("event"), str):  # torn, or JSON of another shape
        told = targets.mentions.is_in_broken(line)
        return line_of(erased({"prev": before}, digest_of(line, before))) if told else line
    fate = _fate(event, targets)
    if fate == "stays":
        return line
    if fate == "without its text":
        new = line_of({key: value for key, value in event.items() if key != "raw"})
        if digest_of(new) == digest_of(line):
            return new
    return line_of(erased(event, digest_of(line)))


def _fate(event: dict[str, Any], targets: Targets) -> Fate:
    if event.get("event") in _FRAME:
        return "stays"
    entity, pin = event.get("entity"), event.get("entity_pin")
    if (isinstance(entity, str) and entity in targets.names) or (isinstance(pin, str) and pin in targets.pins):
        return "stub"
    if event.get("event") == "arrived" and _arrived(event) & targets.digests.get(str(entity), frozenset()):
        return "stub"  # else the ledger, which reads the log again, would know the text again
    is_set, raw = "settings" in event, event.get("raw")
    if is_set and isinstance(entity, str) and event.get("digest") in targets.digests.get(entity, ()):
        return "stub"  # what was set must not come back when a lost ledger is made from the log again
    if not isinstance(raw, str) or not _is_told(event, raw, targets):
        return "stays"
    return "stub" if is_set else "without its text"


def _arrived(event: dict[str, Any]) -> set[str]:
    digests = event.get("digests")
    return set(map(str, digests)) if isinstance(digests, list) else set()


def _is_told(event: dict[str, Any], raw: str, targets: Targets) -> bool:
    if _is_line(event):
        return without(_as_line(raw), targets, drop_broken=True).gone > 0
    keys = targets.keys.get(str(event.get("entity")), frozenset())
    return bool(keys) and _value(raw) is not None and element_key(raw) in keys


def _is_line(event: dict[str, Any]) -> bool:
    """Say whether an event's `raw` is a whole line, not an observation."""
    kind = str(event.get("event")).removesuffix("_again")
    return kind.endswith(("_entity", "_relation", "_line")) or kind == "quarantined"


def _as_line(raw: str) -> bytes:
    return raw.encode("utf-8", "surrogateescape") if not _has_lone(raw) else raw.encode("utf-8", "surrogatepass")


def _has_lone(raw: str) -> bool:
    try:
        raw.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return True
    return False


def _value(raw: str) -> object:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None
