"""The backups of a memory file as a table, what thinning removes of them, and both as JSON documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from memttl.core.backups_outcome import KeptBackup, ListOutcome, Outdated, Source, ThinOutcome
from memttl.core.wording import instant_text, noun_of, plural
from memttl.core.zones import in_zone
from memttl.report.documents import SCHEMA
from memttl.report.text import visible

NOBODY_KNOWS = "?"
_HEAD = ("run", "command", "entities", "observ.", "relations", "size")
_RIGHT = (3, 4, 5, 6)  # the columns of numbers


def render_list(outcome: ListOutcome) -> str:
    """Give one line for each backup, the newest last, what is odd about it below, and a sentence on all of them."""
    if not outcome.backups:
        return visible(f"No backups yet of {outcome.file}: every run that writes it makes one first.") + "\n"
    whens, zone = _whens(outcome)
    rows = [(when, *_cells(kept)) for when, kept in zip(whens, outcome.backups, strict=True)]
    head, *table = _table([(f"when ({zone})" if zone else "when", *_HEAD), *rows])
    lines = [head]
    for row, kept in zip(table, outcome.backups, strict=True):
        notes = ", ".join(_notes(kept))
        lines += [row, f"  {notes}"] if notes else [row]
    total = size_words(sum(kept.stored_bytes for kept in outcome.backups))
    lines += ["", f"{plural(len(outcome.backups), 'backup')} of {outcome.file}, {total} in all."]
    return "".join(visible(line) + "\n" for line in lines)


def _whens(outcome: ListOutcome) -> tuple[list[str], str]:
    """Give when each was made, and the zone where it is the same for all; else each has its own, without seconds."""
    words = [when_words(kept.source, outcome.now) for kept in outcome.backups]
    parts = [word.rpartition(" ") for word in words]
    zones = {zone for _, _, zone in parts}
    if len(zones) == 1:
        return [moment for moment, _, _ in parts], zones.pop()
    return [f"{moment[:-3]} {zone}" for moment, _, zone in parts], ""


def _cells(kept: KeptBackup) -> Sequence[str]:
    source, counts = kept.source, kept.counts
    first = (source.run, source.command or NOBODY_KNOWS)
    if counts is None or kept.size_bytes is None:
        return (*first, "", "", "", "")
    numbers = (counts.entities, counts.observations, counts.relations)
    return (*first, *(f"{number:,}" for number in numbers), size_words(kept.size_bytes))


def _notes(kept: KeptBackup) -> Iterable[str]:
    if kept.counts is None or kept.size_bytes is None:
        yield "cannot be read"
        return
    if kept.is_compressed:
        yield f"compressed to {size_words(kept.stored_bytes)}"
    if kept.counts.malformed_lines:
        yield plural(kept.counts.malformed_lines, "damaged line")


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Put rows into columns, two spaces apart; those of numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD) + 1)]
    cells = [
        [cell.rjust(width) if place in _RIGHT else cell.ljust(width) for place, (cell, width) in enumerate(pairs)]
        for pairs in (list(zip(row, widths, strict=True)) for row in rows)
    ]
    return ["  ".join(row).rstrip() for row in cells]


def when_words(source: Source, now: datetime) -> str:
    """Say when a version was kept, in the zone that `now` is in."""
    if source.time is None:
        return "now"
    assert now.tzinfo is not None
    return in_zone(source.time, now.tzinfo).strftime("%Y-%m-%d %H:%M:%S %Z")


def source_words(source: Source, now: datetime) -> str:
    """Name a version in a sentence: which backup, made when and by what, or today's file."""
    if source.time is None:
        return source.name
    if not source.run:
        return f"{source.name} (of {when_words(source, now)})"
    by = f", before {article(source.command)} {source.command}" if source.command else ""
    return f"backup {source.run} (of {when_words(source, now)}{by})"


def article(word: str) -> str:
    """Give the article before a word: `a prune`, `an undo`."""
    return "an" if word[:1] in "aeiou" else "a"


def size_words(count: int) -> str:
    """Say how many bytes: `512 B`, `5.4 kB`, `1.2 GB`."""
    if count < 1000:
        return f"{count} B"
    power = next((power for power in (1, 2) if count < 999_950 * 1000 ** (power - 1)), 3)
    return f"{count / 1000**power:.1f} {('kB', 'MB', 'GB')[power - 1]}"


def list_document(outcome: ListOutcome) -> dict[str, Any]:
    """Give all backups, the newest last; `counts` and `bytes` are null where one cannot be read."""
    return {
        "schema": SCHEMA,
        "file": outcome.file,
        "now": instant_text(outcome.now),
        "backups": [_kept_document(kept) for kept in outcome.backups],
        "warnings": list(outcome.warnings),
    }


def _kept_document(kept: KeptBackup) -> dict[str, Any]:
    return {
        **source_document(kept.source),
        "bytes": kept.size_bytes,
        "stored_bytes": kept.stored_bytes,
        "compressed": kept.is_compressed,
        "needed": kept.is_needed,
        "counts": kept.counts._asdict() if kept.counts is not None else None,
    }


def source_document(source: Source) -> dict[str, Any]:
    """Give which version it is; `run` and `command` are null where nobody knows, `backup` too for today's file."""
    return {
        "backup": source.name if source.time is not None else None,
        "run": source.run or None,
        "command": source.command or None,
        "time": instant_text(source.time) if source.time is not None else None,
    }


def render_thin(outcome: ThinOutcome, *, with_plan: bool = True) -> str:
    """Give what goes or went, and how much that frees."""
    lines = [*(_going(backup, outcome.now) for backup in outcome.backups)] if with_plan else []
    lines += [""] if lines else []
    return "".join(visible(line) + "\n" for line in (*lines, *_closing(outcome)))


def _going(backup: Outdated, now: datetime) -> str:
    source = backup.source
    command = source.command or NOBODY_KNOWS
    return f"{when_words(source, now)}  {source.run}  {command}  {size_words(backup.stored_bytes)}"


def _closing(outcome: ThinOutcome) -> Iterable[str]:
    stay = f"{outcome.staying} {'stays' if outcome.staying == 1 else 'stay'}"
    if outcome.applied:
        yield f"Removed {_count(outcome)} of {outcome.file}; {stay}. {size_words(outcome.freed_bytes)} are free now."
        if outcome.compressed:
            yield f"Compressed {plural(outcome.compressed, 'backup')} over 1 MB."
        return
    if not outcome.backups:
        yield f"Nothing to remove: {stay} of {outcome.file}, as the policy says ([backups] keep, max_age)."
        return
    size = size_words(sum(backup.stored_bytes for backup in outcome.backups))
    yield f"Would remove {_count(outcome)} of {outcome.file}, which frees {size}; {stay}."
    if outcome.declined:
        yield "Nothing was removed."
    elif outcome.dry_run:
        yield "Dry run: nothing was written."


def _count(outcome: ThinOutcome) -> str:
    return plural(len(outcome.backups), "backup")


def thin_question(outcome: ThinOutcome) -> str:
    """Give the question below the plan."""
    count = len(outcome.backups)
    return visible(f"Remove {'this' if count == 1 else f'these {count}'} {noun_of(count, 'backup')} of {outcome.file}?")


def thin_document(outcome: ThinOutcome) -> dict[str, Any]:
    """Give what was removed or would be; `applied` means that something was."""
    return {
        "schema": SCHEMA,
        "file": outcome.file,
        "now": instant_text(outcome.now),
        "dry_run": outcome.dry_run,
        "thinned": outcome.applied,
        "run": outcome.run,
        "removed": [{**source_document(b.source), "stored_bytes": b.stored_bytes} for b in outcome.backups],
        "staying": outcome.staying,
        "compressed": outcome.compressed,
        "freed_bytes": outcome.freed_bytes if outcome.applied else sum(b.stored_bytes for b in outcome.backups),
        "warnings": list(outcome.warnings),
    }
