"""What edits took out of a graph into the events of the audit log, without comparing two versions of the file. Pure.

`files/editing.py` calls it for edits that add nothing; those of other edits come of the differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memttl.core.differences import Differences, EntityChange, Part
from memttl.core.graph import Graph
from memttl.core.graph_draft import Taken
from memttl.core.model import Line
from memttl.core.places import name_of
from memttl.core.restore_records import deletion_events


def taken_events(graph: Graph, taken: Sequence[Taken], run: str, *, with_text: bool) -> list[dict[str, Any]]:
    """Give the events of what was taken out of a graph, which is that of before."""
    entities, relations, lines = list[EntityChange](), list[Line](), list[Line]()
    for one in taken:
        line = _line(graph, one.line)
        if name_of(line) is not None:
            entities.append(_change(line, one.indexes))
        elif line.kind == "relation":
            relations.append(line)
        else:
            lines.append(line)
    found = Differences(tuple(entities), relations_gone=tuple(relations), lines_gone=tuple(lines))
    return deletion_events(_standing_lines(graph, taken, entities), found, run, with_text=with_text)


def _standing_lines(graph: Graph, taken: Sequence[Taken], entities: Sequence[EntityChange]) -> list[Line]:
    """Give the lines that the places are told by: all where a whole line goes, else those of the entities."""
    if not all(one.indexes for one in taken):
        return [_line(graph, number) for number in range(1, len(graph.rows) + 1)]
    places = sorted(at for name in {change.entity for change in entities} for at in graph.places[name])
    return [_line(graph, at + 1) for at in places]


def _line(graph: Graph, number: int) -> Line:
    """Give a line by its number; a row may have one of an older version."""
    return graph.rows[number - 1].line._replace(number=number)


def _change(line: Line, indexes: Sequence[int]) -> EntityChange:
    assert line.record is not None
    values, kind = line.record["observations"], line.record.get("entityType")
    parts = tuple(Part(at, values[at]) for at in indexes or range(len(values)))
    kind = kind if isinstance(kind, str) else None
    stays = bool(indexes)
    return EntityChange(
        line.record["name"], line.number, line.number if stays else 0, kind, kind if stays else None, parts
    )
