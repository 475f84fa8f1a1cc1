"""A block between two markers in somebody's Markdown file: put in, brought up to date, taken out. Pure, on bytes.

`files/instructions.py` reads and writes the file. Outside of the block every byte stays: encoding, line ends, a byte
order mark, a missing last line end. What is put in and taken out again leaves the file as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from memttl.core.memory import BOM

BEGIN = "<!-- memttl:begin (`memttl policy prompt --append` keeps this up to date) -->"
END = "<!-- memttl:end -->"

_MARKER = re.compile(rb"<!--\s*memttl:(begin|end)\b")
_MARKER_ALONE = re.compile(rb" {0,3}<!--\s*memttl:(?:begin|end)\b(?:(?!-->).)*-->\s*")
# in lists and quotes, a fence may stand behind their signs and deeper than by three spaces
_FENCE = re.compile(rb"(?:\s*(?:[-*+>]|[0-9]{1,9}[.)]))*\s*(?P<fence>(?P<sign>[`~])(?P=sign){2,})(?P<info>.*)")
_END_OF_FENCE = re.compile(rb"[\s>]*(?P<fence>`{3,}|~{3,})\s*")
_COMMENT = re.compile(rb" {0,3}<!--(?!.*-->)")


Deed = Literal["created", "appended", "updated", "removed", "unchanged"]


class BlockChange(NamedTuple):
    """What happens to the file that `target` names; `before` is None for one that is not there yet."""

    target: str
    deed: Deed
    before: bytes | None
    after: bytes


class BadMarkers(ValueError):
    """The file's markers cannot be trusted; its text says where and why."""


class _Line(NamedTuple):
    """One line without its end: where it starts and ends in the file; `inside` says what it stands in, "" for text."""

    number: int
    start: int
    end: int
    text: bytes
    inside: str


class _Block(NamedTuple):
    """From the start of the marker that begins it to the end of the one that ends it; `eol` is the first's line end."""

    start: int
    end: int
    eol: bytes


def has_block(data: bytes) -> bool:
    """Say whether a file holds the block.

    Raises:
        BadMarkers: where a marker stands that does not belong.
    """
    return _find(data) is not None


def put_block(data: bytes, text: str) -> bytes:
    """Give the file with `text` between the markers: at their place, else behind all else.

    Raises:
        BadMarkers: the markers are broken, or the file's end lies in a code block or a comment.
    """
    block = _find(data)
    if block:
        return data[: block.start] + _written(text, block.eol) + data[block.end :]
    if inside := _open_at_end(data):
        raise BadMarkers(f"{inside} never ends, so that what is added would stand in it")
    eol = _eol_of(data)
    own = _written(text, eol)
    if not data.removeprefix(BOM):
        return data + own + eol
    # where the last line has no end, neither has the block: so that taking it out knows
    return data + eol + own + eol if data.endswith(b"\n") else data + eol + eol + own


def remove_block(data: bytes) -> bytes:
    """Give the file without the block, its markers, and the line that was put before it.

    Raises:
        BadMarkers: the markers are broken.
    """
    block = _find(data)
    if block is None:
        return data
    before, after, eol = data[: block.start], data[block.end :], block.eol
    if not after:
        return before.removesuffix(eol).removesuffix(eol)
    after = after.removeprefix(b"\r").removeprefix(b"\n")
    stands_apart = before.endswith(eol + eol) and (not after or after.startswith((b"\n", b"\r\n")))
    return (before.removesuffix(eol) if stands_apart else before) + after


def _written(text: str, eol: bytes) -> bytes:
    lines = [BEGIN, "", *text.strip("\n").split("\n"), "", END]
    return eol.join(line.encode() for line in lines)


def _eol_of(data: bytes) -> bytes:
    """The line end that the file uses: that of its last whole line."""
    return b"\r\n" if data[: data.rfind(b"\n") + 1].endswith(b"\r\n") else b"\n"


def _find(data: bytes) -> _Block | None:
    begin = end = None
    for line in _lines(data):
        marker = _MARKER.search(line.text)
        if marker is None:
            continue
        _check_place(line)
        if marker[1] == b"begin":
            if end:
                raise BadMarkers(f"line {line.number} begins a second block")
            if begin:
                raise BadMarkers(f"line {line.number} begins a block inside the one that line {begin.number} begins")
            begin = line
        else:
            if end or not begin:
                raise BadMarkers(f"line {line.number} ends a block that no line begins")
            end = line
    if begin and not end:
        raise BadMarkers(f"the block that line {begin.number} begins is never ended")
    if begin is None or end is None:
        return None
    return _Block(begin.start, end.end, b"\r\n" if data[begin.end : begin.end + 2] == b"\r\n" else b"\n")


def _check_place(line: _Line) -> None:
    if line.inside:
        raise BadMarkers(f"the marker in line {line.number} stands inside {line.inside}")
    if not _MARKER_ALONE.fullmatch(line.text):
        raise BadMarkers(f"the marker in line {line.number} does not stand alone on its line")


def _open_at_end(data: bytes) -> str:
    """Say what the end of the file stands in: a code block or a comment that never ends; "" for text."""
    *_, last = _lines(data + b"\n")
    return last.inside


def _lines(data: bytes) -> Iterator[_Line]:
    """The lines of a Markdown file, each with what it stands in; the last one is empty where the file ends in a LF."""
    start = len(BOM) if data.startswith(BOM) else 0
    fence, inside = b"", ""
    for number, raw in enumerate(data[start:].split(b"\n"), 1):
        text = raw.removesuffix(b"\r")
        yield _Line(number, start, start + len(text), text, inside)
        start += len(raw) + 1
        if fence:
            ended = _END_OF_FENCE.fullmatch(text)
            if ended and ended["fence"].startswith(fence):
                fence, inside = b"", ""
        elif inside:
            inside = "" if b"-->" in text else inside
        elif (opened := _FENCE.fullmatch(text)) and not (opened["sign"] == b"`" and b"`" in opened["info"]):
            fence, inside = opened["fence"], f"the code block that line {number} opens"
        elif _COMMENT.match(text):
            inside = f"the comment that line {number} opens"
