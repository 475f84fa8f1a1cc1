"""Properties of the parsers: none raises on any text, and the grammars agree with the standard library's."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC
from typing import TypeVar
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st
from strategies import AWKWARD, json_lookalikes, json_values, sayings, styled, texts

from memttl.core.dates import DateReader
from memttl.core.durations import BadDuration, Duration, parse_duration
from memttl.core.formats import DIRECTIVES, BadFormat, compile_format
from memttl.core.head import HeadReader
from memttl.core.marks import TailReader
from memttl.core.memory import parse_line, read_lines
from memttl.core.normal import normalise
from memttl.core.policy_file import PolicyFile
from memttl.core.policy_load import load_policy
from memttl.core.policy_show import policy_toml
from memttl.core.rules import glob
from memttl.core.spans import is_well_formed, top_level_items
from memttl.core.toml_text import toml
from memttl.errors import BadPolicy

T = TypeVar("T")
PLAIN = DateReader((), UTC)
SLOW = DateReader((compile_format("%Y##%m##%d"),), UTC)
any_text = st.one_of(texts, sayings(), st.text())


def refuse(word: str) -> None:
    raise ValueError(word)


def read_or_refused(read: Callable[[], T], refusal: type[Exception]) -> T | None:
    """What is read; None where it is refused as it may be, with words."""
    try:
        return read()
    except refusal as e:
        if not str(e):
            raise
        return None


def is_json(text: str) -> bool:
    """What JSON.parse would say: the standard library, which reads NaN too."""
    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


@given(json_lookalikes())
def test_well_formed_is_what_json_parse_takes(text: str) -> None:
    assert is_well_formed(text.encode()) == is_json(text)


@given(json_lookalikes())
def test_a_line_is_malformed_where_json_parse_refuses_it(text: str) -> None:
    line = parse_line(text.encode(), 1)
    if line.kind != "blank" and "second list" not in line.problem:
        assert (line.kind != "malformed") == is_json(text)
    assert (line.column > 0 and bool(line.problem)) == (line.kind == "malformed")


@given(st.data(), json_values)
def test_items_are_those_of_json(data: st.DataObject, value: object) -> None:
    raw = styled(data.draw, {"a": value, "\ud800": [value]})
    assert [(key, json.loads(raw[s:e])) for key, s, e in top_level_items(raw)] == [("a", value), ("\ud800", [value])]


@given(st.binary(max_size=60))
def test_any_bytes_are_lines(data: bytes) -> None:
    lines = list(read_lines(data))
    assert b"\n".join(line.raw for line in lines) == data.removeprefix(b"\xef\xbb\xbf").removesuffix(b"\n") or not lines
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))


@given(any_text)
def test_normalising_twice_is_normalising_once(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(any_text, st.lists(st.sampled_from(["session", "log", "a", "[", "1.", "ß", "-", "2026"]), max_size=3))
def test_the_quick_way_past_plain_text_sees_the_same_head(text: str, prefixes: list[str]) -> None:
    text = normalise(text)
    assert HeadReader(prefixes, PLAIN).read(text) == HeadReader(prefixes, SLOW).read(text)


@given(any_text, any_text)
def test_marks_are_those_of_the_tail_whatever_stands_before(before: str, text: str) -> None:
    reader = TailReader(["session", "permanent"], PLAIN)
    alone = reader.read(normalise(f"x {text}"))
    behind = reader.read(normalise(f"{before} x {text}"))
    assert behind.marks[len(behind.marks) - len(alone.marks) :] == alone.marks or not text.strip()


@given(
    st.text(alphabet="0123456789 -:tz+.,", max_size=30), st.sampled_from(["UTC", "Europe/Berlin", "America/St_Johns"])
)
def test_reading_a_date_never_raises(text: str, zone: str) -> None:
    found = DateReader((), ZoneInfo(zone)).at(text, 0)
    assert found is None or 0 < found.end <= len(text)


@given(st.one_of(any_text, st.text(alphabet="0123456789 ywdhmopt,andsnever-", max_size=12)))
def test_a_duration_is_read_or_refused(text: str) -> None:
    found = read_or_refused(lambda: parse_duration(text), BadDuration)
    if found is not None:
        assert not found.is_zero
        assert parse_duration(str(found)) == found


numbers = st.integers(0, 10**6)
durations = st.builds(Duration, months=numbers, days=numbers, hours=numbers, is_never=st.just(False))


@given(durations)
def test_a_durations_own_words_read_back(duration: Duration) -> None:
    assert parse_duration(str(duration), zero_allowed=True) == duration


pieces = st.one_of(st.sampled_from([f"%{d}" for d in DIRECTIVES] + ["%", "%Q", "/", " ", "  ", ", ", "ß", "年"]), texts)


@given(st.lists(pieces, max_size=6).map("".join), any_text)
def test_a_format_is_compiled_or_refused_and_then_never_raises(form: str, text: str) -> None:
    compiled = read_or_refused(lambda: compile_format(form), BadFormat)
    reader = DateReader((compiled,) if compiled else (), UTC)
    for candidate in (text, form.replace("%", "1"), "".join(c if c.isdigit() else "1" for c in text)):
        reader.at(normalise(candidate), 0)


@given(st.one_of(texts, st.text(alphabet="*?ab[]. ", max_size=8)))
def test_a_glob_without_wildcards_matches_itself(text: str) -> None:
    assert glob(text).fullmatch(normalise(text).replace("*", "").replace("?", "x"))


values = st.one_of(
    st.sampled_from(["30d", "never", "", "UTC", "session", "expire", "%d/%m/%Y", 0, 1, -1, 0.5, True, False]),
    st.sampled_from([s for s in AWKWARD if s.isprintable()]),
    st.lists(st.sampled_from(["session", "x", "", "[x]", "(", "%Y-%m", "*"]), max_size=2),
)
tables = {name: field.default_factory for name, field in PolicyFile.model_fields.items() if field.default_factory}
places = st.sampled_from(
    [(t, key) for t, model in tables.items() for key in getattr(model, "model_fields", ())]
    + [("tiers", "x"), ("tiers", "session")]
)


@given(
    st.dictionaries(places, values, max_size=6),
    st.dictionaries(st.sampled_from(["tier", "prefix", "entity", "pattern"]), values),
)
def test_a_policy_is_read_or_refused_and_reads_back(
    given_values: dict[tuple[str, str], object], rule: dict[str, object]
) -> None:
    lines = [f"{table}.{key} = {toml(value)}" for (table, key), value in given_values.items()]
    lines += ["[[rules]]", *(f"{key} = {toml(value)}" for key, value in rule.items())] if rule else []
    policy = read_or_refused(lambda: load_policy("\n".join(lines), "x"), BadPolicy)
    if policy is not None:
        again = load_policy(policy_toml(policy), "x")
        assert again._replace(given={}, rules=()) == policy._replace(given={}, rules=())
        assert list(dict.fromkeys(again.rules)) == list(policy.rules)


@given(st.text(alphabet=st.sampled_from('tiers.limax_ps=[]{}"\n 0123456789,#\\'), max_size=40))
def test_any_text_is_a_policy_or_refused(text: str) -> None:
    read_or_refused(lambda: load_policy(text), BadPolicy)
