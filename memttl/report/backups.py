"""The backups of a memory file as a table, what thinning removes of them, and both as JSON documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from memttl.core.backups_outcome import Counts, KeptBackup, ListOutcome, Outdated, Source, ThinOutcome
from memttl.core.wording import instant_text, noun_of, plural
from memttl.core.zones import in_zone
from memttl.report.documents import SCHEMA
from memttl.report.text import visible

NOBODY_KNOWS = "?"
_HEAD = ("when", "run", "command", "entities", "observations", "relations", "size", "")
_RIGHT = (3, 4, 5, 6)  # the columns of numbers


def render_list(outcome: ListOutcome) -> str:
    """Give one line for each backup, the newest last, and a sentence on all of them."""
    if not outcome.backups:
        return visible(f"No backups yet of {outcome.file}: every run that writes it makes one first.") + "\n"
    lines = _table([_HEAD, *(_row(kept, outcome.now) for kept in outcome.backups)])
    total = size_words(sum(kept.stored_bytes for kept in outcome.backups))
    lines += ["", f"{plural(len(outcome.backups), 'backup')} of {outcome.file}, {total} in all."]
    return "".join(visible(line) + "\n" for line in lines)


def _row(kept: KeptBackup, now: datetime) -> Sequence[str]:
    source, counts = kept.source, kept.counts
    if counts is None or kept.size_bytes is None:
        return (when_words(source, now), source.run, source.command or NOBODY_KNOWS, "", "", "", "", "cannot be read")
    numbers = (counts.entities, counts.observations, counts.relations)
    size = size_words(kept.size_bytes)
    return (
        when_words(source, now),
        source.run,
        source.command or NOBODY_KNOWS,
        *(f"{number:,}" for number in numbers),
        size,
        ", ".join(_notes(kept, counts)),
    )


def _notes(kept: KeptBackup, counts: Counts) -> Iterable[str]:
    if kept.is_compressed:
        yield f"compressed to {size_words(kept.stored_bytes)}"
    if counts.malformed_lines:
        yield plural(counts.malformed_lines, "damaged line")


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Put rows into columns, two spaces apart; those of numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
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
