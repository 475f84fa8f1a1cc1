"""Finds every whole record in damaged bytes, and what torn ones can be completed: the lines that a repair keeps.

Called by `repair.py`, which makes of them the changes to the file. What lies between the finds is debris.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from memttl.core.lenient import OPEN, SKIP, TYPED, Reader, Reading, apply_edits
from memttl.core.memory import BOM, parse_line
from memttl.core.model import Line
from memttl.core.torn import complete
from memttl.core.unwrapping import compact, document_lines, kind_by_shape, typed, united

# why something is not as it was, for the plan, the quarantine and the audit log
CUT_OFF = "breaks off in the middle of a value"
DOCUMENT = "one JSON document, not one record a line"
SPREAD = "one record over several lines"
NO_TYPE = "a record of a torn document, whose list alone said its type"
TWO_LISTS = "names its observations twice"
NO_UTF8 = "holds bytes that are no UTF-8"
NO_JSON = "holds what no JSON may (raw control characters, stray backslashes or commas, NaN)"

_CANDIDATE = re.compile(rb'\{[ \t\r]*+"')
_BEFORE = re.compile(rb"(?:[ \t\r\n\x00]|\xef\xbb\xbf)*+")
_GRAPH = re.compile(rb'[ \t\r\n]*+\{[ \t\r\n]*+"(?:entities|relations)"[ \t\r\n]*+:[ \t\r\n]*+\[')
_RECORDS = ("entity", "relation")


class Find(NamedTuple):
    """One kept stretch of the text. `lines` are what is written in its place, None where it stays as it is.

    `closing` completes a torn record: it comes behind the stretch. `why` says what is not as it was.
    """

    start: int
    end: int
    lines: tuple[bytes, ...] | None = None
    closing: bytes = b""
    why: str = ""


def salvage(text: bytes) -> list[Find]:
    """Give what can be kept of a memory file in UTF-8, in order; blank lines are nobody's."""
    return _Salvage(text).finds_of_all()


class _Salvage:
    def __init__(self, text: bytes) -> None:
        self.text = text
        self.finds: list[Find] = []
        self._reader: Reader | None = None
        self._line = (0, -1)
        self.in_graph = False  # a torn graph document: its records have no type
        self.ahead: tuple[int, int, Find | None] = (0, 0, None)  # from where to where was looked ahead, and the find

    @property
    def reader(self) -> Reader:
        if self._reader is None:  # a good file needs none
            self._reader = Reader(self.text)
        return self._reader

    def finds_of_all(self) -> list[Find]:
        at = 0
        while self.text.startswith(BOM, at):
            at += len(BOM)
        while at < len(self.text):
            end = self._line_end(at)
            line = parse_line(self.text[at:end], 1)
            at = end + 1 if line.kind == "blank" or self._is_kept_whole(line, at, end) else self._mend_from(at)
        return self.finds

    def _line_end(self, at: int) -> int:
        first, end = self._line
        if not first <= at <= end:  # kept, so that a line of many records is not searched through for each
            end = self.text.find(b"\n", at)
            end = len(self.text) if end < 0 else end
            self._line = at, end
        return end

    def _is_kept_whole(self, line: Line, at: int, end: int) -> bool:
        """Keep a line that the server can read, as it stands or taken apart; say whether that was done."""
        if line.kind == "malformed":
            return False
        if line.kind == "other" and line.raw.strip(b" \t\r") == b"null":
            return False  # JSON.parse takes it; then the server asks it for its type, and fails at every call
        lines = self._other_lines(line) if line.kind == "other" else None
        self.finds.append(Find(at, end, lines, b"", DOCUMENT if lines else ""))
        return True

    def _other_lines(self, line: Line) -> tuple[bytes, ...] | None:
        if line.too_deep:
            return None
        if self.in_graph and line.record and (kind := kind_by_shape(line.record)):
            return (typed(line.raw.strip(), kind),)
        found = document_lines(line.raw)
        return tuple(_finished(each) for each in found) if found else None

    def _mend_from(self, at: int) -> int:
        """Keep what can be kept from `at` to where a new line begins; give that place."""
        fresh = True  # nothing but white space since the last record or the start of the line
        while True:
            at = self._after_space(at) if fresh else at
            line_end = self._line_end(at)
            if at >= line_end:
                return line_end + 1
            found, at = self._next(at, line_end, fresh=fresh)
            fresh = found

    def _after_space(self, at: int) -> int:
        found = _BEFORE.match(self.text, at, self._line_end(at))
        assert found is not None  # it matches the empty string
        return found.end()

    def _next(self, at: int, line_end: int, *, fresh: bool) -> tuple[bool, int]:
        """Try what stands at `at`; give whether something was kept, and where to go on."""
        known = self.reader.seen[at]
        first = self.text[at : at + 1]
        reading = None
        if first in (b"{", b"[") and known not in (SKIP, OPEN):
            reading = self.reader.read(at)
            if reading.whole and (find := self._find_of(at, reading, fresh=fresh)):
                self.finds.append(find)
                return True, find.end
        torn = first == b"{" and self.reader.seen[at] == OPEN
        if fresh and _GRAPH.match(self.text, at) and reading is not None and not reading.whole:
            self._read_as_graph(at, reading.end)
        if torn and (find := self._completed(at, line_end)):
            self.finds.append(find)
            return False, find.end
        candidate = self._candidate(at + 1, line_end)
        return False, line_end if candidate is None else candidate

    def _read_as_graph(self, at: int, end: int) -> None:
        """Read a torn graph document once more, now that its records are known to have no type."""
        if not self.in_graph:
            self.in_graph = True
            self.reader.telling_keys |= {b'"entityType"', b'"relationType"'}
            self.reader.seen[at:end] = bytes(end - at)
            self.reader.read(at)

    def _candidate(self, at: int, line_end: int) -> int | None:
        for found in _CANDIDATE.finditer(self.text, at, line_end):
            if self.reader.seen[found.start()] != SKIP:
                return found.start()
        return None

    def _find_of(self, at: int, reading: Reading, *, fresh: bool) -> Find | None:
        """Judge a value that was read whole: a record, a document, or no find."""
        if reading.swallows_record:
            return None
        raw = self.text[at : reading.end]
        mended = apply_edits(self.text, at, reading.end, reading.edits) if reading.edits else raw
        mended, is_utf8 = _as_utf8(mended)
        documents = document_lines(mended)
        if documents:
            return Find(at, reading.end, tuple(_finished(line) for line in documents), b"", DOCUMENT)
        if raw[:1] == b"[" or (reading.holds_record and self.reader.seen[at] != TYPED):
            return None
        kept = self._record(mended, fresh=fresh and not reading.edits)
        if kept is None:
            return None
        if kept == raw:
            return Find(at, reading.end)
        return Find(at, reading.end, (kept,), b"", _why(raw, kept, reading) if is_utf8 else NO_UTF8)

    def _record(self, value: bytes, *, fresh: bool) -> bytes | None:
        """Give the line of an object that is a record; of any object where nothing but white space stands before."""
        line = parse_line(_finished(compact(value)), 1)
        if line.kind in _RECORDS or (line.kind == "other" and line.too_deep):
            return line.raw
        if line.record is None or line.kind != "other":
            return None
        if self.in_graph and "type" not in line.record and (kind := kind_by_shape(line.record)):
            return typed(line.raw, kind)
        return line.raw if fresh or isinstance(line.record.get("type"), str) else None

    def _whole_line_within(self, start: int, end: int) -> int | None:
        """Give the start of the first line after `start`, and before `end`, that is a record by itself."""
        at = self._line_end(start) + 1
        while at < end:
            line_end = self._line_end(at)
            line = self.text[at:line_end].strip(b" \t\r").removesuffix(b",")
            if line.startswith(b"{") and parse_line(line, 1).kind in _RECORDS:
                return at
            at = line_end + 1
        return None

    def _completed(self, at: int, line_end: int) -> Find | None:
        """Complete the torn object at `at`, up to where it broke or the next whole record begins."""
        limit = self.reader.breaks[at]
        ahead = self._look_ahead(at + 1, line_end)
        if ahead is not None:
            limit = min(limit, ahead)
        if limit > line_end:
            limit = min(limit, self._whole_line_within(at, limit) or limit)
        done = complete(self.reader, at, limit, in_graph=self.in_graph)
        if done is None:
            return None
        mended, is_utf8 = _as_utf8(apply_edits(self.text, at, done.end, done.edits) + done.closing)
        line = self._record(mended, fresh=False)
        if line is None:
            return None
        if line == self.text[at : done.end] + done.closing:
            return Find(at, done.end, None, done.closing, CUT_OFF)
        return Find(at, done.end, (line,), b"", CUT_OFF if is_utf8 else NO_UTF8)

    def _look_ahead(self, at: int, line_end: int) -> int | None:
        """Give the start of the next whole record on the line."""
        first, last, found = self.ahead
        if first <= at <= (found.start if found else last) and line_end == last:
            return found.start if found else None
        place, find = self._candidate(at, line_end), None
        while place is not None and find is None:
            find = self._whole_at(place)
            if find is None:
                place = self._candidate(place + 1, line_end)
        self.ahead = (at, line_end, find)
        return find.start if find else None

    def _whole_at(self, place: int) -> Find | None:
        if self.reader.seen[place] in (SKIP, OPEN):
            return None
        reading = self.reader.read(place)
        return self._find_of(place, reading, fresh=False) if reading.whole else None


def _why(raw: bytes, kept: bytes, reading: Reading) -> str:
    if reading.edits:
        return NO_JSON
    if b"\n" in raw:
        return SPREAD
    return NO_TYPE if kept.endswith(raw[1:]) else TWO_LISTS


def _finished(line: bytes) -> bytes:
    """Join two lists of observations on a line that is otherwise well-formed."""
    parsed = parse_line(line, 1)
    return united(line) if parsed.problem == "a second list of observations" else line


def _as_utf8(raw: bytes) -> tuple[bytes, bool]:
    """Replace what is no UTF-8 as the server's own reading does; say whether all was."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace").encode(), False
    return raw, True
