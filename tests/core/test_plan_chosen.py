"""A plan of what somebody chose to drop, whether it has expired or not: exactly that, within an approval."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from support import entity, plan_of, relation, seen

from memttl.core.apply import apply_plan
from memttl.core.model import Known, UserSettings
from memttl.core.plan import Approval

OLD = "[session] 2026-01-05: old"
SOON = "[session] 2026-05-20: soon"


def chosen(*texts: object, entity: str = "E") -> Counter[tuple[str, str]]:
    """These texts as an approval counts them."""
    return Counter((entity, repr(text)) for text in texts)


def test_what_is_chosen_goes_and_what_has_expired_stays() -> None:
    plan = plan_of(entity([OLD, SOON, "note"]), chosen=chosen(SOON))
    assert [(v.observation, v.action) for v in plan.removals] == [(SOON, "prune")]
    assert plan.removals[0].reason == "dropped in review; session notes keep 30 days; written 2026-05-20"
    assert (plan.counts.removed, plan.counts.expired, plan.waiting) == (1, 1, 0)


def test_nothing_chosen_is_nothing_to_remove() -> None:
    assert plan_of(entity([OLD]), chosen=chosen()).removals == ()


def test_what_was_edited_or_is_elsewhere_stays() -> None:
    data = entity([OLD + "!"]) + b"\n" + entity([OLD], name="F")
    assert plan_of(data, chosen=chosen(OLD)).removals == ()


def test_as_many_copies_go_as_were_chosen() -> None:
    for count in range(4):
        plan = plan_of(entity([OLD, OLD, OLD]), chosen=Counter({("E", repr(OLD)): count}))
        assert len(plan.removals) == count


def test_of_copies_the_one_that_is_due_first_goes() -> None:
    policy = '[[rules]]\nentity_type = ["log"]\nprefix = ["session"]\ntier = "session"\n'
    data = entity([OLD], kind="fact") + b"\n" + entity([OLD], kind="log")
    assert [v.line for v in plan_of(data, policy, chosen=chosen(OLD)).removals] == [2]


def test_a_pinned_one_stays() -> None:
    pinned = Known(settings=UserSettings(pinned=True))
    assert plan_of(entity([OLD]), chosen=chosen(OLD), known_of=lambda _e, _t: pinned).removals == ()


def test_an_approval_is_the_most_that_goes() -> None:
    approval = Approval(chosen(SOON), Counter())
    plan = plan_of(entity([OLD, SOON]), chosen=chosen(OLD, SOON), approval=approval)
    assert [v.observation for v in plan.removals] == [SOON]


def test_an_object_goes_by_its_whole_value() -> None:
    data = entity([{"content": OLD, "by": 1}, {"content": OLD, "by": 2}])
    assert [v.index for v in plan_of(data, chosen=chosen({"content": OLD, "by": 2})).removals] == [1]


def test_a_vanished_memory_refuses_it_and_a_limit_does_not() -> None:
    data = entity([f"[session] 2026-01-05: {i}" for i in range(30)])
    every = chosen(*(f"[session] 2026-01-05: {i}" for i in range(30)))
    assert plan_of(data, chosen=every, force=True).refusals == ()
    assert plan_of(data, chosen=every, force=True, vanished="gone").refusals == ("gone",)


def test_an_entity_that_is_emptied_goes_where_the_policy_says_so() -> None:
    policy = "[prune]\nremove_empty_entities = true\n"
    data = entity([SOON], name="E") + b"\n" + entity(["x"], name="F") + b"\n" + relation("E", "F")
    plan = plan_of(data, policy, chosen=chosen(SOON))
    assert apply_plan(data, plan) == entity(["x"], name="F")


@given(st.lists(st.sampled_from([OLD, SOON, "a", "b"]), max_size=6), st.lists(st.sampled_from([OLD, SOON, "a", "c"])))
def test_exactly_the_chosen_that_are_there_go(texts: list[str], drops: list[str]) -> None:
    plan = plan_of(entity(texts), chosen=chosen(*drops), known_of=lambda _e, _t: seen("2026-05-01T00:00:00Z"))
    assert Counter(v.observation for v in plan.removals) == Counter(texts) & Counter(drops)
