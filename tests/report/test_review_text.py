"""What a review shows of any texts at any width: whole lines that fit, and no character that moves a cursor."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from reviewing import LOOK, OLD, deck_of
from strategies import AWKWARD
from support import NOW, entity

from memttl.core.plan import make_plan
from memttl.core.review import Decision, Dialogue, Show, begin
from memttl.core.review_deck import Deck
from memttl.core.review_outcome import ReviewOutcome
from memttl.core.review_plan import decided, drop_planner, still_to_drop
from memttl.report.fitting import columns_of
from memttl.report.review import Style, closing, prompt, shown, summary

CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
words = st.one_of(st.sampled_from(AWKWARD), st.text(max_size=80))


def deck_with(text: str, name: str) -> Deck:
    """A deck of an item between two neighbours; what stands behind the text makes prose of a mark at its end."""
    old = f"[session] 2026-01-05: {text} and so on"
    return deck_of(entity([text, old, text], name=name, kind=name))


@settings(max_examples=60)
@given(words, words, st.integers(20, 120))
def test_whatever_the_file_holds_the_lines_fit_and_hold_no_control(text: str, name: str, width: int) -> None:
    deck, style = deck_with(text, name), Style(width)
    dialogue = begin(len(deck.items), [name or "x"])
    for face in ("item", "tiers", "help", "unknown"):
        found = shown(Show(face), deck, dialogue, NOW, style)  # type: ignore[arg-type]
        assert not CONTROLS.search(found)
        assert max(columns_of(line) for line in found.split("\n")) <= width
    assert not CONTROLS.search(shown(Show("more"), deck, dialogue, NOW, style))
    assert max(map(len, prompt(dialogue, style).split("\n"))) <= width


@settings(max_examples=60)
@given(words, words, st.integers(20, 120))
def test_whatever_the_file_holds_the_summary_fits_and_holds_no_control(text: str, name: str, width: int) -> None:
    deck = deck_with(text, name)
    dialogue = begin(1, [])._replace(decisions=(Decision("drop"),) * len(deck.items))
    drops = still_to_drop(deck, decided(deck, dialogue).drops, lambda e, t: deck.known((e, t)))
    data = b"\n".join(line.raw for line in deck.entities[name].lines)
    plan = drop_planner(drops, deck.judge, lambda e, t: deck.known((e, t)), lambda _: "")(data, None)
    outcome = ReviewOutcome(name, NOW, dialogue, plan=plan)
    found = summary(outcome, Style(width))
    assert not CONTROLS.search(found + closing(outcome))
    assert max(columns_of(line) for line in found.split("\n")) <= width
    assert plan.removals


def prompted(dialogue: Dialogue) -> str:
    """The prompt in one line."""
    return " ".join(prompt(dialogue, Style(200)).split())


def test_the_prompt_offers_what_can_be_done() -> None:
    fresh = begin(2, ["session"])
    assert prompted(fresh) == (
        "(1/2) renew [1] 30d [2] 90d [3] 365d, [p]in, [t]ier, [d]rop, [s]kip, [b]ack, [m]ore, [q]uit, [?] help:"
    )
    assert "[n]ext" in prompted(fresh._replace(decisions=(Decision("pin"), None)))
    assert "[d]rop" not in prompted(fresh._replace(cannot_drop="read-only"))


def test_a_long_text_is_shortened_and_more_shows_it_whole() -> None:
    deck = deck_of(entity([f"[session] 2026-01-05: {'word ' * 400}end"]))
    dialogue = begin(1, [])
    item = shown(Show("item"), deck, dialogue, NOW, Style(80))
    assert "more lines" in item
    assert "end" not in item.split("verdict")[0]
    assert "word end\n" in shown(Show("more"), deck, dialogue, NOW, Style(80))


def test_copies_that_a_drop_leaves_are_said() -> None:
    policy = '[[rules]]\nentity_type = ["log"]\nprefix = ["session"]\ntier = "session"\n'
    deck = deck_of(entity([OLD], kind="log"), entity([OLD], kind="fact"), policy=policy)
    words = " ".join(shown(Show("item"), deck, begin(1, []), NOW, Style()).split())
    assert "2 copies in this entity: what is set holds for all, a drop takes 1" in words


def test_what_is_due_for_review_says_so() -> None:
    found = shown(Show("item"), deck_of(entity([LOOK])), begin(1, []), NOW, Style())
    assert "E (note): due for review\n" in found
    assert "review: review by 2026-05-01; that day has passed; listed for review only" in " ".join(found.split())


def test_nothing_but_the_run_is_told_of_what_was_dropped() -> None:
    plan = make_plan(entity([OLD]), deck_of(entity([OLD])).judge)
    outcome = ReviewOutcome("m.jsonl", NOW, begin(1, []), plan=plan, run="ab", backup="b.jsonl")
    back = "`memttl undo ab` takes it back, and the file as it was is b.jsonl"
    assert closing(outcome) == f"Dropped 1 observation of m.jsonl.\nRun ab; {back}\n"
