"""The progress bar: there for a person at a terminal when work lasts, gone before anything else is printed."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from process import FIXTURES, Terminal, copy_of, environ, memttl
from screen import lines_on

from memttl.commands.progress import DELAY_S, Bar, Stand, frame

NOW = ("--now", "2026-06-01T12:00:00Z")
EXAMPLE = FIXTURES / "memory/example.jsonl"
# memttl whose plan waits: for a bar ("bar"), for 100 frames in which there might be one (""), or for a file
SLOW = """
import os, sys, time
from memttl.commands import progress
from memttl.workflow import prune
from memttl.__main__ import main

if sys.argv[1] == "background":
    if os.fork():
        sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
    os.setpgrp()
progress.DELAY_S, progress.FRAME_S, gate = float(sys.argv[2]), 0.002, sys.argv[3]
plan = prune.make_plan

def frame(*args):
    shown.append(args)
    return draw(*args)

def has_waited(tries):
    return os.path.exists(gate) if gate not in ("", "bar") else len(shown) > 1 if gate else tries > 100

def slow(*args, **options):
    shown.clear()
    options["progress"]("judging", 1, 4)
    tries = 0
    while not has_waited(tries):
        time.sleep(0.002)
        tries += 1
    return plan(*args, **options)

shown, draw, progress.frame = [], progress.frame, frame
prune.make_plan = slow
sys.argv[:] = ["memttl", *sys.argv[4:]]
main()
"""


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return copy_of(EXAMPLE, tmp_path)


def slow(
    *words: str | Path, gate: Path | str = "bar", delay_s: float = 0, place: str = "foreground", **terminal: object
) -> Terminal:
    """A slow memttl at a terminal; `gate` is what it waits for."""
    program = ("-c", SLOW, place, str(delay_s), str(gate))
    return Terminal(*words, *NOW, program=program, with_bars=True, **terminal)  # type: ignore[arg-type]


def test_slow_run_shows_how_far_it_is_and_leaves_nothing_of_it(memory: Path, tmp_path: Path) -> None:
    terminal = slow("prune", "--dry-run", "--file", memory, gate=tmp_path / "gate")
    assert lines_on(terminal.read_until(" 25% 0:0"))[-1].startswith("judging [####")
    (tmp_path / "gate").touch()
    lines = lines_on(terminal.end().screen)
    assert lines == lines_on(Terminal("prune", "--dry-run", "--file", memory, *NOW).end().screen)
    assert lines[0].split() == ["Age", "Why", "Text"]


def test_question_stands_on_a_clean_line(memory: Path, tmp_path: Path) -> None:
    terminal = slow("prune", "--file", memory, gate=tmp_path / "gate")
    terminal.read_until("judging [")
    (tmp_path / "gate").touch()
    lines = lines_on(terminal.read_until("[y/N]: "))
    assert lines[0].split() == ["Age", "Why", "Text"]
    assert lines[-1] == f"Remove 7 observations from {memory}? [y/N]: "
    assert not [line for line in lines if "judging" in line]
    terminal.type("n\n")
    assert terminal.end().code == 0


def test_nothing_moves_while_a_question_waits(memory: Path) -> None:
    terminal = slow("prune", "--file", memory)
    asked = terminal.read_until("[y/N]: ")
    time.sleep(0.1)  # room for fifty frames
    terminal.type("n\n")
    assert terminal.end().screen.removeprefix(asked).startswith("n\r\n")  # the echo comes first, whatever moves then


def test_warning_stands_on_a_clean_line(memory: Path, tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to(memory)
    lines = lines_on(slow("prune", "--dry-run", "--file", tmp_path / "link.jsonl").end().screen)
    assert lines[0].startswith("warning: ")


def test_ctrl_c_leaves_a_clean_line(memory: Path, tmp_path: Path) -> None:
    terminal = slow("prune", "--dry-run", "--file", memory, gate=tmp_path / "never")
    terminal.read_until("judging [")
    terminal.type("\x03")
    ended = terminal.end()
    assert ended.code == 130
    assert lines_on(ended.screen) == ["memttl: Interrupted; the memory file is as it was."]


def test_error_stands_on_a_clean_line(tmp_path: Path) -> None:
    path = copy_of(EXAMPLE, tmp_path)
    path.write_bytes(path.read_bytes() + b"\n{")
    os.utime(path, (1, 1))
    ended = slow("prune", "--dry-run", "--file", path).end()
    assert ended.code == 65
    assert "judging [" in ended.screen
    assert lines_on(ended.screen)[0].startswith(f"memttl: {path}: ")


def test_document_on_stdout_is_as_ever_below_a_bar_on_stderr(memory: Path) -> None:
    ended = slow("prune", "--dry-run", "--json", "--file", memory, piped=True).end()
    assert "judging [" in ended.screen
    assert lines_on(ended.screen) == []
    assert json.loads(ended.stdout)["counts"]["removed"] == 7


def test_second_file_has_a_bar_of_its_own(tmp_path: Path) -> None:
    first, second = (copy_of(EXAMPLE, tmp_path, name=f"{n}.jsonl") for n in (1, 2))
    screen = slow("prune", "--dry-run", "--file", first, "--file", second).end().screen
    before, _, after = screen.partition("1.jsonl")
    assert "judging [" in before
    assert "judging [" in after
    assert not [line for line in lines_on(screen) if "judging" in line]


@pytest.mark.parametrize(
    ("options", "env"),
    [(["--quiet"], {}), (["--quiet", "--json"], {}), ([], {"TERM": "dumb"}), ([], {"TERM": "unknown"})],
    ids=str,
)
def test_none_for_who_wants_quiet_or_has_a_terminal_that_cannot(
    memory: Path, options: list[str], env: dict[str, str]
) -> None:
    screen = slow("prune", "--dry-run", "--file", memory, *options, env=env, gate="").end().screen
    assert "judging" not in screen
    assert "\x1b[K" not in screen


def test_none_for_a_run_in_the_background(memory: Path) -> None:
    screen = slow("prune", "--dry-run", "--file", memory, place="background", gate="").end().screen
    assert "judging" not in screen
    assert "Would remove 7" in screen


def test_none_under_half_a_second(memory: Path) -> None:
    assert DELAY_S == 0.5
    screen = slow("prune", "--dry-run", "--file", memory, delay_s=3600, gate="").end().screen
    assert screen == Terminal("prune", "--dry-run", "--file", memory, *NOW).end().screen


def test_not_a_byte_of_it_in_a_pipe(memory: Path) -> None:
    command = [sys.executable, "-c", SLOW, "foreground", "0", "", "prune", "--dry-run", "--file", str(memory), *NOW]
    ended = subprocess.run(command, env=environ(TERM="xterm-256color"), capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == (memttl("prune", "--dry-run", "--file", memory, *NOW).stdout, "")


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}], ids=str)
def test_bar_needs_neither_colour_nor_any_character_beyond_ascii(memory: Path, env: dict[str, str]) -> None:
    ended = slow("prune", "--dry-run", "--file", memory, env=env, piped=True).end()
    assert "judging [####" in ended.screen
    assert ended.screen.isascii()
    assert "m" not in ended.screen.replace("judging", "").replace("reading", "").replace("preparing the result", "")


@pytest.mark.parametrize("columns", [1, 2, 10, 20])
def test_terminal_of_hardly_any_width_keeps_one_line(memory: Path, columns: int) -> None:
    ended = slow("prune", "--dry-run", "--file", memory, columns=columns, piped=True).end()
    frames = [line for line in ended.screen.replace("\x1b[K", "").split("\r") if line]
    assert all(len(line) < columns for line in frames)
    assert lines_on(ended.screen) == []
    assert "Would remove 7 of 63" in ended.stdout


@pytest.mark.parametrize(
    "stand",
    [
        *(Stand("judging", done, 100) for done in (0, 1, 50, 99, 100)),
        Stand("recording"),
        Stand("reading version 3 of 12", 3, 12),
        Stand("judging", 0, 0),
    ],
    ids=str,
)
def test_frame_never_reaches_the_last_column(stand: Stand) -> None:
    for columns in range(1, 120):
        for passed_s in (0.5, 9.99, 61, 36_000):
            assert len(frame(stand, passed_s, columns)) < columns


def test_frame_shows_name_share_and_time() -> None:
    assert frame(Stand("judging", 30, 100), 75.2, 40) == "judging [#####..............]  30% 1:15"


def test_frame_moves_where_nobody_knows_how_much_there_is() -> None:
    assert frame(Stand("recording"), 0.5, 40) != frame(Stand("recording"), 0.6, 40)
    assert "%" not in frame(Stand("recording"), 0.5, 40)


def test_work_that_came_to_its_end_and_goes_on_moves_too() -> None:
    assert frame(Stand("judging", 100, 100), 0.5, 40) != frame(Stand("judging", 100, 100), 0.6, 40)


class Clock:
    """A clock that stands where it is put."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    """What the program's end gets, and that end: a pipe, since a terminal hands on what it got some time later."""
    screen, program = os.pipe()
    os.set_blocking(screen, False)
    yield screen, program
    for end in (screen, program):
        with contextlib.suppress(OSError):  # a test may have closed it
            os.close(end)


def got(screen: int) -> str:
    """What has come to the screen since the last look."""
    try:
        return os.read(screen, 1 << 16).decode()
    except BlockingIOError:
        return ""


def test_bar_comes_after_half_a_second_of_silence(ends: tuple[int, int], clock: Clock) -> None:
    bar = Bar(ends[1], clock=clock)
    clock.now = 0.49
    bar.draw()
    assert got(ends[0]) == ""
    clock.now = 0.5
    bar.draw()
    assert "reading [" in got(ends[0])


def test_silence_begins_anew_where_the_work_goes_on_after_something_was_printed(
    ends: tuple[int, int], clock: Clock
) -> None:
    bar = Bar(ends[1], clock=clock)
    clock.now = 10.0
    bar.draw()
    bar.clear()
    assert got(ends[0]).endswith("\r\x1b[K")
    bar.draw()
    bar.tell("judging", 1, 4)
    clock.now = 10.4
    bar.draw()
    assert got(ends[0]) == ""
    clock.now = 10.5
    bar.draw()
    assert "judging [" in got(ends[0])


def test_line_that_is_not_there_is_not_cleared(ends: tuple[int, int], clock: Clock) -> None:
    bar = Bar(ends[1], clock=clock)
    bar.clear()
    bar.end()
    assert got(ends[0]) == ""


def test_terminal_that_goes_away_is_no_trouble(ends: tuple[int, int], clock: Clock) -> None:
    bar = Bar(ends[1], clock=clock)
    clock.now = 1.0
    os.close(ends[0])
    bar.draw()
    bar.tell("judging", 1, 4)
    bar.draw()
    bar.end()


def test_window_that_gets_narrower_gets_a_shorter_bar(clock: Clock) -> None:
    screen, program = pty.openpty()
    bar = Bar(program, clock=clock)
    clock.now, shown = 1.0, b""
    for columns in (80, 30):
        fcntl.ioctl(program, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        bar.draw()
    while shown.count(b"\x1b[K") < 2:
        shown += os.read(screen, 1 << 16)
    os.close(screen)
    os.close(program)
    assert [len(line) for line in shown.replace(b"\x1b[K", b"").split(b"\r")] == [0, 72, 29]
