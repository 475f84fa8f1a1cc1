"""What of a damaged audit log can still be relied on, and that a new log of it is whole."""

from __future__ import annotations

from chains import OLD, YOUNG, Event, kinds_in, removed, run_of, set_line

from memttl.core.chain import check, digest_of, event_of, line_of, lines_of
from memttl.core.kept_lines import chained_anew, kept_lines
from memttl.core.stubs import erased
from memttl.core.thinning import thinned


def log_of(*events: Event) -> list[bytes]:
    return lines_of(chained_anew(events))


def joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def test_a_log_written_anew_is_whole_with_its_stubs() -> None:
    lines = log_of(*run_of("aa", OLD, removed("aa")), set_line("x"), *run_of("bb", YOUNG, removed("bb")))
    made = thinned(lines, lambda time: time == OLD, at=YOUNG, keep=0)
    assert made is not None
    lines = [*made.lines, *lines[made.taken :]]
    place = next(n for n, line in enumerate(lines) if b'"removed","run":"bb"' in line)
    lines[place] = line_of(erased(event_of(lines[place]) or {}, digest_of(lines[place])))
    damaged = joined(lines[1:])  # the summary is gone, and with it the first digest
    kept = kept_lines(damaged, is_held=True)
    assert kinds_in(kept.events) == ["set", "begin", "erased", "end"]
    assert check(chained_anew(kept.events)).broken is None
    whole = kept_lines(joined(lines), is_held=True)
    assert kinds_in(whole.events)[0] == "summary"
    assert chained_anew(whole.events) == joined(lines)
    assert whole.gap == ""


def test_a_run_without_its_begin_is_torn_apart_and_left_out() -> None:
    lines = log_of(*run_of("aa", OLD, removed("aa")), *run_of("bb", YOUNG, removed("bb")))
    kept = kept_lines(joined(lines[1:]), is_held=True)
    assert (kept.runs, kept.torn_apart, kept.left_out) == (1, ("aa",), 2)
    assert {event["run"] for event in kept.events} == {"bb"}


def test_a_run_that_lost_a_line_is_kept_and_said() -> None:
    lines = log_of(*run_of("aa", OLD, removed("aa", "x"), removed("aa", "y")), *run_of("bb", YOUNG, removed("bb")))
    kept = kept_lines(joined([*lines[:1], *lines[2:]]), is_held=True)
    assert (kept.runs, kept.lacking) == (2, ("aa",))


def test_a_run_that_has_not_ended_is_kept_for_the_next_one_to_settle() -> None:
    lines = log_of(set_line("x"), *run_of("aa", YOUNG, removed("aa"))[:2])
    assert kinds_in(kept_lines(joined(lines), is_held=True).events) == ["set", "begin", "removed"]


def test_a_line_that_stands_there_twice_counts_once() -> None:
    lines = log_of(*run_of("aa", OLD, removed("aa")))
    assert len(kept_lines(joined([lines[0], lines[1], lines[1], lines[2]]), is_held=True).events) == 3


def test_which_settings_may_be_missing_is_told_by_the_times_beside_the_gap() -> None:
    lines = log_of(set_line("x", OLD), set_line("y", OLD), set_line("z", YOUNG))
    assert kept_lines(joined([lines[0], lines[2]]), is_held=True).gap.endswith(f"made before {YOUNG} may be missing")
    assert kept_lines(joined(lines[:2]), is_held=False).gap.endswith(f"made after {OLD} may be missing")
    assert kept_lines(b"", is_held=True).gap.endswith("made so far may be missing")


def test_a_line_that_a_kill_tore_leaves_no_gap() -> None:
    (first,) = log_of(set_line("x"))
    torn = b'{"v":1,"ev'
    second = line_of({"v": 1, **set_line("y"), "prev": digest_of(torn, digest_of(first))})
    kept = kept_lines(joined([first, torn, second]), is_held=True)
    assert (kept.gap, kept.left_out, len(kept.settings)) == ("", 1, 2)


def test_a_setting_whose_text_was_edited_keeps_its_digest() -> None:
    (line,) = log_of(set_line("x"))
    kept = kept_lines(line.replace(b'"\\"x\\""', b'"\\"q\\""'), is_held=True)
    assert [(s.text, s.asked.pinned) for s in kept.settings] == [(None, True)]


def test_an_edited_line_takes_no_pin_of_an_entity_away() -> None:
    pinned: Event = {"event": "set", "entity_pin": "A*", "settings": {"pinned": True}}
    lines = log_of(pinned, {**pinned, "settings": {}}, set_line("x"))
    assert kept_lines(joined(lines), is_held=True).entity_pins == ()
    edited = [lines[0], lines[1].replace(b'"A*"', b'"A*" '), *lines[2:]]
    assert kept_lines(joined(edited), is_held=True).entity_pins == ()  # white space changes no digest
    lines[1] = lines[1].replace(b'"settings":{}', b'"settings":{"x":1}')
    kept = kept_lines(joined(lines), is_held=True)
    assert (kept.entity_pins, kept.unsure) == (("A*",), 1)


def test_an_arrival_that_may_have_been_made_older_is_left_out() -> None:
    came = {"event": "arrived", "run": "a1", "entity": "E", "digests": ["ab" * 32], "at": "2026-06-01T12:00:00Z"}
    lines = log_of(came, came, came)
    assert len(kept_lines(joined(lines), is_held=True).events) == 3
    lines[1] = lines[1].replace(b'"at":"2026', b'"at":"2020')
    assert [e["at"][:4] for e in kept_lines(joined(lines), is_held=True).events] == ["2026", "2026"]
    unreadable = log_of({**came, "digests": ["no digest"]}, came)
    assert len(kept_lines(joined(unreadable), is_held=True).events) == 1
