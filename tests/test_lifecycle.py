"""The life of a memory file in any order: scans, prunes, a server that adds and deletes, a stranger that truncates, and
a clock that runs forward and back. And: pruning daily comes to what one prune at the end comes to.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from process import aged
from pruning import AT_ONCE, events_of, settings_of
from support import entity

from memttl.core.model import Known
from memttl.core.outcome import PruneOutcome
from memttl.core.scan_outcome import ScanOutcome
from memttl.core.selection import Choice
from memttl.core.wish import Command, Wish
from memttl.errors import ClockBehind
from memttl.files.knowledge import knowledge_of
from memttl.files.state import state_of
from memttl.workflow.change_settings import change_settings
from memttl.workflow.prune import Request, prune
from memttl.workflow.scan import scan

START = datetime(2025, 6, 1, 9, tzinfo=UTC)
POLICY = """
[tiers]
note = "5d"
kept = { ttl = "10d", keep_last = 1 }
[[rules]]
prefix = ["session"]
tier = "session"
[[rules]]
prefix = ["note"]
tier = "note"
[[rules]]
prefix = ["kept"]
tier = "kept"
"""
NAMES = ("Team", "Sprint 1", "\ud800 odd")
WORDS = ("note: plain", "note: other", "session: talk", "kept: one", "kept: two", "a standing fact", "note: \udfff")

# a look that finds nothing new leaves the ledger's newest stamp as it is, on the day of the last one
A_DAY_OR_SO = timedelta(days=2)

Texts = Counter[tuple[str, str]]


SHM = Path("/dev/shm")  # thousands of synced writes: in memory, where there is such a folder


class Memory:
    """One memory file with its policy, in a folder of its own, and the instant that it is there."""

    def __init__(self, policy: str = POLICY) -> None:
        self.policy = policy
        self.folder = Path(tempfile.mkdtemp(prefix="memttl-life-", dir=SHM if SHM.is_dir() else None))
        self.path = self.folder / "memory.jsonl"
        self.now = START
        self.write({"Base": []})  # an empty file is looked at twice, with a pause

    def write(self, graph: dict[str, list[str]]) -> None:
        lines = [entity(texts, name=name) for name, texts in graph.items()]
        self.path.write_bytes(b"\n".join(lines) + b"\n" * bool(lines))
        aged(self.path)

    def graph(self) -> dict[str, list[str]]:
        records = [json.loads(line) for line in self.path.read_bytes().splitlines()]
        return {record["name"]: record["observations"] for record in records}

    def texts(self) -> Texts:
        return Counter((name, text) for name, texts in self.graph().items() for text in texts)

    def add(self, name: str, text: str) -> None:
        """As the server does: a text that is there already is ignored."""
        graph = self.graph()
        if text not in graph.setdefault(name, []):
            graph[name].append(text)
        self.write(graph)

    def scan(self, *, accept: bool = False) -> ScanOutcome:
        return scan(settings_of(self.path, policy=self.policy, now=self.now.isoformat()), accept_vanished=accept)

    def prune(self, *, force: bool = True) -> PruneOutcome:
        request = Request(force=force, pace=AT_ONCE)
        return prune(settings_of(self.path, policy=self.policy, now=self.now.isoformat()), request)

    def change(self, command: Command, name: str, **words: Any) -> None:
        """Pin, unpin, set or renew what is in one entity now; an entity without texts is left alone."""
        if self.graph().get(name):
            now = settings_of(self.path, policy=self.policy, now=self.now.isoformat())
            change_settings(now, Wish(command, Choice(name), **words))

    def known(self, keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Known]:
        with knowledge_of(state_of(self.path), must_know=True) as knowledge:
            return {key: knowledge.known_of(*key) for key in keys}

    def close(self) -> None:
        shutil.rmtree(self.folder)


names, words = st.sampled_from(NAMES), st.sampled_from(WORDS)


class Life(RuleBasedStateMachine):
    """Any order of events; what must hold after each of them."""

    @initialize(scanned=st.booleans())
    def begin(self, scanned: bool) -> None:
        self.memory = Memory()
        self.memory.write({name: list(WORDS) for name in NAMES} | {"Facts": [f"a fact {i}" for i in range(20)]})
        if scanned:
            self.memory.scan()
        self.first: dict[tuple[str, str], datetime] = {}
        self.newest = START
        self.last_here: dict[tuple[str, str], datetime] = {}
        self.pinned: set[tuple[str, str]] = set()
        self.seen: dict[tuple[str, str], datetime] = {}
        if scanned:
            self.saw(self.memory.texts())

    def teardown(self) -> None:
        self.memory.close()

    @rule(name=names, day=st.integers(-20, 0))
    def server_adds_much(self, name: str, day: int) -> None:
        for word in WORDS:
            self.server_adds(name, word, day, dated=day % 2 == 0)

    @rule(name=names, word=words, day=st.integers(-20, 0), dated=st.booleans())
    def server_adds(self, name: str, word: str, day: int, dated: bool) -> None:
        date = (self.memory.now + timedelta(days=day)).date()
        head, colon, rest = word.partition(": ")
        self.memory.add(name, f"{head}: {date}: {rest}" if dated and colon else word)

    @rule(data=st.data())
    def server_deletes(self, data: st.DataObject) -> None:
        graph = self.memory.graph()
        name = data.draw(st.sampled_from(sorted(graph) or [""]))
        if graph.get(name):
            graph[name].remove(data.draw(st.sampled_from(graph[name])))
            self.memory.write(graph)

    @rule()
    def stranger_truncates(self) -> None:
        graph = self.memory.graph()
        self.memory.write({name: texts[:1] for name, texts in list(graph.items())[:2]})

    @rule(
        name=names, command=st.sampled_from(["pin", "pin", "unpin", "renew", "set", "clear"]), days=st.integers(1, 20)
    )
    def user_changes_settings(self, name: str, command: str, days: int) -> None:
        words: dict[str, Any] = {
            "renew": {"keep_for": f"{days}d"},
            "set": {"ttl": f"{days}d"},
            "clear": {"clear": True},
        }
        before = self.memory.texts()
        try:
            self.memory.change("set" if command == "clear" else command, name, **words.get(command, {}))
        except ClockBehind:
            assert self.newest - self.memory.now > timedelta(days=1)
        else:
            here = {key for key in before if key[0] == name}
            assert not here or self.newest - self.memory.now <= A_DAY_OR_SO
            gone = {key for key in self.pinned if key[0] == name}
            if command == "pin":
                self.pinned |= here
            elif command == "unpin" and here:  # what is gone is unpinned as well
                self.pinned -= gone
            if here:
                self.saw(here)
        assert self.memory.texts() == before

    @rule(name=names, days=st.integers(6, 40))
    def user_pins_and_comes_back_later(self, name: str, days: int) -> None:
        self.user_changes_settings(name, "pin", 1)
        self.time_goes_on(days)
        self.prunes(force=True)

    @rule(days=st.integers(1, 15))
    def time_goes_on(self, days: int) -> None:
        self.memory.now += timedelta(days=days)

    @rule(hours=st.integers(1, 40))
    def clock_runs_back(self, hours: int) -> None:
        self.memory.now -= timedelta(hours=hours)

    @rule(accept=st.booleans())
    def scans(self, accept: bool) -> None:
        before = self.memory.texts()
        try:
            outcome = self.memory.scan(accept=accept)
        except ClockBehind:
            assert self.newest - self.memory.now > timedelta(days=1)
        else:
            if not outcome.refusals:
                self.saw(before)
            assert not (accept and outcome.refusals)
        assert self.memory.texts() == before

    def saw(self, texts: Iterable[tuple[str, str]]) -> None:
        """What an applied look does: no text is older than the first look that met it."""
        for key in texts:
            self.seen.setdefault(key, self.memory.now)
        self.newest = max(self.memory.now, self.newest)

    @rule(force=st.booleans())
    def prunes(self, force: bool) -> None:
        before, log = self.memory.texts(), len(events_of(self.memory.path))
        try:
            outcome = self.memory.prune(force=force)
        except ClockBehind:
            assert self.newest - self.memory.now > timedelta(days=1)
            return
        assert self.newest - self.memory.now <= A_DAY_OR_SO
        if outcome.plan.refusals:
            assert self.memory.texts() == before
            return
        events = events_of(self.memory.path)[log:]
        logged = Texts((e["entity"], json.loads(e["raw"])) for e in events if e["event"] == "removed")
        assert before - self.memory.texts() == (logged if outcome.applied else Texts())
        assert not self.memory.texts() - before
        for verdict in outcome.plan.removals:
            assert (verdict.entity, verdict.observation) not in self.pinned
            assert verdict.created_at is not None or not verdict.by_ttl
            assert verdict.expires_at is not None
            assert verdict.expires_at <= self.memory.now
            if verdict.age_source == "seen":
                assert verdict.created_at >= self.seen[verdict.entity, verdict.observation]
        self.saw(before)

    @invariant()
    def what_is_pinned_is_known_to_be(self) -> None:
        if hasattr(self, "memory"):
            assert all(known.settings.pinned for known in self.memory.known(self.pinned).values())

    @invariant()
    def first_seen_never_moves_later(self) -> None:
        if not hasattr(self, "memory"):
            return
        here = self.memory.texts()
        self.last_here |= dict.fromkeys(here, self.memory.now)
        for key, known in self.memory.known({*here, *self.first}).items():
            if known.first_seen is not None:
                assert known.first_seen <= self.first.setdefault(key, known.first_seen)
            elif self.seen.pop(key, None) and self.first.pop(key, None):  # forgotten, which takes a year without it
                assert self.newest - self.last_here[key] > timedelta(days=364)


TestLife = Life.TestCase
TestLife.settings = settings(
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking thirty steps of disk work takes for ever
    max_examples=100,
    stateful_step_count=30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


Arrivals = list[tuple[int, str, str, int | None]]
arrivals = st.lists(
    st.tuples(st.integers(0, 60), names, words, st.none() | st.integers(0, 40)), min_size=1, max_size=12
)  # day, entity, text, and how many days before its arrival it is dated


INHERIT = POLICY + "[age]\ninherit = true\n"


def test_what_a_prune_removes_does_not_change_how_old_the_rest_is() -> None:
    """Two dates make no only date; when the first of them is pruned, the other must not become one."""
    memory = Memory(INHERIT)
    dated = ["session: 2025-01-01: old", "kept: 2025-02-01: one", "note: undated"]
    memory.write({"Team": dated})
    try:
        assert [v.observation for v in memory.prune().plan.removals] == [dated[0]]
        assert memory.prune().plan.removals == ()
        assert memory.known([("Team", dated[2])])["Team", dated[2]].entity_days == {date(2025, 1, 1), date(2025, 2, 1)}
    finally:
        memory.close()


def lived(plan: Arrivals, *, daily: bool, days: int) -> Texts:
    """What is left after so many days of daily scans, with a prune a day or one at the end."""
    memory = Memory()
    try:
        for day in range(days + 1):
            memory.now = START + timedelta(days=day)
            for number, (arrives, name, word, age) in enumerate(plan):
                if arrives == day:
                    date = (memory.now - timedelta(days=age or 0)).date()
                    head, colon, rest = word.partition(": ")
                    text = f"{head}: {date}: {rest} {number}" if age is not None and colon else f"{word} {number}"
                    memory.add(name, text)
            memory.scan(accept=True)
            if daily or day == days:
                memory.prune()
        return memory.texts()
    finally:
        memory.close()


@given(plan=arrivals)
@settings(max_examples=6)
def test_pruning_daily_removes_what_one_prune_at_the_end_removes(plan: Arrivals) -> None:
    assert lived(plan, daily=True, days=80) == lived(plan, daily=False, days=80)


@pytest.mark.slow
def test_pruning_daily_for_two_hundred_days_removes_what_one_prune_at_the_end_removes() -> None:
    plan: Arrivals = [
        (day, NAMES[day % 3], WORDS[day % len(WORDS)], None if day % 4 else day % 31) for day in range(0, 190, 3)
    ]
    left = lived(plan, daily=True, days=200)
    assert left == lived(plan, daily=False, days=200)
    assert 0 < left.total() < len(plan)
