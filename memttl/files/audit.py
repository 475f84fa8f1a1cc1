"""The audit log: one JSON object a line, each carrying the digest of the line before it.

`begin` is synced before the memory file is written and `end` after it; `removed` lines count only before an `end` that
applied. The chain runs over a form of the line without the raw text, so that a text can later be forgotten.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from memttl.errors import CannotCreate
from memttl.files.state import open_own, own_file, read_own, refusal

FIRST = "0" * 64  # what the first line of a log carries
VERSION = 1


def append(path: Path, events: Iterable[dict[str, Any]], like: os.stat_result) -> None:
    """Add events to the log, chained, and sync it. A torn last line is ended first and never rewritten.

    Raises:
        CannotCreate, NoPermission: the log cannot be written; what was there is as it was, but for a torn last line.
    """
    try:
        is_new = not path.exists()
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        descriptor = os.open(path, flags, 0o600)
        try:
            if is_new:
                own_file(path, like)
            last, is_torn = _last_line(descriptor)
            _refuse_newer(_event(last), path)
            text = (b"\n" if is_torn else b"") + _chained(events, digest_of(last) if last else FIRST)
            _write_whole(descriptor, text)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as e:
        raise refusal(e, f"The audit log {path} cannot be written") from None


def _event(line: bytes) -> dict[str, Any]:
    """Read one line; {} where it is torn, or no event."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) else {}


def _refuse_newer(event: Mapping[str, Any], path: Path) -> None:
    version = event.get("v")
    if isinstance(version, (int, float)) and version > VERSION:
        raise CannotCreate(f"A newer memttl wrote the audit log {path}; nothing was done.", hint="Update memttl.")


def _write_whole(descriptor: int, data: bytes) -> None:
    """Write all or nothing that counts: what a full disk cut off is taken back."""
    begun = os.fstat(descriptor).st_size
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(descriptor, view) :]
    except BaseException:  # Ctrl-C, too
        os.ftruncate(descriptor, begun)
        raise


def _chained(events: Iterable[dict[str, Any]], before: str) -> bytes:
    lines = []
    for event in events:
        line = json.dumps({"v": VERSION, **event, "prev": before}, separators=(",", ":")).encode()
        before = digest_of(line)
        lines.append(line + b"\n")
    return b"".join(lines)


def digest_of(line: bytes) -> str:
    """Give what the next line carries: SHA-256 of this line's JSON without `raw`, or of a torn line's bytes."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return hashlib.sha256(line).hexdigest()
    if isinstance(event, dict):
        event.pop("raw", None)
    return hashlib.sha256(json.dumps(event, separators=(",", ":"), sort_keys=True).encode()).hexdigest()


def _last_line(descriptor: int) -> tuple[bytes, bool]:
    """Give the last line, and whether it has no LF (a kill or a full disk tore it)."""
    size = os.fstat(descriptor).st_size
    reach = 4096
    while True:
        start = max(0, size - reach)
        os.lseek(descriptor, start, os.SEEK_SET)
        tail = _read_exactly(descriptor, size - start)
        body = tail.removesuffix(b"\n")
        if start == 0 or b"\n" in body:
            return body.rpartition(b"\n")[2], bool(tail) and not tail.endswith(b"\n")
        reach *= 8


def _read_exactly(descriptor: int, size: int) -> bytes:
    pieces = []
    while size and (piece := os.read(descriptor, size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def read_events(path: Path, *, after: int = 0, unreadable: bool = False) -> list[dict[str, Any]]:
    """Give the log's events in order; lines that cannot be read are left out, or {} with `unreadable`. No log: none.

    `after` is the byte from which to read: a size that the log had between two runs. A shorter log gives none.

    Raises:
        CannotCreate: a newer memttl wrote it, or it is no regular file.
        NoPermission: it may not be read.
    """
    lines = read_own(path, after=after).removesuffix(b"\n").split(b"\n")
    events = [event for line in lines if (event := _event(line)) or (unreadable and line)]
    for event in events:
        _refuse_newer(event, path)
    return events


def is_open(path: Path) -> bool:
    """Say whether the log holds a run that has not ended; reads little more than its last line where that ends one.

    Raises:
        NoPermission, CannotCreate: it cannot be read, or is no regular file.
    """
    with open_own(path) as f:
        last, _ = _last_line(f.fileno())
    try:
        kind = str(json.loads(last).get("event"))
    except (ValueError, RecursionError, AttributeError):
        return False
    if kind in ("end", "None"):
        return False
    return kind.startswith(("begin", "removed")) or unfinished_run(read_events(path)) is not None


def is_whole(path: Path) -> bool:
    """Say whether the chain of digests holds from the first line to the last; a torn last line is no break.

    Raises:
        NoPermission, CannotCreate: it cannot be read, or is no regular file.
    """
    before = FIRST
    for line in read_own(path).removesuffix(b"\n").split(b"\n"):
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            event = None  # torn: what follows carries the digest of its bytes
        if isinstance(event, dict) and event.get("prev") != before:
            return False
        before = digest_of(line)
    return True


def unfinished_run(events: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Give the `begin` that no `end` follows (a kill, or power loss), or None."""
    for event in reversed(events):
        if event.get("event") == "end":
            return None
        if event.get("event") == "begin":
            return dict(event)
    return None
