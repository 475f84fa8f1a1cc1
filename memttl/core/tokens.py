"""What an assistant pays for a `read_graph`: one record of the memory file into characters and estimated tokens.

`memttl report` adds up the weights of all records and of what a prune would remove. Pure.

What is weighed is one text, once: the text that the memory server answers a `read_graph` with, which is
`JSON.stringify(graph, null, 2)`, so `{"entities": […], "relations": […]}` with two spaces a level; of an entity only
name, entityType and observations, of a relation only from, to and relationType, since the server sends nothing else.
It also sends the same graph as `structuredContent`; a client hands one of the two to the model. Not weighed is what a
client adds around the text, and a line that memttl cannot parse (`Line.record` is None), though the server may.

The estimate: each character of that text weighs what the table below gives its class, in hundredths of a token, and
the sum is rounded. `benchmarks/tokens.md` says which tokenizers the table was fitted to, and how far off it is.
"""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import orjson

_CENTS = {
    "letter or space": 18,  # ASCII, indentation included: an English word with the space before it is about one token
    "digit": 75,
    "mark": 40,  # every other ASCII character, quotes and brackets of JSON included
    "line end": 125,
    "two bytes": 50,  # by length in UTF-8: accented Latin, Greek, Cyrillic, Hebrew, Arabic
    "three bytes": 65,  # Chinese, Japanese, Korean, Thai, the scripts of India, arrows and dashes
    "four bytes": 250,  # emoji
}
_LETTER, _DIGIT, _MARK, _LINE_END, _TWO, _THREE, _FOUR = _CENTS.values()

_ENTITY_KEYS = ("name", "entityType", "observations")
_RELATION_KEYS = ("from", "to", "relationType")
_RECORD_INDENT, _OBSERVATION_INDENT = 4, 8

_LETTERS_AND_SPACE = string.ascii_letters.encode() + b" "
_DIGITS = string.digits.encode()
_ASCII = bytes(range(0x80))
_INNER_BYTES = bytes(range(0x80, 0xC0))  # of a character of several bytes, all but the first
_FIRST_OF_TWO = bytes(range(0xC0, 0xE0))
_FIRST_OF_THREE = bytes(range(0xE0, 0xF0))


class Weight(NamedTuple):
    """What a piece of the text weighs: its `characters` (code points), and its tokens in hundredths, `cents`.

    Both add up exactly, piece by piece; `tokens_of` rounds a sum.
    """

    characters: int = 0
    cents: int = 0


# what the brackets of a list weigh more once something stands between them, less the comma that the last one lacks
_OPENED = Weight(1 + 6 - 1, _LINE_END + 6 * _LETTER - _MARK)

# Weight(a, b) would take a quarter of the time, and a file may hold 100,000 observations
_weight: Callable[[tuple[int, int]], Weight] = partial(tuple.__new__, Weight)


def weight_of_observation(element: object) -> Weight:
    """Weigh one element of an entity's list, any JSON value, with its indentation, comma and line end."""
    return _weigh(_pretty(element), indent=_OBSERVATION_INDENT)


def weight_of_entity_frame(record: Mapping[str, Any]) -> Weight:
    """Weigh all of an entity but the elements of its list, with indentation, comma and line end.

    With the weights of its observations it makes that of the entity. A list that a prune empties has its brackets on
    one line from then on: that frees 6 characters more than the observations weigh.
    """
    sent = {key: record[key] for key in _ENTITY_KEYS if key in record}
    observations = sent.get("observations")
    if not (isinstance(observations, list) and observations):
        return _weigh(_pretty(sent), indent=_RECORD_INDENT)
    frame = _weigh(_pretty(sent | {"observations": []}), indent=_RECORD_INDENT)
    return _weight((frame.characters + _OPENED.characters, frame.cents + _OPENED.cents))


def weight_of_relation(record: Mapping[str, Any]) -> Weight:
    """Weigh a relation with its indentation, comma and line end."""
    return _weigh(_pretty({key: record[key] for key in _RELATION_KEYS if key in record}), indent=_RECORD_INDENT)


def weight_of_graph_frame(*, has_entities: bool, has_relations: bool) -> Weight:
    """Weigh what stands around all records: with their weights it makes that of the whole text."""
    lists = [b"[\n  ]" if has_any else b"[]" for has_any in (has_entities, has_relations)]
    whole = _weigh(b'{\n  "entities": %b,\n  "relations": %b\n}' % (lists[0], lists[1]), indent=0)
    # there is no comma behind the last record of a list and no line end behind all, but each weight has both
    commas = 1 + has_entities + has_relations
    return Weight(whole.characters - commas - 1, whole.cents - commas * _MARK - _LINE_END)


def weight_of_text(text: str) -> Weight:
    """Weigh a text of its own, which is not part of a graph."""
    whole = _weigh(text.encode("utf-8", "backslashreplace"), indent=0)
    return _weight((whole.characters - 2, whole.cents - _MARK - _LINE_END))  # no comma and no line end behind it


def tokens_of(cents: int) -> int:
    """Round a sum of hundredths to tokens."""
    return (cents + 50) // 100


def _pretty(value: object) -> bytes:
    """Write a value as `JSON.stringify(value, null, 2)` does, but for the spelling of numbers."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2)
    except TypeError:  # a lone surrogate, an integer of more than 64 bits, or more than 254 levels
        return _pretty_slowly(value)


def _pretty_slowly(value: object) -> bytes:
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False)
    except RecursionError:  # deeper than any line that memttl parses
        return b"null"
    return text.encode("utf-8", "backslashreplace")  # a lone surrogate becomes \ud83d, as JSON.stringify writes it


def _weigh(text: bytes, *, indent: int) -> Weight:
    """Weigh UTF-8 text whose lines stand `indent` spaces deeper, and a comma and a line end behind it."""
    # to delete a class of characters is the fastest way to count it
    others = text.translate(None, _LETTERS_AND_SPACE)
    rest = others.translate(None, _DIGITS)
    wide = b"" if rest.isascii() else rest.translate(None, _ASCII)
    line_ends = text.count(b"\n") + 1
    letters, digits = len(text) - len(others) + indent * line_ends, len(others) - len(rest)
    marks = len(rest) - len(wide) - line_ends + 2
    characters = letters + digits + marks + line_ends
    cents = letters * _LETTER + digits * _DIGIT + marks * _MARK + line_ends * _LINE_END
    if wide:
        more = _weigh_wide(wide)
        return _weight((characters + more.characters, cents + more.cents))
    return _weight((characters, cents))


def _weigh_wide(wide: bytes) -> Weight:
    """Weigh UTF-8 text without any ASCII."""
    firsts = wide.translate(None, _INNER_BYTES)
    longer = firsts.translate(None, _FIRST_OF_TWO)
    four = len(longer.translate(None, _FIRST_OF_THREE))
    two, three = len(firsts) - len(longer), len(longer) - four
    return _weight((len(firsts), two * _TWO + three * _THREE + four * _FOUR))
