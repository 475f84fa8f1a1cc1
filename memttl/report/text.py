"""Words that all renderings share. No text from a memory file reaches a terminal with its control characters."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any, NamedTuple

from memttl.core.dates import day_of
from memttl.core.model import Verdict, When
from memttl.core.wording import day_words, plural

# C0 and C1 controls, the separators and bidirectional controls that move a cursor or reverse a line, lone surrogates
_CONTROLS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f"
)
_UNSAFE = re.compile(f"[\t\n{_CONTROLS}]")
_UNSAFE_BUT_LINES = re.compile(f"[{_CONTROLS}]")
NO_TYPE = "no type"
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    """Give the text in one line, with every control character spelled out (`\\n`, `\\x1b`, `\\u202e`)."""
    # what Python calls printable holds none of them, and that costs a tenth to find out
    return text if text.isprintable() else _UNSAFE.sub(_escape, text)


class View(NamedTuple):
    """How something is shown: in how many columns (None for lines as they are), and whether whole however long."""

    width: int | None = None
    is_whole: bool = False


def fold(line: str, width: int | None) -> list[str]:
    """Break a line at spaces only, since its paths and commands are to be copied; the rest is set in below it."""
    if width is None or len(line) <= width:
        return [line]
    import textwrap  # here: most of what is printed is short

    indent = line[: len(line) - len(line.lstrip())] + "  "
    width = max(20, width)
    return textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def cut(line: str, width: int | None) -> str:
    """Shorten a line to `width` columns, with an ellipsis at its end; None for as long as it is."""
    return line if width is None or len(line) <= width else line[: max(1, width - 1)] + "…"


def run_words(run: str | None, backup: str | None) -> str:
    """Say which run has written the memory file, and how to go back."""
    return f"Run {run}; `memttl undo {run}` takes it back, and the file as it was is {backup}"


def legible(text: str) -> str:
    """Give the text with its lines and tabs, every other control character spelled out: for a file of one's own."""
    return _UNSAFE_BUT_LINES.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    spelled = f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return _ESCAPES.get(character, spelled)


def observation_text(observation: Any) -> str:
    """Give an observation in one line: its text, or the JSON of an element that is none."""
    return visible(observation if isinstance(observation, str) else json.dumps(observation, ensure_ascii=False))


def entity_title(entity: str, entity_type: str | None) -> str:
    """Name an entity with its type, in one line: `Sprint 11 (sprint)`."""
    return visible(f"{entity} ({entity_type or NO_TYPE})")


def age_of(verdict: Verdict, now: datetime) -> str:
    """Say how old an observation is, with a plus where only its first sighting is known: it may be older."""
    words = age_words(verdict.created_at, now)
    return words.replace(" day", "+ day") if verdict.age_source == "seen" else words


def age_words(born: When | None, now: datetime) -> str:
    """Say how old something born then is, in whole days of the zone that `now` is in; `unknown` without a birth."""
    if born is None:
        return "unknown"
    return plural(age_days(born, now), "day")


def age_days(born: When, now: datetime) -> int:
    """Give the age of something born then in whole days of the zone that `now` is in; 0 for what lies ahead."""
    return max(0, (now.date() - day_of(born, now.tzinfo or UTC)).days)


def expiry_words(verdict: Verdict, now: datetime) -> str:
    """Say when an observation expires, in the zone that `now` is in, and whether that has come."""
    if verdict.expires_at is None:
        return "due for review, expires by nothing else" if verdict.review_due else "never"
    return day_words(verdict.expires_at, now.tzinfo or UTC) + (" (has come)" if verdict.expired else "")
