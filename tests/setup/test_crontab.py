"""The lines of a crontab: what cron and the shell make of them, and that all other lines stay."""

from __future__ import annotations

import subprocess

import pytest
from scheduling import AWKWARD, job, minutes

from memttl.core.schedule import Every
from memttl.errors import CannotCreate
from memttl.setup.cron import block, find_block, with_block

NAME = job().name
OTHERS = "MAILTO=anna\n# mine\n*/5 * * * * echo 100\\%"


def line(**how: object) -> str:
    """The one line with a time."""
    (found,) = [row for row in block(job(**how)).splitlines() if not row.startswith("#")]  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize("name", AWKWARD)
def test_path_of_any_spelling_reaches_the_program(name: str) -> None:
    one = job(f"/srv/{name}/memory.jsonl")
    command = line(file=one.file, words=("printf", "%s", one.file)).split(" ", 5)[5]
    assert "%" not in command.replace("\\%", "")  # cron ends the line at one
    shell = command.replace("\\%", "%")  # which is all that cron undoes
    assert subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True).stdout == one.file


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
