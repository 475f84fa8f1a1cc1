"""Thinning a log that lies on the disk: when, how far, and that a kill leaves the old log or the new one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from chains import kinds_in, put, removed, run_of, set_line
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from ledgers import die, in_killed_child, pin, scanned, written
from pruning import at, pruned

from memttl.core.chain import digest_of, event_of, line_of, lines_of
from memttl.core.stubs import erased
from memttl.errors import CannotCreate
from memttl.files import audit
from memttl.files.audit_head import head_path, read_head
from memttl.files.knowledge import knowledge_of
from memttl.files.state import State, prepare, state_of
from memttl.files.thin_log import thin_log

NOW = datetime(2026, 11, 1, tzinfo=UTC)
YEAR = timedelta(days=365)
OLD, YOUNG = "2025-01-05T12:00:00.000Z", "2026-10-30T12:00:00.000Z"


@pytest.fixture
def state(tmp_path: Path) -> State:
    memory = written(tmp_path / "memory.jsonl", {"A": ["x"]})
    prepare(state_of(memory), memory.stat())
    return state_of(memory)


def old_runs(state: State, count: int = 12, *, removals: int = 3) -> None:
    for i in range(count):
        put(state.audit, *run_of(f"a{i:x}", OLD, *[removed(f"a{i:x}", f"text {n}") for n in range(removals)]))


def young_runs(state: State, count: int = 10) -> None:
    for i in range(count):
        put(state.audit, *run_of(f"b{i:x}", YOUNG, removed(f"b{i:x}")))


def kinds(state: State) -> list[str]:
    return kinds_in(audit.read_events(state.audit))


def is_whole(state: State) -> bool:
    return audit.is_whole(state.audit)


def test_runs_older_than_the_age_are_thinned(state: State) -> None:
    old_runs(state)
    young_runs(state)
    assert thin_log(state, YEAR, NOW) == 12
    assert kinds(state)[:14] == ["segment", *["summary"] * 12, "begin"]
    assert is_whole(state)


@pytest.mark.parametrize("max_age", [None, timedelta(days=3650), timedelta(days=10**6)])
def test_never_and_a_longer_age_keep_everything(state: State, max_age: timedelta | None) -> None:
    old_runs(state)
    young_runs(state)
    before = state.audit.read_bytes()
    assert thin_log(state, max_age, NOW) == 0
    assert state.audit.read_bytes() == before


def test_log_of_little_that_is_old_is_not_rewritten(state: State) -> None:
    old_runs(state, 1, removals=1)
    young_runs(state, 40)
    assert thin_log(state, YEAR, NOW) == 0
    old_runs(state, 1, removals=1)  # behind the young ones
    assert thin_log(state, YEAR, NOW) == 0


def test_second_thinning_waits_until_there_is_enough_again(state: State) -> None:
    old_runs(state, 30)
    young_runs(state)
    assert thin_log(state, YEAR, NOW) == 30
    inode = state.audit.stat().st_ino
    assert thin_log(state, YEAR, NOW) == 0
    assert state.audit.stat().st_ino == inode
    put(state.audit, *(e for i in range(10) for e in run_of(f"c{i}", "2027-10-30T12:00:00.000Z")))
    assert thin_log(state, YEAR, datetime(2027, 11, 2, tzinfo=UTC)) == 10
    assert is_whole(state)


def test_clock_that_stands_far_ahead_takes_nothing_at_once(state: State) -> None:
    young_runs(state, 30)
    put(state.audit, *run_of("c1", "2099-01-01T00:00:00.000Z"))
    ahead = datetime(2099, 1, 1, tzinfo=UTC)
    assert thin_log(state, YEAR, ahead) == 0
    put(state.audit, *run_of("c2", "2099-01-01T00:00:01.000Z"))
    assert thin_log(state, YEAR, ahead) == 22  # and the newest ten stay
    assert kinds(state).count("removed") == 8


def test_edited_log_is_left_as_it_is(state: State) -> None:
    old_runs(state)
    young_runs(state)
    state.audit.write_bytes(state.audit.read_bytes().replace(b"text 1", b"text 7", 1))
    before = state.audit.read_bytes()
    assert thin_log(state, YEAR, NOW) == 0
    assert state.audit.read_bytes() == before


def test_log_that_was_cut_at_its_end_is_left_as_it_is(state: State) -> None:
    old_runs(state)
    young_runs(state)
    state.audit.write_bytes(b"".join(state.audit.read_bytes().splitlines(keepends=True)[:-1]))
    assert thin_log(state, YEAR, NOW) == 0


def test_edit_of_what_is_young_hinders_nothing(state: State) -> None:
    old_runs(state)
    young_runs(state)
    state.audit.write_bytes(state.audit.read_bytes().replace(b'"b1"', b'"bb"'))
    assert thin_log(state, YEAR, NOW) == 12


def test_mode_stays(state: State) -> None:
    old_runs(state)
    young_runs(state)
    state.audit.chmod(0o600)
    thin_log(state, YEAR, NOW)
    assert state.audit.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("make", [lambda p: p.unlink(), lambda p: (p.unlink(), p.mkdir())], ids=["none", "folder"])
def test_log_that_is_not_there_or_is_none_fails_no_run(state: State, make: Callable[[Path], object]) -> None:
    make(state.audit)
    assert thin_log(state, YEAR, NOW) == 0


def test_last_noted_line_holds_after_a_thinning(state: State) -> None:
    old_runs(state)
    young_runs(state)
    head = read_head(state.audit)
    thin_log(state, YEAR, NOW)
    assert read_head(state.audit) == head
    assert head is not None
    assert head.size == audit.size_of(state.audit) > state.audit.stat().st_size
    state.audit.write_bytes(b"".join(state.audit.read_bytes().splitlines(keepends=True)[:-1]))
    assert not is_whole(state)


def test_size_known_before_a_thinning_still_tells_what_came_since(state: State) -> None:
    old_runs(state)
    put(state.audit, set_line("p", YOUNG))
    young_runs(state)
    known = audit.size_of(state.audit)
    put(state.audit, set_line("q", YOUNG))
    thin_log(state, YEAR, NOW)
    assert kinds_in(audit.read_events(state.audit, after=known)) == ["set"]
    put(state.audit, set_line("r", YOUNG))
    assert kinds_in(audit.read_events(state.audit, after=known)) == ["set", "set"]


def test_size_from_within_what_was_thinned_gives_all(state: State) -> None:
    put(state.audit, set_line("p", OLD))
    known = audit.size_of(state.audit)
    put(state.audit, set_line("q", OLD))
    old_runs(state)
    young_runs(state)
    thin_log(state, YEAR, NOW)
    assert kinds_in(audit.read_events(state.audit, after=known)).count("set") == 2


def test_baseline_that_only_the_first_run_tells_is_kept(state: State) -> None:
    from memttl.files.rebuild import baseline_in_log

    old_runs(state)
    young_runs(state)
    before = baseline_in_log(state)
    thin_log(state, YEAR, NOW)
    assert baseline_in_log(state) == before == datetime(2025, 1, 5, 12, tzinfo=UTC)


# kills


@pytest.mark.parametrize("name", ["thinned", "new log written", "log replaced"])
def test_kill_leaves_the_old_log_or_the_new_one(state: State, name: str) -> None:
    old_runs(state)
    put(state.audit, set_line("p", OLD))
    young_runs(state)
    before = state.audit.read_bytes()
    known = audit.size_of(state.audit)
    in_killed_child(lambda: thin_log(state, YEAR, NOW, step=at(name, die)))
    assert is_whole(state)
    assert (state.audit.read_bytes() == before) is (name != "log replaced")
    assert audit.size_of(state.audit) == known
    assert kinds(state).count("set") == 1
    put(state.audit, *run_of("c1", YOUNG))
    assert thin_log(state, YEAR, NOW) == (0 if name == "log replaced" else 12)
    assert is_whole(state)
    assert sorted(os.listdir(state.kept)) == ["audit.head", "audit.jsonl", "backups"]


@pytest.mark.parametrize("name", ["thinned", "new log written", "log replaced"])
def test_kill_while_thinning_loses_no_setting(tmp_path: Path, name: str) -> None:
    memory = written(tmp_path / "memory.jsonl", {"A": ["x", "y", "z"]})
    state = state_of(memory)
    scanned(memory)
    pin(memory, "A", "x")
    old_runs(state)
    young_runs(state)
    # one that the ledger has not taken over yet
    put(state.audit, set_line("y", YOUNG) | {"entity": "A"})
    in_killed_child(lambda: thin_log(state, YEAR, NOW, step=at(name, die)))
    with knowledge_of(state, must_know=True) as knowledge:
        assert {s.text for s in knowledge.settings} == {"x", "y"}
    thin_log(state, YEAR, NOW)
    state.ledger.unlink()
    with knowledge_of(state, must_know=True) as knowledge:
        assert {s.text for s in knowledge.settings} == {"x", "y"}


def test_applied_prune_thins_the_log(tmp_path: Path) -> None:
    memory = written(tmp_path / "memory.jsonl", {"A": ["[session] 2026-01-01: x", "y", "z"]})
    state = state_of(memory)
    scanned(memory)
    old_runs(state, 30)
    put(state.audit, *(e for i in range(9) for e in run_of(f"b{i}", datetime.now(UTC).isoformat())))
    assert pruned(memory).run is not None
    assert kinds(state).count("summary") == 30
    assert is_whole(state)
    with knowledge_of(state, must_know=True) as knowledge:
        assert knowledge.vanished(memory.read_bytes(), 0.5) == ""


# any order of things

_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("run"), st.integers(0, 3)),
        st.tuples(st.just("tried"), st.integers(0, 2)),
        st.tuples(st.just("set"), st.integers(0, 4)),
        st.tuples(st.just("told"), st.integers(0, 2)),
        st.tuples(st.just("erase"), st.integers(0, 40)),
        st.tuples(st.just("tear"), st.integers(1, 200)),
        st.tuples(st.just("thin"), st.integers(0, 40)),
    ),
    max_size=14,
)


def _erase(log: Path, number: int) -> None:
    """Put a stub in place of one line, as forget does."""
    data = log.read_bytes()
    segment = audit.segment_in(data)
    body = data[segment.length :]
    lines = body.split(b"\n")
    kinds = [str((event_of(line) or {}).get("event")) for line in lines[:-1]]
    places = [n for n, kind in enumerate(kinds) if kind in ("removed", "set")]
    if not places:
        return
    place = places[number % len(places)]
    lines[place] = line_of(erased(json.loads(lines[place]), digest_of(lines[place])))
    audit.rewrite(log, b"\n".join(lines), time=OLD)


def _play(log: Path, steps: list[tuple[str, int]], thin: Callable[[int], object]) -> None:
    """Do all of it, on a log that has begun."""
    put(log, {"event": "baseline", "time": OLD, "baseline": OLD})
    for number, (what, size) in enumerate(steps):
        day = f"2025-{number + 1:02}-01T00:00:00.000Z" if number < 12 else "2026-01-01T00:00:00.000Z"
        run = f"{number + 10:x}"
        if what in ("run", "tried"):
            put(log, *run_of(run, day, *[removed(run, f"t{n}") for n in range(size)], applied=what == "run"))
        elif what == "set":
            put(log, set_line(f"s{size}", day, run))
        elif what == "told":
            put(log, {"event": ("baseline", "accepted", "forgotten")[size], "time": day, "baseline": day})
        elif what == "erase":
            _erase(log, size)
        elif what == "tear":
            with log.open("ab") as f:
                f.write((b'{"v":1,"event":"set","run":"x' + b"\x00" * 200)[:size])
        elif what == "thin":
            thin(size)


def _settings_in(data: bytes) -> list[bytes]:
    return [line for line in lines_of(data) if (event_of(line) or {}).get("event") == "set"]


def _thinner(log: Path) -> Callable[[int], object]:
    from memttl.core.thinning import thinned

    def thin(months: int) -> None:
        data = log.read_bytes()
        before = _settings_in(data)
        cutoff = f"2025-{months:02}-15"
        made = thinned(lines_of(data), lambda time: time < cutoff, at=YOUNG, keep=months % 3)
        if made is not None:
            end = sum(len(line) + 1 for line in lines_of(data)[: made.taken])
            body = b"".join(line + b"\n" for line in made.lines) + data[end:]
            audit.rewrite(log, body, until=audit.segment_in(data).logical(end), time=YOUNG)
        assert _settings_in(log.read_bytes()) == before

    return thin


_QUICK: dict[str, Any] = {"phases": [p for p in Phase if p is not Phase.shrink]}


@settings(**_QUICK)
@given(_STEPS)
def test_chain_holds_whatever_was_added_thinned_and_erased(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    log = tmp_path_factory.mktemp("log") / "audit.jsonl"
    _play(log, steps, _thinner(log))
    assert audit.is_whole(log)
    put(log, set_line("end"))
    assert audit.is_whole(log)


@settings(**_QUICK)
@given(_STEPS, st.integers(0, 10**6), st.integers(1, 255))
def test_any_changed_byte_shows(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]], place: int, change: int
) -> None:
    log = tmp_path_factory.mktemp("log") / "audit.jsonl"
    _play(log, steps, _thinner(log))
    put(log, set_line("end"))
    data = bytearray(log.read_bytes())
    place %= len(data) - 1  # the last LF alone may be missing: a kill takes it
    data[place] ^= change
    log.write_bytes(data)
    try:
        assert not audit.is_whole(log)
    except CannotCreate:
        return  # it says that a newer memttl wrote it


@settings(**_QUICK)
@given(_STEPS, st.integers(0, 10**6))
def test_any_missing_line_shows(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]], place: int
) -> None:
    log = tmp_path_factory.mktemp("log") / "audit.jsonl"
    _play(log, steps, _thinner(log))
    put(log, set_line("end"))
    lines = log.read_bytes().splitlines(keepends=True)
    gone = lines.pop(place % len(lines))
    assume(b'"bytes":0,' not in gone)  # a segment line that says that nothing was taken out
    log.write_bytes(b"".join(lines))
    assert not audit.is_whole(log)


def test_note_that_is_torn_or_gone_is_no_edit(state: State) -> None:
    young_runs(state)
    for note in (b"", b"\x00" * 100, b'{"size":', head_path(state.audit).read_bytes()[:-30], b"null"):
        head_path(state.audit).write_bytes(note)
        assert read_head(state.audit) is None
        assert is_whole(state)
    put(state.audit, set_line("p"))
    assert read_head(state.audit) is not None
    head_path(state.audit).unlink()
    assert is_whole(state)


def test_note_may_lag_behind(state: State) -> None:
    young_runs(state, 1)
    note = head_path(state.audit).read_bytes()
    young_runs(state, 1)
    head_path(state.audit).write_bytes(note)
    assert is_whole(state)
    put(state.audit, set_line("p"))
    assert head_path(state.audit).read_bytes() != note


def test_log_that_was_cut_stays_to_be_seen(state: State) -> None:
    young_runs(state)
    state.audit.write_bytes(b"".join(state.audit.read_bytes().splitlines(keepends=True)[:-3]))
    assert not is_whole(state)
    for _ in range(5):
        put(state.audit, *run_of("c1", YOUNG, removed("c1")))
    assert not is_whole(state)


def test_link_in_place_of_the_note_is_not_followed(state: State, tmp_path: Path) -> None:
    head_path(state.audit).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Exception, match="a link stands in its place"):
        put(state.audit, set_line("p"))
    assert not (tmp_path / "elsewhere").exists()
