"""What an archive's own log tells of it, and what one run changes: claims given up, what is too old, what comes. Pure.

A claim is a run's word that it removed something; a thing leaves the archive with its last claim, and only if memttl
has put it there. `files/archiving.py` reads the log, and writes the update that this module gives.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from memttl.core.archive import Entry, Place, put_in, take_from
from memttl.core.durations import Duration, expires_after
from memttl.core.wording import instant_text

ARCHIVED, TAKEN_OUT, THINNED = "archived", "taken_out", "thinned"


class Claim(NamedTuple):
    """One thing that the run `by` of the memory file `of` removed, archived `at`; None where that cannot be read."""

    place: Place
    of: str
    by: str
    raw_digest: str
    at: datetime | None


class Held(NamedTuple):
    """What an archive's log tells: all claims that stand, and what memttl itself has put there."""

    claims: Sequence[Claim]
    own: frozenset[Place]


class Arrival(NamedTuple):
    """What a run brings: its entries, archived `at`; what is older than `max_age` goes by the way."""

    entries: Sequence[Entry]
    of: str
    by: str
    at: datetime
    max_age: Duration


class Update(NamedTuple):
    """The archive's new bytes, and the events of its own log."""

    data: bytes
    events: Sequence[dict[str, Any]]


_Claims = dict[Claim, list[datetime | None]]  # by the claim without its date


def held_by(events: Iterable[Mapping[str, Any]]) -> Held:
    """Read an archive's log; lines of a write that was not applied do not count."""
    claims: _Claims = {}
    own: set[Place] = set()
    waiting: list[Mapping[str, Any]] = []
    for event in events:
        kind = event.get("event")
        if kind == "begin":
            waiting = []
        elif kind == "end":
            for line in waiting if event.get("applied") is True else ():
                _take_up(line, claims, own)
            waiting = []
        elif kind in (ARCHIVED, TAKEN_OUT, THINNED):
            waiting.append(event)
    standing = (claim._replace(at=at) for claim, dates in claims.items() for at in dates)
    return Held(list(standing), frozenset(own))


def _take_up(event: Mapping[str, Any], claims: _Claims, own: set[Place]) -> None:
    claim = _claim_of(event)
    undated = claim._replace(at=None)
    if event["event"] == ARCHIVED:
        own.update([claim.place] if event.get("added") is True else [])
        if claim.place.kind != "entity":
            claims.setdefault(undated, []).append(claim.at)
        return
    own.difference_update([claim.place] if event.get("gone") is True else [])
    if claims.get(undated):
        claims[undated].pop(0)


def _claim_of(event: Mapping[str, Any]) -> Claim:
    text = {key: str(event.get(key, "")) for key in ("entity", "entity_type", "key", "of", "by", "raw_digest", "at")}
    kind = event.get("kind")
    place = Place(
        kind if kind in ("relation", "entity") else "observation", text["entity"], text["entity_type"], text["key"]
    )
    at = None
    with contextlib.suppress(ValueError):
        at = datetime.fromisoformat(text["at"]).astimezone(UTC)
    return Claim(place, text["of"], text["by"], text["raw_digest"], at)


def archived(data: bytes, held: Held, arrival: Arrival) -> Update:
    """Give the archive with what a run removes; what an earlier try of the same run had put there goes."""
    given_up = [c for c in held.claims if (c.of, c.by) == (arrival.of, arrival.by)]
    coming = [_claim(entry, arrival) for entry in arrival.entries]
    left = _without(held.claims, given_up)
    old = _too_old(left, {claim.place for claim in coming}, arrival)
    data, events, own = _taken(data, held.own, left, given_up, old, keep={claim.place for claim in coming})
    data, made = put_in(data, arrival.entries)
    own |= set(made)
    lines = [_event(ARCHIVED, Claim(place, arrival.of, arrival.by, "", arrival.at), added=True)
             for place in made if place.kind == "entity"]  # fmt: skip
    new = set(made)
    for claim in coming:
        lines.append(_event(ARCHIVED, claim, added=claim.place in new))
        new.discard(claim.place)
    return Update(data, [*events, *lines])


def taken_out(data: bytes, held: Held, chosen: Callable[[Claim], bool]) -> Update:
    """Give the archive without what none but the `chosen` claims hold there; these are given up."""
    given_up = [claim for claim in held.claims if chosen(claim)]
    data, events, _ = _taken(data, held.own, _without(held.claims, given_up), given_up, [], keep=set())
    return Update(data, events)


def _claim(entry: Entry, arrival: Arrival) -> Claim:
    return Claim(entry.place, arrival.of, arrival.by, entry.raw_digest, arrival.at)


def _without(claims: Iterable[Claim], gone: Sequence[Claim]) -> list[Claim]:
    return list((Counter(claims) - Counter(gone)).elements())


def _too_old(claims: Sequence[Claim], coming: set[Place], arrival: Arrival) -> list[Claim]:
    """Give the claims on what was last archived too long ago; an unknown age is never too old."""
    young = set(coming)
    for claim in claims:
        until = expires_after(claim.at, arrival.max_age, UTC) if claim.at is not None else None
        if until is None or until > arrival.at:
            young.add(claim.place)
    return [claim for claim in claims if claim.place not in young]


def _taken(
    data: bytes,
    own: frozenset[Place],
    left: Sequence[Claim],
    given_up: Sequence[Claim],
    old: Sequence[Claim],
    *,
    keep: set[Place],
) -> tuple[bytes, list[dict[str, Any]], set[Place]]:
    """Take out what no claim holds any longer, but for what is to be kept; give the events, and what is ours there."""
    held = keep | {claim.place for claim in left} - {claim.place for claim in old}
    going = {claim.place for claim in (*given_up, *old)} - held
    entities = {place for place in own if place.kind == "entity"} - {_entity_of(place) for place in keep}
    out, gone = take_from(data, (going & own) | entities) if going & own else (data, [])
    events = [_event(TAKEN_OUT, claim, gone=claim.place in going) for claim in given_up]
    events += [_event(THINNED, claim, gone=True) for claim in old]
    events += [_event(TAKEN_OUT, Claim(p, "", "", "", None), gone=True) for p in gone if p.kind == "entity"]
    return out, events, set(own) - going - set(gone)


def _entity_of(place: Place) -> Place:
    return Place("entity", place.entity, place.entity_type, "")


def _event(kind: str, claim: Claim, **more: bool) -> dict[str, Any]:
    place = claim.place
    at = {"at": instant_text(claim.at)} if claim.at is not None else {}
    who = {"of": claim.of, "by": claim.by} if claim.of else {}
    named = {"kind": place.kind, "entity": place.entity, "entity_type": place.entity_type, "key": place.key}
    return {"event": kind, **who, **named, "raw_digest": claim.raw_digest, **at, **more}
