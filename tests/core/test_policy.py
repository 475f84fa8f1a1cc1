"""The policy: good ones are read, bad ones refused with all problems at once, and what is shown reads back the same."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from support import FIXTURES

from memttl.core.durations import NEVER, Duration
from memttl.core.policy import Policy, Tier
from memttl.core.policy_file import PolicyFile
from memttl.core.policy_load import load_policy
from memttl.core.policy_show import effective_values, policy_toml
from memttl.errors import BadPolicy, ExitCode

FOLDER = FIXTURES / "policy"
GOOD = sorted(FOLDER.glob("*.toml"))
BAD = sorted((FOLDER / "bad").glob("*.toml"))


def load(path: Path) -> Policy:
    return load_policy(path.read_text(encoding="utf-8"), path.name, beside=True)


def problems_of(text: str) -> tuple[str, ...]:
    with pytest.raises(BadPolicy) as refused:
        load_policy(text)
    return refused.value.problems


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_policy_is_read(path: Path) -> None:
    assert load(path).where == path.name


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_policy_is_refused_with_this_message(path: Path, request: pytest.FixtureRequest) -> None:
    with pytest.raises(BadPolicy) as refused:
        load(path)
    golden = path.with_suffix(".txt")
    if request.config.getoption("--update-golden"):
        golden.write_text(refused.value.message + "\n", encoding="utf-8")
    assert refused.value.message + "\n" == golden.read_text(encoding="utf-8")
    assert refused.value.exit_code == ExitCode.BAD_POLICY


def test_every_message_has_its_policy() -> None:
    assert [path.stem for path in sorted((FOLDER / "bad").glob("*.txt"))] == [path.stem for path in BAD]


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_what_is_shown_reads_back_as_the_same_policy(path: Path) -> None:
    policy = load(path)
    again = load_policy(policy_toml(policy), policy.where)
    # the built-in rule for permanent is shown, and stands behind a policy's rules anyway
    assert list(dict.fromkeys(again.rules)) == list(policy.rules)
    assert again._replace(given={}, rules=()) == policy._replace(given={}, rules=())


def test_the_built_in_policy_is_that_of_spec() -> None:
    policy = load_policy("")
    assert policy == Policy()
    assert policy.tiers == {
        "session": Tier("session", Duration(days=30)),
        "operational": Tier("operational", Duration(days=90)),
        "permanent": Tier("permanent", NEVER),
    }
    assert [(rule.label, set(rule.prefixes), rule.tier) for rule in policy.rules] == [(t, {t}, t) for t in policy.tiers]
    assert (policy.default_tier, policy.zone, policy.grace) == ("permanent", UTC, Duration(days=7))
    assert (policy.max_prune_fraction, policy.max_prune_count, policy.max_vanished_fraction) == (0.5, 1000, 0.5)
    assert (policy.backups_keep, policy.backups_max_age) == (10, Duration(days=90))
    assert (policy.archive_max_age, policy.audit_max_age) == (Duration(months=24), Duration(months=12))


def test_specs_own_example_says_what_it_says() -> None:
    policy = load(FOLDER / "spec-example.toml")
    assert policy.zone == ZoneInfo("Europe/Berlin")
    assert policy.tiers["incident"] == Tier("incident", Duration(months=12), keep_last=5)
    assert [rule.label for rule in policy.rules] == ["session notes", "rules[1]", "permanent"]
    assert [form.strptime for form in policy.formats] == ["%d/%m/%Y", "%B %Y"]
    assert policy.labels == ("Knowledge captured",)
    defaults = Policy(tiers=policy.tiers, rules=policy.rules, formats=policy.formats, labels=policy.labels)
    assert policy._replace(where="built-in", zone=UTC, given={}) == defaults


def test_a_policys_tiers_add_to_the_built_in_ones() -> None:
    tiers = load_policy('[tiers]\nsession = "2w"\nnew = 3').tiers
    assert list(tiers) == ["session", "operational", "permanent", "new"]
    assert tiers["session"].ttl == Duration(days=14)


def test_a_policys_rules_replace_the_built_in_ones_but_for_permanent() -> None:
    assert [rule.label for rule in load_policy("rules = []").rules] == ["permanent"]


def test_a_default_tier_with_a_ttl_is_a_warning() -> None:
    assert load(FOLDER / "default-tier-with-a-ttl.toml").warnings
    assert not load(FOLDER / "redefined-tiers.toml").tiers["permanent"].ttl.is_never
    assert load(FOLDER / "redefined-tiers.toml").warnings


def test_paths_are_free_in_a_policy_that_lies_elsewhere() -> None:
    text = '[archive]\npath = "/srv/archive.jsonl"\n[state]\ndir = "../state"'
    assert load_policy(text).archive_path == "/srv/archive.jsonl"


@pytest.mark.parametrize(
    "path", ["/a", "\\a", "~/a", "~a", "C:a", "c:\\a", "../a", "a/../../b", "a\\..\\b", "..", "a/.."]
)
@pytest.mark.parametrize("place", ["archive]\npath", "state]\ndir"])
def test_a_policy_beside_the_memory_file_names_no_path_outside(path: str, place: str) -> None:
    with pytest.raises(BadPolicy, match="stays inside that folder"):
        load_policy(f"[{place} = '{path}'", beside=True)


def test_all_problems_come_at_once() -> None:
    assert len(problems_of((FOLDER / "bad" / "many-at-once.toml").read_text(encoding="utf-8"))) == 11


def test_a_newer_version_is_the_only_problem_told() -> None:
    assert problems_of("version = 2\nrules = 3\nx = 1") == (
        "version = 2: this memttl knows version 1; a newer memttl wrote it",
    )


@pytest.mark.parametrize(
    "text",
    [
        "version = " + "9" * 5000,
        "x = " + "[" * 5000 + "]" * 5000,
        '[[rules]]\ntier = "session"\npattern = ["' + "(" * 5000 + ")" * 5000 + '"]',
        "[tiers]\na = " + "9" * 400,
        "[tiers]\na = nan",
        "[tiers]\na = 2026-01-01",
        "[limits]\nmax_prune_fraction = nan",
        "timezone = 3",
        'timezone = ""',
        'timezone = "Europe"',
        'timezone = "/etc/localtime"',
        'timezone = "\\u0000"',
        "\x00",
        "version = 1\nversion = 1",
        "tiers.a.b.c = 3",
        "[[tiers]]\nttl = 3",
        "[[limits]]\nmax_prune_count = 3",
        "[rules]\nprefix = 3",
    ],
    ids=range(18),
)
def test_an_odd_policy_is_refused_and_never_a_bug(text: str) -> None:
    assert problems_of(text)


def test_policies_that_say_the_same_have_one_digest() -> None:
    one, two = (
        load_policy("default_tier = 'session'\nversion = 1"),
        load_policy("version=1 # x\ndefault_tier='session'"),
    )
    assert one.digest == two.digest
    assert one.digest != load_policy("version = 1").digest


def test_what_is_shown_says_where_each_value_came_from() -> None:
    policy = load_policy('[tiers]\nsession = "2w"\n[limits]\nmax_prune_count = 7', "memttl.toml")
    sources = {(value.table, value.key): value.source for value in effective_values(policy)}
    assert sources["[tiers]", "session"] == "memttl.toml"
    assert sources["[tiers]", "permanent"] == "built-in"
    assert sources["[limits]", "max_prune_count"] == "memttl.toml"
    assert sources["[limits]", "max_prune_fraction"] == "built-in"


def test_what_is_shown_holds_every_key() -> None:
    shown = policy_toml(load_policy(""))
    for table, field in PolicyFile.model_fields.items():
        assert table in shown
        for key in getattr(field.default_factory, "model_fields", ()):
            assert key in shown


def test_odd_names_read_back() -> None:
    text = '[tiers]\n"a \\"b\\" \\u007f\\n#" = 3\n[[rules]]\nprefix = ["c\\\\d"]\ntier = "a \\"b\\" \\u007f\\n#"'
    assert load_policy(policy_toml(load_policy(text))).tiers == load_policy(text).tiers
