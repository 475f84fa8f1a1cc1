"""Properties of the core that hold for every file, policy and instant (DESIGN.md, section 5)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import INHERIT, KEEP_LAST, NOW, POLICIES, entity_lines, memory_files, some_days_later, subsets, texts
from support import judge_of, plan_of, process_zone

from memttl.core.apply import apply_plan
from memttl.core.classify import explain_entity, judge_entity
from memttl.core.cut import check_cut, cut_line
from memttl.core.evidence import Evidence
from memttl.core.judge import Judge
from memttl.core.memory import parse_line, read_lines
from memttl.core.model import Known, Line, Verdict
from memttl.errors import Foreign

files, files_of_the_past = memory_files(), memory_files(later=False)
policies = st.sampled_from([*POLICIES, KEEP_LAST, INHERIT])
steady_policies = st.sampled_from(POLICIES)
BASELINE = datetime.fromisoformat("2026-01-01T00:00:00Z")


def known_of(entity: str, text: str) -> Known:
    """A ledger that has seen most texts, on days that depend on nothing but the text."""
    days = sum(map(ord, entity + text)) % 200
    return Known(BASELINE + timedelta(days=days - 50)) if days < 150 else Known()


def judged(data: bytes, judge: Judge) -> Iterator[tuple[Verdict, Evidence | None]]:
    for line in read_lines(data):
        if line.is_judged:
            yield from explain_entity(line, judge, known_of)


def places(data: bytes, policy: str, *, now: datetime = NOW) -> set[tuple[int, int]]:
    """(line, index) of what goes, by a ledger and without one."""
    return {(v.line, v.index) for v in plan_of(data, policy, now=now, known_of=known_of).removals}


def exact(line: bytes) -> Any:
    """JSON with the order of its keys, its duplicates and the spelling of its numbers."""
    return json.loads(line, object_pairs_hook=lambda pairs: ("object", pairs), parse_float=str, parse_int=str)


def without(line: bytes, gone: set[int]) -> Any:
    kind, pairs = exact(line)
    return kind, [(k, [o for i, o in enumerate(v) if i not in gone] if k == "observations" else v) for k, v in pairs]


def is_subsequence(short: bytes, long: bytes) -> bool:
    rest = iter(long)
    return all(byte in rest for byte in short)


def content(lines: list[Line]) -> list[Line]:
    return [line._replace(raw=line.raw.removesuffix(b"\r")) for line in lines if line.kind != "blank"]


@given(files, policies)
def test_the_output_is_the_input_minus_whole_elements(data: bytes, policy: str) -> None:
    plan = plan_of(data, policy, known_of=known_of)
    after = list(read_lines(apply_plan(data, plan)))
    whole = {removal.line for removal in plan.lines}
    before = [line for line in read_lines(data) if line.number not in whole]
    if whole:  # line ends may go with them: tests/core/test_empty.py has those
        before, after = content(before), content(after)
    for old, new in zip(before, after, strict=True):
        gone = {v.index for v in plan.removals if v.line == old.number}
        assert is_subsequence(new.raw, old.raw)
        assert exact(new.raw) == without(old.raw, gone) if gone else new.raw == old.raw


@given(files, policies)
def test_whatever_goes_is_expired_and_has_a_reason(data: bytes, policy: str) -> None:
    for verdict in plan_of(data, policy, known_of=known_of).removals:
        assert verdict.expired
        assert verdict.expires_at is not None
        assert verdict.expires_at <= NOW
        assert verdict.action == "prune"
        assert verdict.reason


@given(files, policies)
def test_unknown_ages_pins_unreadable_marks_and_never_tiers_never_go(data: bytes, policy: str) -> None:
    judge = judge_of(policy)
    for verdict, evidence in judged(data, judge):
        dated = evidence is not None and (evidence.expires is not None or evidence.review_by is not None)
        timed = evidence is not None and evidence.own_ttl is not None
        kept = [
            verdict.tier is None,
            verdict.pinned,
            bool(verdict.warning),
            verdict.age_source == "unknown" and not dated,
            verdict.tier is not None and judge.policy.tiers[verdict.tier].ttl.is_never and not (dated or timed),
        ]
        assert not (verdict.expired and any(kept))


@given(files, policies)
def test_every_observation_has_one_verdict_with_a_reason(data: bytes, policy: str) -> None:
    for line in read_lines(data):
        if line.is_judged and line.record:
            verdicts = judge_entity(line, judge_of(policy), known_of)
            assert [(v.line, v.index) for v in verdicts] == [
                (line.number, i) for i in range(len(line.record["observations"]))
            ]
            assert all(v.reason for v in verdicts)
            assert all((v.action == "prune") == v.expired for v in verdicts)


# not with `inherit`: an entity of two dates that loses one has an only date from then on
@given(files, st.sampled_from([*POLICIES, KEEP_LAST]))
def test_prune_twice_is_prune_once(data: bytes, policy: str) -> None:
    once = apply_plan(data, plan_of(data, policy, known_of=known_of))
    with suppress(Foreign):  # a file that lost its entities may hold more of other tools' lines than of the server's
        assert apply_plan(once, plan_of(once, policy, known_of=known_of)) == once


@given(files, policies)
def test_the_plan_does_not_depend_on_the_process_time_zone(data: bytes, policy: str) -> None:
    plans = []
    for zone in ("UTC", "America/St_Johns", "Pacific/Kiritimati"):
        with process_zone(zone):
            plans.append(plan_of(data, policy, known_of=known_of))
    assert plans[0] == plans[1] == plans[2]


@given(files, st.integers(1, 400), st.integers(0, 400), st.integers(0, 3), st.sampled_from(["d", "h", "mo"]))
def test_a_longer_ttl_never_removes_more(data: bytes, ttl: int, more: int, keep_last: int, unit: str) -> None:
    def removed(amount: int) -> set[tuple[int, int]]:
        tier = f'{{ ttl = "{amount}{unit}", keep_last = {keep_last} }}'
        return places(data, f"[tiers]\nsession = {tier}\noperational = {tier}\n")

    assert removed(ttl + more) <= removed(ttl)


@given(files_of_the_past, st.sampled_from([*POLICIES, INHERIT]), some_days_later)
def test_what_goes_at_a_time_goes_later_too(data: bytes, policy: str, later: timedelta) -> None:
    assert places(data, policy) <= places(data, policy, now=NOW + later)


@given(files_of_the_past, steady_policies, some_days_later)
def test_an_expiry_does_not_move_with_time(data: bytes, policy: str, later: timedelta) -> None:
    now, then = judge_of(policy, baseline=BASELINE), judge_of(policy, now=NOW + later, baseline=BASELINE)
    for (old, evidence), (new, _) in zip(judged(data, now), judged(data, then), strict=True):
        if evidence is None or evidence.known.first_seen is not None:  # what the ledger lacks is first seen "now"
            assert old.expires_at == new.expires_at


@given(files, st.floats(0, 1), st.integers(0, 5))
def test_a_limit_is_never_passed(data: bytes, fraction: float, count: int) -> None:
    limits = f"[limits]\nmax_prune_fraction = {fraction:.3f}\nmax_prune_count = {count}\n"
    counts, refusals = (plan := plan_of(data, limits, known_of=known_of)).counts, plan.refusals
    too_many = counts.removed > count
    too_large = counts.observations >= 20 and counts.removed > float(f"{fraction:.3f}") * counts.observations
    assert len(refusals) == too_many + too_large


@given(files, policies)
def test_what_was_approved_is_the_most_that_goes(data: bytes, policy: str) -> None:
    shown = plan_of(data, policy)
    again = plan_of(data + b"\n" + data.removeprefix(b"\xef\xbb\xbf"), policy, approval=shown.approval)
    assert again.counts.removed <= shown.counts.removed
    assert not again.approval.observations - shown.approval.observations
    assert not again.approval.lines - shown.approval.lines


@given(entity_lines(), st.data())
def test_a_cut_reads_back_as_the_list_without_those(line: bytes, data: st.DataObject) -> None:
    record = json.loads(line)
    remove = data.draw(subsets(range(len(record["observations"]))))
    after = cut_line(line, remove)
    check_cut(line, after, remove)
    assert exact(after) == without(line, remove)
    assert is_subsequence(after, line)


@pytest.mark.parametrize("policy", [*POLICIES, KEEP_LAST, INHERIT])
@given(text=texts)
def test_judging_never_raises_on_any_text(policy: str, text: str) -> None:
    judge = judge_of(policy, baseline=BASELINE)
    for observation in (text, {"text": "x", "created_at": text, "ttl": text, "decay": text}):
        record = {"type": "entity", "name": text, "entityType": text, "observations": [observation], "createdAt": text}
        (verdict,) = judge_entity(parse_line(json.dumps(record).encode(), 1), judge)
        assert verdict.reason
