"""What one entry of the audit log's timeline did, in one phrase: for its head line. `log.py` prints it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from memttl.core.past_runs import Event, PastRun
from memttl.core.timeline import Entry
from memttl.core.wording import plural

SIGNS = {"removed": "-", "restored": "+", "quarantined": "!", "set": "*"}
# what a line of the log is about, by the end of its kind -> the noun for its count
NOUNS = {"entity": "entity", "relation": "relation", "line": "line"}
_ARCHIVE = {"archived": "archived", "taken_out": "took out", "thinned": "thinned"}
_SAY_WHAT_THEY_SET = ("set", "pin", "unpin", "renew")
# commands whose runs need more words than the counts of what they did
_DID = {
    "recover": "merged an update that another program wrote during a swap",
    "move": "added what had come to the place that the file was moved from",
    "restore": "put a whole backup in the file's place",
    "repair": "repaired the file",
    "forget": "erased from the memory file; that the other places are done was not noted",
}


def entry_words(entry: Entry) -> str:
    """Say what an entry did, and what became of it."""
    told = entry.told
    if entry.kind == "baseline":
        words = f"the first look at this file; what was there then is known since {told.get('baseline')}"
    elif entry.kind == "backfill":
        words = f"{_count(told.get('moved'), 'birth')} moved earlier"
    elif entry.kind == "accepted":
        words = f"accepted that {_count(told.get('gone'), 'observation')} had vanished"
    elif told.get("event") == "forgotten":
        words = f"erased for good, in {_count(told.get('places'), 'place')}"
    elif entry.kind == "moved":
        words = f"moved from {told.get('from')} to {told.get('to')}"
    elif entry.kind == "repaired":
        words = _repaired_words(told)
    elif entry.kind == "settings":
        verb = "" if entry.command in _SAY_WHAT_THEY_SET else "set "
        words = f"{verb}{_settings_count(entry.changes)}"
    else:
        assert entry.past is not None
        words = _run_words(entry.past)
    return f"{words}; edited in the log" if entry.is_edited else words


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
        return f"killed, or at work still; planned: {counted(run.events) or 'nothing'}"
    if not run.applied:
        why = "it was killed before it wrote" if settled else "nothing was written"
        planned = "" if run.is_thinned else counted(run.events)
        return why + (f"; planned: {planned}" if planned else "")
    did = _summary_counts(run.begin) if run.is_thinned else counted(run.events)
    words = [did or _DID.get(run.command, "wrote the file"), *_sources(run.events)]
    target = run.begin.get("undoes")
    words += [f"undid {'a part of ' if run.begin.get('partial') is True else ''}{target}"] if target else []
    words += ["killed after it had written"] if settled else []
    words += [f"thinned on {str(run.begin.get('thinned', ''))[:10]}, its texts are gone"] if run.is_thinned else []
    words += [f"undone by {run.undone_by}"] if run.undone_by else []
    words += [f"partly undone by {_and(run.partly_undone_by)}"] if run.partly_undone_by else []
    return "; ".join(words)


def _summary_counts(summary: Event) -> str:
    counts = [(word, summary.get(word)) for word in SIGNS]
    return ", ".join(f"{word} {n}" for word, n in counts if isinstance(n, int) and n)


def _sources(events: Iterable[Event]) -> list[str]:
    """Name the runs, and their memory file, that an archive's lines tell of."""
    lines = [e for e in events if e.get("event") in _ARCHIVE and isinstance(e.get("by"), str)]
    named = dict.fromkeys(f"{e['by']} of {e.get('of')}" for e in lines)
    return [f"removed by {_and(list(named))}"] if named else []


def counted(events: Iterable[Event]) -> str:
    """Count what a run took out and put in: `removed 3 observations and 1 entity`."""
    counts: dict[str, dict[str, int]] = {}
    for event in events:
        word, noun = _counted_as(event)
        if word:
            nouns = counts.setdefault(word, {})
            nouns[noun] = nouns.get(noun, 0) + 1
    parts = (f"{word} {_and([plural(n, noun) for noun, n in nouns.items()])}" for word, nouns in counts.items())
    return ", ".join(parts)


def _counted_as(event: Event) -> tuple[str, str]:
    kind = event.get("event")
    if kind in _ARCHIVE:
        return _ARCHIVE[str(kind)], NOUNS.get(str(event.get("kind")), "observation")
    word, noun = word_and_noun(event)
    if word == "set" and kind == "set" and event.get("command") == "undo":
        settings = event.get("settings")
        return "pinned" if isinstance(settings, dict) and settings.get("pinned") is True else "unpinned", noun
    return word if word in SIGNS else "", noun


def _and(parts: list[str] | tuple[str, ...]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def word_and_noun(event: Event) -> tuple[str, str]:
    """Say what happened to what; of a line that was erased since, as far as that is told."""
    kind = str(event.get("of") if event.get("event") == "erased" else event.get("event"))
    word, _, what = kind.partition("_")
    if word == "quarantined":
        return word, "piece"
    return ("" if what.endswith("again") else word), NOUNS.get(what, "observation")
