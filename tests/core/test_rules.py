"""Rules: conditions, their order, globs and patterns; filters and names choose by the same globs."""

from __future__ import annotations

import json
import re

import pytest
from support import tried_on, verdict_of

from memttl.core.selection import match_names, text_matcher
from memttl.errors import UnknownEntity, UsageError


def rules(*tables: str) -> str:
    return "".join(f'[[rules]]\ntier = "session"\n{table}\n' for table in tables)


def rule_of(observation: object, policy: str, **options: object) -> str | None:
    return verdict_of(observation, policy, **options).rule  # type: ignore[arg-type]


def test_the_first_match_wins() -> None:
    policy = rules('name = "a"\nprefix = ["x"]', 'name = "b"\nprefix = ["x", "y"]')
    assert (rule_of("x: 1", policy), rule_of("y: 1", policy)) == ("a", "b")


def test_the_order_of_rules_decides_between_two_prefixes() -> None:
    policy = rules('name = "a"\nprefix = ["todo"]', 'name = "b"\nprefix = ["todo - urgent"]')
    assert rule_of("todo - urgent: 1", policy) == "a"


def test_all_conditions_must_hold() -> None:
    policy = rules('name = "a"\nprefix = ["x"]\nentity = ["Sprint *"]\nentity_type = ["task"]\npattern = ["[0-9]"]')
    assert rule_of("x: 1", policy, name="Sprint 7", kind="Task") == "a"
    assert rule_of("y: 1", policy, name="Sprint 7", kind="Task") is None
    assert rule_of("x: 1", policy, name="Sprints", kind="Task") is None
    assert rule_of("x: 1", policy, name="Sprint 7", kind="bug") is None
    assert rule_of("x: one", policy, name="Sprint 7", kind="Task") is None


def test_any_value_of_a_condition_will_do() -> None:
    policy = rules('name = "a"\nentity_type = ["task", "bug"]')
    assert [rule_of("x", policy, kind=kind) for kind in ("task", "bug", "note")] == ["a", "a", None]


def test_a_rule_without_a_name_is_called_by_its_place() -> None:
    assert rule_of("y: 1", rules('prefix = ["x"]', 'prefix = ["y"]')) == "rules[1]"


@pytest.mark.parametrize(
    ("glob", "name"),
    [
        ("Sprint *", "sprint 7"),
        ("*", ""),
        ("s?", "SX"),
        ("a.b", "A.B"),
        ("[x]", "[X]"),
        ("*\n*", "a\nb"),
        ("straße", "STRASSE"),
        ("cafe\u0301*", "CAFÉ 7"),
        ("*notes*", "my notes, old"),
        ("a\\b", "A\\B"),
    ],
)
def test_a_glob_matches(glob: str, name: str) -> None:
    assert rule_of("x", rules(f"entity = [{json.dumps(glob)}]"), name=name) is not None


@pytest.mark.parametrize(
    ("glob", "name"), [("Sprint *", "Sprint"), ("s?", "s"), ("a.b", "axb"), ("[x]", "x"), ("", "x"), ("x", "xx")]
)
def test_a_glob_matches_whole_names_only(glob: str, name: str) -> None:
    assert rule_of("x", rules(f"entity = ['{glob}']"), name=name) is None


@pytest.mark.parametrize("kind", [None, 3, ["task"], {}])
def test_an_entity_type_that_is_no_text_matches_no_glob(kind: object) -> None:
    assert rule_of("x", rules('entity_type = ["*"]'), kind=kind) is None


@pytest.mark.parametrize(
    ("pattern", "found"), [("tmp$", True), ("^tried", False), ("TMP", False), ("(?i)TMP", True), ("t.p", True)]
)
def test_a_pattern_is_searched_in_the_text_as_written(pattern: str, found: bool) -> None:
    assert (rule_of("Tried /tmp", rules(f"pattern = ['{pattern}']")) is not None) == found


def test_a_policys_rules_replace_the_built_in_ones() -> None:
    assert rule_of("[session] x", rules('prefix = ["temp"]')) is None


def test_no_rules_at_all_leave_the_prefix_permanent() -> None:
    assert rule_of("[session] x", "rules = []") is None
    assert rule_of("[permanent] x", "rules = []") == "permanent"


def test_a_rule_of_the_policy_goes_before_the_prefix_permanent() -> None:
    assert rule_of("[permanent] x", rules('name = "a"\nentity = ["*"]')) == "a"


def test_explain_is_told_why_each_rule_did_not_match() -> None:
    policy = rules('prefix = ["x"]', 'entity = ["x"]', 'entity_type = ["x"]', 'pattern = ["x"]', 'prefix = ["y"]')
    notes = [tried.note for tried in tried_on("y: 1", policy) if tried.kind == "rule"]
    assert notes == [
        "no such prefix",
        "another entity",
        "another entity type",
        "the pattern is not found",
        "names the tier session",
    ]


NAMES = frozenset({"Sprint 1", "Sprint 2", "sprint 3", "a*", "ab"})


def test_an_exact_name_goes_before_a_glob() -> None:
    assert match_names("a*", NAMES) == {"a*"}


def test_a_glob_of_names_minds_case() -> None:
    assert match_names("Sprint *", NAMES) == {"Sprint 1", "Sprint 2"}


def test_an_unknown_name_is_told_a_near_one() -> None:
    with pytest.raises(UnknownEntity, match=re.escape('(did you mean "Sprint 1"?)')):
        match_names("Sprnt 1", NAMES)


@pytest.mark.parametrize(
    ("options", "text", "matches"),
    [
        ({}, "REDIS", True),
        ({}, "re", True),
        ({}, "postgres", False),
        ({"exact": True}, "Tried Redis", True),
        ({"exact": True}, "Redis", False),
        ({"pattern": True}, "R.dis$", True),
        ({"pattern": True}, "r.dis", False),
    ],
)
def test_texts_are_chosen_by_substring_whole_or_pattern(options: dict[str, bool], text: str, matches: bool) -> None:
    assert text_matcher(text, **options)("Tried Redis") is matches


@pytest.mark.parametrize("pattern", ["(", "a{99999999999999}", "(" * 5000 + ")" * 5000])
def test_a_broken_pattern_is_a_usage_error(pattern: str) -> None:
    with pytest.raises(UsageError):
        text_matcher(pattern, pattern=True)
