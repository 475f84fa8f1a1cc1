"""What a repair takes out, as the text of a quarantine file and as lines of the audit log. Pure.

`workflow/repair.py` writes both before the memory file. The bytes stand in the file exactly as they stood in the memory
file, each piece behind a line of JSON that says where that was and how many there are.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from memttl.core.records import raw_fields
from memttl.core.repair import Piece

_LOGGED_BYTES = 1 << 16  # a whole file in UTF-16 would make a log that nobody can read


def quarantine_text(pieces: Sequence[Piece], *, file: str, run: str, time: str) -> bytes:
    """Give the content of a quarantine file: a line on the whole, then each piece behind a line of its own."""
    parts = [_line({"quarantine": run, "file": file, "time": time, "pieces": len(pieces)})]
    for piece in pieces:
        head = {"line": piece.line, "offset": piece.offset, "bytes": len(piece.raw), "reason": piece.reason}
        parts += [_line(head), piece.raw, b"\n"]
    return b"".join(parts)


def read_quarantine(data: bytes) -> list[tuple[dict[str, Any], bytes]]:
    """Give the pieces of a quarantine file, each with what its line says of it; those that a full disk cut off less."""
    return [(head, raw) for head, _, raw in quarantine_parts(data)[1]]


def quarantine_parts(data: bytes) -> tuple[bytes, list[tuple[dict[str, Any], bytes, bytes]], bytes]:
    """Give a quarantine file's first line, each piece as (what its line says, that line, its bytes), and the rest."""
    found = []
    start = at = data.find(b"\n") + 1
    while 0 < at < len(data):
        end = data.find(b"\n", at)
        try:
            head = json.loads(data[at:end])
            raw = data[end + 1 : end + 1 + head["bytes"]]
        except (ValueError, TypeError, KeyError):
            break
        found.append((head, data[at : end + 1], raw))
        at = end + 1 + len(raw) + 1
    return data[:start], found, data[at:]


def quarantined_events(pieces: Sequence[Piece], run: str, *, with_text: bool) -> list[dict[str, Any]]:
    """Give one event for each piece, with its bytes as text unless texts stay out or there are very many."""
    return [
        {
            "event": "quarantined",
            "run": run,
            "line": piece.line,
            **_raw(piece.raw, with_text=with_text),
            "reason": piece.reason,
        }
        for piece in pieces
    ]


def _raw(raw: bytes, *, with_text: bool) -> dict[str, str]:
    return raw_fields(raw.decode("utf-8", "surrogateescape"), with_text=with_text and len(raw) <= _LOGGED_BYTES)


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"
