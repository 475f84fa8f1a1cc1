"""What was decided in a review into patches of settings and observations to drop, and which of these stay after all.

`workflow/review.py` plans with it twice: for the summary, and on what is there and known when it writes. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from memttl.core.change_plan import renewal
from memttl.core.classify import KnownOf
from memttl.core.durations import Duration
from memttl.core.judge import Judge
from memttl.core.model import Verdict
from memttl.core.plan import Approval, Plan, Texts, make_plan, texts_of
from memttl.core.progress import Progress, no_progress
from memttl.core.review import Decision, Dialogue
from memttl.core.review_deck import Deck, Item, Key
from memttl.core.wish import Patch


class Decided(NamedTuple):
    """What is to be set, by entity and text, and the observations that are to go."""

    patches: dict[Key, Patch]
    drops: tuple[Verdict, ...]


def decided(deck: Deck, dialogue: Dialogue) -> Decided:
    """Read the decisions of a dialogue on a deck. A drop takes the copies that were listed, a setting holds for all."""
    pairs: list[tuple[Item, Decision]] = [
        (item, d) for item, d in zip(deck.items, dialogue.decisions, strict=True) if d is not None
    ]
    patches = {item.key: patch for item, d in pairs if (patch := _patch(d, item.key, deck)) is not None}
    return Decided(patches, tuple(v for item, d in pairs if d.kind == "drop" for v in item.copies))


def _patch(decision: Decision, key: Key, deck: Deck) -> Patch | None:
    if decision.kind == "renew":
        return renewal(Duration(days=decision.days), deck.judge, deck.known(key).settings)
    if decision.kind == "pin":
        return Patch(pinned=True)
    return Patch(tier=decision.tier) if decision.kind == "tier" else None


class Drops(NamedTuple):
    """The observations that go, as an approval counts them; `held` are those that stay after all."""

    chosen: Texts
    held: tuple[Verdict, ...]


def still_to_drop(deck: Deck, drops: Iterable[Verdict], known_of: KnownOf) -> Drops:
    """Part what goes from what somebody pinned, or set anything else for, since it was shown: that stays."""
    going, held = list[Verdict](), list[Verdict]()
    for verdict in drops:
        key = verdict.entity, verdict.observation
        (going if known_of(*key).settings == deck.known(key).settings else held).append(verdict)
    return Drops(texts_of(going), tuple(held))


def drop_planner(
    drops: Drops,
    judge: Judge,
    known_of: KnownOf,
    vanished: Callable[[bytes], str],
    *,
    progress: Progress = no_progress,
) -> Callable[[bytes, Approval | None], Plan]:
    """Give what plans the drops on any bytes, within an approval. The two prune limits do not hold them back."""

    def plan(data: bytes, approval: Approval | None) -> Plan:
        return make_plan(
            data,
            judge,
            force=True,
            approval=approval,
            chosen=drops.chosen,
            known_of=known_of,
            vanished=vanished(data),
            progress=progress,
        )

    return plan


def held_words(count: int) -> tuple[str, ...]:
    """Say that something stays that was to be dropped."""
    if not count:
        return ()
    noun = "1 observation stays" if count == 1 else f"{count} observations stay"
    return (f"{noun} that was to be dropped: pinned, or set otherwise, meanwhile",)


def gone_words(count: int) -> tuple[str, ...]:
    """Say that something was not there any more."""
    if count <= 0:
        return ()
    return (f"{count} of what was to be dropped had been edited or removed by somebody else meanwhile",)
