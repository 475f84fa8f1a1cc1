"""A damaged memory file into a plan to mend it: the changes, the new bytes, and every byte that is taken out.

`workflow/repair.py` shows the plan, keeps what is taken out and writes the rest. Pure and deterministic: the new bytes
are the old ones with the changes made, so that what stays and what is taken out together are every byte of the old.
"""

from __future__ import annotations

from typing import NamedTuple

from memttl.core.foreign import foreign_encoding, foreign_packed
from memttl.core.js_json import escape_lone
from memttl.core.memory import BOM, parse_line
from memttl.core.repair_refusals import refusal, refuse_foreign, refuse_other_tools
from memttl.core.salvage import CUT_OFF, DOCUMENT, NO_JSON, NO_TYPE, NO_UTF8, SPREAD, TWO_LISTS, Find, salvage

A_BOM = "a byte order mark, which the server cannot read"
JOINED = "more than one record on a line"
BRACKETS = "brackets or commas that belong to nothing"
NULS = "NUL bytes"
DEBRIS = "debris beside a record"
NOTHING = "no whole record on the line"
LAST_END = "the line end before a last line that went"
UTF_16 = "a file in UTF-16, which the server cannot read"

_DONE = {
    A_BOM: "taken out",
    JOINED: "each gets a line of its own",
    BRACKETS: "taken out",
    NULS: "taken out",
    DEBRIS: "taken out",
    NOTHING: "taken out whole",
    LAST_END: "taken out, so that the file ends as it did",
    UTF_16: "written anew in UTF-8",
    NO_TYPE: "given its type",
    CUT_OFF: "completed to its last whole observation, what is cut off is taken out",
    DOCUMENT: "taken apart into one record a line",
    SPREAD: "put on one line",
    TWO_LISTS: "both lists are joined in the one that the server reads",
    NO_UTF8: "each of them becomes U+FFFD, as in the server's own reading",
    NO_JSON: "each is escaped or taken out, NaN becomes null",
}
_SPACE = b" \t\r"
_ENCODINGS = ((b"\xff\xfe\x00\x00", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


class Mending(NamedTuple):
    """One change: `new` stands in place of text[start:end]. `line` counts from 1; `reason` says what was found.

    What stood there goes into quarantine, unless it is nothing.
    """

    line: int
    start: int
    end: int
    new: bytes
    reason: str

    @property
    def done(self) -> str:
        """What is done about it."""
        return _DONE[self.reason]


class Piece(NamedTuple):
    """Bytes that are taken out: where they stood in the file as it was (in its UTF-8 form), and why."""

    line: int
    offset: int
    raw: bytes
    reason: str


class RepairPlan(NamedTuple):
    """What a repair makes of a file. `text` is the file in UTF-8, to which the mendings apply; `data` what they give.

    `is_converted`: `text` is not the file itself, which lay there in UTF-16.
    """

    text: bytes
    data: bytes
    mendings: tuple[Mending, ...]
    pieces: tuple[Piece, ...]
    is_converted: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def is_needed(self) -> bool:
        """False for a file that is good as it is."""
        return bool(self.mendings) or self.is_converted


def plan_repair(data: bytes) -> RepairPlan:
    """Plan how to make a memory file readable for the server without losing or changing a whole record.

    Raises:
        Foreign: it is compressed, or another tool's, and nothing in it can be mended.
    """
    if packed := foreign_packed(data):
        raise refusal(packed)
    text = _in_utf8(data)
    is_converted = text is not None
    text = data if text is None else text
    finds = salvage(text)
    mendings = _mendings(text, finds)
    new = apply_mendings(text, mendings)
    if not (mendings or is_converted):
        refuse_foreign(text)
    refuse_other_tools(text, new)
    pieces = [Piece(m.line, m.start, text[m.start : m.end], m.reason) for m in mendings if m.start < m.end]
    if is_converted:
        pieces.insert(0, Piece(1, 0, data, UTF_16))
    return RepairPlan(text, new, tuple(mendings), tuple(pieces), is_converted, _warnings(text, new))


def apply_mendings(text: bytes, mendings: list[Mending] | tuple[Mending, ...]) -> bytes:
    """Give the text with every change made."""
    pieces, at = [], 0
    for mending in mendings:
        pieces += [text[at : mending.start], mending.new]
        at = mending.end
    return b"".join([*pieces, text[at:]])


def undo_repair(damaged: bytes, live: bytes) -> bytes | None:
    """Bring the damaged lines back onto the live file; None where too much came since to do it for sure."""
    from memttl.core.merge import merge

    plan = plan_repair(damaged)
    if live == plan.data:
        return damaged
    if plan.is_converted or any(m.reason in (DOCUMENT, SPREAD) for m in plan.mendings):
        return None
    merged = merge(plan.data, damaged, live)
    return BOM + merged if damaged.startswith(BOM) and not merged.startswith(BOM) else merged


def _in_utf8(data: bytes) -> bytes | None:
    """Give the UTF-8 form of a file in UTF-16 or UTF-32; None for one that is in UTF-8."""
    if foreign_encoding(data) is None:
        return None
    by_mark = next((name for mark, name in _ENCODINGS if data.startswith(mark)), None)
    encoding = by_mark or ("utf-16-be" if data[:1] == b"\0" else "utf-16-le")
    width = 4 if encoding == "utf-32" else 2
    text = data[: len(data) // width * width].decode(encoding, "surrogatepass" if width == 2 else "replace")
    if not text.lstrip("\ufeff \t\r\n\0").startswith(("{", "[")):
        return None
    # half a pair cannot be written in UTF-8; its escape can, and means the same inside a string
    return escape_lone(text).encode()


def _mendings(text: bytes, finds: list[Find]) -> list[Mending]:
    """Give the changes that leave nothing but the finds, each on lines of its own, and blank lines."""
    maker = _Maker(text)
    if text.startswith(BOM):
        maker.add(0, _after_marks(text), b"", A_BOM)
    for find in finds:
        maker.gap(find.start, is_first=not maker.kept_one)
        maker.keep(find)
    maker.gap(len(text), is_first=not maker.kept_one)
    maker.end_as_before()
    return maker.mendings


def _after_marks(text: bytes) -> int:
    at = 0
    while text.startswith(BOM, at):
        at += len(BOM)
    return at


class _Maker:
    """Walks over the text from find to find and collects the changes. `at` is how far it came."""

    def __init__(self, text: bytes) -> None:
        self.text, self.at, self.mendings = text, 0, list[Mending]()
        self.kept_one = self.is_cut_off = False
        self._counted, self._line = 0, 1

    def add(self, start: int, end: int, new: bytes, reason: str) -> None:
        """Put `new` in place of text[start:end]."""
        self.mendings.append(Mending(self._line_of(start), start, end, new, reason))
        self.at = max(self.at, end)

    def keep(self, find: Find) -> None:
        """Keep a find, or what is written in its place."""
        if find.lines is not None:
            self.add(find.start, find.end, b"\n".join(find.lines), find.why)
        elif find.closing:
            self.add(find.end, find.end, find.closing, find.why)
        self.at, self.kept_one = find.end, True
        self.is_cut_off = find.why == CUT_OFF

    def gap(self, end: int, *, is_first: bool) -> None:
        """Clear what lies between the last find and `end`, where the next find begins or the text ends."""
        is_last = end == len(self.text)
        head_end = self.text.find(b"\n", self.at, end)
        if head_end < 0:
            self._gap_within_a_line(end, is_first=is_first, is_last=is_last)
            return
        if not is_first:
            self._clear(self.at, head_end)
            self.at = head_end + 1
        while (line_end := self.text.find(b"\n", self.at, end)) >= 0:
            self._clear_line(self.at, line_end + 1, is_first=is_first)
            self.at = line_end + 1
        if is_last:
            self._clear_line(self.at, end, is_first=is_first)
        else:
            self._clear(self.at, end)
        self.at = end

    def _gap_within_a_line(self, end: int, *, is_first: bool, is_last: bool) -> None:
        if is_first and is_last:
            self._clear_line(self.at, end, is_first=True)
        elif is_first or is_last:
            self._clear(self.at, end)
        else:
            self._clear(self.at, end)
            self.add(end, end, self._newline(end), JOINED)
        self.at = end

    def _newline(self, at: int) -> bytes:
        line_end = self.text.find(b"\r\n", at, at + (1 << 16))  # of this line, or of one close by
        return b"\r\n" if line_end >= 0 and self.text.find(b"\n", at, line_end) < 0 else b"\n"

    def _clear(self, start: int, end: int) -> None:
        """Take debris out of a part of a line, and leave the white space around it."""
        raw = self.text[start:end]
        debris = raw.strip(_SPACE)
        if debris:
            start += len(raw) - len(raw.lstrip(_SPACE))
            if self.is_cut_off:
                self._add_cut_off(start, start + len(debris))
            else:
                self.add(start, start + len(debris), b"", _kind_of_debris(debris))
        self.is_cut_off = False

    def _add_cut_off(self, start: int, end: int) -> None:
        """Take out what is cut off: with the record's completion, where that ends there, it is one change."""
        last = self.mendings[-1]
        if last.reason == CUT_OFF and last.end == start:
            self.mendings[-1] = last._replace(end=end)
            self.at = max(self.at, end)
        else:
            self.add(start, end, b"", CUT_OFF)

    def _clear_line(self, start: int, end: int, *, is_first: bool) -> None:
        """Take a whole line out, with its end, unless it is blank."""
        raw = self.text[start:end]
        # a byte order mark on a blank line would become the file's first bytes
        if start < end and (parse_line(raw.rstrip(b"\n"), 1).kind != "blank" or (is_first and BOM in raw)):
            self.add(start, end, b"", NULS if not raw.strip(b"\0 \t\r\n") else NOTHING)

    def _line_of(self, at: int) -> int:
        self._line += self.text.count(b"\n", self._counted, at)
        self._counted = max(self._counted, at)
        return self._line

    def end_as_before(self) -> None:
        """Where the last line went, leave no line end at the end that was none."""
        if self.text.endswith(b"\n") or not self.mendings or self.mendings[-1].end < len(self.text):
            return
        if self._is_whole_line(self.mendings[-1]):
            self._take_out_ends(len(self.mendings) - 1)

    def _take_out_ends(self, last: int) -> None:
        """Take out the line ends before the last line, up to the line that stays: those of blank lines, too."""
        gone, at = [self.mendings[last]], self.mendings[last].start
        while at and self.text[at - 1 : at] == b"\n":
            before = self.mendings[last - 1] if last else None
            if before and before.end == at:  # a line that went with its end
                gone.append(before)
                last, at = last - 1, before.start
                continue
            at -= 1
            if gone[-1].reason == LAST_END:
                gone[-1] = gone[-1]._replace(line=gone[-1].line - 1, start=at)
            else:
                gone.append(Mending(gone[-1].line - 1, at, at + 1, b"", LAST_END))
        self.mendings[last:] = reversed(gone)

    def _is_whole_line(self, mending: Mending) -> bool:
        before = self.text[mending.start - 1 : mending.start]
        return not mending.new and mending.start < mending.end and before in (b"", b"\n")


def _kind_of_debris(debris: bytes) -> str:
    if not debris.strip(b"\0 \t\r"):
        return NULS
    if not debris.replace(BOM, b"").strip(_SPACE):
        return A_BOM
    return BRACKETS if not debris.strip(b"]}, \t\r") else DEBRIS


def _warnings(text: bytes, new: bytes) -> tuple[str, ...]:
    if text.strip() and not new.strip():
        return ("Nothing in the file could be saved: after the repair it is empty.",)
    return ()
