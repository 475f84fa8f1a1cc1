"""Pieces of an open audit log: what its first line says of thinning, its last lines, and the bytes between two places.

`audit.py` and `thin_log.py` read by it; nothing is written here.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from memttl.core.chain import event_of

_SEGMENT = b'{"v":1,"event":"segment",'
_LONGEST_SEGMENT = 1024


class Segment(NamedTuple):
    """What the first line of a thinned log says: `taken` bytes are gone, all from before the byte `until`.

    Both count the log as if nothing had been taken out of it; `length` is the line's own, with its LF.
    """

    taken: int = 0
    until: int = 0
    length: int = 0

    def logical(self, at: int) -> int:
        """Give the place that a byte of the file has in the log as it once was."""
        return at - self.length + self.taken

    def physical(self, at: int) -> int | None:
        """Give where in the file a place of the log as it once was lies; None where lines before it were taken out."""
        return at - self.taken + self.length if at >= self.until else None


def segment_of(descriptor: int) -> Segment:
    """Read from an open log what its first line says of thinning."""
    return segment_in(read_at(descriptor, 0, _LONGEST_SEGMENT))


def segment_in(data: bytes) -> Segment:
    """Read what the first line of a log says of thinning; nothing was taken out of one that does not begin so."""
    if not data.startswith(_SEGMENT):
        return Segment()
    line, found, _ = data.partition(b"\n")
    event = event_of(line) if found else None
    taken, until = (event or {}).get("bytes"), (event or {}).get("until")
    if not (isinstance(taken, int) and isinstance(until, int)):
        return Segment()
    return Segment(taken, until, len(line) + 1)


def last_lines(descriptor: int, end: int) -> tuple[list[bytes], bool]:
    """Give the last whole line before the byte `end` and the torn ones behind it, and whether its LF is missing."""
    reach = 4096
    while True:
        start = max(0, end - reach)
        tail = read_at(descriptor, start, end)
        lines = tail.removesuffix(b"\n").split(b"\n") if tail else []
        # the first one may have begun before
        whole = next((i for i in range(len(lines) - 1, -1 if start == 0 else 0, -1) if event_of(lines[i])), None)
        if whole is not None or start == 0:
            return lines[whole or 0 :], bool(tail) and not tail.endswith(b"\n")
        reach *= 8


def read_at(descriptor: int, start: int, end: int) -> bytes:
    """Read the bytes of an open file between two places, fewer where it ends before."""
    os.lseek(descriptor, start, os.SEEK_SET)
    pieces, size = [], end - start
    while size > 0 and (piece := os.read(descriptor, size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
