"""What a move has taken from the old place, as values and names in the state folder there.

`moving_swap.py` makes them; `moving_late.py` and `moving_carry.py` go on with them, after a kill by the names alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from memttl.files.swap import Attempt

MOVED = ".moved"  # what came out of the old place has such a name
ADDS = ".adds.moved"  # and such a one where the memory was out before: it adds, and takes nothing away


class Taken(NamedTuple):
    """What was taken from the old place: the bytes that were read last, names of all that came out, what was merged.

    `bare`: the memory is out of the old place and no link stands there, so that a file that appears was begun anew.
    """

    data: bytes = b""
    names: tuple[str, ...] = ()
    merged: int = 0
    bare: bool = False


@dataclass(slots=True)
class LinkAttempt(Attempt):
    """An exchange by which a link takes the old file's place; what comes out has the link's name."""

    link: str = ""

    @property
    def swap_name(self) -> str:
        return self.link
