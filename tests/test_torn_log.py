"""A last line that a kill, a full disk or a power cut tore stops no run, and loses nothing that stands before it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chains import kinds_in
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from ledgers import pin, scanned, written
from pruning import AT_ONCE, pruned, settings_of

from memttl.core.chain import check
from memttl.core.selection import Choice
from memttl.core.wish import Wish
from memttl.files import audit
from memttl.files.knowledge import knowledge_of
from memttl.files.leftovers import unfinished
from memttl.files.looking import vanished_words
from memttl.files.rebuild import baseline_in_log, logged_since, rebuilt
from memttl.files.state import State, state_of
from memttl.files.writing import Options, writing
from memttl.workflow.change_settings import change_settings

GRAPH = {"A": ["[session] 2026-01-01: old", "kept", "pinned"], "B": ["y"]}
_NUL = b"\x00" * 4096  # what a power cut leaves of a page that was allocated and never written


def used(folder: Path) -> Path:
    """A memory file with a look, two settings and a removal in its log, and an `end` as the log's last line."""
    memory = written(folder / "memory.jsonl", GRAPH)
    scanned(memory)
    pin(memory, "A", "pinned")
    pruned(memory)
    return memory


def log_of(memory: Path) -> Path:
    return state_of(memory).audit


def torn_at(memory: Path, place: int, *, tail: bytes = b"") -> None:
    """Cut the log within its last line, `place` bytes behind the line's first."""
    data = log_of(memory).read_bytes()
    begun = data.rindex(b"\n", 0, -1) + 1
    log_of(memory).write_bytes(data[: begun + place % (len(data) - begun)] + tail)


TORN: list[Any] = [*range(1, 400, 37), 0]
tears = pytest.mark.parametrize("tail", [b"", b"\x00" * 3, _NUL], ids=["cut", "NUL", "page of NUL"])


@tears
@pytest.mark.parametrize("place", TORN)
def test_prune_and_pin_and_scan_go_on(tmp_path: Path, place: int, tail: bytes) -> None:
    memory = used(tmp_path)
    torn_at(memory, place, tail=tail)
    assert scanned(memory, "2026-06-02T12:00:00Z").refusals == ()
    assert change_settings(
        settings_of(memory, now="2026-06-02T12:00:00Z"), Wish("pin", Choice("A", "kept")), ask=None
    ).run
    written(memory, {**GRAPH, "A": ["[session] 2026-01-01: old", "kept", "pinned"]})
    assert pruned(memory, now="2026-06-20T12:00:00Z").run is not None
    # a torn `end` is written again by the run that settles it; else nothing but the chain tells
    assert check(log_of(memory).read_bytes()).broken is None
    with knowledge_of(state_of(memory), must_know=True) as knowledge:
        assert {s.text for s in knowledge.settings} == {"pinned", "kept"}


@settings(phases=[p for p in Phase if p is not Phase.shrink], max_examples=60)
@given(st.integers(0, 2000), st.sampled_from([b"", b"\x00", _NUL, b"\xff", b"{"]), st.booleans())
def test_settings_before_the_tear_are_never_lost(
    tmp_path_factory: pytest.TempPathFactory, place: int, tail: bytes, is_lost: bool
) -> None:
    memory = used(tmp_path_factory.mktemp("torn"))
    torn_at(memory, place, tail=tail)
    # of a line that is gone to its first byte nobody can tell that it was not cut off
    assume(tail or not log_of(memory).read_bytes().endswith(b"\n"))
    if is_lost:
        state_of(memory).ledger.unlink()
    with knowledge_of(state_of(memory), must_know=True) as knowledge:
        assert [s.text for s in knowledge.settings] == ["pinned"]
    pin(memory, "B", "y")
    with knowledge_of(state_of(memory), must_know=True) as knowledge:
        assert sorted(s.text or "" for s in knowledge.settings) == ["pinned", "y"]


READERS: list[tuple[str, Callable[[State], object], object]] = [
    ("rebuilt", lambda state: len((rebuilt(state, damaged=True) or rebuilt(state, damaged=False)).settings), 1),  # type: ignore[union-attr]
    ("baseline", lambda state: baseline_in_log(state) is not None, True),
    ("set since", lambda state: len(logged_since(state, 0).settings), 1),
    ("whole", lambda state: audit.is_whole(state.audit), True),
    ("events", lambda state: kinds_in(audit.read_events(state.audit))[:2], ["baseline", "set"]),
    ("size", lambda state: audit.size_of(state.audit) == state.audit.stat().st_size, True),
]


@tears
@pytest.mark.parametrize(("read", "expected"), [row[1:] for row in READERS], ids=[row[0] for row in READERS])
def test_every_reader_passes_over_a_torn_line(
    tmp_path: Path, read: Callable[[State], object], expected: object, tail: bytes
) -> None:
    memory = used(tmp_path)
    whole = log_of(memory).read_bytes()
    for place in range(0 if tail else 1, len(whole) - whole.rindex(b"\n", 0, -1) - 1, 13):
        log_of(memory).write_bytes(whole)
        torn_at(memory, place, tail=tail)
        assert read(state_of(memory)) == expected


@tears
@pytest.mark.parametrize("place", TORN)
def test_removals_since_a_look_are_counted_without_the_torn_line(tmp_path: Path, place: int, tail: bytes) -> None:
    """A run whose `end` was torn may have been applied: what it removed is no loss."""
    memory = written(tmp_path / "memory.jsonl", {"A": [f"[session] 2026-01-01: {n}" for n in range(30)] + ["stays"]})
    scanned(memory)
    state = state_of(memory)
    seen = audit.size_of(state.audit)
    found = scanned(memory, "2026-06-01T13:00:00Z").found
    policy = "[limits]\nmax_prune_fraction = 1.0\n"
    pruned(memory, policy=policy, now="2026-06-20T12:00:00Z")
    torn_at(memory, place, tail=tail)
    gone = found._replace(gone=30, known=1, then=31)
    assert vanished_words(state, gone, 0.5, log_seen=seen) == ""


@tears
@pytest.mark.parametrize("place", TORN)
def test_torn_end_is_settled_by_the_next_run(tmp_path: Path, place: int, tail: bytes) -> None:
    memory = used(tmp_path)
    torn_at(memory, place, tail=tail)
    state = state_of(memory)
    if place or tail:
        assert unfinished(state) != []
    with writing(state, memory.stat(), Options(pace=AT_ONCE)):
        pass
    assert kinds_in(audit.read_events(state.audit))[-1] == "end"
    assert audit.is_whole(state.audit) is bool(place or tail)  # cut off whole, it is missed
    assert unfinished(state) == []


@tears
def test_torn_begin_is_as_if_it_had_never_been(tmp_path: Path, tail: bytes) -> None:
    memory = used(tmp_path)
    with log_of(memory).open("ab") as f:
        f.write(b'{"v":1,"event":"begin","run":"ab' + tail)
    assert unfinished(state_of(memory)) == []
    assert pruned(memory, now="2026-06-20T12:00:00Z").warnings == ()
    assert audit.is_whole(log_of(memory))


def test_torn_line_that_reads_like_a_newer_version_is_torn(tmp_path: Path) -> None:
    memory = used(tmp_path)
    with log_of(memory).open("ab") as f:
        f.write(b'{"v":2,"event":"x"')
    assert json.loads(log_of(memory).read_bytes().splitlines()[0])["v"] == 1
    assert audit.is_whole(log_of(memory))
