"""Has the memory vanished? A truncated or swapped file is told from a busily edited one. Pure.

`prune` and `scan` refuse to go on (exit code 4) where it has, since the ledger would take the loss for granted.
"""

from __future__ import annotations

from memttl.core.look import Comparison

MIN_KNOWN = 20  # observations; below it a fraction says nothing


def vanished(found: Comparison, *, removed: int, max_fraction: float) -> str:
    """Give the sentence that refuses, or "" where all is well.

    `removed` are observations that memttl itself removed since the last recorded look; `max_fraction` is the policy's
    `limits.max_vanished_fraction`.
    """
    then = found.then - removed
    gone = max(0, found.gone - removed)
    if then < MIN_KNOWN or gone <= max_fraction * then:
        return ""
    # rewording is ordinary: of 9,347 real observations 1,940 were reworded or removed within weeks
    is_half_empty = found.observations * 2 < then
    lost_names = found.entities_gone * 2 > found.entities_then
    if not (is_half_empty or lost_names):
        return ""
    counts = f"all {then} observations" if gone == then else f"{gone} of the {then} observations"
    return (
        f"{counts} that were there at the last look are gone, more than "
        f"limits.max_vanished_fraction = {max_fraction} allows: the memory file was truncated, or is another one"
    )
