"""Pinning whole entities by name or glob, what comes later included, and unpinning them. Pure; for `change_plan.py`."""

from __future__ import annotations

from collections.abc import Sequence

from memttl.core.changes import PinChange
from memttl.core.known import EntityPins
from memttl.core.selection import match_names


def pins_of(wanted: Sequence[str], names: frozenset[str]) -> list[PinChange]:
    """Give the entity pins that are asked for, those that are there already included; `names` are today's entities.

    Raises:
        UnknownEntity: a name or glob matches no entity, so that it would pin nothing.
    """
    for pattern in wanted:
        match_names(pattern, names)
    return [_pin(pattern, names, pinned=True) for pattern in dict.fromkeys(wanted)]


def unpins_of(wanted: Sequence[str], names: frozenset[str], stored: Sequence[str]) -> list[PinChange]:
    """Give the entity pins that go, of those that are `stored`; a name that nothing pins stands for itself.

    Raises:
        UnknownEntity: a name or glob is neither that of a pin nor that of an entity.
    """
    patterns = [pattern for name in wanted for pattern in sorted(_meant(name, names, frozenset(stored)))]
    return [_pin(pattern, names, pinned=False) for pattern in dict.fromkeys(patterns)]


def _meant(wanted: str, names: frozenset[str], stored: frozenset[str]) -> frozenset[str]:
    """Give the pins that `wanted` means: the one of this very name or glob, else those that it matches as a glob."""
    return match_names(wanted, names | stored) & stored or frozenset({wanted})


def _pin(pattern: str, names: frozenset[str], *, pinned: bool) -> PinChange:
    pin = EntityPins([pattern])
    return PinChange(pattern, pinned, tuple(sorted(name for name in names if pin.pin_of(name))))
