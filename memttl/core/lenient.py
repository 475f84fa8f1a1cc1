"""Reads one JSON value out of damaged bytes, forgiving what can be mended without a guess, and says where it ends.

Called by `salvage.py` for every place at which a record may begin. Forgiven are raw control characters and stray
backslashes in strings, NaN and its like, commas too many, comments, and NUL bytes between tokens. It never recurses,
and it notes which brackets it passed, so that none of them is read through again and again: all readings of a file
together take linear time.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# possessive, so that a string of megabytes that is never closed costs one pass and no stack
STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_TOKEN = re.compile(
    rb"[ \t\r\n]*+(?:"
    rb'(?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+")'
    rb"|(?P<scalar>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9.eE+-])|true|false|null)"
    rb"|(?P<mark>[\[\]{}:,])"
    rb"|(?P<junk>\x00+|//[^\n]*)"
    rb"|(?P<constant>NaN|-?Infinity))",
    re.DOTALL,
)
_SPACE = re.compile(rb"[ \t\r\n]*+")
_ODD_IN_STRING = re.compile(rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\|[\x00-\x1f]')
_MAY_BE_ODD = re.compile(rb"[\x00-\x1f\\]")
_SHORT = {8: b"\\b", 9: b"\\t", 10: b"\\n", 12: b"\\f", 13: b"\\r", ord("\\"): b"\\\\"}

MAX_NESTING = 100_000
_SHALLOW = 4  # so many torn objects inside each other are looked at for what can be completed
# what is known of an opening bracket: nothing; no record begins here; a typed object, read to its end; a torn object
UNSEEN, SKIP, TYPED, OPEN = range(4)

Edit = tuple[int, int, bytes]


class Reading(NamedTuple):
    """One value as read: where it ends, or where it breaks (`whole` is false). `edits` (start, end, new) mend it.

    `holds_record`: a record lies in it; `swallows_record`: one lies in a record that is torn and only looks closed.
    """

    end: int
    whole: bool
    edits: tuple[Edit, ...] = ()
    holds_record: bool = False
    swallows_record: bool = False


class Reader:
    """Reads values out of one text; `seen` tells of each opening bracket what an earlier reading found."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.seen = bytearray(len(text))
        self.telling = {(b'"type"', b'"entity"'), (b'"type"', b'"relation"')}  # key and value that tell a record
        self.breaks: dict[int, int] = {}  # where the torn object that begins there breaks
        self.telling_keys: set[bytes] = set()  # keys that tell one whatever text they hold

    def read(self, start: int, limit: int | None = None) -> Reading:
        """Read the value that begins at `start`, up to `limit`.

        With a limit nothing is noted in `seen`: what is torn there may be whole beyond it.
        """
        return _Run(self, start, len(self.text) if limit is None else limit, notes=limit is None).read()


class _Run:
    """One reading. `due` is what may come next: v a value, w a value or ], k a key or }, n a key, : or , by name."""

    def __init__(self, reader: Reader, start: int, limit: int, *, notes: bool) -> None:
        self.reader, self.text, self.seen = reader, reader.text, reader.seen
        self.start, self.limit, self.notes = start, limit, notes
        self.stack = bytearray()
        self.starts: list[int] = []  # where the open brackets stand
        self.inner: list[int] = []  # where the first record in each of them begins, or -1
        self.first_inner, self.swallows = -1, False  # of what was closed last
        self.last_alone = -1  # where the last record begins that has a line to itself
        self.key = b""
        self.edits: list[Edit] = []
        self.due = "v"
        self.comma = 0

    def read(self) -> Reading:
        at = self.start
        while True:
            token = _TOKEN.match(self.text, at, self.limit)
            kind = token.lastgroup if token else None
            if token is None or kind is None or not self._take(kind, token.start(kind), token.end()):
                return self._broken(at)
            at = token.end()
            if not self.stack and self.due == ",":
                return Reading(at, True, tuple(self.edits), self.first_inner >= 0, self.swallows)  # noqa: FBT003

    def _broken(self, at: int) -> Reading:
        found = _SPACE.match(self.text, at, self.limit)
        assert found is not None  # it matches the empty string
        end = found.end()
        if self.notes:
            self._note_break(end)
        return Reading(end, whole=False)

    def _note_break(self, end: int) -> None:
        for depth in reversed(range(len(self.starts))):  # a record within one is a record within all around it
            end = min(end, self.inner[depth]) if self.inner[depth] >= 0 else end
            self._set_torn(self.starts[depth], depth, end)

    def _set_torn(self, start: int, depth: int, end: int) -> None:
        if depth < _SHALLOW and self.seen[start] == TYPED:
            self.seen[start] = OPEN
            self.reader.breaks[start] = end
        else:
            self.seen[start] = SKIP

    def _take(self, kind: str, start: int, end: int) -> bool:
        if kind == "mark":
            return self._take_mark(self.text[start], start)
        if kind == "junk":
            self.edits.append((start, end, b""))
            return bool(self.stack)
        if kind == "string":
            self._mend_string(start, end)
            if self.due in "kn":
                self.due, self.key = ":", self.text[start:end] if end - start < 20 else b""
                return True
            if self.key and self.due == "v":
                self._note_type(self.text[start:end] if end - start < 20 else b"")
        if self.due not in "vw":
            return False
        if kind == "constant":
            self.edits.append((start, end, b"null"))  # what JSON.stringify writes for it
        self.due = ","
        return True

    def _note_type(self, value: bytes) -> None:
        known = self.reader
        if self.notes and (self.key in known.telling_keys or (self.key, value) in known.telling):
            self.seen[self.starts[-1]] = TYPED
        self.key = b""

    def _mend_string(self, start: int, end: int) -> None:
        if _MAY_BE_ODD.search(self.text, start, end):
            raw = self.text[start:end]
            mended = mend_string(raw)
            if mended != raw:
                self.edits.append((start, end, mended))

    def _take_mark(self, mark: int, start: int) -> bool:
        if mark in b"[{":
            return self.due in "vw" and self._open(mark, start)
        if mark == ord(":"):
            taken, self.due = self.due == ":", "v"
            return taken
        if mark == ord(","):
            return self._take_comma(start)
        return self._close(mark, start)

    def _open(self, mark: int, start: int) -> bool:
        if len(self.stack) >= MAX_NESTING:
            return False
        if self.notes and not self.seen[start]:
            self.seen[start] = SKIP
        self.stack.append(mark)
        self.starts.append(start)
        self.inner.append(-1)
        self.due = "w" if mark == ord("[") else "k"
        self.comma, self.key = 0, b""
        return True

    def _take_comma(self, start: int) -> bool:
        if self.due == ",":
            self.due, self.comma = ("v" if self.stack[-1] == ord("[") else "n"), start + 1
            return True
        if not self.stack or self.due == ":" or (self.due == "v" and self.stack[-1] == ord("{")):
            return False
        self.edits.append((start, start + 1, b""))  # a second comma, or one before the first element
        return True

    def _close(self, mark: int, at: int) -> bool:
        if not self.stack or self.stack[-1] != mark - 2:  # "]" and "}" stand two behind "[" and "{" in ASCII
            return False
        if self.due == ":" or (self.due == "v" and mark == ord("}")):
            return False
        if self.due in "vn":
            self.edits.append((self.comma - 1, self.comma, b""))  # a comma before the closing bracket
        self.stack.pop()
        self._leave(self.starts.pop(), self.inner.pop(), at)
        self.due, self.key = ",", b""
        return True

    def _leave(self, start: int, inner: int, end: int) -> None:
        """Pass on to the bracket around it whether what was closed is a record, or holds one."""
        self.first_inner = inner
        if not self.notes:
            return
        is_record = self.seen[start] == TYPED
        if is_record and inner >= 0 and self._only_looks_closed(start):
            self.swallows, is_record = True, False
            self._set_torn(start, len(self.stack), inner)
        if is_record and self._is_alone(start, end):
            self.last_alone = start
        if self.stack and self.inner[-1] < 0:
            self.inner[-1] = start if is_record else inner

    def _only_looks_closed(self, start: int) -> bool:
        """Say whether a record with a record in it is rather a torn one that ran on into the next.

        Well-formed JSON is whole, whatever objects its observations are: unless one of them has a line to itself,
        where the server writes a record and no observation.
        """
        return self.last_alone > start or (bool(self.edits) and self.edits[-1][0] >= start)

    def _is_alone(self, start: int, end: int) -> bool:
        before = start
        while before and self.text[before - 1] in b" \t\r":
            before -= 1
        return self.text[before - 1 : before] == b"\n" and self.text.find(b"\n", start, end) < 0


def mend_string(raw: bytes) -> bytes:
    """Escape the raw control characters and stray backslashes of a JSON string."""
    return _ODD_IN_STRING.sub(lambda found: _escaped(found[0]), raw)


def _escaped(odd: bytes) -> bytes:
    if len(odd) > 1:
        return odd
    return _SHORT.get(odd[0]) or b"\\u%04x" % odd[0]


def apply_edits(text: bytes, start: int, end: int, edits: tuple[Edit, ...]) -> bytes:
    """Give text[start:end] with its edits made."""
    pieces, at = [], start
    for first, last, new in sorted(edits):
        pieces += [text[at:first], new]
        at = last
    return b"".join([*pieces, text[at:end]])
