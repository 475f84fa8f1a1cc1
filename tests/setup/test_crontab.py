"""The lines of a crontab: what cron and the shell make of them, and that all other lines stay."""

from __future__ import annotations

import subprocess

import pytest
from scheduling import AWKWARD, job, minutes

from memttl.core.schedule import Every
from memttl.errors import CannotCreate, UsageError
from memttl.setup.cron import block, find_block, with_block

NAME = job().name
OTHERS = "MAILTO=anna\n# mine\n*/5 * * * * echo 100\\%"


def line(**how: object) -> str:
    """The one line with a time."""
    (found,) = [row for row in block(job(**how)).splitlines() if not row.startswith("#")]  # type: ignore[arg-type]
    return found


def as_a_cron_reads(command: str, undone: str) -> str:
    """What the shell gets of a command: `undone` are the characters before which this cron removes a backslash."""
    found, rest = "", command
    while rest:
        if rest[0] == "\\" and rest[1:2] in [*undone]:
            found, rest = found + rest[1], rest[2:]
        elif rest[0] == "\\" and undone:
            found, rest = found + rest[:2], rest[2:]
        elif rest[0] == "%" and undone:
            break  # the rest goes to the standard input of the command
        else:
            found, rest = found + rest[0], rest[1:]
    return found


@pytest.mark.parametrize("name", [*AWKWARD, "a\\%b", "a\\\\b", "\\\\\\%%", "a\\", "'\\'", "%'\\"])
@pytest.mark.parametrize("undone", ["%", "%\\", ""], ids=["cronie", "Debian", "busybox"])
def test_path_of_any_spelling_reaches_the_program(name: str, undone: str) -> None:
    one = job(f"/srv/{name}/memory.jsonl")
    command = line(file=one.file, words=("printf", "%s", one.file)).split(" ", 5)[5]
    shell = as_a_cron_reads(command, undone)
    assert subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True).stdout == one.file


def test_command_as_long_as_cron_takes_it_is_written_and_a_longer_one_refused() -> None:
    fixed = len(line(file="", words=("x", "")).split(" ", 5)[5]) - 2
    assert line(words=("x", "y" * (998 - fixed)))
    with pytest.raises(UsageError, match="999 bytes long"):
        line(words=("x", "y" * (999 - fixed)))


@pytest.mark.parametrize(
    ("every", "when"),
    [
        (None, "7 3 * * *"),
        (minutes(1), "* * * * *"),
        (minutes(15), "7-59/15 * * * *"),
        (minutes(60), "7 * * * *"),
        (minutes(360), "7 1-23/6 * * *"),
        (minutes(10080), "7 3 * * 5"),
        (Every(months=1), "7 3 20 * *"),
        (Every(months=3), "7 3 20 1-12/3 *"),
        (Every(months=12), "7 3 20 1 *"),
    ],
)
def test_line_says_how_often(every: Every | None, when: str) -> None:
    assert line(every=every).startswith(f"{when} /opt/")


def test_file_of_several_users_names_the_user() -> None:
    assert line(user="anna", group="staff").startswith("7 3 * * * anna /opt/")


def test_variables_stand_before_the_command() -> None:
    assert " MEMTTL_STATE_DIR='/srv/a b' /opt/" in line(environment=(("MEMTTL_STATE_DIR", "/srv/a b"),))


def test_comment_explains_who_gets_the_mail() -> None:
    assert "MAILTO=" in block(job())


def test_lines_go_below_all_others() -> None:
    assert with_block(OTHERS, NAME, block(job())) == f"{OTHERS}\n{block(job())}"


def test_lines_put_in_again_take_the_place_of_those_of_before() -> None:
    crontab = with_block(OTHERS + "\n", NAME, block(job())) + "@daily last\n"
    new = block(job(every=minutes(60)))
    assert with_block(crontab, NAME, new) == f"{OTHERS}\n{new}@daily last\n"


def test_taking_out_leaves_the_crontab_as_it_was() -> None:
    crontab = OTHERS + "\n"
    assert with_block(with_block(crontab, NAME, block(job())), NAME, "") == crontab


def test_lines_of_another_file_stay() -> None:
    other = block(job(name="memttl-prune-other-00000000"))
    both = with_block(other, NAME, block(job()))
    assert with_block(both, NAME, "") == other


def test_lines_are_found_as_they_were_put_in() -> None:
    assert find_block(with_block(OTHERS, NAME, block(job())), NAME) == block(job())
    assert find_block(OTHERS, NAME) is None


@pytest.mark.parametrize("broken", ["begin", "end", "twice"])
def test_crontab_whose_marks_were_edited_is_refused(broken: str) -> None:
    rows = block(job()).splitlines(keepends=True)
    crontab = {"begin": rows[1:], "end": rows[:-1], "twice": rows * 2}[broken]
    with pytest.raises(CannotCreate):
        with_block("".join(crontab), NAME, "")


THEIRS = "0 5 * * * echo theirs"


def between(*rows: str, after: int) -> str:
    """A crontab with rows of somebody else among ours, after so many of these."""
    ours = block(job()).splitlines()
    return "".join(f"{row}\n" for row in ["# top", *ours[:after], *rows, *ours[after:], "# end"])


@pytest.mark.parametrize("after", range(1, 6))
def test_lines_of_somebody_else_among_ours_outlive_an_update_and_a_removal(after: int) -> None:
    crontab = between("MAILTO=me", THEIRS, "# 7 3 * * * theirs, too", after=after)
    for lines in (block(job(every=minutes(60))), ""):
        kept = [row for row in with_block(crontab, NAME, lines).splitlines() if row not in lines.splitlines()]
        assert kept == ["# top", "MAILTO=me", THEIRS, "# 7 3 * * * theirs, too", "# end"]


@pytest.mark.parametrize(("after", "is_above"), [(4, True), (5, False)])
def test_variable_among_ours_holds_for_the_same_commands_as_before(after: int, is_above: bool) -> None:
    rows = with_block(between("MAILTO=me", after=after), NAME, block(job())).splitlines()
    assert (rows.index("MAILTO=me") < rows.index(line())) is is_above


def test_command_whose_time_was_edited_is_ours() -> None:
    crontab = block(job()).replace("7 3 * * *", "9 9 * * 1-5")
    assert with_block(crontab, NAME, "") == ""


def test_what_was_added_among_ours_is_no_difference() -> None:
    assert find_block(between(THEIRS, after=5), NAME) == block(job())


def test_lines_of_two_schedules_in_one_another_are_refused() -> None:
    other = block(job(name="memttl-prune-other-00000000")).splitlines()
    with pytest.raises(CannotCreate):
        with_block(between(*other, after=5), NAME, "")
