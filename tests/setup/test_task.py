"""The task for Windows: well-formed, its elements named and ordered as Microsoft's schema has them."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from process import FIXTURES
from scheduling import AWKWARD, job, minutes

from memttl.core.schedule import Every
from memttl.errors import UsageError
from memttl.setup.targets import is_ours
from memttl.setup.windows import NAMESPACE, task

FIXTURE = ET.parse(FIXTURES / "schedule/task.xml").getroot()
TD = f"{{{NAMESPACE}}}"
FORMS = [None, minutes(15), minutes(120), minutes(1440 * 3), minutes(10080), Every(months=1), Every(months=3)]


def names(element: ET.Element) -> list[str]:
    return [child.tag.removeprefix(TD) for child in element]


def text(root: ET.Element, path: str) -> str | None:
    return root.findtext("/".join(f"{TD}{part}" for part in path.split("/")))


def orders(root: ET.Element) -> dict[str, list[list[str]]]:
    """The order of the children of each element, by the element's name."""
    found: dict[str, list[list[str]]] = {}
    for element in root.iter():
        if len(element):
            found.setdefault(element.tag, []).append([child.tag for child in element])
    return found


def in_order(some: list[str], whole: list[str]) -> bool:
    places = [whole.index(name) for name in some]
    return places == sorted(places)


@pytest.mark.parametrize("every", FORMS, ids=str)
def test_elements_are_those_of_the_fixture_in_its_order(every: Every | None) -> None:
    root = ET.fromstring(task(job(every=every)))
    assert (root.tag, root.attrib["version"]) == (FIXTURE.tag, FIXTURE.attrib["version"])
    whole = orders(FIXTURE)
    for name, lists in orders(root).items():
        if name.removeprefix(TD) in ("DaysOfWeek", "Months"):  # which days is another fact
            continue
        assert all(any(set(some) <= set(one) and in_order(some, one) for one in whole[name]) for some in lists), name


@pytest.mark.parametrize("name", AWKWARD)
def test_path_of_any_spelling_comes_back_as_it_is(name: str) -> None:
    one = job(rf"C:\Users\{name}\memory.jsonl", words=(r"C:\a & b\pythonw.exe", "-m", "x"))
    root = ET.fromstring(task(one))
    assert text(root, "Actions/Exec/Command") == r"C:\a & b\pythonw.exe"
    assert one.file in (text(root, "RegistrationInfo/Description") or "")


def test_argument_with_a_space_stands_in_quotes() -> None:
    root = ET.fromstring(task(job(words=("python.exe", "--file", r"C:\a b\m.jsonl"))))
    assert text(root, "Actions/Exec/Arguments") == r'--file "C:\a b\m.jsonl"'


@pytest.mark.parametrize("path", [r"C:\%TEMP%\m.jsonl", r"C:\$(Arg0)\m.jsonl"])
def test_path_that_would_be_read_as_a_variable_is_refused(path: str) -> None:
    with pytest.raises(UsageError):
        task(job(words=("python.exe", path)))


def test_missed_run_is_made_up_for() -> None:
    assert text(ET.fromstring(task(job())), "Settings/StartWhenAvailable") == "true"


def test_daily_task_starts_after_a_random_delay() -> None:
    root = ET.fromstring(task(job()))
    assert text(root, "Triggers/CalendarTrigger/RandomDelay") == "PT30M"
    assert text(root, "Triggers/CalendarTrigger/ScheduleByDay/DaysInterval") == "1"


def test_repetition_stands_without_a_random_delay_which_it_does_not_allow() -> None:
    root = ET.fromstring(task(job(every=minutes(15))))
    assert text(root, "Triggers/TimeTrigger/Repetition/Interval") == "PT15M"
    assert root.find(f".//{TD}RandomDelay") is None


def test_text_names_no_encoding_so_that_each_unicode_is_right() -> None:
    written = task(job("/srv/ünï/m.jsonl"))
    assert ET.fromstring(written.encode("utf-16")) is not None
    assert ET.fromstring(written.encode("utf-8")) is not None


def test_task_bears_the_mark() -> None:
    assert is_ours(task(job()))


def test_program_of_a_longer_path_than_the_schema_has_is_refused() -> None:
    assert task(job(words=("C:\\" + "p" * 256, "-m")))
    with pytest.raises(UsageError, match="260 characters"):
        task(job(words=("C:\\" + "p" * 257, "-m")))
