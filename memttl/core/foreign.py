"""Is this the MCP memory server's file at all? Chat logs, caches and other tools' stores carry the same name.

Called by `plan.py` before anything is judged, by `checkup.py` and `repair.py`, on the bytes and the counts of lines.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from memttl.core.memory import BOM
from memttl.core.model import Line
from memttl.errors import Foreign

POINT = Foreign.hint
REPAIR = "memttl doctor --repair"
_WIPED = (
    f"`{REPAIR}` writes it as one JSON object a line, and keeps a backup. The memory server reads it as an empty graph "
    "and erases it at its next write."
)
NO_RECORD = (
    "Nothing in it is a record of the memory server, so there is nothing to mend. Point --file at the memory file; if "
    "this is its place, `memttl backups list` lists what earlier runs kept of it."
)


@dataclass(slots=True)
class Census:
    """Counts of the JSON lines seen so far, by what tells a memory file from another tool's."""

    entities: int = 0  # well-formed, with a name and a list of observations
    server_lines: int = 0
    other_lines: int = 0
    shapes: dict[str, int] = field(default_factory=dict)

    def add(self, line: Line) -> None:
        """Count one line."""
        if line.kind in ("entity", "relation"):
            self.server_lines += 1
            self.entities += line.is_judged or (line.too_deep and line.kind == "entity")
        elif line.kind == "other" and not (line.number == 1 and _is_marker(line)):
            self.other_lines += 1
            shape = _shape_of(line)
            self.shapes[shape] = self.shapes.get(shape, 0) + 1


def _is_marker(line: Line) -> bool:
    # mcp-knowledge-graph and its forks begin every file with {"type":"_aim", ...}; without it they refuse the file
    return line.record is not None and line.record.get("type") == "_aim"


def _shape_of(line: Line) -> str:
    if line.record is None:
        return "no object"
    if "type" in line.record:
        return "another type"
    return "_type" if "_type" in line.record else "no type"


def foreign_file(data: bytes, census: Census, *, malformed: bool) -> tuple[str, str] | None:
    """Say whether this is no file of the memory server, as prune, doctor and repair see it alike.

    Gives (what it is, what to do), or None; a repair is named only where it changes something.
    """
    found = foreign_shape(data, census, malformed=malformed)
    return (found[0], NO_RECORD) if found and REPAIR in found[1] and not is_mendable(data) else found


def foreign_shape(data: bytes, census: Census, *, malformed: bool) -> tuple[str, str] | None:
    """Say the same without asking whether a repair would change anything: it may be named for nothing."""
    found = foreign_encoding(data)
    if not found and (malformed or not census.entities):
        found = foreign_document(data)
    return found or (foreign_lines(census) if not malformed or not census.entities else None)


def is_mendable(data: bytes) -> bool:
    """Say whether a repair changes anything in a file."""
    from memttl.core.repair import plan_repair  # here: it asks this module in turn, and few files need it

    try:
        return plan_repair(data).is_needed
    except Foreign:
        return False


def foreign_encoding(data: bytes) -> tuple[str, str] | None:
    """Recognise gzip, ZIP and UTF-16 by their first bytes. Gives (what it is, what to do), or None."""
    if packed := foreign_packed(data):
        return packed
    head = data[:512]
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    # no JSON text in UTF-8 begins with a NUL or has one in second place; UTF-16 without a BOM always has
    if wide or (0 in head[:2] and len(head) < 3 * head.count(0) < 2 * len(head)):
        to_utf8 = f"`{REPAIR}` writes it as UTF-8 without a byte order mark, and keeps a backup."
        return "is written in UTF-16; the memory server reads UTF-8 only", to_utf8
    return None


def foreign_packed(data: bytes) -> tuple[str, str] | None:
    """Recognise gzip and ZIP by their first bytes. Gives (what it is, what to do), or None."""
    if data.startswith(b"\x1f\x8b"):
        return "is compressed with gzip", "Unpack it first: gunzip -c FILE > memory.jsonl"
    if data.startswith(b"PK\x03\x04"):
        return "is a ZIP archive", "Unpack it first: unzip -p FILE > memory.jsonl"
    return None


def foreign_document(data: bytes) -> tuple[str, str] | None:
    """Recognise one JSON document that fills the whole file: pretty-printed, an array, or a graph object."""
    text = data.removeprefix(BOM).decode("utf-8", "replace").strip()
    if not text.startswith(("[", "{")) or not text.endswith(("]", "}")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list):
        return "is one JSON array, not one JSON object a line", _WIPED
    if isinstance(value, dict) and "type" not in value and ("entities" in value or "relations" in value):
        return "is one JSON document with entities and relations, not one JSON object a line", _WIPED
    if isinstance(value, dict) and "\n" in text:
        return "is one pretty-printed JSON document, not one JSON object a line", _WIPED
    if value == {}:
        return "is an empty JSON object, not one JSON object a line", _WIPED
    return None


_SHAPES = {
    "_type": "its lines say _type where the memory server's say type (mcp-think-tank writes such files)",
    "no type": "its lines have no type (a chat log or another tool's store)",
    "another type": "its lines are of types that the memory server does not know",
    "no object": "its lines are JSON, but no objects",
}


def foreign_lines(census: Census) -> tuple[str, str] | None:
    """Say whether the lines are mostly another tool's. Gives (what it is, what to do), or None."""
    if not census.other_lines:
        return None
    if census.entities and census.other_lines <= census.server_lines:
        return None
    if census.other_lines <= census.server_lines:
        return "holds no entity with a name and a list of observations, but lines of other tools", POINT
    commonest = max(census.shapes, key=lambda shape: census.shapes[shape])
    counts = f"{census.other_lines} of {census.other_lines + census.server_lines} JSON lines"
    return f"is no memory file of the MCP memory server: {_SHAPES[commonest]} ({counts} are not the server's)", POINT
