"""The policy's schema: it agrees with what memttl reads, says every key in words, and every editor can read it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft4Validator, Draft7Validator, Draft202012Validator
from pydantic import BaseModel
from support import FIXTURES

from memttl.core.durations import BadDuration, parse_duration
from memttl.core.policy_file import PolicyFile, RuleTable, TierTable
from memttl.core.policy_load import load_policy
from memttl.core.policy_schema import describe, policy_schema
from memttl.core.policy_words import WORDS
from memttl.errors import BadPolicy

SCHEMA = policy_schema()
VALIDATOR = Draft7Validator(SCHEMA)
GOOD = sorted((FIXTURES / "policy").glob("*.toml"))
BAD = sorted((FIXTURES / "policy" / "bad").glob("*.toml"))
# bad policies of which no schema can know, and why
UNKNOWABLE = {
    "no-toml": "it is no TOML",
    "archive-on-another-drive": "whether a policy lies beside the memory file is not in it",
    "archive-outside-the-folder": "whether a policy lies beside the memory file is not in it",
    "broken-pattern": "only Python knows Python's regular expressions",
    "pattern-that-repeats-too-often": "only Python knows Python's regular expressions",
    "directive-twice": "a pattern that refuses a repetition needs look-around, which not every editor's engine has",
    "unknown-default-tier": "a schema cannot compare a value with the keys of a table",
    "unknown-tier-in-a-rule": "a schema cannot compare a value with the keys of a table",
    "tiers-that-differ-only-in-case": "a schema cannot compare the keys of a table",
    "unknown-time-zone": "which time zones there are depends on the machine",
    "time-zone-outside-the-database": "which time zones there are depends on the machine",
}


def keys_of_the_models() -> set[str]:
    """Every dotted key that the policy's models know."""
    found = {f"tiers.*.{key}" for key in TierTable.model_fields} | {f"rules[].{key}" for key in RuleTable.model_fields}
    for table, field in PolicyFile.model_fields.items():
        found.add(table)
        model = field.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            found |= {f"{table}.{key}" for key in model.model_fields}
        elif get_args(model):
            found.add("tiers.*" if table == "tiers" else f"{table}[]")
    return found


def test_every_key_has_its_words_and_no_other() -> None:
    assert set(WORDS) == keys_of_the_models()


def test_words_are_sentences_without_a_full_stop() -> None:
    assert all(w.description and w.description == w.description.strip(" .\n") for w in WORDS.values())


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("rules[7].prefix", "rules[].prefix"),
        ("rules[]", "rules[]"),
        ("tiers.incident", "tiers.*"),
        ("tiers.a.b", "tiers.*"),
        ("tiers.a.b.keep_last", "tiers.*.keep_last"),
        ("tiers", "tiers"),
        ("limits.max_prune_count", "limits.max_prune_count"),
    ],
)
def test_a_key_is_described_by_its_dotted_place(key: str, words: str) -> None:
    assert describe(key) == WORDS[words].description


@pytest.mark.parametrize("key", ["nosuch", "limits.nosuch", "rules[0].nosuch", "", "."])
def test_what_no_policy_has_is_not_described(key: str) -> None:
    with pytest.raises(KeyError):
        describe(key)


def parsed(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8-sig"))


@pytest.mark.parametrize("validator", [Draft4Validator, Draft7Validator, Draft202012Validator])
def test_it_is_a_schema_in_every_draft_that_editors_read(validator: Any) -> None:
    validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == Draft7Validator.META_SCHEMA["$schema"]
    assert "$ref" not in json.dumps(SCHEMA)


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_policy_that_is_read_is_valid(path: Path) -> None:
    assert list(VALIDATOR.iter_errors(parsed(path))) == []


@pytest.mark.parametrize("path", [p for p in BAD if p.stem not in UNKNOWABLE], ids=lambda path: path.stem)
def test_a_bad_policy_is_invalid(path: Path) -> None:
    assert not VALIDATOR.is_valid(parsed(path))


@pytest.mark.parametrize("name", UNKNOWABLE)
def test_what_no_schema_can_know_is_let_through(name: str) -> None:
    path = FIXTURES / "policy" / "bad" / f"{name}.toml"
    assert name == "no-toml" or VALIDATOR.is_valid(parsed(path))


def keys_of(schema: dict[str, Any], place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every key of a schema that describes itself, with its own schema."""
    for name, inner in schema.get("properties", {}).items():
        yield f"{place}.{name}", inner
        yield from keys_of(inner, f"{place}.{name}")
    for inner in (*schema.get("anyOf", ()), schema.get("items"), schema.get("additionalProperties")):
        if isinstance(inner, dict):
            yield from keys_of(inner, place)


def test_every_key_of_the_schema_has_its_words_and_valid_values() -> None:
    keys = list(keys_of(SCHEMA))
    assert len(keys) >= len([key for key in WORDS if not key.endswith(("*", "[]"))])
    for place, inner in keys:
        assert inner["description"], place
        values = [*inner.get("examples", ()), *([inner["default"]] if "default" in inner else [])]
        assert all(Draft7Validator(inner).is_valid(value) for value in values), place


def test_defaults_are_those_of_the_built_in_policy() -> None:
    defaults = {place: inner["default"] for place, inner in keys_of(SCHEMA) if "default" in inner}
    raw: dict[str, Any] = {}
    for place, value in defaults.items():
        *tables, key = place.removeprefix(".").split(".")
        if tables != ["tiers", "session"] and "keep_last" not in place:
            (raw.setdefault(tables[0], {}) if tables else raw)[key] = value
    assert load_policy(toml_of(raw))._replace(given={}) == load_policy("")
    assert {"grace": "7d"}.items() <= raw["age"].items()


def toml_of(table: dict[str, Any]) -> str:
    """A table as TOML, all of it in one line a key."""
    return "".join(f"{_value(key)} = {_value(value)}\n" for key, value in table.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_value(k)} = {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # raw, TOML refuses it


UNITS = ["y", "yr", "years", "mo", "months", "w", "wk", "wee\u212as", "D", "days", "h", "hours", "m", "s", "", "x"]
PIECES = st.tuples(st.integers(0, 400), st.sampled_from(["", " ", "\x1f", "\x85"]), st.sampled_from(UNITS))
TEXTS = st.one_of(
    st.sampled_from(
        ["never", " Never ", "P1Y6M", "pt12h", "P", "-0", "-00", "-1d", "0", "45", "a fortnight", "permanent"]
    ),
    st.lists(PIECES, min_size=1, max_size=3).map(lambda pieces: " and ".join(f"{n}{s}{u}" for n, s, u in pieces)),
    st.lists(PIECES, min_size=1, max_size=3).map(lambda pieces: ",".join(f"{n}{s}{u}" for n, s, u in pieces)),
    st.text(st.sampled_from("0123456789ymowdhPT ,and-"), max_size=8),
)
GOOD_TEXTS = st.sampled_from(
    ["30d", " 2 Weeks ", "1y6mo", "P90D", "never", "1 year, 6 months", "12\x1fh", "3 wee\u212as"]
)
DURATIONS = st.one_of(GOOD_TEXTS, st.integers(1, 9), st.one_of(TEXTS, st.integers(-2, 10**9)))
NAMES = st.sampled_from(["session", "todo - urgent", "c++", ":x", "*", "Sprint ?"])
NAME_LISTS = st.lists(st.one_of(NAMES, NAMES, NAMES, st.text(max_size=3)), max_size=2)
FORMATS = st.lists(st.sampled_from(["%d/%m/%Y", "%B %y", "%%%Y%j", "%Y年%m月", "%H:%M %Y-%b", "%d %m"]), max_size=2)
TIERS = st.sampled_from(["session", "operational", "permanent"])
FRACTIONS = st.sampled_from([0, 1, 0.5, 0.999, 1.001])


def table(required: dict[str, st.SearchStrategy[Any]] | None = None, **keys: Any) -> st.SearchStrategy[dict[str, Any]]:
    """A table with some of these keys."""
    return st.fixed_dictionaries(required or {}, optional=keys)


POLICIES = table(
    version=st.just(1),
    timezone=st.sampled_from(["UTC", "Europe/Berlin", "z"]),
    default_tier=TIERS,
    tiers=st.dictionaries(
        st.sampled_from(["session", "a", "b.c", "für später", ""]),
        st.one_of(DURATIONS, table({"ttl": DURATIONS}, keep_last=st.integers(0, 5))),
        max_size=2,
    ),
    rules=st.lists(
        table({"tier": TIERS}, name=NAMES, prefix=NAME_LISTS, entity=NAME_LISTS, entity_type=NAME_LISTS), max_size=2
    ),
    dates=table(formats=FORMATS, labels=NAME_LISTS),
    age=table(grace=st.one_of(DURATIONS, st.sampled_from([0, "0", "-0", "0d", "p0d"])), inherit=st.booleans()),
    review=table(when_due=st.sampled_from(["expire", "list"])),
    prune=table(remove_empty_entities=st.booleans()),
    limits=table(max_prune_fraction=FRACTIONS, max_prune_count=st.integers(-1, 9), max_vanished_fraction=FRACTIONS),
    backups=table(keep=st.integers(0, 3), max_age=DURATIONS),
    archive=table(path=st.text(max_size=2), max_age=DURATIONS),
    audit=table(text=st.booleans(), max_age=DURATIONS),
    state=table(dir=st.text(max_size=2)),
)


@given(POLICIES)
def test_a_policy_that_memttl_reads_is_always_valid(raw: dict[str, Any]) -> None:
    try:
        given_values = load_policy(toml_of(raw)).given
    except BadPolicy:
        return
    assert list(VALIDATOR.iter_errors(given_values)) == []


@pytest.mark.parametrize("zero_allowed", [False, True])
@given(text=TEXTS)
@example(text="-0")
def test_a_duration_that_memttl_reads_is_always_valid(zero_allowed: bool, text: str) -> None:
    schema = (
        SCHEMA["properties"]["age"]["properties"]["grace"]
        if zero_allowed
        else SCHEMA["properties"]["tiers"]["additionalProperties"]
    )
    try:
        parse_duration(text, zero_allowed=zero_allowed)
    except BadDuration:
        return
    assert Draft7Validator(schema).is_valid(text)


def test_patterns_are_for_every_engine() -> None:
    patterns = re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', json.dumps(SCHEMA))
    assert patterns
    assert not [p for p in patterns if "(?" in p.replace("(?:", "")]
