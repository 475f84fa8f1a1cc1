"""Where a text stands in any bytes: as UTF-8 or UTF-16, packed or not, with or without JSON's escapes.

`forget` asks it what is left of a secret in a file that it has cleaned, and in lines that cannot be parsed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from memttl.core.encodings import packed_parts, wide_texts
from memttl.core.normal import normalise
from memttl.core.selection import Choice

_ESCAPE = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/bfnrt])')
_SURROGATE = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LEVELS = 3  # the audit log holds JSON in a JSON string, and a text may itself be JSON


class Mentions(NamedTuple):
    """What is looked for: a text in any case, `exact` as written, a regular expression, or whole names as words."""

    text: str | None = None
    exact: bool = False
    pattern: str | None = None
    names: tuple[str, ...] = ()

    def count(self, data: bytes) -> int:
        """Give how often the bytes hold it, in the spelling in which they hold it most often."""
        here = max(map(self._count, _spellings(data)))
        return max(here, *(self.count(part) for part in packed_parts(data)), 0)

    def is_in_broken(self, line: bytes) -> bool:
        """Say whether a line that cannot be parsed holds it: of names, as a string that is nothing but the name."""
        if self.names:
            return any(f'"{name}"' in text for text in _spellings(line) for name in self.names)
        return self.count(line) > 0

    def _count(self, text: str) -> int:
        if self.pattern is not None:
            compiled = re.compile(self.pattern)
            return sum(bool(found[0]) for line in text.split("\n") for found in compiled.finditer(line))
        if self.names:
            return sum(len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", text)) for name in self.names if name)
        if not self.text:
            return 0
        return text.count(self.text) if self.exact else normalise(text).count(normalise(self.text))


def mentions_of(choice: Choice, names: tuple[str, ...]) -> Mentions:
    """Give what to look for after a choice was forgotten: its TEXT, or without one the names of its entities."""
    if choice.text is None:
        return Mentions(names=names)
    if choice.pattern:
        return Mentions(pattern=choice.text)
    return Mentions(choice.text, exact=choice.exact)


def _spellings(data: bytes) -> list[str]:
    """Give the bytes as text: as they are, and without one, two and three layers of JSON's escapes."""
    is_utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = data.decode("utf-16", "replace") if is_utf16 else data.decode("utf-8", "surrogateescape")
    return [spelling for each in (text, *wide_texts(data)) for spelling in _unescapings(each)]


def _unescapings(text: str) -> list[str]:
    found = [text]
    for _ in range(_LEVELS):
        if "\\" not in text:
            break
        text = _SURROGATE.sub(_joined, _ESCAPE.sub(_unescaped, text))
        found.append(text)
    return found


def _unescaped(found: re.Match[str]) -> str:
    word = found[1]
    return chr(int(word[1:], 16)) if word[0] == "u" else _PLAIN.get(word, word)


def _joined(found: re.Match[str]) -> str:
    return found[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")
