"""Each memory file of fixtures/ is planned to the counts, or refused with the exit code, that expected.json tells."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support import FIXTURES, instant, plan_of

from memttl.core.apply import apply_plan
from memttl.core.memory import line_spans, read_lines
from memttl.errors import ExitCode, Foreign, Malformed

NOW = instant("2026-06-01T12:00:00Z")
FOLDER = FIXTURES / "memory"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
PLANNED = [name for name, row in EXPECTED.items() if row["exit"] == 0]
REFUSED = [name for name, row in EXPECTED.items() if row["exit"] != 0]
# what a refusal must say, where SPEC section 2 asks for a message of its own, or names the bad line
SAYS = {
    "bom-after-start": "line 2, column 1: a byte order mark",
    "chat-log": "no type",
    "comma-before-closing-bracket": "a comma before a closing bracket",
    "empty-object-alone": "empty JSON object",
    "gzip": "gzip",
    "invalid-utf8-byte": "invalid UTF-8",
    "line-blank-only-for-python": "line 2, column 1",
    "nan-number": "line 2, ",
    "nul-block-within-a-line": "line 1, column 151",
    "nul-padding": "line 4, column 1: NUL bytes",
    "one-line-array": "JSON array",
    "one-line-graph-object": "entities and relations",
    "pretty-printed-array": "JSON array",
    "pretty-printed-graph-object": "entities and relations",
    "raw-tab-and-newline-in-string": "line 3, column 1",
    "record-over-several-lines": "line 8, ",
    "stray-backslash-in-string": "line 1, column 84",
    "think-tank-underscore-type": "_type",
    "torn-head-before-a-whole-record": "line 1, ",
    "truncated-entity-tail": "line 3, column 102: the line ends in the middle",
    "truncated-graph-object": "line 1, ",
    "truncated-tail": "ends in the middle",
    "two-objects-on-one-line": "line 2, ",
    "two-observations-keys": "line 1, ",
    "two-observations-keys-one-escaped": "line 1, ",
    "utf-16-be-without-bom": "UTF-16",
    "utf-16-le-with-bom": "UTF-16",
}


def test_every_file_has_its_row() -> None:
    assert sorted(EXPECTED) == list(EXPECTED) == sorted(path.name for path in FOLDER.glob("*.jsonl"))


@pytest.mark.parametrize("name", PLANNED)
def test_is_planned_to_these_counts(name: str) -> None:
    counts = plan_of((FOLDER / name).read_bytes(), now=NOW).counts
    expected = EXPECTED[name]
    assert (counts.observations, counts.expired) == (expected["observations"], expected["expired"])


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused_and_says_why(name: str) -> None:
    with pytest.raises((Foreign, Malformed)) as refused:
        plan_of((FOLDER / name).read_bytes(), now=NOW)
    assert refused.value.exit_code == EXPECTED[name]["exit"] == ExitCode.MALFORMED
    assert SAYS[name.removesuffix(".jsonl")] in refused.value.message


@pytest.mark.parametrize("name", PLANNED)
def test_what_is_left_is_the_file_minus_whole_observations(name: str) -> None:
    data = (FOLDER / name).read_bytes()
    plan = plan_of(data, now=NOW)
    after = apply_plan(data, plan)
    gone = {(v.line, v.index) for v in plan.removals}
    touched = {line for line, _ in gone}
    for old, new in zip(read_lines(data), read_lines(after), strict=True):
        if old.number not in touched:
            assert new.raw == old.raw
            continue
        assert old.record is not None
        kept = [o for i, o in enumerate(old.record["observations"]) if (old.number, i) not in gone]
        assert new.record == old.record | {"observations": kept}
    assert [data[e:a] for _, _, e, a in line_spans(data)] == [after[e:a] for _, _, e, a in line_spans(after)]
    assert after[:3] == data[:3]


@pytest.mark.parametrize("name", PLANNED)
def test_what_is_left_has_nothing_more_to_prune(name: str) -> None:
    data = (FOLDER / name).read_bytes()
    after = apply_plan(data, plan_of(data, now=NOW))
    assert not plan_of(after, now=NOW).removals


@pytest.mark.parametrize("path", sorted((FIXTURES / "from-servers").glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_file_that_a_server_damaged_is_refused_with_every_bad_line(path: Any) -> None:
    data = path.read_bytes()
    bad = [line for line in read_lines(data) if line.kind == "malformed"]
    with pytest.raises(Malformed) as refused:
        plan_of(data, now=NOW)
    assert bad
    assert all(f"line {line.number}, column {line.column}: " in refused.value.message for line in bad)
