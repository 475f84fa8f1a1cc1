"""The chain of the audit log: what breaks it is named by line, and what a kill leaves breaks nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chains import OLD, put, removed, run_of, set_line

from memttl.core.chain import FIRST, Break, check, digest_of, event_of, line_of
from memttl.core.stubs import erased, stub


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Six lines: a run of two removals, and two settings."""
    put(tmp_path / "audit.jsonl", *run_of("a1", OLD, removed("a1"), removed("a1", "y")), set_line("p"))
    return put(tmp_path / "audit.jsonl", set_line("q"))


def broken(log: Path) -> Break:
    found = check(log.read_bytes()).broken
    assert found is not None
    return found


def lines_of(log: Path) -> list[bytes]:
    return log.read_bytes().splitlines(keepends=True)


def change(log: Path, number: int, **fields: Any) -> None:
    lines = lines_of(log)
    lines[number - 1] = line_of({**json.loads(lines[number - 1]), **fields}) + b"\n"
    log.write_bytes(b"".join(lines))


def test_whole_log_is_whole(log: Path) -> None:
    found = check(log.read_bytes())
    assert (found.lines, found.broken, found.torn, found.is_end_torn) == (6, None, (), False)


def test_no_log_is_whole() -> None:
    assert check(b"").broken is None
    assert check(b"").lines == 0


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_edited_line_is_named_with_its_run(log: Path, number: int) -> None:
    run = json.loads(lines_of(log)[number - 1])["run"]
    change(log, number, entity="F")
    assert (broken(log).line, broken(log).what, broken(log).run) == (number, "edited", run)


@pytest.mark.parametrize("number", [2, 3, 5])
def test_text_that_is_not_that_of_its_digest_is_an_edit(log: Path, number: int) -> None:
    change(log, number, raw='"other"')
    assert (broken(log).line, broken(log).what) == (number, "edited")
    assert "text" in broken(log).why


@pytest.mark.parametrize("number", [2, 3, 5])
def test_text_that_was_forgotten_is_no_edit(log: Path, number: int) -> None:
    lines = lines_of(log)
    event = json.loads(lines[number - 1])
    del event["raw"]
    lines[number - 1] = line_of(event) + b"\n"
    log.write_bytes(b"".join(lines))
    assert check(log.read_bytes()).broken is None


def test_carried_digest_that_was_edited_is_named_itself(log: Path) -> None:
    change(log, 3, prev="0" * 63 + "1")
    assert (broken(log).line, broken(log).what) == (3, "edited")


def test_line_written_in_another_way_is_an_edit(log: Path) -> None:
    lines = lines_of(log)
    lines[1] = lines[1].replace(b'"event":"removed"', b'"event":"kept","event":"removed"')
    log.write_bytes(b"".join(lines))
    assert (broken(log).line, broken(log).what) == (2, "edited")


def test_line_that_cannot_be_read_any_more_is_damaged(log: Path) -> None:
    lines = lines_of(log)
    lines[2] = lines[2][:40] + b"\n"
    log.write_bytes(b"".join(lines))
    assert (broken(log).line, broken(log).what) == (3, "damaged")


@pytest.mark.parametrize("numbers", [{1}, {2}, {2, 3}, {2, 4}, {1, 3, 5}, {3, 4, 5}])
def test_every_edited_line_is_doubtful(log: Path, numbers: set[int]) -> None:
    for number in numbers:
        change(log, number, entity="F")
    assert numbers <= check(log.read_bytes()).doubtful
    assert 6 not in check(log.read_bytes()).doubtful


def test_text_that_is_not_that_of_its_digest_makes_only_its_line_doubtful(log: Path) -> None:
    assert check(log.read_bytes()).doubtful == set()
    change(log, 2, raw='"other"')
    change(log, 5, raw='"other"')
    assert check(log.read_bytes()).doubtful == {2, 5}


@pytest.mark.parametrize("number", [2, 3, 4, 5])
def test_missing_line_shows_where_it_stood(log: Path, number: int) -> None:
    lines = lines_of(log)
    del lines[number - 1]
    log.write_bytes(b"".join(lines))
    assert broken(log).line == number - 1
    assert "missing" in broken(log).why


def test_missing_first_line_is_told(log: Path) -> None:
    log.write_bytes(b"".join(lines_of(log)[1:]))
    assert (broken(log).line, broken(log).what) == (1, "missing")


def test_lines_in_another_order_are_told(log: Path) -> None:
    lines = lines_of(log)
    lines[1], lines[2] = lines[2], lines[1]
    log.write_bytes(b"".join(lines))
    assert (broken(log).line, broken(log).what) == (2, "order changed")
    assert broken(log).why == "it belongs behind line 3"


def test_line_that_stands_twice_is_told(log: Path) -> None:
    lines = lines_of(log)
    log.write_bytes(b"".join([*lines[:3], lines[2], *lines[3:]]))
    assert (broken(log).line, broken(log).what) == (4, "order changed")


@pytest.mark.parametrize("torn", [b"{", b'{"v":1,"event":"set"', b"\x00" * 5000, b"null"])
def test_torn_line_is_counted_and_breaks_nothing(log: Path, torn: bytes) -> None:
    log.write_bytes(log.read_bytes() + torn)
    assert check(log.read_bytes()).is_end_torn
    put(log, set_line("r"))
    found = check(log.read_bytes())
    assert (found.broken, found.torn, found.is_end_torn) == (None, (7,), False)


def test_several_torn_lines_break_nothing(log: Path) -> None:
    log.write_bytes(log.read_bytes() + b"{\n\n[")
    put(log, set_line("r"))
    assert check(log.read_bytes()).torn == (7, 8, 9)
    assert check(log.read_bytes()).broken is None


def torn(log: Path) -> bytes:
    log.write_bytes(log.read_bytes() + b"{")
    put(log, set_line("r"))
    return log.read_bytes()


def test_change_of_a_torn_line_shows(log: Path) -> None:
    log.write_bytes(torn(log).replace(b"\n{\n", b"\n[\n"))
    assert (broken(log).line, broken(log).what) == (7, "damaged")


def test_change_before_a_torn_line_shows(log: Path) -> None:
    torn(log)
    change(log, 6, entity="F")
    broken(log)


def test_missing_line_before_a_torn_one_shows(log: Path) -> None:
    torn(log)
    lines = lines_of(log)
    log.write_bytes(b"".join([*lines[:5], *lines[6:]]))
    broken(log)


# stubs


def with_erased(log: Path, number: int, **fields: Any) -> None:
    lines = lines_of(log)
    line = lines[number - 1].rstrip()
    lines[number - 1] = line_of({**erased(json.loads(line), digest_of(line)), **fields}) + b"\n"
    log.write_bytes(b"".join(lines))


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 6])
def test_erased_line_carries_the_chain_on(log: Path, number: int) -> None:
    with_erased(log, number)
    assert check(log.read_bytes()).broken is None
    assert check(log.read_bytes()).erased == 1
    put(log, set_line("r"))
    assert check(log.read_bytes()).broken is None


def test_erased_line_holds_nothing_of_the_text(log: Path) -> None:
    with_erased(log, 2)
    event = json.loads(lines_of(log)[1])
    assert set(event) == {"v", "event", "run", "of", "prev", "was", "own"}
    assert (event["of"], event["run"]) == ("removed", "a1")


@pytest.mark.parametrize(
    "fields",
    [
        {"entity": "E"},
        {"raw": '"x"'},
        {"settings": {}},
        {"run": "my secret"},
        {"of": "Removed it"},
        {"time": "noon, see"},
    ],
)
def test_stub_that_holds_more_than_it_may_is_an_edit(log: Path, fields: dict[str, Any]) -> None:
    with_erased(log, 2, **fields)
    assert (broken(log).line, broken(log).what) == (2, "edited")


@pytest.mark.parametrize("fields", [{"run": "a2"}, {"of": "begin"}, {"v": 0}])
def test_stub_whose_own_words_were_edited_shows(log: Path, fields: dict[str, Any]) -> None:
    with_erased(log, 2, **fields)
    assert (broken(log).line, broken(log).what) == (2, "edited")


def test_stub_as_short_as_may_be_is_sound(log: Path) -> None:
    lines = lines_of(log)
    line = lines[1].rstrip()
    short = {"v": 1, "event": "erased", "prev": json.loads(line)["prev"], "was": digest_of(line)}
    log.write_bytes(b"".join([lines[0], line_of(short) + b"\n", *lines[2:]]))
    assert check(log.read_bytes()).broken is None


def test_stub_that_names_another_digest_shows(log: Path) -> None:
    with_erased(log, 2, was="f" * 64)
    assert broken(log).line == 2


def test_was_of_an_ordinary_line_carries_nothing(log: Path) -> None:
    change(log, 2, was=digest_of(lines_of(log)[1].rstrip()), entity="F")
    assert (broken(log).line, broken(log).what) == (2, "edited")


def test_segment_may_stand_first_alone(log: Path) -> None:
    line = line_of(stub({"event": "segment", "bytes": 5, "until": 9, "time": OLD}, prev=FIRST, was=FIRST)) + b"\n"
    assert check(line + log.read_bytes()).broken is None
    lines = lines_of(log)
    before = digest_of(lines[0].rstrip())
    middle = line_of(stub({"event": "segment", "bytes": 5, "until": 9, "time": OLD}, prev=before, was=before)) + b"\n"
    found = check(b"".join([lines[0], middle, *lines[1:]])).broken
    assert found is not None
    assert (found.line, found.what) == (2, "edited")


@pytest.mark.parametrize("line", [b"", b"null", b"[1]", b"5", b"\xff", b"[" * 100_000, b"1" * 5000])
def test_line_that_is_no_event_is_torn(line: bytes) -> None:
    assert event_of(line) is None
