"""A review in this process, its dialogue led by lines that a test gives; what was shown and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from process import aged
from pruning import AT_ONCE, settings_of
from support import entity, judge_of

from memttl.core.listing import window_of
from memttl.core.model import NOTHING_KNOWN, Known
from memttl.core.review import Dialogue, answer
from memttl.core.review_deck import Deck, make_deck
from memttl.core.review_outcome import ReviewOutcome
from memttl.workflow.review import Answer, Request, review

SOON = "[session] 2026-05-20: soon"  # due on 2026-06-20
OLD = "[session] 2026-01-05: old"
OLDER = "[session] 2026-01-04: older"
LOOK = "[permanent] look at it (review by 2026-05-01)"


def three_entities(folder: Path) -> Path:
    """A memory file with one text to look at of each kind, and one that is kept."""
    path = folder / "memory.jsonl"
    lines = [entity([LOOK, "note"], name="A"), entity([SOON], name="B"), entity([OLD, OLDER], name="C")]
    path.write_bytes(b"\n".join(lines))
    return aged(path)


def deck_of(
    *lines: bytes, policy: str = "", within: str | None = None, known: Callable[[str, str], Known] | None = None
) -> Deck:
    """The deck of a file of these lines."""
    judge = judge_of(policy)
    window = window_of(within, None, judge.policy, judge.now)
    return make_deck(b"\n".join(lines), judge, window, known_of=known or (lambda _e, _t: NOTHING_KNOWN))


def led_by(*lines: str) -> Callable[[Deck, Dialogue], Dialogue]:
    """Lead a dialogue by lines; it is over with them."""
    left = list(lines)

    def talk(_deck: Deck, dialogue: Dialogue) -> Dialogue:
        while not dialogue.is_over:
            dialogue = answer(dialogue, left.pop(0) if left else "q").dialogue
        return dialogue

    return talk


def reviewed(
    path: Path,
    *lines: str,
    policy: str = "",
    ask: Callable[[ReviewOutcome], Answer] = lambda _: "yes",
    step: Callable[[str], None] = lambda _: None,
    **request: Any,
) -> ReviewOutcome:
    """What came of a review of `path` that these lines led."""
    settings = settings_of(path, policy=policy)
    return review(settings, Request(**{"pace": AT_ONCE, **request}), talk=led_by(*lines), ask=ask, step=step)
