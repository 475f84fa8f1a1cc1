"""Ticks of the core: they add up to the bytes that there are, and change nothing of what is read."""

from __future__ import annotations

from itertools import pairwise

import pytest
from support import FIXTURES, NOW, entity, judge_of, relation

from memttl.core import memory
from memttl.core.ages import ages_of
from memttl.core.change_plan import plan_changes
from memttl.core.changes import Before
from memttl.core.entities import read_entities
from memttl.core.explain import explain_file
from memttl.core.history import wanted_of
from memttl.core.look import look_at
from memttl.core.memory import line_spans, read_lines
from memttl.core.model import NOTHING_KNOWN
from memttl.core.plan import make_plan
from memttl.core.progress import TICK_BYTES, no_progress, no_tick
from memttl.core.selection import Choice
from memttl.core.wish import Wish

BOM = b"\xef\xbb\xbf"
DATA = b"\n".join([entity([f"text {n}" * 20], name=f"E{n}") for n in range(50)] + [relation("E1", "E2")])
JUDGE = judge_of()
BEFORE = Before((), (), lambda _entity, _text: NOTHING_KNOWN)
PIN_ALL = Wish("pin", Choice("*"))
WORK = {
    "plan": (lambda told: make_plan(DATA, JUDGE, progress=told), ["judging"]),
    "ages": (lambda told: ages_of(DATA, JUDGE, BEFORE.known_of, progress=told), ["telling ages"]),
    "look": (lambda told: look_at(DATA, progress=told), ["comparing"]),
    "entities": (lambda told: read_entities(DATA, sound=True, progress=told), ["reading"]),
    "wanted": (lambda told: wanted_of(DATA, progress=told), ["reading"]),
    "explain": (lambda told: explain_file(DATA, JUDGE, progress=told), ["reading", "judging", "explaining"]),
    "pin": (lambda told: plan_changes(DATA, PIN_ALL, BEFORE, JUDGE, NOW, progress=told), ["reading", "judging"]),
}


@pytest.mark.parametrize("data", [DATA, DATA + b"\n", BOM + DATA, b"\n\n\n", b"x", DATA.replace(b"\n", b"\r\n")])
def test_last_tick_is_the_size_of_the_file(data: bytes) -> None:
    seen: list[int] = []
    list(read_lines(data, tick=seen.append))
    assert seen[-1] == len(data)


def test_empty_file_is_done_at_once() -> None:
    seen: list[int] = []
    assert list(line_spans(b"", tick=seen.append)) == []
    assert seen == [0]


def test_ticks_come_once_a_mebibyte_and_never_go_back() -> None:
    data, seen = b"\n".join([b"x" * 1000] * 5000), list[int]()
    list(line_spans(data, tick=seen.append))
    assert seen == sorted(set(seen))
    assert len(seen) == -(-len(data) // TICK_BYTES) + 1
    assert all(TICK_BYTES <= b - a <= TICK_BYTES + 1001 for a, b in pairwise(seen[:-1]))


@pytest.mark.parametrize("path", sorted((FIXTURES / "memory").glob("*.jsonl")), ids=lambda path: path.stem)
def test_lines_are_the_same_however_often_it_ticks(path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = path.read_bytes()
    whole = list(line_spans(data, tick=no_tick))
    monkeypatch.setattr(memory, "TICK_BYTES", 7)
    assert list(line_spans(data, tick=no_tick)) == whole


@pytest.mark.parametrize("name", WORK)
def test_each_piece_of_work_tells_its_name_and_comes_to_its_end(name: str) -> None:
    told: list[tuple[str, int, int | None]] = []
    work, names = WORK[name]
    work(lambda *stand: told.append(stand))
    assert list(dict.fromkeys(what for what, _, _ in told)) == names
    ends = [(done, total) for what, done, total in told if total is not None and done]
    assert ends
    assert all(done == total for done, total in ends)


@pytest.mark.parametrize("name", WORK)
def test_what_comes_of_the_work_does_not_depend_on_who_is_told(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    work, _ = WORK[name]
    untold = repr(work(no_progress))
    monkeypatch.setattr(memory, "TICK_BYTES", 7)
    assert repr(work(lambda *_: None)) == untold
