"""The audit log: one JSON object a line, each carrying the digest of the line before it.

`begin` is synced before the memory file is written and `end` after it; `removed` lines count only before an `end` that
applied. The chain (`core/chain.py`) runs over a form of the line without the raw text, so that a text can later be
forgotten. Sizes of the log that are kept elsewhere count the bytes that thinning took out, so that they stay right.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memttl import trace
from memttl.core.chain import FIRST, check, digest_of, event_of, line_of
from memttl.core.stubs import stub
from memttl.errors import CannotCreate
from memttl.files.audit_head import Head, note_head, read_head
from memttl.files.audit_segment import Segment, last_lines, read_at, segment_in, segment_of
from memttl.files.backups import write_new
from memttl.files.state import open_own, own_file, refusal, sync_folder

__all__ = [
    "FIRST", "append", "digest_of", "is_open", "is_whole", "lost_bytes", "note_end", "read_events", "read_log",
    "rewrite", "segment_in", "segment_of", "size_of", "unfinished_run",
]  # fmt: skip
VERSION = 1
_PART = ".part"


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
            size = os.fstat(descriptor).st_size
            lines, is_torn = last_lines(descriptor, size)
            _refuse_newer(event_of(lines[0]) or {} if lines else {}, path)
            segment = segment_of(descriptor)
            is_held = _holds(descriptor, read_head(path), segment)
            text, digest = _chained(events, _digest_after(lines))
            _write_whole(descriptor, (b"\n" if is_torn else b"") + text)
            os.fsync(descriptor)
            end = os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
    except OSError as e:
        raise refusal(e, f"The audit log {path} cannot be written") from None
    if text and is_held:  # a log that lacks its head was cut: then that stays to be seen
        last = text.removesuffix(b"\n").rpartition(b"\n")[2]
        note_head(path, Head(digest, segment.logical(end) - len(last) - 1, segment.logical(end)), like)


def _digest_after(lines: Sequence[bytes]) -> str:
    before = FIRST
    for line in lines:
        before = digest_of(line, before)
    return before


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


def _chained(events: Iterable[dict[str, Any]], before: str) -> tuple[bytes, str]:
    lines = []
    for event in events:
        line = line_of({"v": VERSION, **event, "prev": before})
        before = digest_of(line)
        lines.append(line + b"\n")
    return b"".join(lines), before


def _holds(descriptor: int, head: Head | None, segment: Segment) -> bool:
    """Say whether the log still holds the line that its head tells of, if only torn; where nobody can tell, it does."""
    begun = segment.physical(head.begun) if head else None
    if head is None or begun is None:
        return True
    if begun and read_at(descriptor, begun - 1, begun) != b"\n":
        return False
    found = read_at(descriptor, begun, begun + head.size - head.begun)
    line, is_ended = found.removesuffix(b"\n"), found.endswith(b"\n")
    if event_of(line) is not None:
        return digest_of(line) == head.digest
    # a tear leaves no LF there, and at least a byte; whole lines that were cut off leave nothing
    return bool(found) and not is_ended and event_of(line.partition(b"\n")[0]) is None


def note_end(path: Path, like: os.stat_result) -> None:
    """Note the last line of a log that was begun anew as its end, so that a later cut shows."""
    with open_own(path) as f:
        size, segment = os.fstat(f.fileno()).st_size, segment_of(f.fileno())
        lines, _ = last_lines(f.fileno(), size)
    if lines:
        begun = segment.logical(size) - len(lines[-1]) - 1
        note_head(path, Head(digest_of(lines[-1]), begun, segment.logical(size)), like)


def lost_bytes(path: Path) -> int:
    """Give how many bytes the log is shorter than at its noted end."""
    head = read_head(path)
    return max(0, head.size - size_of(path)) if head else 0


def size_of(path: Path) -> int:
    """Give the size of the log in bytes, those that thinning took out counted in; 0 for none.

    Raises:
        NoPermission, CannotCreate: it cannot be read, or is no regular file.
    """
    try:
        with open_own(path) as f:
            size = os.fstat(f.fileno()).st_size
            return segment_of(f.fileno()).logical(size) if size else 0
    except FileNotFoundError:
        return 0


def read_events(path: Path, *, after: int = 0, unreadable: bool = False) -> list[dict[str, Any]]:
    """Give the log's events in order; lines that cannot be read are left out, or {} with `unreadable`. No log: none.

    `after` is the byte from which to read: a `size_of` between two runs. A shorter log gives none; where lines from
    before that byte were taken out since, all are given: rather some twice than one never.

    Raises:
        CannotCreate: a newer memttl wrote it, or it is no regular file.
        NoPermission: it may not be read.
    """
    try:
        with open_own(path) as f:
            f.seek((segment_of(f.fileno()).physical(after) or 0) if after else 0)
            data = f.read()
    except FileNotFoundError:
        return []
    lines = data.removesuffix(b"\n").split(b"\n")
    events = [event for line in lines if (event := event_of(line) or {}) or (unreadable and line)]
    for event in events:
        _refuse_newer(event, path)
    return events


class Log(NamedTuple):
    """A log as it lies there. `is_held`: it still holds the line that its head tells of."""

    data: bytes
    is_held: bool


def read_log(path: Path) -> Log:
    """Read the log and hold it against its head; raises as `read_events`."""
    head = read_head(path)  # before the log, which another run may be adding to
    try:
        with open_own(path) as f:
            data = f.read()
            is_held = _holds(f.fileno(), head, segment_in(data))
    except FileNotFoundError:
        return Log(b"", head is None)
    for line in data.split(b"\n")[-2:]:
        _refuse_newer(event_of(line) or {}, path)
    return Log(data, is_held)


def is_open(path: Path) -> bool:
    """Say whether the log holds a run that has not ended; reads little more than its last line where that ends one.

    Raises:
        NoPermission, CannotCreate: it cannot be read, or is no regular file.
    """
    with open_own(path) as f:
        lines, _ = last_lines(f.fileno(), os.fstat(f.fileno()).st_size)
    kind = str((event_of(lines[0]) or {}).get("event")) if lines else "None"
    if kind in ("end", "None"):
        return False
    return kind.startswith(("begin", "removed")) or unfinished_run(read_events(path)) is not None


def is_whole(path: Path) -> bool:
    """Say whether the chain of digests holds from the first line to the noted last one; a torn line is no break.

    Raises:
        NoPermission, CannotCreate: it cannot be read, or is no regular file.
    """
    log = read_log(path)
    return log.is_held and check(log.data).broken is None


def unfinished_run(events: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Give the `begin` that no `end` follows (a kill, or power loss), or None."""
    for event in reversed(events):
        if event.get("event") == "end":
            return None
        if event.get("event") == "begin":
            return dict(event)
    return None


def drop_part(path: Path) -> None:
    """Remove the new log of a run that was killed before it had put it in the old one's place."""
    _part_of(path).unlink(missing_ok=True)


def _part_of(path: Path) -> Path:
    return path.with_name(path.name + _PART)


def rewrite(
    path: Path,
    data: bytes,
    *,
    time: str,
    until: int | None = None,
    beyond: int | None = None,
    step: Callable[[str], None] = trace.step,
) -> None:
    """Put other lines in place of the log's, in one step: a kill leaves the old log or the new one.

    `data` is all that stands behind the segment line, whose chain the caller has kept whole; `until` is the place, as
    `size_of` counts, up to which lines were changed (None: anywhere). The caller holds the sidecar lock. Readers that
    know a size of the log go on from there; those that know one from before `until` read all of it. `beyond` begins a
    log anew: whoever knows a size up to that one reads all of it, and no noted end speaks against it. `time` is the
    clock's; `step` is called with the name of each step.

    Raises:
        CannotCreate, NoPermission: it cannot be written; the log is as it was.
    """
    part = _part_of(path)
    try:
        with open_own(path) as f:
            about, old = os.fstat(f.fileno()), segment_of(f.fileno())
        end = old.logical(about.st_size)
        if beyond is not None:
            head = read_head(path)
            last = len(data) - (data.rfind(b"\n", 0, len(data) - 1) + 1)
            until = max(end, beyond, head.size if head else 0, len(data)) + 1
            end = until + last  # the last line lies behind all known sizes, so that it can be noted as the new end
        fields = {"event": "segment", "time": time, "bytes": end - len(data), "until": end if until is None else until}
        line = line_of(stub(fields, prev=FIRST, was=FIRST))
        write_new(part, line + b"\n" + data)
        own_file(part, about)
        step("new log written")
        part.replace(path)
        step("log replaced")
        sync_folder(path.parent)
    except OSError as e:
        raise refusal(e, f"The audit log {path} cannot be written") from None
    finally:
        part.unlink(missing_ok=True)
