"""Births from versions: the first that held an observation dates it, whatever was around it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import AWKWARD, memory_files
from support import NOW, entity, instant, relation

from memttl.core import history
from memttl.core.digests import text_key
from memttl.core.history import EARLIEST, BirthFinder, FoundBirth, NotTaken, Version, instant_of, wanted_of
from memttl.core.memory import read_lines

MONDAY, TUESDAY, FRIDAY = instant("2026-01-05T10:00Z"), instant("2026-01-06T10:00Z"), instant("2026-01-09T10:00Z")


def file_of(**entities: list[object]) -> bytes:
    """A memory file of entities and their observations."""
    return b"".join(entity(texts, name=name) + b"\n" for name, texts in entities.items())


def met(today: bytes, *versions: Version, now: datetime = NOW) -> BirthFinder:
    finder = BirthFinder(wanted_of(today), now)
    for version in versions:
        finder.meet(version)
    return finder


def births(today: bytes, *versions: Version) -> dict[tuple[str, str], str]:
    """Entity and text -> label, of what was found."""
    texts = {(name, key): text for name, keys in wanted_of(today).items() for text, key in keys.items()}
    found = met(today, *versions).births
    return {(name, texts[name, key]): birth.label for (name, key), birth in found.items()}


def test_first_version_that_held_it_dates_an_observation() -> None:
    one, two = file_of(E=["a"]), file_of(E=["a", "b"])
    assert met(two, Version(MONDAY, "m", one), Version(TUESDAY, "t", two, (one,))).births == {
        ("E", text_key("a")): FoundBirth(MONDAY, "m"),
        ("E", text_key("b")): FoundBirth(TUESDAY, "t"),
    }


def test_only_what_is_in_todays_file_gets_a_birth() -> None:
    assert births(file_of(E=["a"]), Version(MONDAY, "m", file_of(E=["a", "gone"], F=["a"]))) == {("E", "a"): "m"}


def test_observation_that_went_and_came_back_keeps_its_first_date() -> None:
    one, none = file_of(E=["a"]), file_of(E=[])
    versions = Version(MONDAY, "m", one), Version(TUESDAY, "t", none, (one,)), Version(FRIDAY, "f", one, (none,))
    assert births(one, *versions) == {("E", "a"): "m"}


def test_of_parallel_branches_the_earliest_counts() -> None:
    none, one = file_of(E=[]), file_of(E=["a"])
    versions = Version(FRIDAY, "f", one, (none,)), Version(TUESDAY, "t", one, (none,))
    assert births(one, *versions) == births(one, *reversed(versions)) == {("E", "a"): "t"}


def test_merge_brings_only_what_no_parent_holds() -> None:
    ours, theirs, both = file_of(E=["a"]), file_of(E=["b"]), file_of(E=["a", "b", "c"])
    assert births(both, Version(FRIDAY, "f", both, (ours, theirs))) == {("E", "c"): "f"}


def test_observation_that_only_moved_within_its_entity_was_not_brought() -> None:
    assert not births(file_of(E=["a", "b"]), Version(FRIDAY, "f", file_of(E=["b", "a"]), (file_of(E=["a", "b"]),)))


def test_same_text_in_a_second_line_of_the_entity_was_not_brought() -> None:
    one = file_of(E=["a"])
    assert not births(one, Version(FRIDAY, "f", one + entity(["a"], kind="other"), (one,)))


def test_same_text_in_another_entity_is_another_observation() -> None:
    before, after = file_of(E=["a"]), file_of(E=["a"], F=["a"])
    assert births(after, Version(FRIDAY, "f", after, (before,))) == {("F", "a"): "f"}


@pytest.mark.parametrize(
    ("when", "why"),
    [
        (EARLIEST - timedelta(seconds=1), "before November 2024, when there was no memory server"),
        (NOW + timedelta(seconds=1), "after now"),
    ],
)
def test_date_that_cannot_be_is_not_taken_and_listed(when: datetime, why: str) -> None:
    one = file_of(E=["a", "b"])
    finder = met(one, Version(when, "x", one))
    assert (finder.births, finder.not_taken) == ({}, [NotTaken("x", when, 2, why)])


@pytest.mark.parametrize("when", [EARLIEST, NOW])
def test_first_and_last_possible_dates_are_taken(when: datetime) -> None:
    one = file_of(E=["a"])
    assert met(one, Version(when, "x", one)).births == {("E", text_key("a")): FoundBirth(when, "x")}


def test_version_that_dates_nothing_is_not_listed_whatever_its_date() -> None:
    one = file_of(E=["a"])
    assert not met(one, Version(EARLIEST - timedelta(days=1), "x", one, (one,))).not_taken


def test_observation_of_a_date_not_taken_can_get_another() -> None:
    one = file_of(E=["a"])
    assert births(one, Version(instant_of(0), "x", one), Version(FRIDAY, "f", one)) == {("E", "a"): "f"}


def test_malformed_lines_of_a_version_are_skipped() -> None:
    version = entity(["a"]) + b'\n{"type":"entity","name":"F","observations":["b"\n' + entity(["c"], name="G")
    finder = met(file_of(E=["a"], F=["b"], G=["c"]), Version(MONDAY, "m", version))
    assert set(finder.births) == {("E", text_key("a")), ("G", text_key("c"))}
    assert not finder.unreadable


@pytest.mark.parametrize(
    "data",
    [
        b"<<<<<<< HEAD\n",
        entity(["a"])[:-5],
        b"\n \n\xff\xfe{\n",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n",
        '{"type":"entity"}'.encode("utf-16"),
    ],
)
def test_version_without_one_good_line_is_unreadable(data: bytes) -> None:
    assert met(file_of(E=["a"]), Version(MONDAY, "m", data)).unreadable == ["m"]


@pytest.mark.parametrize("data", [b"", b"\n\n", relation("a", "b"), b"[]\n{", b'{"type":"_aim"}'])
def test_version_that_merely_holds_nothing_is_readable(data: bytes) -> None:
    finder = met(file_of(E=["a"]), Version(MONDAY, "m", data))
    assert (finder.unreadable, finder.births) == ([], {})


def test_what_a_malformed_version_lost_is_no_newer_for_it() -> None:
    one, broken = file_of(E=["a"]), file_of(E=["a"])[:-4]
    versions = Version(MONDAY, "m", one), Version(TUESDAY, "t", broken, (one,)), Version(FRIDAY, "f", one, (broken,))
    assert births(one, *versions) == {("E", "a"): "m"}


def test_bytes_around_a_text_do_not_matter() -> None:
    old = b'\xef\xbb\xbf{ "observations" : [ "\\u0061" ], "name": "E", "x": 1, "type": "entity" }\r\n'
    assert births(file_of(E=["a"]), Version(MONDAY, "m", old)) == {("E", "a"): "m"}


def test_observation_objects_are_known_by_their_text() -> None:
    today = file_of(E=[{"content": "a", "ttl": 3}, {"no": "text"}, 7])
    assert births(today, Version(MONDAY, "m", file_of(E=["a"]))) == {("E", "a"): "m"}


def test_entities_of_one_name_are_united() -> None:
    today = file_of(E=["a"]) + file_of(E=["b"]) + relation("E", "E") + b"\n{broken"
    assert wanted_of(today) == {"E": {"a": text_key("a"), "b": text_key("b")}}


def test_line_that_versions_share_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[bytes] = []
    really = history.parse_line
    monkeypatch.setattr(history, "parse_line", lambda raw, number: parsed.append(raw) or really(raw, number))
    versions = [file_of(E=["a"], **{f"F{i}": [str(i)] for i in range(n)}) for n in range(50)]
    met(
        versions[-1],
        *(Version(MONDAY, "m", data, (before,)) for before, data in pairwise(versions)),
    )
    assert len(parsed) == len(set(parsed)) == 51  # 50 entities and the empty line behind the last LF


@pytest.mark.parametrize(
    ("seconds", "year"), [(0, 1970), (-1, 1969), (253402300799, 9999), (253402300800, 9999), (10**30, 9999)]
)
def test_every_number_of_seconds_is_some_instant(seconds: int, year: int) -> None:
    assert instant_of(seconds).year == year
    assert instant_of(-(10**30)).year == 1


Held = set[tuple[str, str]]


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[datetime, bytes, list[int]]]:
    """Versions of a file, each with the places of its parents before it: none, one, or two."""
    texts = st.lists(st.sampled_from(["a", "b", "c", "\ud800", AWKWARD[9]]), max_size=4)
    line = st.builds(lambda name, some: entity(some, name=name), st.sampled_from(["E", "F"]), texts)
    broken = st.sampled_from([b"{", b"", b'{"type":"entity","name":"E","observations":["a"]', b"[]"])
    days = st.integers(-3, 40).map(lambda n: EARLIEST + timedelta(days=n))
    commits: list[tuple[datetime, bytes, list[int]]] = []
    for place in range(draw(st.integers(1, 12))):
        parents = draw(st.lists(st.integers(max(0, place - 3), place - 1), max_size=2, unique=True)) if place else []
        lines = draw(st.lists(st.one_of(line, line, line, broken), max_size=4))
        commits.append((draw(days), b"\n".join(lines), parents))
    return commits


def naively_held(data: bytes) -> Held:
    """All that a version holds, by the standard library alone."""
    held: Held = set()
    for raw in data.split(b"\n"):
        try:
            record = json.loads(raw)
        except ValueError:
            continue
        if isinstance(record, dict):
            held |= {(record["name"], text) for text in record["observations"]}
    return held


@given(histories())
def test_births_are_those_of_a_naive_reading(commits: list[tuple[datetime, bytes, list[int]]]) -> None:
    now = EARLIEST + timedelta(days=30)
    expected: dict[tuple[str, bytes], datetime] = {}
    refused = []
    held = [naively_held(data) for _, data, _ in commits]
    today = commits[-1][1]
    for (when, _, parents), holds in zip(commits, held, strict=True):
        new = (holds - set[tuple[str, str]]().union(*(held[p] for p in parents))) & held[-1]
        if not EARLIEST <= when <= now:
            refused += [len(new)] * bool(new)
            continue
        for name, text in new:
            expected[name, text_key(text)] = min(when, expected.get((name, text_key(text)), when))
    versions = [Version(when, "", data, tuple(commits[p][1] for p in parents)) for when, data, parents in commits]
    finder = met(today, *versions, now=now)
    assert {key: birth.when for key, birth in finder.births.items()} == expected
    assert [row.observations for row in finder.not_taken] == refused


@given(memory_files())
def test_every_judged_observation_is_wanted_and_found_in_its_own_file(data: bytes) -> None:
    judged = {line.record["name"] for line in read_lines(data) if line.is_judged and line.record}
    wanted = wanted_of(data)
    assert set(wanted) == judged
    found = met(data, Version(datetime(2026, 1, 1, tzinfo=UTC), "x", data)).births
    assert set(found) == {(name, key) for name, texts in wanted.items() for key in texts.values()}
