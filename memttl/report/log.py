"""A timeline of the audit log as lines of text: one head line a run, what it did beneath; and how its chain stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from memttl.core.log_outcome import LogOutcome, VerifyOutcome
from memttl.core.past_runs import Event
from memttl.core.timeline import Entry, Wanted, is_edited
from memttl.core.wording import day_words, plural
from memttl.core.zones import in_zone
from memttl.report.fitting import cut, wrap
from memttl.report.log_words import NOUNS, SIGNS, entry_words, word_and_noun
from memttl.report.text import entity_title, observation_text, visible

_RUN_COLUMNS = 8
_DIGEST_SHOWN = 12
_LINE_SHOWN = 72  # characters of a damaged line, which may be as long as the file
_SET_WORDS = {"created_at": "created", "expires_at": "expires", "review_by": "review by"}
_INDENT = {"head": 4, "why": 8}


def render(outcome: LogOutcome, *, width: int | None = None) -> str:
    """Give the timeline, oldest first.

    Where a screen has `width` columns, texts are cut to it, and what names a run is wrapped instead.
    """
    lines = [line for entry in outcome.entries for line in _entry(entry, outcome.now, width)]
    if not outcome.logged:
        lines = [f"Nothing was logged yet of {outcome.file}."]
    elif not lines:
        lines = [f"No run{_asked(outcome.wanted, outcome.now)} is in the audit log of {outcome.file}."]
    return "".join(visible(line) + "\n" for line in lines)


def _asked(wanted: Wanted, now: datetime) -> str:
    """Say what was asked for: ` since 2026-10-31`."""
    zone = now.tzinfo or UTC
    words = [
        f"named {' or '.join(wanted.runs)}" if wanted.runs else "",
        f"of {' or '.join(map(repr, wanted.entities))}" if wanted.entities else "",
        f"since {day_words(wanted.since, zone)}" if wanted.since else "",
        f"before {day_words(wanted.until, zone)}" if wanted.until else "",
    ]
    return "".join(f" {word}" for word in words if word)


def _entry(entry: Entry, now: datetime, width: int | None) -> Iterator[str]:
    head = f"{_time(entry, now)}  {(entry.run or '-').ljust(_RUN_COLUMNS)}  {entry.command}: {entry_words(entry)}"
    yield from _wrapped(head, width, _INDENT["head"])
    for title, changes in groupby(entry.changes, key=_title):
        yield _cut(f"  {title}", width)
        for change in changes:
            line, why = _change(change)
            yield _cut(line, width)
            if why:
                yield from _wrapped(f"      {why}", width, _INDENT["why"])


def _cut(line: str, width: int | None) -> str:
    return line if width is None else cut(visible(line), width)


def _wrapped(line: str, width: int | None, indent: int) -> Iterator[str]:
    """Break a line rather than cut it: it may name runs, which are there to be copied."""
    if width is None:
        yield line
        return
    line = visible(line)
    first = wrap(line, width)[0]
    yield first
    rest = line[len(first) :].lstrip()
    if rest:
        yield from (" " * indent + part for part in wrap(rest, width - indent))


def _time(entry: Entry, now: datetime) -> str:
    moment = entry.moment
    return f"{in_zone(moment, now.tzinfo):%Y-%m-%d %H:%M:%S %Z}" if moment and now.tzinfo else entry.time or "no time"


def _title(change: Event) -> str:
    if "entity_pin" in change:
        return f"entity {change['entity_pin']}"
    name, kind = change.get("entity"), change.get("event")
    if kind == "erased" and not isinstance(name, str):
        return "erased by forget"
    if not name and kind in ("removed_line", "restored_line"):
        return "a damaged line"
    if not isinstance(name, str):
        return f"line {change['line']}" if "line" in change else "a line of the memory file"
    return entity_title(name, change["entity_type"]) if "entity_type" in change else name or '""'


def _change(change: Event) -> tuple[str, str]:
    """Give the line of one change, and why it was made."""
    word, noun = word_and_noun(change)
    sign = SIGNS.get(word, "-")
    if is_edited(change):
        return f"    {sign} edited in the log, {_digest_words(change)}", ""
    if change.get("event") == "erased":
        return f"    {sign} {noun}, erased for good", ""
    if "entity_pin" in change:
        pinned = change.get("settings") or {}
        return f"    {sign} {'pinned, with what comes later' if pinned else 'no longer pinned'}", ""
    whole = f"{noun}: " if noun in NOUNS.values() or word == "quarantined" else ""
    told = [settings_words(change["settings"]) if "settings" in change else None, change.get("reason")]
    reason = "; ".join(str(part) for part in told if part)
    tier = f"{change['tier']}: " if change.get("tier") and reason else ""
    return f"    {sign} {whole}{text_words(change)}", f"{tier}{reason}"


def text_words(change: Event) -> str:
    """Give the text of a line in the log, or the head of its digest where it is not there."""
    raw = change.get("raw")
    if not isinstance(raw, str):
        return f"text not in the log, {_digest_words(change)}"
    if change.get("event") in ("quarantined", "removed_line", "restored_line"):
        return cut(visible(_bytes_spelled(raw)), _LINE_SHOWN)
    return observation_text(value_of(raw))


def _digest_words(change: Event) -> str:
    return f"SHA-256 {str(change.get('raw_digest', change.get('digest')))[:_DIGEST_SHOWN]}…"


def _bytes_spelled(raw: str) -> str:
    """Give a line as it stood, with each byte that is no UTF-8 as `\\xff`."""
    try:
        return raw.rstrip("\r\n").encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # no bytes of a file
        return raw


def value_of(raw: str) -> Any:
    """Give the value of a JSON text; the text itself where it is none (a line that was damaged)."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return raw


def settings_words(settings: Any) -> str:
    """Say what is set, with the values as they stand in the log; a key of a later memttl as it is."""
    if not isinstance(settings, dict) or not settings:
        return "nothing set any more"
    shown = {key: value for key, value in settings.items() if key != "pinned_by_undo"}
    words = dict(_SET_WORDS)
    if settings.get("pinned_by_undo") is True:
        words["pinned"] = "pinned by an undo"
    return ", ".join(words.get(k, k) if value is True else f"{words.get(k, k)} {value}" for k, value in shown.items())


def render_verified(outcome: VerifyOutcome) -> str:
    """Say whether the log is whole, or which line is the first that is not, and what to do."""
    found = outcome.found
    lines = [f"{outcome.file}: {_verdict(outcome)}"]
    if found.is_end_torn:
        lines.append(
            "Its last line is torn (a kill, a full disk), or being written; the next run that writes settles it."
        )
    if found.broken and outcome.hint:
        lines.append(outcome.hint)
    return "".join(visible(line) + "\n" for line in lines)


def _verdict(outcome: VerifyOutcome) -> str:
    found, broken = outcome.found, outcome.found.broken
    if broken is None and not found.lines:
        return "nothing was logged yet."
    if broken is None:
        counts = [(found.summaries, "thinned run"), (found.erased, "erased line"), (len(found.torn), "torn line")]
        also = ", ".join(plural(n, noun) for n, noun in counts if n)
        return f"the audit log is whole: {plural(found.lines, 'line')}" + (f" ({also})." if also else ".")
    if not broken.line:
        return f"the audit log {outcome.log} is not whole: {broken.why}."
    run = f", of the run {broken.run}" if broken.run else ""
    return f"the audit log {outcome.log} is not whole: line {broken.line}{run}: {broken.what}: {broken.why}."
