"""The service and the timer: what they say, and that paths of any spelling stand in them as systemd reads them."""

from __future__ import annotations

import pytest
from scheduling import AWKWARD, as_systemd_reads, job, minutes, values

from memttl.core.schedule import Every, Job
from memttl.setup.systemd import quoted, units


def texts(**how: object) -> tuple[str, str]:
    """The texts of service and timer."""
    (_, service), (_, timer) = units(job(**how))  # type: ignore[arg-type]
    return service, timer


def test_units_are_a_service_and_its_timer_last() -> None:
    assert [name for name, _ in units(job())] == [f"memttl-prune-memory-1a2b3c4d.{end}" for end in ("service", "timer")]


@pytest.mark.parametrize("name", AWKWARD)
def test_path_of_any_spelling_comes_back_as_it_is(name: str) -> None:
    one = job(f"/srv/{name}/memory.jsonl")
    (line,) = values(units(one)[0][1], "ExecStart")
    assert as_systemd_reads(line) == list(one.words)


@pytest.mark.parametrize("path", ["/opt/$x/python", "/opt/it's/python", '/opt/"/python', "/opt/\\/python"])
def test_interpreter_whose_path_systemd_does_not_take_is_started_by_a_shell(path: str) -> None:
    words = (path, "-m", "memttl", "--file", "/srv/$y")
    (line,) = values(texts(words=words)[0], "ExecStart")
    assert as_systemd_reads(line) == ["/bin/sh", "-c", 'exec "$@"', "sh", *words]


def test_word_without_anything_odd_stands_bare() -> None:
    assert quoted("/srv/m-1/memory.jsonl", is_replaced=True) == "/srv/m-1/memory.jsonl"


@pytest.mark.parametrize(
    ("folder", "written"),
    [
        ("/srv/m", "-/srv/m"),
        ("/srv/a b", '"-/srv/a b"'),
        ("/srv/100%", "-/srv/100%%"),
        ("/srv/it's", '"-/srv/it\'s"'),
        ("/srv/back\\slash", '"-/srv/back\\slash"'),
        ('/srv/a "b"', '"-/srv/a "\'"\'"b"\'"\'""'),
    ],
)
def test_folder_stands_in_a_list_as_systemd_reads_it(folder: str, written: str) -> None:
    assert values(texts(folders=(folder,))[0], "ReadWritePaths") == [written]


def test_folders_stand_in_one_list() -> None:
    assert values(texts(folders=("/srv/m", "/var/lib/x"))[0], "ReadWritePaths") == ["-/srv/m -/var/lib/x"]


def test_variables_are_given_without_being_replaced() -> None:
    service, _ = texts(environment=(("MEMTTL_STATE_DIR", "/srv/$a 50%"),))
    assert values(service, "Environment") == ['"MEMTTL_STATE_DIR=/srv/$a 50%%"']


def test_unit_of_the_machine_runs_as_the_owner_of_the_file() -> None:
    service, _ = texts(user="anna", group="staff")
    assert (values(service, "User"), values(service, "Group")) == (["anna"], ["staff"])


def test_unit_of_a_user_names_no_user() -> None:
    assert not values(texts()[0], "User")


def test_unit_never_removes_what_other_programs_of_the_user_share() -> None:
    assert not values(texts(user="anna", group="staff")[0], "RemoveIPC")  # it would, with User=


def test_without_namespaces_nothing_stands_in_the_unit_that_needs_them() -> None:
    service, _ = texts(sandbox=False)
    for key in ("CapabilityBoundingSet", "ProtectSystem", "PrivateUsers", "PrivateNetwork", "ReadWritePaths"):
        assert not values(service, key)
    assert values(service, "SystemCallFilter")


def test_try_again_is_no_success() -> None:
    assert not values(texts()[0], "SuccessExitStatus")


@pytest.mark.parametrize(
    ("every", "calendar"),
    [
        (None, "daily"),
        (minutes(15), "*:0/15"),
        (minutes(60), "0/1:00"),
        (minutes(360), "0/6:00"),
        (minutes(10080), "weekly"),
        (Every(months=1), "*-1/1-01 00:00:00"),
        (Every(months=6), "*-1/6-01 00:00:00"),
    ],
)
def test_timer_says_how_often(every: Every | None, calendar: str) -> None:
    assert values(texts(every=every)[1], "OnCalendar") == [calendar]


def test_timer_makes_up_for_a_missed_run_and_spreads_them() -> None:
    _, timer = texts()
    assert values(timer, "Persistent") == ["true"]
    assert values(timer, "RandomizedDelaySec") == ["3600"]


def test_delay_of_a_frequent_timer_is_short() -> None:
    assert values(texts(every=minutes(15))[1], "RandomizedDelaySec") == ["75"]


def test_both_bear_the_mark() -> None:
    one: Job = job()
    assert all(text.startswith("# Written by memttl schedule;") for _, text in units(one))
