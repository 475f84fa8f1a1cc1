"""The property list for launchd, read back as launchd reads it."""

from __future__ import annotations

import plistlib
from pathlib import Path
from typing import Any

import pytest
from scheduling import AWKWARD, job, minutes

from memttl.core.schedule import Every
from memttl.setup.launchd import property_list
from memttl.setup.targets import is_ours

LOGS = Path("/Users/anna/Library/Logs")


def keys(**how: Any) -> dict[str, Any]:
    """The list, read back."""
    found: dict[str, Any] = plistlib.loads(property_list(job(**how), LOGS).encode())
    return found


def test_list_has_the_keys_of_a_quiet_job() -> None:
    assert keys() == {
        "Label": "memttl-prune-memory-1a2b3c4d",
        "ProgramArguments": list(job().words),
        "StartCalendarInterval": {"Hour": 3, "Minute": 7},
        "RunAtLoad": False,
        "ProcessType": "Background",
        "LowPriorityIO": True,
        "Nice": 19,
        "Umask": 0o077,
        "StandardErrorPath": "/Users/anna/Library/Logs/memttl.log",
    }


@pytest.mark.parametrize("name", AWKWARD)
def test_path_of_any_spelling_comes_back_as_it_is(name: str) -> None:
    one = job(f"/Users/{name}/memory.jsonl")
    assert keys(file=one.file, words=one.words)["ProgramArguments"] == list(one.words)


@pytest.mark.parametrize(
    ("every", "when"),
    [
        (minutes(15), {"StartInterval": 900}),
        (minutes(45), {"StartInterval": 2700}),
        (minutes(120), {"StartInterval": 7200}),
        (minutes(10080), {"StartCalendarInterval": {"Weekday": 5, "Hour": 3, "Minute": 7}}),
        (Every(months=1), {"StartCalendarInterval": {"Day": 20, "Hour": 3, "Minute": 7}}),
        (
            Every(months=6),
            {"StartCalendarInterval": [{"Month": m, "Day": 20, "Hour": 3, "Minute": 7} for m in (1, 7)]},
        ),
    ],
)
def test_list_says_how_often(every: Every, when: dict[str, Any]) -> None:
    found = keys(every=every)
    assert {key: found.get(key) for key in when} == when


def test_job_of_the_machine_runs_as_the_owner_of_the_file() -> None:
    found = keys(user="anna", group="staff")
    assert (found["UserName"], found["GroupName"]) == ("anna", "staff")


def test_variables_go_along() -> None:
    assert keys(environment=(("MEMTTL_STATE_DIR", "/a&b"),))["EnvironmentVariables"] == {"MEMTTL_STATE_DIR": "/a&b"}


def test_list_bears_the_mark() -> None:
    assert is_ours(property_list(job(), LOGS))
