"""The dialogue of a review: each key, each slip of the keyboard, and any sequence of lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memttl.core.review import Decision, Dialogue, Show, answer, begin, reopened

TIERS = ("session", "Operational", "permanent")
KEYS = ["1", "2", "3", "p", "d", "s", "t session", "t", "perm", "b", "n", "m", "q", "?", "", "x", "P", "30d", "drop"]
any_line = st.one_of(st.sampled_from(KEYS), st.sampled_from([f"{key}\n" for key in KEYS]), st.text(max_size=8))


def after(*lines: str, count: int = 3, cannot_drop: str = "") -> Dialogue:
    """The state after some lines."""
    dialogue = begin(count, TIERS, cannot_drop)
    for line in lines:
        dialogue = answer(dialogue, line).dialogue
    return dialogue


@pytest.mark.parametrize(
    ("line", "decision"),
    [
        ("1", Decision("renew", days=30)),
        ("2", Decision("renew", days=90)),
        ("3", Decision("renew", days=365)),
        ("90d", Decision("renew", days=90)),
        ("p", Decision("pin")),
        ("PIN", Decision("pin")),
        ("d", Decision("drop")),
        (" d \n", Decision("drop")),
        ("drop", Decision("drop")),
        ("s", Decision("skip")),
        ("t session", Decision("tier", tier="session")),
        ("t SESSION", Decision("tier", tier="session")),
        ("tier oper", Decision("tier", tier="Operational")),
    ],
)
def test_a_key_decides_and_goes_on(line: str, decision: Decision) -> None:
    turn = answer(begin(3, TIERS), line)
    assert turn.dialogue.decisions == (decision, None, None)
    assert turn.dialogue.place == 1
    assert turn.shows == (Show("item"),)


@pytest.mark.parametrize(
    ("line", "faces"),
    [
        ("m", ["more", "item"]),
        ("?", ["help"]),
        ("help", ["help"]),
        ("x", ["unknown"]),
    ],  # the item right above the prompt
)
def test_a_key_that_shows_something_decides_nothing(line: str, faces: list[str]) -> None:
    turn = answer(begin(3, TIERS), line)
    assert turn.dialogue == begin(3, TIERS)
    assert [show.face for show in turn.shows] == faces


@pytest.mark.parametrize("line", ["d please", "p x", "1 2", "q now"])
def test_a_key_with_more_behind_it_is_none(line: str) -> None:
    assert answer(begin(3, TIERS), line).dialogue == begin(3, TIERS)


def test_an_empty_line_asks_again() -> None:
    assert answer(begin(3, TIERS), "\n") == (begin(3, TIERS), ())


def test_the_tier_is_asked_for_and_named() -> None:
    turn = answer(begin(3, TIERS), "t")
    assert (turn.dialogue.asks_tier, turn.shows) == (True, (Show("tiers"),))
    named = answer(turn.dialogue, "permanent").dialogue
    assert (named.asks_tier, named.decisions[0]) == (False, Decision("tier", tier="permanent"))


def test_a_tier_that_is_none_is_asked_for_again() -> None:
    turn = answer(after("t"), "nosuch")
    assert turn.dialogue.asks_tier
    assert [show.face for show in turn.shows] == ["note", "tiers"]
    assert answer(after(), "t nosuch").dialogue.asks_tier


def test_what_two_tiers_begin_with_names_none() -> None:
    assert answer(begin(1, ("session", "sessions of old")), "t sess").dialogue.asks_tier
    whole = answer(begin(1, ("session", "sessions of old")), "t session").dialogue
    assert whole.decisions == (Decision("tier", tier="session"),)


def test_no_tier_leaves_it_undecided() -> None:
    assert after("t", "") == after()


def test_back_shows_what_was_decided_and_takes_another_decision() -> None:
    back = after("p", "1", "b", "b")
    assert (back.place, back.decided) == (0, Decision("pin"))
    changed = answer(back, "d").dialogue
    assert changed.decisions == (Decision("drop"), Decision("renew", days=30), None)


def test_there_is_no_way_back_from_the_first() -> None:
    turn = answer(begin(3, TIERS), "b")
    assert turn.dialogue == begin(3, TIERS)
    assert turn.shows[0].face == "note"


def test_next_keeps_a_decision_and_makes_none() -> None:
    assert after("p", "b", "n") == after("p")
    assert after("n") == after()


def test_quit_keeps_what_was_decided() -> None:
    quit_ = after("p", "d", "b", "b", "q")
    assert quit_.is_over
    assert quit_.decisions == (Decision("pin"), Decision("drop"), None)


def test_the_last_decision_ends_it() -> None:
    assert after("p", "p", "p").is_over
    assert not after("p", "p").is_over


def test_the_end_can_be_left_again() -> None:
    assert reopened(after("p", "p", "p")).place == 2
    assert reopened(after("p", "q")) == after("p")


def test_nothing_is_dropped_where_nothing_can_be() -> None:
    dialogue = begin(1, TIERS, "it is read-only")
    turn = answer(dialogue, "d")
    assert turn.dialogue == dialogue
    assert turn.shows == (Show("note", "It cannot be dropped: it is read-only"),)


@given(st.lists(any_line, max_size=30), st.integers(1, 4))
def test_any_lines_leave_a_dialogue_whole(lines: list[str], count: int) -> None:
    dialogue = begin(count, TIERS)
    for line in lines:
        before = dialogue
        dialogue, shows = answer(before, line)
        assert len(dialogue.decisions) == count
        assert 0 <= dialogue.place <= count
        changed = [i for i in range(count) if dialogue.decisions[i] != before.decisions[i]]
        assert changed in ([], [before.place])  # a line decides on nothing but what is shown
        assert abs(dialogue.place - before.place) <= 1
        assert not changed or dialogue.place == before.place + 1
        assert dialogue.is_over or dialogue.place == before.place or shows == (Show("item"),)
        assert not (before.is_over and dialogue != before)


@given(st.lists(any_line, max_size=12), st.integers(2, 4))
def test_back_and_next_change_nothing(lines: list[str], count: int) -> None:
    dialogue = begin(count, TIERS)
    for line in lines:
        dialogue = answer(dialogue, line).dialogue
    if dialogue.is_over or dialogue.asks_tier or not dialogue.place:
        return
    back = answer(dialogue, "b").dialogue
    assert back.decided is not None  # nobody goes on without a decision
    assert answer(back, "n").dialogue == dialogue
