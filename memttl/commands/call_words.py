"""The words of a command line as they may stand in a log: commands, options, and values that memttl understands.

`diagnostics.py` writes them; whatever may be somebody's own text is an ellipsis.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import UTC
from typing import get_args

HIDDEN = "…"
# options whose value is a path, an instant or a word of memttl's own; the value of any other may be somebody's text
_PLACES = ("--file", "-f", "--policy", "--output", "-o", "--from", "--log")
_INSTANTS = ("--now", "--expire-before", "--since", "--until", "--date", "--expires", "--review-by", "--created")
_TIMES = (*_INSTANTS, "--within", "--for", "--every", "--prune-every")
_WORDS = ("--format", "--expired", "--sort", "--group-by", "--source", "--top", "--write-path", "--run")
_OPEN_OPTIONS = frozenset((*_PLACES, *_TIMES, *_WORDS))
_RUN = re.compile(r"[0-9a-f]{1,8}")
_LONGEST_TIME = 40


def open_words(arguments: Sequence[str], known: Collection[str]) -> list[str]:
    """Give the words of a command line, with an ellipsis for each that may hold somebody's text.

    `known` are the commands (`log verify` is one) and options of memttl: what merely looks like an option may be a
    secret.
    """
    found: list[str] = []
    is_open = False  # whether the word that comes is the value of an option, and may be shown
    for before, word in zip(("", *arguments), arguments, strict=False):
        option, equals, value = word.partition("=")
        if is_open and not word.startswith("-"):
            found.append(_shown(before, word))
            is_open = False
        elif word.startswith("--"):
            name = option if option in known else f"--{HIDDEN}"
            found.append(f"{name}={_shown(option, value)}" if equals else name)
            is_open = not equals and option in _OPEN_OPTIONS
        elif word[:2] in _OPEN_OPTIONS or (word in known and word.startswith("-")):
            found.append(word)
            is_open = word in _OPEN_OPTIONS
        else:
            found.append(word if " ".join([*found, word]) in known else HIDDEN)
    return found


def _shown(option: str, value: str) -> str:
    """Give the value of an option if memttl understands it, else an ellipsis: what was mistyped may be any text."""
    if option in _PLACES:
        return value
    if option in _TIMES:
        return value if _is_time(value) else HIDDEN
    if option == "--run":
        return value if _RUN.fullmatch(value) else HIDDEN
    return value if option in _OPEN_OPTIONS and (value in _known_values() or value.isdecimal()) else HIDDEN


def _is_time(text: str) -> bool:
    from memttl.core.dates import DateReader, read_instant
    from memttl.core.durations import BadDuration, parse_duration
    from memttl.core.schedule import parse_every

    if len(text) > _LONGEST_TIME:
        return False
    for read in (lambda: parse_duration(text, zero_allowed=True), lambda: parse_every(text)):
        with suppress(BadDuration):
            read()
            return True
    return read_instant(text, DateReader((), UTC)) is not None


def _known_values() -> set[str]:
    from memttl.commands.report import FORMATS
    from memttl.core.report import GROUPS, SORTS, SOURCES
    from memttl.core.search import Expired
    from memttl.files.ladder import WritePath

    return {*FORMATS, *GROUPS, *SORTS, *SOURCES, *get_args(Expired), *get_args(WritePath)}
