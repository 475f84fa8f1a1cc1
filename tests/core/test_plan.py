"""The plan: limits, filters, approval, counts, and what refuses it; and the plan applied to its bytes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from support import FIXTURES, entity, instant, json_line, plan_of, relation

from memttl.core.apply import apply_plan
from memttl.core.memory import read_lines
from memttl.core.plan import Approval, Counts
from memttl.core.policy import Policy
from memttl.core.selection import make_filters
from memttl.errors import ExitCode, Foreign, Malformed, UsageError

GONE = "[session] 2026-01-01: gone"
STAYS = "stays"
FILE = b"\n".join(
    [
        entity([GONE, STAYS], name="A", kind="task"),
        entity([GONE, GONE, STAYS], name="B"),
        entity(["x [expires 2026-05-01]", "y [review by 2026-05-01] [tier: permanent]", "z [pin]", 3], name="C"),
        relation("A", "B"),
    ]
)


def removed(data: bytes, policy: str = "", **options: Any) -> list[tuple[str, int]]:
    return [(v.entity, v.index) for v in plan_of(data, policy, **options).removals]


def test_a_plan_names_what_goes_in_order() -> None:
    assert removed(FILE) == [("A", 0), ("B", 0), ("B", 1), ("C", 0)]


def test_counts() -> None:
    assert plan_of(FILE).counts == Counts(
        entities=3, relations=1, observations=9, expired=4, removed=4, review_due=1, unknown_age=5, pinned=1
    )


def test_the_nearest_expiries_to_come_are_told() -> None:
    days = ["2026-09-01", "2026-07-01", "2027-01-01", "2026-08-01", "2026-05-01"]
    plan = plan_of(entity([f"x [expires {day}]" for day in days]))
    assert [v.expires_at for v in plan.next_due] == [instant(f"2026-{m:02}-02T00:00:00Z") for m in (7, 8, 9)]


def test_the_nearest_expiries_are_in_order_when_they_are_few() -> None:
    plan = plan_of(entity(["x [expires 2026-08-01]", "y [expires 2026-07-01]"]))
    assert [v.index for v in plan.next_due] == [1, 0]


def test_observations_that_nothing_names_are_counted() -> None:
    assert plan_of(entity(["x", "[session] y", "z [pin]", "[permanent] z"])).unruled == 1


# limits


def many(gone: int, stay: int) -> bytes:
    return entity([GONE] * gone + [STAYS] * stay)


@pytest.mark.parametrize(("gone", "stay", "refused"), [(10, 10, 0), (11, 9, 1), (20, 0, 1), (19, 0, 0), (11, 8, 0)])
def test_a_fraction_counts_from_twenty_observations_up(gone: int, stay: int, refused: int) -> None:
    plan = plan_of(many(gone, stay))
    assert len(plan.refusals) == refused
    assert len(plan.removals) == gone


def test_a_count_is_never_passed() -> None:
    policy = "[limits]\nmax_prune_count = 3"
    assert not plan_of(many(3, 0), policy).refusals
    assert plan_of(many(4, 0), policy).refusals == (
        "4 observations would go, more than limits.max_prune_count = 3 allows",
    )


def test_both_limits_are_told() -> None:
    assert len(plan_of(many(20, 0), "[limits]\nmax_prune_count = 3").refusals) == 2


def test_force_lifts_both() -> None:
    assert not plan_of(many(20, 0), "[limits]\nmax_prune_count = 3", force=True).refusals


def test_a_limit_of_nothing_refuses_everything() -> None:
    assert plan_of(many(1, 0), "[limits]\nmax_prune_count = 0").refusals
    assert not plan_of(many(0, 1), "[limits]\nmax_prune_count = 0").refusals


# filters


HEADS = [("A", "task"), ("B", "note"), ("C", None)]


def filtered(entities: list[str], types: list[str], tiers: list[str]) -> list[tuple[str, int]]:
    filters = make_filters(entities, types, tiers, heads=lambda: HEADS, known_tiers=list(Policy().tiers))
    return removed(FILE, filters=filters)


def test_filters_narrow_what_goes() -> None:
    assert filtered(["A"], [], []) == [("A", 0)]
    assert filtered(["?"], ["TASK"], []) == [("A", 0)]
    assert filtered([], ["t*", "note"], ["permanent"]) == [("C", 0)]
    assert filtered(["A", "C"], [], ["session"]) == [("A", 0)]
    assert filtered(["Z*"], [], []) == []


@pytest.mark.parametrize(
    ("entities", "types", "tiers"), [(["a"], [], []), ([], ["tsak"], []), ([], [], ["sesion"]), (["A", "D"], [], [])]
)
def test_a_filter_that_names_nothing_is_a_usage_error(entities: list[str], types: list[str], tiers: list[str]) -> None:
    with pytest.raises(UsageError):
        filtered(entities, types, tiers)


def test_a_filter_counts_against_the_limits_only_what_goes() -> None:
    filters = make_filters(["E"], [], [], heads=lambda: [("E", "note")], known_tiers=["session"])
    data = many(2, 18) + b"\n" + entity([GONE] * 20, name="F")
    assert plan_of(data).refusals
    assert not plan_of(data, filters=filters).refusals


# approval


def test_what_was_approved_is_the_most_that_goes() -> None:
    shown = plan_of(FILE)
    later = FILE + b"\n" + entity([GONE], name="D")
    plan = plan_of(later, approval=shown.approval)
    assert (removed(later, approval=shown.approval), plan.waiting) == (removed(FILE), 1)
    assert plan.counts.expired == 5


def test_the_same_text_once_more_waits() -> None:
    plan = plan_of(entity([GONE, GONE]), approval=plan_of(entity([GONE])).approval)
    assert (len(plan.removals), plan.waiting) == (1, 1)


def test_what_moved_within_the_file_is_still_approved() -> None:
    moved = entity([STAYS, GONE], name="A") + b"\n" + entity(["new"], name="N")
    assert removed(moved, approval=plan_of(FILE).approval) == [("A", 1)]


def test_an_empty_approval_lets_nothing_go() -> None:
    assert not removed(FILE, approval=Approval(Counter(), Counter()))


# refusals


@pytest.mark.parametrize("name", ["truncated-tail", "nan-number", "bom-after-start", "two-observations-keys"])
def test_keep_malformed_prunes_the_good_lines_and_keeps_the_bad(name: str) -> None:
    data = entity([GONE, STAYS]) + b"\n" + (FIXTURES / "memory" / f"{name}.jsonl").read_bytes()
    (bad,) = [line.raw for line in read_lines(data) if line.kind == "malformed"]
    plan = plan_of(data, keep_malformed=True, force=True)
    assert plan.removals
    assert bad in apply_plan(data, plan)
    assert plan.counts.malformed_lines == 1


def test_every_bad_line_is_named() -> None:
    data = b"\n".join([b"{", entity([STAYS]), b"x", b"{}{}"])
    with pytest.raises(Malformed, match=r"(?s)3 lines.*line 1, column 2.*line 3, column 1.*line 4, column 3"):
        plan_of(data)


def test_of_hundreds_of_bad_lines_the_rest_is_numbered() -> None:
    with pytest.raises(Malformed, match=r"and lines 52, 53$"):
        plan_of(b"\n".join([entity([STAYS]), *[b"x"] * 52]))


OTHER = json_line({"role": "user", "content": "hi"})


@pytest.mark.parametrize(
    "data",
    [
        OTHER,
        entity([GONE]) + b"\n" + OTHER + b"\n" + OTHER,
        relation("A", "B") + b"\n" + OTHER,
        b"[" + entity([GONE]) + b"]",
        b"[\n" + entity([GONE]) + b",\n" + entity([GONE]) + b"\n]",
        json_line({"entities": [], "relations": []}),
        b'{\n  "entities": []\n}',
        b"{}",
        b'"a"',
        b"\x1f\x8b\x08\x00",
        entity([GONE]).decode().encode("utf-16"),
        entity([GONE]).decode().encode("utf-16-le"),
        entity([GONE]).decode().encode("utf-16-be"),
        entity(None) + b"\n" + OTHER,
        b'{"type":"relation","x":' + b"[" * 3000 + b"]" * 3000 + b"}\n" + OTHER,
    ],
    ids=range(15),
)
def test_a_foreign_file_is_refused(data: bytes) -> None:
    with pytest.raises(Foreign) as refused:
        plan_of(data)
    assert refused.value.exit_code == ExitCode.MALFORMED
    assert refused.value.hint


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b'{"type":"_aim"}',
        b'{"type":"_aim"}\n' + relation("A", "B"),
        relation("A", "B"),
        entity([GONE]) + b"\n" + OTHER,
        entity([GONE]) + b"\n" + relation("A", "B") + b"\n" + OTHER + b"\n[]",
        b'{"type":"entity","name":"A","observations":[],"x":' + b"[" * 3000 + b"]" * 3000 + b"}\n" + OTHER,
    ],
    ids=range(8),
)
def test_a_memory_file_is_planned(data: bytes) -> None:
    assert plan_of(data).counts.observations == data.count(GONE.encode())


def test_bad_lines_do_not_open_a_foreign_file() -> None:
    with pytest.raises(Foreign):
        plan_of(b"\n".join([entity([GONE]), OTHER, OTHER, OTHER, b"{"]), keep_malformed=True)


# applying


def test_a_plan_is_bound_to_its_bytes() -> None:
    with pytest.raises(ValueError, match="another version"):
        apply_plan(FILE + b"\n", plan_of(FILE))


def test_every_other_byte_stays() -> None:
    data = b'\xef\xbb\xbf{"type": "_aim"}\r\n\r\n' + FILE + b"\r\n \n"
    expected = data.replace(b'"%s",' % GONE.encode(), b"").replace(b'"x [expires 2026-05-01]",', b"")
    assert apply_plan(data, plan_of(data)) == expected


def test_an_entity_whose_last_observation_goes_stays() -> None:
    data = entity([GONE], name="A") + b"\n" + relation("A", "B")
    assert apply_plan(data, plan_of(data)) == entity([], name="A") + b"\n" + relation("A", "B")


# warnings


@pytest.mark.parametrize(
    ("data", "policy", "words"),
    [
        (b"\xef\xbb\xbf" + FILE, "", "byte order mark"),
        (entity(["x [ttl 30m]"]), "", "cannot be read and so stays: 'E' (line 1)"),
        (
            b'{"type":"entity","name":"A","observations":[],"x":' + b"[" * 3000 + b"]" * 3000 + b"}",
            "",
            "nested too deep",
        ),
        (FILE, 'default_tier = "session"', "has a TTL"),
        (entity(["2026-01-01: x"]), '[[rules]]\nentity_type = ["note"]\ntier = "session"', "would empty 'E'"),
    ],
    ids=range(5),
)
def test_a_plan_warns(data: bytes, policy: str, words: str) -> None:
    assert any(words in warning for warning in plan_of(data, policy).warnings)


@pytest.mark.parametrize(
    ("observations", "policy"),
    [
        (["2026-01-01: x", STAYS], '[[rules]]\nentity_type = ["note"]\ntier = "session"'),
        (["2026-01-01: x"], '[[rules]]\nentity_type = ["note"]\nprefix = ["a"]\ntier = "session"'),
        (["2026-01-01: x"], '[tiers]\ns = { ttl = 3, keep_last = 1 }\n[[rules]]\nentity_type = ["note"]\ntier = "s"'),
    ],
)
def test_a_rule_by_type_alone_warns_only_where_it_would_empty(observations: list[str], policy: str) -> None:
    assert not plan_of(entity(observations), policy).warnings


def test_an_observation_that_goes_although_its_end_looks_like_a_mark_is_told() -> None:
    warnings = plan_of(entity(["[session] 2020-01-01: x [ttl forever]", STAYS])).warnings
    assert any("looks like a mark" in warning and "[ttl forever]" in warning for warning in warnings)


def test_an_element_that_changed_its_shape_was_not_approved() -> None:
    shown = plan_of(entity(["x [expires 2020-01-01]"]))
    changed = entity([{"content": "x [expires 2020-01-01]", "note": "added by a person"}])
    assert plan_of(changed, approval=shown.approval).removals == ()


def test_what_is_due_for_review_is_in_the_plan() -> None:
    plan = plan_of(entity(["x (review by 2020-01-01)"]), '[review]\nwhen_due = "list"')
    assert [v.observation for v in plan.review_due] == ["x (review by 2020-01-01)"]
