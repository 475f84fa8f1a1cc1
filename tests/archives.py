"""A memory file whose policy names an archive, prunes of it, and what lies in both."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pruning import AT_ONCE

from memttl.core.outcome import PruneOutcome
from memttl.settings import Given, resolve
from memttl.workflow.prune import Request, prune

POLICY = '[archive]\npath = "memory-archive.jsonl"\n'
EXPIRED = "[expires 2020-01-02]"


def entity(observations: Iterable[object], name: str = "E", kind: str = "note") -> bytes:
    """One entity's line as the server writes it."""
    record = {"type": "entity", "name": name, "entityType": kind, "observations": list(observations)}
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode()


def laid(folder: Path, *lines: bytes, policy: str = POLICY, name: str = "memory.jsonl") -> Path:
    """A memory file of these lines, and its policy beside it."""
    folder.mkdir(exist_ok=True)
    (folder / "memttl.toml").write_text(policy, encoding="utf-8")
    path = folder / name
    path.write_bytes(b"\n".join(lines))
    return path


def archive_of(path: Path) -> Path:
    """The archive that `POLICY` names."""
    return path.parent / "memory-archive.jsonl"


def run(path: Path, *, clock: datetime | None = None, step: Any = lambda _: None, **request: Any) -> PruneOutcome:
    """An applied prune by the policy beside the file, at the machine's clock or at `clock`."""
    settings = resolve(str(path), Given(), {}, clock or datetime.now(UTC))
    return prune(settings, Request(**{"pace": AT_ONCE, "force": True, **request}), step=step)


def graph(path: Path) -> list[tuple[str, Any]]:
    """What a file holds: of each entity its name and observations, of each relation its ends; [] where none is."""
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    records = [json.loads(line) for line in lines if line.strip()]
    return [(r["name"], r["observations"]) if r["type"] == "entity" else (r["from"], r["to"]) for r in records]
