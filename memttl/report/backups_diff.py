"""What lies between two versions of a memory file in words and as JSON: for `backups diff`, and for a restore."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from memttl.core.backups_outcome import DiffOutcome, RestoreOutcome
from memttl.core.differences import Differences, EntityChange
from memttl.core.wording import instant_text, plural
from memttl.report.backups import source_document, source_words
from memttl.report.backups_show import line_document, other_text, relation_document, relation_text
from memttl.report.documents import SCHEMA, finite, run_head
from memttl.report.fitting import cut
from memttl.report.text import NO_TYPE, entity_title, observation_text, visible

_KINDS = (
    ("entities", "entity", "entities"),
    ("observations", "observation", "observations"),
    ("relations", "relation", "relations"),
    ("damaged_lines", "damaged line", "damaged lines"),
    ("other_lines", "other line", "other lines"),
)
MOST_LINES = 100  # above a question: more would push the counts off the screen


def render_diff(outcome: DiffOutcome) -> str:
    """Give how much is added and gone, then all of it."""
    before = source_words(outcome.before, outcome.now)
    after = source_words(outcome.after, outcome.now) if outcome.after.time else f"{outcome.file} as it is now"
    lines = [f"From {before} to {after}:", counts_words(outcome.found, ("added", "gone")), *_blank_above(outcome.found)]
    return _text(lines, list(_lines(outcome.found)))


def render_restore(outcome: RestoreOutcome, *, width: int | None = None, with_plan: bool = True) -> str:
    """Give what comes back and what goes, and what was done; on a screen of `width` texts are cut and lists are short.

    Counts stand first, and again in the question.
    """
    source = source_words(outcome.source, outcome.now)
    if outcome.found.are_equal:
        return visible(f"Nothing to restore: {outcome.file} is {source}, byte for byte.") + "\n"
    head, details = list[str](), list[str]()
    if with_plan:
        details = list(_lines(outcome.found))
        words = counts_words(outcome.found, ("back", "gone"))
        head = [f"From {outcome.file} as it is to {source}:", words, *_blank_above(outcome.found)]
    if width is not None:
        details = [*(cut(line, width) for line in _shortened(details, outcome))]
    closing = [*([""] if head else []), *_closing(outcome)]
    return _text(head, details) + "".join(visible(line) + "\n" for line in closing)


def _shortened(details: Sequence[str], outcome: RestoreOutcome) -> Iterator[str]:
    yield from details[:MOST_LINES]
    if len(details) > MOST_LINES:
        name = outcome.source.run or outcome.source.name
        yield f"… and {plural(len(details) - MOST_LINES, 'line')} more; `memttl backups diff {name}` shows all"


def _text(head: Iterable[str], details: Iterable[str]) -> str:
    """Join lines; the details are safe to print already."""
    return "".join(line + "\n" for line in (*map(visible, head), *details))


def _blank_above(found: Differences) -> list[str]:
    return [] if found.are_none else [""]


def _closing(outcome: RestoreOutcome) -> Iterator[str]:
    if outcome.applied:
        yield f"Restored {outcome.file} from {source_words(outcome.source, outcome.now)} as run {outcome.run}."
        yield f"What it held before is backup {outcome.run}; `memttl backups restore {outcome.run}` puts that back."
        if outcome.found.counts["observations_added"]:
            yield "What came back and has expired goes again at the next prune; `memttl pin` keeps it."
    elif outcome.declined:
        yield "Nothing was restored."
    elif outcome.dry_run:
        yield "Dry run: nothing was written."


def restore_question(outcome: RestoreOutcome) -> str:
    """Give the question below the plan, with what goes in it."""
    counts = outcome.found.counts
    gone = [plural(counts[f"{key}_gone"], noun) for key, noun, _ in _KINDS if counts[f"{key}_gone"]]
    loses = f", which loses {_listed(gone)}" if gone else ""
    return visible(f"Put {source_words(outcome.source, outcome.now)} in place of {outcome.file}{loses}?")


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def counts_words(found: Differences, words: tuple[str, str]) -> str:
    """Say how much is added and gone, by these `words`: `2 entities and 5 observations added; 1 relation gone`."""
    if found.are_equal:
        return "No difference: the same byte for byte."
    counts = found.counts
    parts = []
    for side, word in zip(("added", "gone"), words, strict=True):
        some = [plural(counts[f"{key}_{side}"], noun) for key, noun, _ in _KINDS if counts[f"{key}_{side}"]]
        parts += [f"{_listed(some)} {word}"] if some else []
    retyped = counts["entities_retyped"]
    parts += [f"{plural(retyped, 'entity')} of another type"] if retyped else []
    if found.rewritten:
        verb = "says" if found.rewritten == 1 else "say"
        parts.append(f"{plural(found.rewritten, 'line')} that {verb} the same in other bytes")
    if not parts:
        return "The same lines, in another order or with other line ends."
    return "; ".join(parts) + "."


def _lines(found: Differences) -> Iterator[str]:
    """Give each difference, safe to print: entities, then relations, then other lines."""
    for change in found.entities:
        yield from _entity(change)
    for sign, relations in (("-", found.relations_gone), ("+", found.relations_added)):
        yield from (f"{sign} {relation_text(line)}" for line in relations)
    for sign, lines in (("-", found.lines_gone), ("+", found.lines_added)):
        yield from (f"{sign} {other_text(line)}" for line in lines)


def _entity(change: EntityChange) -> Iterator[str]:
    sign = "-" if change.is_gone else "+" if change.is_new else " "
    kind = change.type_before if change.is_gone else change.type_after
    was = visible(f", was {change.type_before or NO_TYPE}") if change.is_retyped else ""
    yield f"{sign} {entity_title(change.entity, kind)}{was}"
    yield from (f"  - {observation_text(part.value)}" for part in change.gone)
    yield from (f"  + {observation_text(part.value)}" for part in change.added)


def diff_document(outcome: DiffOutcome) -> dict[str, Any]:
    """Give both versions and what lies between them; `backup` is null for today's memory file."""
    return {
        "schema": SCHEMA,
        "file": outcome.file,
        "now": instant_text(outcome.now),
        "from": source_document(outcome.before),
        "to": source_document(outcome.after),
        **_found_document(outcome.found),
        "warnings": list(outcome.warnings),
    }


def restore_document(outcome: RestoreOutcome) -> dict[str, Any]:
    """Give what was put back or would be: `added` comes back, `gone` goes."""
    return {
        **run_head(outcome),
        "backup": outcome.backup,
        "restores": source_document(outcome.source),
        **_found_document(outcome.found),
        "warnings": list(outcome.warnings),
    }


def _found_document(found: Differences) -> dict[str, Any]:
    return {
        "equal": found.are_equal,
        "counts": found.counts,
        "entities": [_entity_document(change) for change in found.entities],
        "relations": {
            "added": [relation_document(line) for line in found.relations_added],
            "gone": [relation_document(line) for line in found.relations_gone],
        },
        "lines": {
            "added": [line_document(line) for line in found.lines_added],
            "gone": [line_document(line) for line in found.lines_gone],
        },
    }


def _entity_document(change: EntityChange) -> dict[str, Any]:
    return {
        "entity": change.entity,
        "change": "gone" if change.is_gone else "added" if change.is_new else "changed",
        "type_before": change.type_before,
        "type_after": change.type_after,
        "added": [finite(part.value) for part in change.added],
        "gone": [finite(part.value) for part in change.gone],
    }
