"""Looking in passing sees what a look at the whole bytes sees, wherever it is cut; keeping a look, and its stamp."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ledgers import baseline_of, first_seen, ledger_path, opened, written
from process import FIXTURES, aged, copy_of
from pruning import events_of
from strategies import memory_files
from support import NOW, entity, relation

from memttl.core.look import KnownLines, look_at
from memttl.errors import ClockBehind, Foreign, Malformed, MemttlError, NoMemoryFile
from memttl.files import audit, looking
from memttl.files.knowledge import ledger_of
from memttl.files.lock import locked
from memttl.files.looking import Moment, keep_look, look_in_bytes, look_in_passing
from memttl.files.state import State, prepare, state_of

NOTHING = KnownLines({})
DAY = timedelta(days=1)
LINE = entity(["x", "y"])


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "memory.jsonl"


def made(memory: Path) -> State:
    """The state of a memory file, its folders made."""
    if not memory.exists():
        written(memory, {"E": ["x"]})
    state = state_of(memory)
    prepare(state, memory.stat())
    return state


def kept(memory: Path, now: datetime, clock: datetime | None = None) -> None:
    """Keep a look at the file's bytes."""
    state = made(memory)
    with locked(state, memory.stat()):
        look_in_bytes(state, memory.stat(), memory.read_bytes(), Moment(now, clock or now), lambda _: None)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=memory_files(), piece=st.sampled_from([1, 2, 3, 7, 64, 1 << 20]))
def test_in_passing_it_sees_what_the_whole_bytes_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, piece: int
) -> None:
    monkeypatch.setattr(looking, "_PIECE", piece)
    path = tmp_path / "memory.jsonl"
    path.write_bytes(data)
    aged(path)
    expected = look_at(data)
    try:
        found, stat = look_in_passing(path, NOTHING)
    except (Malformed, Foreign):
        assert expected.malformed or expected.census.other_lines
    else:
        assert found == expected
        assert stat.st_ino == path.stat().st_ino


BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize("piece", [1, 2, 4, 5, len(LINE), len(LINE) + 1, 1 << 20])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"\n\n",
        b" \n\t\n",
        BOM,
        BOM + b"\n",
        LINE,
        LINE + b"\n",
        BOM + LINE,
        BOM + LINE + b"\n" + LINE,
        LINE + b"\r\n" + entity(["z"], name="F") + b"\r\n",
        b"\n\n" + LINE + b"\n\n",
        relation("A", "B") + b"\n",
        b'{"type":"_aim"}\n' + LINE,
        BOM + b'{"type":"_aim"}\n' + LINE,
    ],
)
def test_pieces_are_cut_anywhere(memory: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, piece: int) -> None:
    monkeypatch.setattr(looking, "_PIECE", piece)
    memory.write_bytes(data)
    assert look_in_passing(aged(memory), NOTHING)[0] == look_at(data)


@pytest.mark.parametrize(
    "name", sorted(p.name for p in (FIXTURES / "memory").glob("*.jsonl") if p.stat().st_size < 100_000)
)
def test_it_refuses_what_a_prune_refuses(memory: Path, name: str) -> None:
    import json

    expected = json.loads((FIXTURES / "memory/expected.json").read_text(encoding="utf-8"))[name]["exit"]
    path = copy_of(FIXTURES / "memory" / name, memory.parent)
    try:
        look_in_passing(path, NOTHING)
        code = 0
    except MemttlError as e:
        code = e.exit_code
    assert code == expected


def test_unchanged_lines_are_known_in_passing(memory: Path) -> None:
    memory.write_bytes(LINE + b"\n" + entity(["z"], name="F"))
    known = KnownLines(dict.fromkeys([look_at(LINE).changed["E"].lines], 7))
    found = look_in_passing(aged(memory), known)[0]
    assert (found.unchanged, list(found.changed)) == ({7}, ["F"])


def test_folder_is_no_memory_file(memory: Path) -> None:
    memory.mkdir()
    with pytest.raises(NoMemoryFile):
        look_in_passing(memory, NOTHING)


def test_pipe_is_no_memory_file(memory: Path) -> None:
    os.mkfifo(memory)
    with pytest.raises(NoMemoryFile):
        look_in_passing(memory, NOTHING)


def test_first_look_logs_the_baseline(memory: Path) -> None:
    kept(memory, NOW)
    events = events_of(memory)
    assert [(e["event"], e["baseline"]) for e in events] == [("baseline", "2026-06-01T12:00:00Z")]
    assert baseline_of(memory) == NOW


def test_later_looks_log_nothing(memory: Path) -> None:
    for day in range(3):
        kept(memory, NOW + day * DAY)
    assert len(events_of(memory)) == 1


def test_baseline_that_cannot_be_logged_is_not_kept(memory: Path) -> None:
    state = made(memory)
    state.audit.unlink()
    state.audit.mkdir()
    with pytest.raises(MemttlError) as refused:
        kept(memory, NOW)
    assert refused.value.exit_code in (73, 77)
    state.audit.rmdir()
    assert baseline_of(memory) is None if ledger_path(memory).exists() else True


@pytest.mark.parametrize("later", [timedelta(0), 9 * DAY])
def test_baseline_is_never_later_than_the_one_in_the_log(memory: Path, later: timedelta) -> None:
    state = made(memory)
    with locked(state, memory.stat()), ledger_of(state, memory.stat(), lambda _: None):
        event = {"event": "baseline", "baseline": "2026-06-01T12:00:00Z"}  # logged by a run that was killed then
        audit.append(state.audit, [event], memory.stat())
    kept(memory, NOW + later)
    assert baseline_of(memory) == NOW
    assert len(events_of(memory)) == 1


def test_now_after_the_clock_is_stamped_with_the_clock(memory: Path) -> None:
    kept(memory, NOW + 400 * DAY, clock=NOW)
    assert first_seen(memory, "E") == ["2026-06-01"]


def test_stamp_never_goes_back(memory: Path) -> None:
    kept(memory, NOW)
    written(memory, {"E": ["x"], "F": ["y"]})
    kept(memory, NOW - timedelta(hours=20))
    assert first_seen(memory, "F") == ["2026-06-01"]


def test_clock_of_1970_makes_no_births(memory: Path) -> None:
    state, told = made(memory), []
    boot = datetime.fromtimestamp(86_400 * 2, NOW.tzinfo)
    with locked(state, memory.stat()):
        look = look_in_bytes(state, memory.stat(), memory.read_bytes(), Moment(NOW, boot), told.append)
    assert look is None
    assert len(told) == 1
    with opened(memory) as ledger:
        assert (ledger.baseline, ledger.newest) == (None, None)


def test_clock_of_1970_is_an_error_where_a_look_is_all_that_is_asked(memory: Path) -> None:
    state = made(memory)
    boot = datetime.fromtimestamp(86_400 * 2, NOW.tzinfo)
    with (
        locked(state, memory.stat()),
        ledger_of(state, memory.stat(), lambda _: None) as ledger,
        pytest.raises(ClockBehind),
    ):
        keep_look(ledger, state, memory.stat(), (look_at(LINE), NOTHING), Moment(NOW, boot))
    assert events_of(memory) == []


def test_look_that_is_refused_is_not_kept(memory: Path) -> None:
    kept(memory, NOW)
    before = ledger_path(memory).read_bytes()
    state = made(memory)
    with locked(state, memory.stat()), ledger_of(state, memory.stat(), lambda _: None) as ledger:
        look = look_at(entity(["z"])), ledger.known_lines()
        moment = Moment(NOW + DAY, NOW + DAY)
        found, refusal = keep_look(ledger, state, memory.stat(), look, moment, refuse=lambda met: f"{met.new} new")
    assert (found.new, refusal) == (1, "1 new")
    assert ledger_path(memory).read_bytes() == before
