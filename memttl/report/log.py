"""A timeline of the audit log as lines of text: one head line a run, what it did beneath; and how its chain stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from typing import Any

from memttl.core.log_outcome import LogOutcome, VerifyOutcome
from memttl.core.past_runs import Event, PastRun
from memttl.core.timeline import Entry
from memttl.core.wording import plural
from memttl.core.zones import in_zone
from memttl.report.fitting import cut
from memttl.report.text import entity_title, observation_text, visible

_RUN_COLUMNS = 8
_DIGEST_SHOWN = 12
# what a line of the log is about, by the end of its kind -> the noun for its count
_NOUNS = {"entity": "entity", "relation": "relation", "line": "line"}
_SIGNS = {"removed": "-", "restored": "+", "quarantined": "!", "set": "*"}
# commands whose runs need more words than the counts of what they did
_DID = {
    "recover": "merged an update that another program wrote during a swap",
    "restore": "put a whole backup in the file's place",
    "repair": "repaired the file",
    "forget": "erased what was named for good",
}


def render(outcome: LogOutcome, *, width: int | None = None) -> str:
    """Give the timeline, oldest first; lines are cut to `width` columns where a screen has so many."""
    lines = [line for entry in outcome.entries for line in _entry(entry, outcome.now)]
    if not outcome.logged:
        lines = [f"Nothing was logged yet of {outcome.file}."]
    elif not lines:
        lines = [f"Nothing of what was logged of {outcome.file} was asked for."]
    shown = map(visible, lines)
    return "".join((line if width is None else cut(line, width)) + "\n" for line in shown)


def _entry(entry: Entry, now: datetime) -> Iterator[str]:
    yield f"{_time(entry, now)}  {(entry.run or '-').ljust(_RUN_COLUMNS)}  {entry.command}: {_words(entry)}"
    for title, changes in groupby(entry.changes, key=_title):
        yield f"  {title}"
        for change in changes:
            yield from _change(change)


def _time(entry: Entry, now: datetime) -> str:
    moment = entry.moment
    return f"{in_zone(moment, now.tzinfo):%Y-%m-%d %H:%M %Z}" if moment and now.tzinfo else entry.time or "no time"


def _words(entry: Entry) -> str:
    told = entry.told
    if entry.kind == "baseline":
        return f"the first look at this file; what was there then is known since {told.get('baseline')}"
    if entry.kind == "backfill":
        return f"{_count(told.get('moved'), 'birth')} moved earlier"
    if entry.kind == "accepted":
        return f"accepted that {_count(told.get('gone'), 'observation')} had vanished"
    if entry.kind == "forgotten":
        return f"erased for good, in {_count(told.get('places'), 'place')}"
    if entry.kind == "repaired":
        return _repaired_words(entry.told)
    if entry.kind == "settings":
        return _settings_count(entry.changes)
    assert entry.past is not None
    return _run_words(entry.past)


def _repaired_words(told: Event) -> str:
    what = told.get("what")
    parts = [str(part) for part in dict.fromkeys(what)] if isinstance(what, list) else []
    aside = told.get("aside")
    return f"mended {_and(parts or ['the state'])}" + (f"; the log of before is {aside}" if aside else "")


def _count(value: Any, noun: str) -> str:
    number = len(value) if isinstance(value, (list, dict)) else value
    return plural(number, noun) if isinstance(number, int) else f"some {noun}s"


def _settings_count(changes: tuple[Event, ...]) -> str:
    pins = sum("entity_pin" in change for change in changes)
    counts = [(len(changes) - pins, "observation"), (pins, "entity pattern")]
    return " and ".join(plural(n, noun) for n, noun in counts if n)


def _run_words(run: PastRun) -> str:
    settled = run.end.get("settled") is True
    if run.applied is None:
        return f"killed, or at work still; planned: {_counted(run.events) or 'nothing'}"
    if not run.applied:
        why = "it was killed before it wrote" if settled else "nothing was written"
        planned = "" if run.is_thinned else _counted(run.events)
        return why + (f"; planned: {planned}" if planned else "")
    did = _summary_counts(run.begin) if run.is_thinned else _counted(run.events)
    words = [did or _DID.get(run.command, "wrote the file")]
    target = run.begin.get("undoes")
    words += [f"undid {'a part of ' if run.begin.get('partial') is True else ''}{target}"] if target else []
    words += ["killed after it had written"] if settled else []
    words += [f"thinned on {str(run.begin.get('thinned', ''))[:10]}, its texts are gone"] if run.is_thinned else []
    words += [f"undone by {run.undone_by}"] if run.undone_by else []
    return "; ".join(words)


def _summary_counts(summary: Event) -> str:
    counts = [(word, summary.get(word)) for word in _SIGNS]
    return ", ".join(f"{word} {n}" for word, n in counts if isinstance(n, int) and n)


def _counted(events: Any) -> str:
    """Count what a run took out and put in: `removed 3 observations and 1 entity`."""
    counts: dict[str, dict[str, int]] = {}
    for event in events:
        word, noun = _word_and_noun(event)
        if word in _SIGNS:
            nouns = counts.setdefault(word, {})
            nouns[noun] = nouns.get(noun, 0) + 1
    parts = (f"{word} {_and([plural(n, noun) for noun, n in nouns.items()])}" for word, nouns in counts.items())
    return ", ".join(parts)


def _and(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _word_and_noun(event: Event) -> tuple[str, str]:
    """Say what happened to what; of a line that was erased since, as far as that is told."""
    kind = str(event.get("of") if event.get("event") == "erased" else event.get("event"))
    word, _, what = kind.partition("_")
    if word == "quarantined":
        return word, "piece"
    return ("" if what.endswith("again") else word), _NOUNS.get(what, "observation")


def _title(change: Event) -> str:
    if "entity_pin" in change:
        return f"entity {change['entity_pin']}"
    name = change.get("entity")
    if not isinstance(name, str):
        return f"line {change['line']}" if "line" in change else "erased"
    return entity_title(name, change["entity_type"]) if "entity_type" in change else name


def _change(change: Event) -> Iterator[str]:
    word, noun = _word_and_noun(change)
    sign = _SIGNS.get(word, "-")
    if change.get("event") == "erased":
        yield f"    {sign} {noun}, erased for good"
        return
    if "entity_pin" in change:
        pinned = change.get("settings") or {}
        yield f"    {sign} {'pinned, with what comes later' if pinned else 'no longer pinned'}"
        return
    whole = f"{noun}: " if noun in _NOUNS.values() or word == "quarantined" else ""
    yield f"    {sign} {whole}{text_words(change)}"
    told = [settings_words(change["settings"]) if "settings" in change else None, change.get("reason")]
    reason = "; ".join(str(part) for part in told if part)
    tier = f"{change['tier']}: " if change.get("tier") and reason else ""
    if reason:
        yield f"      {tier}{reason}"


def text_words(change: Event) -> str:
    """Give the text of a line in the log, or the head of its digest where it is not there."""
    raw = change.get("raw")
    if isinstance(raw, str):
        return observation_text(value_of(raw))
    digest = change.get("raw_digest", change.get("digest"))
    return f"text not in the log, SHA-256 {str(digest)[:_DIGEST_SHOWN]}…"


def value_of(raw: str) -> Any:
    """Give the value of a JSON text; the text itself where it is none (a line that was damaged)."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return raw


def settings_words(settings: Any) -> str:
    """Say what is set, as it stands in the log."""
    if not isinstance(settings, dict) or not settings:
        return "nothing set any more"
    return ", ".join(key if value is True else f"{key} {value}" for key, value in settings.items())


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
