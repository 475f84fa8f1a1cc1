"""What tests of `forget` need: a state that real runs have made, and a search of every byte that is kept."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ledgers import ledger_path, scanned
from process import aged
from pruning import AT_ONCE, pruned, settings_of, state_folder
from support import entity, relation

from memttl.core.forget_outcome import ForgetOutcome
from memttl.core.selection import Choice
from memttl.core.wish import Wish
from memttl.files import audit
from memttl.files.writing import Options
from memttl.workflow.change_settings import change_settings
from memttl.workflow.forget import forget

SECRET = "hunter2/café"
PLAIN = f"password: {SECRET}"
OLD = f"[session] 2026-01-05: tried {SECRET}"
OTHER = f"[session] 2026-01-06: {SECRET} is Anna's"
WHOLE = "Vault"


def graph() -> bytes:
    """A memory file whose secret stands in texts, in an object, escaped, twice, expired, and in two entities."""
    escaped = entity([f"escaped {SECRET}"], name="Escaped").replace("é".encode(), b"\\u00e9").replace(b"/", b"\\/")
    lines = [
        entity([PLAIN, "plain", OLD, "[session] 2026-01-07: harmless", {"content": "login", "key": SECRET}], name="A"),
        entity([OTHER, PLAIN, PLAIN, "kept"], name="B"),
        escaped,
        entity(["in the vault", "[session] 2026-01-08: vaulted"], name=WHOLE),
        relation("A", WHOLE),
        relation("A", "B"),
    ]
    return b"\n".join(lines)


def lived(folder: Path, *, policy: str = "") -> Path:
    """A memory file with a state: scanned, pinned by text and by name, pruned twice, a damaged ledger set aside."""
    policy = f"[age]\ngrace = 0\n{policy}"  # so that newcomers may go at once
    path = folder / "memory.jsonl"
    path.write_bytes(graph())
    aged(path)
    scanned(path, policy=policy)
    for wish in (
        Wish("pin", Choice("A", SECRET.upper())),
        Wish("set", Choice("A", OLD, exact=True), ttl="20d"),
        Wish("unpin", Choice("A", OLD, exact=True)),
        Wish("pin", entity_pins=(WHOLE,)),
        Wish("unpin", entity_pins=(WHOLE,)),
    ):
        change_settings(settings_of(path, policy=policy), wish)
    pruned(path, policy=policy)
    (state_folder(path) / "ledger.db.damaged-1").write_bytes(ledger_path(path).read_bytes()[:9000])
    path.write_bytes(path.read_bytes() + b"\n" + entity([f"[session] 2026-01-09: again {SECRET}"], name="C"))
    aged(path)
    pruned(path, policy=policy)
    return path


def packed(path: Path) -> Path:
    """The same memory file, its first backup compressed, as a later run does with a large one."""
    backup = next(b for b in (state_folder(path) / "backups").iterdir() if b"harmless" in b.read_bytes())
    backup.with_name(f"{backup.name}.gz").write_bytes(gzip.compress(backup.read_bytes()))
    backup.unlink()
    return path


def forgot(
    path: Path,
    *names: str | None,
    policy: str = "",
    step: Callable[[str], None] = lambda _: None,
    exact: bool = False,
    pattern: bool = False,
    **how: Any,
) -> ForgetOutcome:
    """The outcome of a forget of `path` that needs no question, unless `ask` is given."""
    choice = Choice(*names, exact=exact, pattern=pattern)
    return forget(settings_of(path, policy=policy), choice, options=Options(pace=AT_ONCE, step=step), **how)


def holding(folder: Path, word: str = "hunter2") -> list[str]:
    """The names of all files below a folder that hold a word: raw, in any case, in packed ones, in any page."""
    found = []
    for file in sorted(folder.rglob("*")):
        if not file.is_file():
            continue
        data = file.read_bytes()
        if file.suffix == ".gz":
            data = gzip.decompress(data)
        if word.lower().encode() in data.lower():
            found.append(str(file.relative_to(folder)))
    return found


def log_of(path: Path) -> list[dict[str, Any]]:
    """The audit log, whose chain must hold."""
    log = state_folder(path) / "audit.jsonl"
    assert audit.is_whole(log)
    return audit.read_events(log)


def texts_of(path: Path) -> dict[str, list[object]]:
    """The observations of each entity of a memory file."""
    records = [json.loads(line) for line in path.read_bytes().splitlines() if line]
    return {r["name"]: r["observations"] for r in records if r["type"] == "entity"}
