"""The worked cases of fixtures/cases: one observation and its verdict, one line and what is cut from it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support import FIXTURES, entity, instant, judge_of, process_zone, verdicts_of, when

from memttl.core.cut import check_cut, cut_line
from memttl.core.model import Known, Verdict

ZONES = ["UTC", "America/St_Johns", "Pacific/Kiritimati"]


def cases(name: str) -> list[Any]:
    """The cases of one file, each with its name as its id."""
    lines = (FIXTURES / "cases" / name).read_text(encoding="utf-8").split("\n")
    return [pytest.param(case, id=case["name"]) for case in map(json.loads, filter(None, lines))]


def verdict_on(case: dict[str, Any]) -> Verdict:
    first_seen = instant(case["first_seen"]) if "first_seen" in case else None
    baseline = instant(case["baseline"]) if "baseline" in case else first_seen
    observations = [*case.get("siblings", ()), case["observation"]]
    line = entity(observations, name=case["entity"], kind=case["entityType"], **case.get("entity_fields", {}))
    judge = judge_of(case["policy"], now=instant(case["now"]), baseline=baseline)
    return verdicts_of(line, judge, Known(first_seen=first_seen))[-1]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("case", cases("classify.jsonl"))
def test_classify(case: dict[str, Any], zone: str) -> None:
    with process_zone(zone):
        verdict = verdict_on(case)
    expect = dict(case["expect"])
    for key, read in (("created_at", when), ("expires_at", instant)):
        expect[key] = expect[key] and read(expect[key])
    assert {key: getattr(verdict, key) for key in expect} == expect


@pytest.mark.parametrize("case", cases("cut.jsonl"))
def test_cut(case: dict[str, Any]) -> None:
    line = case["line"].encode()
    after = cut_line(line, case["remove"])
    assert after.decode() == case["expect"]
    check_cut(line, after, case["remove"])
