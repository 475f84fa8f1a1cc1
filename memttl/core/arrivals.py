"""Edits of clients of `memttl serve` on a graph, and what comes with them: settings to log, and what to tell. Pure.

`workflow/serving.py` calls it under the lock. Most arrivals need no settings, since a first sighting tells their age.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from memttl.core.asked import asked_document
from memttl.core.change_plan import renewal
from memttl.core.classify import KnownOf, judge_entity
from memttl.core.digests import text_digest
from memttl.core.durations import Duration
from memttl.core.graph import Graph, Row
from memttl.core.graph_edits import NO_PATCH, Answer, Arrival, Edit, apply_edits
from memttl.core.judge import Judge
from memttl.core.model import NOTHING_KNOWN, Known, UserSettings, Verdict
from memttl.core.wish import Patch
from memttl.core.wording import head_of

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

    `before` is what was set of the same until then.
    """

    graph: Graph
    answers: tuple[Answer, ...]
    deletes: bool
    settings: Settings
    before: Settings


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
    return Served(edited.graph, answers, edited.deletes, batch.settings, before)


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
        """Set what comes with an arrival."""
        key = arrival.entity, arrival.text
        verdict = self._hidden_in(arrival.entity).get(arrival.text) if arrival.is_renewed else None
        after = settings_of(arrival, self._judge, self._known(*key), self._lives.stamp, verdict)
        if after is not None:
            self.settings[key] = after

    def _known(self, entity: str, text: str) -> Known:
        known, asked = self._lives.known_of(entity, text), self.settings.get((entity, text))
        if asked is None:
            return known
        return known._replace(settings=asked._replace(entity_pin=known.settings.entity_pin))

    def notes(self, arrivals: Sequence[Arrival], rows: dict[str, Row]) -> Iterator[str]:
        """Say what of it nobody will read, since it has expired already: by its own mark, or by what it is given."""
        texts: dict[str, dict[str, None]] = {}
        for arrival in arrivals:
            if arrival.is_new or arrival.is_renewed or arrival.patch != NO_PATCH:
                texts.setdefault(arrival.entity, {})[arrival.text] = None
        hidden = [v for name, found in texts.items() if name in rows for v in self._unseen(rows[name], list(found))]
        if hidden:
            are = "1 of the observations is" if len(hidden) == 1 else f"{len(hidden)} of the observations are"
            yield f"{are} hidden at once, having expired already:" + "".join(map(_hidden_words, hidden))

    def _unseen(self, row: Row, texts: Sequence[str]) -> list[Verdict]:
        if not row.line.is_judged or row.line.record is None:
            return []
        if not self._judge.policy.inherit:  # then the other texts of an entity can only keep one longer
            alone = row.line._replace(record={**row.line.record, "observations": list(texts)})
            if not any(v.expired for v in judge_entity(alone, self._judge, self._known_now)):
                return []
        hidden = hidden_texts(row, self._judge, self._known_now)
        return [hidden[text] for text in texts if text in hidden]

    def _known_now(self, entity: str, text: str) -> Known:
        known = self._known(entity, text)
        return known._replace(first_seen=self._lives.stamp) if known.first_seen is None else known


def _hidden_words(verdict: Verdict) -> str:
    return f"\n- {head_of(verdict.observation)} ({verdict.entity}): {verdict.reason}"


def settings_of(
    arrival: Arrival, judge: Judge, known: Known, stamp: datetime | None, verdict: Verdict | None
) -> UserSettings | None:
    """Give what is set for it from now on, None where that stays as it is.

    `verdict` is that on the text as it was before, needed where the arrival renews it.
    """
    was = known.settings._replace(entity_pin="")
    if arrival.is_new:
        if arrival.patch == NO_PATCH and known._replace(settings=was) == NOTHING_KNOWN:
            return None
        # a text that was here before is as old as then, unless it is said to be new
        return _put(arrival.patch, _afresh(was, arrival.patch))._replace(created=stamp)
    if arrival.is_renewed:
        return _renewed(arrival.patch, judge, was, verdict)
    after = _put(arrival.patch, was)
    return after if after != was else None


def _names_a_life(patch: Patch) -> bool:
    return any(said is not None for said in (patch.expires, patch.review_by, patch.ttl, patch.tier))


def _afresh(was: UserSettings, patch: Patch) -> UserSettings:
    """Of what was set for a text that was here before: what keeps it for good; a TTL of then says nothing of now."""
    kept = UserSettings(pinned=was.pinned, pinned_by_undo=was.pinned_by_undo)
    if was.expires != "never" or _names_a_life(patch):
        return kept
    return kept._replace(expires="never")


def _put(patch: Patch, was: UserSettings) -> UserSettings:
    """Put a patch on what was set; what says how long takes the place of all that said so and would count more."""
    if patch.review_by is not None:
        was = was._replace(expires=None)
    if patch.ttl is not None:
        was = was._replace(expires=None, review_by=None)
    if patch.tier is not None:
        was = was._replace(expires=None, review_by=None, ttl=None)
    return patch.on(was)


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
