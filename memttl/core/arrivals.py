"""Edits of clients of `memttl serve` on a graph, and what comes with them: arrivals and settings to log, what to tell.

`files/served.py` calls it under the lock. A birth is an arrival; settings are what a call says besides. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from memttl.core.asked import asked_document
from memttl.core.change_plan import from_now, renewal
from memttl.core.change_warnings import hidden, stay_pinned
from memttl.core.classify import KnownOf, judge_entity
from memttl.core.digests import text_digest
from memttl.core.durations import Duration
from memttl.core.graph import Graph, Row
from memttl.core.graph_draft import Taken
from memttl.core.graph_edits import NO_PATCH, Answer, Arrival, Edit, apply_edits
from memttl.core.judge import Judge
from memttl.core.model import Known, UserSettings, Verdict
from memttl.core.wish import Patch
from memttl.core.wording import instant_text

_Key = tuple[str, str]  # an entity's name and a text
Settings = dict[_Key, UserSettings]


class Lives(NamedTuple):
    """What tells how long an observation lives: a policy at an instant, what is known, and the stamp of what arrives.

    `stamp` is None where the clock cannot be believed: then nothing gets a birth from it.
    """

    judge: Judge
    known_of: KnownOf
    stamp: datetime | None


class Served(NamedTuple):
    """The graph as the edits leave it and their answers, one each; the settings that come with them, last word each.

    `arrived` are the texts that came, by entity; none where there is no stamp for them. `before` is what was set until
    then of what `settings` sets; `taken` is what went out of the graph of before.
    """

    graph: Graph
    answers: tuple[Answer, ...]
    taken: tuple[Taken, ...]
    settings: Settings
    before: Settings
    arrived: dict[str, list[str]]

    @property
    def adds(self) -> bool:
        """True where something came in."""
        return any(a.entities or a.relations or any(arrival.is_new for arrival in a.arrivals) for a in self.answers)


def serve_edits(graph: Graph, edits: Sequence[Edit], lives: Lives) -> Served:
    """Put edits on a graph, one after the other, each on what the one before has made and set."""
    batch = _Batch(graph, lives)
    edited = apply_edits(graph, edits, batch.is_hidden)
    for answer in edited.answers:
        for arrival in answer.arrivals:
            batch.take(arrival)
    rows = _rows_of(edited.graph, {a.entity for answer in edited.answers for a in answer.arrivals})
    answers = tuple(
        answer._replace(notes=(*answer.notes, *batch.notes(answer.arrivals, rows))) for answer in edited.answers
    )
    before = {key: lives.known_of(*key).settings._replace(entity_pin="") for key in batch.settings}
    return Served(edited.graph, answers, edited.taken, batch.settings, before, batch.arrived)


def as_before(before: Settings, known_of: KnownOf) -> KnownOf:
    """Answer as `known_of`, but with these settings."""

    def known_before(entity: str, text: str) -> Known:
        known, was = known_of(entity, text), before.get((entity, text))
        return known if was is None else known._replace(settings=was._replace(entity_pin=known.settings.entity_pin))

    return known_before


def _rows_of(graph: Graph, names: Iterable[str]) -> dict[str, Row]:
    """Give the first row of each of these entities."""
    wanted, found = set(names), dict[str, Row]()
    for row in graph.rows if wanted else ():
        if row.entity is not None and row.entity.name in wanted:
            found.setdefault(row.entity.name, row)
    return found


class _Batch:
    """What edits that go into one write have set so far."""

    def __init__(self, graph: Graph, lives: Lives) -> None:
        self._graph, self._lives, self._judge = graph, lives, lives.judge
        self.settings: Settings = {}
        self.arrived: dict[str, list[str]] = {}
        self._came: set[_Key] = set()
        self._hidden: dict[str, dict[str, Verdict]] = {}
        self._renewed: set[_Key] = set()

    def is_hidden(self, entity: str, text: str) -> bool:
        """Say whether reads leave out this text. Whoever asks is about to add it, so that it is there from then on."""
        if (entity, text) in self._renewed or text not in self._hidden_in(entity):
            return False
        self._renewed.add((entity, text))
        return True

    def _hidden_in(self, entity: str) -> dict[str, Verdict]:
        if entity not in self._hidden:
            row = _rows_of(self._graph, [entity]).get(entity)
            self._hidden[entity] = hidden_texts(row, self._judge, self._lives.known_of) if row else {}
        return self._hidden[entity]

    def take(self, arrival: Arrival) -> None:
        """Note an arrival, and set what comes with it."""
        key = arrival.entity, arrival.text
        if arrival.is_new and self._lives.stamp is not None and key not in self._came:
            self._came.add(key)
            self.arrived.setdefault(arrival.entity, []).append(arrival.text)
        verdict = self._hidden_in(arrival.entity).get(arrival.text) if arrival.is_renewed else None
        after = settings_of(arrival, self._judge, self._known(*key).settings, verdict)
        if after is not None:
            self.settings[key] = after

    def _known(self, entity: str, text: str) -> Known:
        known, asked = self._lives.known_of(entity, text), self.settings.get((entity, text))
        if (entity, text) in self._came:
            known = known._replace(first_seen=self._lives.stamp, arrived=True, backfilled=False)
        if asked is None:
            return known
        return known._replace(settings=asked._replace(entity_pin=known.settings.entity_pin))

    def notes(self, arrivals: Sequence[Arrival], rows: dict[str, Row]) -> Iterator[str]:
        """Say what of it nobody will read, since it has expired already, and which of the words have no effect."""
        texts: dict[str, dict[str, None]] = {}
        told: dict[str, dict[str, None]] = {}
        for arrival in arrivals:
            if arrival.is_new or arrival.is_renewed or arrival.patch != NO_PATCH:
                texts.setdefault(arrival.entity, {})[arrival.text] = None
            if arrival.patch.says_how_long or arrival.patch.pinned is False:
                told.setdefault(arrival.entity, {})[arrival.text] = None
        yield from hidden([v for name, found in texts.items() if name in rows for v in self._unseen(rows[name], found)])
        yield from stay_pinned(
            v for name, found in told.items() if name in rows for v in self._alone(rows[name], found)
        )

    def _alone(self, row: Row, texts: Iterable[str]) -> list[Verdict]:
        """Judge some of an entity's texts as if they were all."""
        if not row.line.is_judged or row.line.record is None:
            return []
        alone = row.line._replace(record={**row.line.record, "observations": list(texts)})
        return judge_entity(alone, self._judge, self._known_now)

    def _unseen(self, row: Row, texts: Iterable[str]) -> list[Verdict]:
        if not row.line.is_judged:
            return []
        # without [age] inherit the other texts of an entity can only keep one longer
        if not self._judge.policy.inherit and not any(v.expired for v in self._alone(row, texts)):
            return []
        hidden = hidden_texts(row, self._judge, self._known_now)
        return [hidden[text] for text in texts if text in hidden]

    def _known_now(self, entity: str, text: str) -> Known:
        known = self._known(entity, text)
        return known._replace(first_seen=self._lives.stamp) if known.first_seen is None else known


def settings_of(arrival: Arrival, judge: Judge, asked: UserSettings, verdict: Verdict | None) -> UserSettings | None:
    """Give what is set for it from now on, None where that stays as it was `asked` before.

    `verdict` is that on the text as it was before, needed where the arrival renews it.
    """
    was, patch = asked._replace(entity_pin=""), arrival.patch._replace(instead=True)
    if arrival.is_new:
        after = patch.on(_afresh(was, patch))
    elif arrival.is_renewed:
        after = _renewed(arrival.patch, judge, was, verdict)
    else:
        after = from_now(patch, judge).on(was)
    return after if after != was else None


def _afresh(was: UserSettings, patch: Patch) -> UserSettings:
    """Of what was set for a text that was here before: what keeps it for good; a TTL of then says nothing of now."""
    kept = UserSettings(pinned=was.pinned, pinned_by_undo=was.pinned_by_undo)
    if was.expires != "never" or patch.says_how_long:
        return kept
    return kept._replace(expires="never")


def _renewed(patch: Patch, judge: Judge, was: UserSettings, verdict: Verdict | None) -> UserSettings:
    """From now on: for as long as the call says, or as its tier keeps."""
    after = patch.on(was._replace(expires=None, review_by=None, ttl=None))
    if after.expires is not None or after.review_by is not None:
        return after
    tier = patch.tier or (verdict.tier if verdict else None) or after.tier
    ttl = after.ttl or (judge.policy.tiers[tier].ttl if tier in judge.policy.tiers else None)
    return renewal(ttl or Duration(is_never=True), judge).on(after._replace(ttl=None))


def hidden_texts(row: Row, judge: Judge, known_of: KnownOf) -> dict[str, Verdict]:
    """Give the texts of one entity that have expired, every copy of them, each with a verdict."""
    if not row.line.is_judged:
        return {}
    verdicts = [v for v in judge_entity(row.line, judge, known_of) if v.tier is not None]
    stays = {v.observation for v in verdicts if not v.expired}
    return {v.observation: v for v in verdicts if v.observation not in stays}


def arrived_events(
    arrived: Mapping[str, Sequence[str]], stamp: datetime | None, run: str, time: str
) -> list[dict[str, Any]]:
    """Give the lines of the audit log that tell when these texts came, one an entity; they hold no text."""
    return [
        {
            "event": "arrived",
            "run": run,
            "command": "serve",
            "time": time,
            "entity": entity,
            "digests": list(map(text_digest, texts)),
            "at": instant_text(stamp),
        }
        for entity, texts in arrived.items()
        if stamp is not None
    ]


def set_events(settings: Settings, run: str, time: str, *, with_text: bool) -> list[dict[str, Any]]:
    """Give the lines of the audit log that set these; `time` is the clock's."""
    return [
        {
            "event": "set",
            "run": run,
            "command": "serve",
            "time": time,
            "entity": entity,
            "digest": text_digest(text),
            **({"raw": json.dumps(text)} if with_text else {}),
            "settings": asked_document(asked),
        }
        for (entity, text), asked in settings.items()
    ]
