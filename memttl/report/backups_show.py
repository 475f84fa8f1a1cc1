"""What a backup holds as lines that a person reads, and as a JSON document in the memory server's shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memttl.core.backups_outcome import ShowOutcome, observations_of
from memttl.core.model import Line
from memttl.core.wording import instant_text, plural
from memttl.report.backups import source_document, source_words
from memttl.report.documents import SCHEMA, finite
from memttl.report.text import entity_title, observation_text, visible

_BEGINNING = 60  # characters of a line that is shown as it is


def render(outcome: ShowOutcome) -> str:
    """Give entities with their observations, relations, other lines by their beginning, and how much it is."""
    lines = [text for line in outcome.lines for text in _line(line)]
    lines += [""] if lines else []
    return "".join(text + "\n" for text in (*lines, visible(_closing(outcome))))


def _line(line: Line) -> Iterator[str]:
    if line.is_judged and line.record is not None:
        kind = line.record.get("entityType")
        yield entity_title(line.record["name"], kind if isinstance(kind, str) else None)
        yield from (f"  - {observation_text(observation)}" for observation in observations_of(line))
    elif line.kind == "relation" and line.record is not None:
        yield relation_text(line)
    else:
        yield other_text(line)


def relation_text(line: Line) -> str:
    """Give a relation in one line: `a -> knows -> b`."""
    ends = (_end(line, key) for key in ("from", "relationType", "to"))
    return " -> ".join(ends)


def _end(line: Line, key: str) -> str:
    value = (line.record or {}).get(key)
    return "?" if value is None else observation_text(value)


def other_text(line: Line) -> str:
    """Give a line that is neither an entity nor a relation: its number, what is wrong with it, and its beginning."""
    what = f"damaged, {line.problem} at column {line.column}" if line.kind == "malformed" else "no entity, no relation"
    text = line.raw.decode("utf-8", "replace")
    more = "…" if len(text) > _BEGINNING else ""
    return visible(f"line {line.number} ({what}): {text[:_BEGINNING]}{more}")


def _closing(outcome: ShowOutcome) -> str:
    counts = outcome.counts
    parts = [
        plural(counts.entities, "entity"),
        plural(counts.observations, "observation"),
        plural(counts.relations, "relation"),
        *([plural(counts.other_lines, "other line")] if counts.other_lines else []),
        *([plural(counts.malformed_lines, "damaged line")] if counts.malformed_lines else []),
    ]
    source = source_words(outcome.source, outcome.now)
    return f"{source[:1].upper()}{source[1:]} of {outcome.file}: {', '.join(parts)} in all."


def show_document(outcome: ShowOutcome) -> dict[str, Any]:
    """Give the graph in the memory server's shape, the lines that are none of it, and counts of the whole backup."""
    lines = outcome.lines
    return {
        "schema": SCHEMA,
        "file": outcome.file,
        "now": instant_text(outcome.now),
        **source_document(outcome.source),
        "counts": outcome.counts._asdict(),
        "entities": [entity_document(line) for line in lines if line.is_judged],
        "relations": [relation_document(line) for line in lines if line.kind == "relation"],
        "other_lines": [line_document(line) for line in lines if not (line.is_judged or line.kind == "relation")],
        "warnings": list(outcome.warnings),
    }


def entity_document(line: Line) -> dict[str, Any]:
    """Give an entity as the memory server answers with it."""
    record = line.record or {}
    return {
        "name": record.get("name"),
        "entityType": finite(record.get("entityType")),
        "observations": [finite(observation) for observation in observations_of(line)],
    }


def relation_document(line: Line) -> dict[str, Any]:
    """Give a relation as the memory server answers with it; what it lacks is null."""
    return {key: finite((line.record or {}).get(key)) for key in ("from", "to", "relationType")}


def line_document(line: Line) -> dict[str, Any]:
    """Give a line that is neither; `problem` and `column` are null where it is not damaged."""
    return {
        "line": line.number,
        "text": line.raw.decode("utf-8", "surrogateescape"),
        "column": line.column or None,
        "problem": line.problem or None,
    }
