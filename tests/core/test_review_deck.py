"""What a review goes through: which texts, in which order, with which copies, and what stands around them."""

from __future__ import annotations

import pytest
from reviewing import LOOK, OLD, OLDER, SOON, deck_of
from support import entity, instant, judge_of

from memttl.core.listing import window_of
from memttl.core.model import Known, UserSettings
from memttl.core.review import Decision, begin
from memttl.core.review_deck import Deck, make_deck
from memttl.core.review_plan import decided, still_to_drop
from memttl.core.selection import make_filters
from memttl.errors import Foreign, Malformed


def listed(deck: Deck) -> list[tuple[str, str]]:
    """Kind and text of each item."""
    return [(item.listed_as, item.verdict.observation) for item in deck.items]


def test_expired_come_before_due_before_due_for_review_each_by_expiry() -> None:
    later = "[session] 2026-05-21: later"
    found = deck_of(entity([LOOK, later, SOON, "note"], name="A"), entity([OLD, OLDER], name="B"))
    assert listed(found) == [
        ("expired", OLDER),
        ("expired", OLD),
        ("due", SOON),
        ("due", later),
        ("review", LOOK),
    ]


def test_the_same_expiry_goes_as_in_the_file() -> None:
    texts = [f"[session] 2026-01-05: {i}" for i in (2, 1, 3)]
    assert [text for _, text in listed(deck_of(entity(texts)))] == texts


def test_the_window_says_what_is_due() -> None:
    assert listed(deck_of(entity([SOON]), within="1d")) == []
    assert listed(deck_of(entity([SOON]), within="60d")) == [("due", SOON)]


def test_copies_of_a_text_are_one_item() -> None:
    deck = deck_of(entity([OLD, "note", OLD]), entity([OLD]), entity([OLD], name="F"))
    assert [(len(item.copies), item.unlisted) for item in deck.items] == [(3, 0), (1, 0)]


def test_a_copy_that_is_not_listed_is_counted() -> None:
    policy = '[[rules]]\nentity_type = ["log"]\nprefix = ["session"]\ntier = "session"\n'
    deck = deck_of(entity([OLD], kind="log"), entity([OLD, OLD], kind="fact"), policy=policy)
    assert [(len(item.copies), item.unlisted) for item in deck.items] == [(1, 2)]


def test_an_object_and_a_text_of_the_same_words_are_copies() -> None:
    (item,) = deck_of(entity([OLD, {"content": OLD, "by": 1}])).items
    assert [v.index for v in item.copies] == [0, 1]


def test_all_of_the_entity_is_around_with_all_that_was_tried() -> None:
    deck = deck_of(entity(["a"], name="E"), entity(["b"], name="F"), entity([OLD, 7], name="E"))
    (item,) = deck.items
    assert [v.observation for v in deck.entities["E"].verdicts] == ["a", OLD, 7]
    told = deck.explained(item)
    assert [v.observation for v, _ in told] == ["a", OLD, 7]
    assert any(t.kind == "rule" and t.matched for t in told[1][1])


def test_what_is_told_more_of_rests_on_what_was_known() -> None:
    known = Known(first_seen=instant("2026-01-01T00:00:00Z"))
    deck = deck_of(entity(["[session] x"]), known=lambda _e, _t: known)
    ((verdict, tried),) = deck.explained(deck.items[0])
    assert verdict.age_source == "seen"
    assert any("first seen 2026-01-01" in t.what for t in tried)


def test_filters_narrow_it() -> None:
    judge = judge_of()
    data = b"\n".join([entity([OLD], name="A"), entity([OLD], name="B")])
    window = window_of(None, None, judge.policy, judge.now)
    heads = [("A", "note"), ("B", "note")]

    def filters():
        return make_filters(["A"], [], [], heads=lambda: heads, known_tiers=[])

    deck = make_deck(data, judge, window, known_of=lambda _e, _t: Known(), filters=filters)
    assert [item.verdict.entity for item in deck.items] == ["A"]


@pytest.mark.parametrize(("line", "error"), [(b'{"type":"entity"', Malformed), (b'{"chat":1}\n{"chat":2}', Foreign)])
def test_a_file_that_a_prune_refuses_is_refused(line: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        deck_of(line)


def test_decisions_become_patches_and_drops() -> None:
    deck = deck_of(entity([OLD, OLDER, SOON, OLD]))
    decisions = (Decision("pin"), Decision("drop"), Decision("tier", tier="permanent"))
    found = decided(deck, begin(3, ())._replace(decisions=decisions))
    assert {text: (p.pinned, p.tier) for (_, text), p in found.patches.items()} == {
        OLDER: (True, None),
        SOON: (None, "permanent"),
    }
    assert [(v.observation, v.index) for v in found.drops] == [(OLD, 0), (OLD, 3)]


def test_a_renewal_counts_from_now() -> None:
    deck = deck_of(entity([OLD]))
    found = decided(deck, begin(1, ())._replace(decisions=(Decision("renew", days=90),)))
    assert [p.expires for p in found.patches.values()] == [instant("2026-08-30T12:00:00Z")]


@pytest.mark.parametrize("settings", [UserSettings(pinned=True), UserSettings(entity_pin="E"), UserSettings(tier="x")])
def test_what_was_set_meanwhile_stays(settings: UserSettings) -> None:
    deck = deck_of(entity([OLD, OLDER]))
    drops = [item.verdict for item in deck.items]

    def known_of(_entity: str, text: str) -> Known:
        return Known(settings=settings) if text == OLD else Known()

    found = still_to_drop(deck, drops, known_of)
    assert [v.observation for v in found.held] == [OLD]
    assert [text for _, text in found.chosen] == [repr(OLDER)]
