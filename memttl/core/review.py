"""The dialogue of `review` as a pure state machine: a state and a line of input into the next state and what to show.

`commands/review.py` connects it to a terminal, `workflow/review.py` turns its decisions into changes and drops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

Kind = Literal["renew", "pin", "tier", "drop", "skip"]
Face = Literal["item", "more", "help", "unknown", "tiers", "note"]


class Decision(NamedTuple):
    """What is to be done with one text: `days` of a renewal, `tier` of a change of tier."""

    kind: Kind
    days: int = 0
    tier: str = ""


class Dialogue(NamedTuple):
    """How far a review has come. `place` counts from 0; a decision is None where none was made.

    `cannot_drop` says why nothing can be dropped here, "" where it can. `asks_tier`: the next line names a tier.
    """

    decisions: tuple[Decision | None, ...]
    tiers: tuple[str, ...]
    cannot_drop: str = ""
    place: int = 0
    asks_tier: bool = False
    has_quit: bool = False

    @property
    def is_over(self) -> bool:
        """True once all was looked at, or the rest is to be left as it is."""
        return self.has_quit or self.place >= len(self.decisions)

    @property
    def decided(self) -> Decision | None:
        """The decision made so far on what is looked at."""
        return self.decisions[self.place]


class Show(NamedTuple):
    """What to show: the item, all about it, the help, the short help, the tiers, or a note."""

    face: Face
    note: str = ""


class Turn(NamedTuple):
    """What a line of input leads to."""

    dialogue: Dialogue
    shows: tuple[Show, ...] = ()


RENEWALS = {"1": 30, "2": 90, "3": 365}
# word -> key; a number of days renews as its key does
_WORDS = {"pin": "p", "tier": "t", "drop": "d", "skip": "s", "next": "n", "back": "b", "more": "m", "quit": "q"}
_WORDS |= {"help": "?", "h": "?", **{f"{days}d": key for key, days in RENEWALS.items()}}
_ITEM = Show("item")


def begin(count: int, tiers: Sequence[str], cannot_drop: str = "") -> Dialogue:
    """Begin to go through `count` texts."""
    return Dialogue((None,) * count, tuple(tiers), cannot_drop)


def answer(dialogue: Dialogue, line: str) -> Turn:
    """Take one line of input. An empty one shows the same again."""
    if dialogue.is_over:
        return Turn(dialogue)
    if dialogue.asks_tier:
        return _named(dialogue._replace(asks_tier=False), line.strip())
    word, _, rest = line.strip().partition(" ")
    key = _WORDS.get(word.lower(), word.lower())
    if rest.strip() and key != "t":
        return Turn(dialogue, (Show("unknown"),))
    if key == "t" and rest.strip():
        return _named(dialogue, rest.strip())
    return _pressed(dialogue, key)


def reopened(dialogue: Dialogue) -> Dialogue:
    """Go back from the end to what was looked at last."""
    return dialogue._replace(has_quit=False, place=min(dialogue.place, len(dialogue.decisions) - 1))


def _pressed(dialogue: Dialogue, key: str) -> Turn:
    if key in RENEWALS:
        return _decide(dialogue, Decision("renew", days=RENEWALS[key]))
    if key in _PLAIN:
        return _decide(dialogue, _PLAIN[key])
    act = _KEYS.get(key)
    return act(dialogue) if act else Turn(dialogue, (Show("unknown"),))


def _decide(dialogue: Dialogue, decision: Decision) -> Turn:
    decisions = list(dialogue.decisions)
    decisions[dialogue.place] = decision
    return _at(dialogue._replace(decisions=tuple(decisions)), dialogue.place + 1)


def _at(dialogue: Dialogue, place: int) -> Turn:
    moved = dialogue._replace(place=place)
    return Turn(moved, () if moved.is_over else (_ITEM,))


def _drop(dialogue: Dialogue) -> Turn:
    if dialogue.cannot_drop:
        return Turn(dialogue, (Show("note", f"It cannot be dropped: {dialogue.cannot_drop}"),))
    return _decide(dialogue, Decision("drop"))


def _next(dialogue: Dialogue) -> Turn:
    if dialogue.decided is None:
        return Turn(dialogue, (Show("note", "Nothing is decided on this one yet; s leaves it as it is."),))
    return _at(dialogue, dialogue.place + 1)


def _back(dialogue: Dialogue) -> Turn:
    if not dialogue.place:
        return Turn(dialogue, (Show("note", "This is the first one."),))
    return _at(dialogue, dialogue.place - 1)


def _ask_tier(dialogue: Dialogue) -> Turn:
    return Turn(dialogue._replace(asks_tier=True), (Show("tiers"),))


def _named(dialogue: Dialogue, name: str) -> Turn:
    """Take a tier's name, in any case, or what it alone begins with."""
    if not name:
        return Turn(dialogue, (Show("note", "Its tier stays as it is."),))
    exact = [tier for tier in dialogue.tiers if tier.lower() == name.lower()]
    found = exact or [tier for tier in dialogue.tiers if tier.lower().startswith(name.lower())]
    if len(found) == 1:
        return _decide(dialogue, Decision("tier", tier=found[0]))
    asked = dialogue._replace(asks_tier=True)
    return Turn(asked, (Show("note", f"The policy has no tier {name!r}."), Show("tiers")))


_PLAIN = {"p": Decision("pin"), "s": Decision("skip")}
_KEYS: dict[str, Callable[[Dialogue], Turn]] = {
    "": lambda dialogue: Turn(dialogue),
    "d": _drop,
    "t": _ask_tier,
    "n": _next,
    "b": _back,
    "m": lambda dialogue: Turn(dialogue, (Show("more"), _ITEM)),  # the item again, right above the prompt
    "q": lambda dialogue: Turn(dialogue._replace(has_quit=True)),
    "?": lambda dialogue: Turn(dialogue, (Show("help"),)),
}
