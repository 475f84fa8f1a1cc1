"""What tests of the ledger need: a scan in this process, a ledger's rows, a pin as the commands that set leave it."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from pruning import settings_of, state_folder
from support import NOW, entity

from memttl.core.asked import asked_document
from memttl.core.digests import text_digest
from memttl.core.known import Setting
from memttl.core.look import Comparison, look_at
from memttl.core.model import UserSettings
from memttl.core.scan_outcome import ScanOutcome
from memttl.core.sightings import Sightings
from memttl.files import audit
from memttl.files.knowledge import ledger_of
from memttl.files.ledger import Ledger
from memttl.files.ledger_open import ledger_to_read, ledger_to_write, new_ledger
from memttl.files.lock import locked
from memttl.files.state import State, prepare, state_of
from memttl.workflow.scan import scan

DAY = "2026-06-{:02}T12:00:00Z"


def written(path: Path, graph: Mapping[str, Sequence[object]]) -> Path:
    """The same file, with these entities and their observations, dated so that it is at rest."""
    path.write_bytes(b"".join(entity(texts, name=name) + b"\n" for name, texts in graph.items()))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


def numbered(count: int, *, of: str = "text", entities: int = 1) -> dict[str, list[str]]:
    """A graph of `count` observations, spread over some entities."""
    graph: dict[str, list[str]] = {f"E{i}": [] for i in range(entities)}
    for i in range(count):
        graph[f"E{i % entities}"].append(f"{of} {i}")
    return graph


def scanned(path: Path, now: str = DAY.format(1), *, policy: str = "", **how: bool) -> ScanOutcome:
    """The outcome of a scan of `path` at an instant."""
    return scan(settings_of(path, policy=policy, now=now), **how)


def ledger_path(path: Path) -> Path:
    """Where the ledger of a memory file lies."""
    return state_folder(path) / "ledger.db"


@contextmanager
def opened(path: Path) -> Iterator[Ledger]:
    """The ledger of a memory file, open to read."""
    with ledger_to_read(ledger_path(path)) as ledger:
        assert ledger is not None
        yield ledger


def sightings(path: Path, name: str) -> Sightings:
    """What the ledger holds of one entity."""
    with opened(path) as ledger:
        return ledger.sightings_of(name)


def first_seen(path: Path, name: str) -> list[str]:
    """The days on which the texts of one entity were first seen, each once."""
    found = {datetime.fromtimestamp(s.first_seen, UTC) for s in sightings(path, name).values()}
    return [f"{moment:%Y-%m-%d}" for moment in sorted(found)]


def baseline_of(path: Path) -> datetime | None:
    """The ledger's baseline."""
    with opened(path) as ledger:
        return ledger.baseline


def pin(path: Path, name: str, text: str, asked: UserSettings = UserSettings(pinned=True)) -> None:  # noqa: B008
    """Pin an observation, in the ledger and in the audit log that it is rebuilt from."""
    import json

    digest = text_digest(text)
    event = {"event": "set", "entity": name, "digest": digest, "raw": json.dumps(text)}
    _set(path, {**event, "settings": asked_document(asked)})
    with _writable(path) as ledger:
        ledger.put_setting(Setting(name, digest, text, asked))


def pin_entity(path: Path, pattern: str) -> None:
    """Pin an entity, in the ledger and in the audit log."""
    _set(path, {"event": "set", "entity_pin": pattern, "settings": {"pinned": True}})
    with _writable(path) as ledger:
        ledger.put_entity_pin(pattern, pinned=True)


def _set(path: Path, event: dict[str, object]) -> None:
    state = state_of(path)
    prepare(state, path.stat())
    audit.append(state.audit, [event], path.stat())


@contextmanager
def _writable(path: Path) -> Iterator[Ledger]:
    state: State = state_of(path)
    with locked(state, path.stat()), ledger_of(state, path.stat(), lambda _: None) as ledger:
        yield ledger


def edit(path: Path, *statements: str) -> None:
    """Do something to the ledger that memttl would not."""
    with closing(sqlite3.connect(ledger_path(path))) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def in_killed_child(act: Callable[[], object]) -> None:
    """Act in a forked child, which must die of SIGKILL by itself."""
    child = os.fork()
    if not child:
        try:
            act()
        finally:
            os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1]), "the child came to its end"


def die(*_: object) -> None:
    """Die at once, as by kill -9."""
    os.kill(os.getpid(), signal.SIGKILL)


def leave_hot_journal(path: Path) -> None:
    """Kill a writer of the ledger in the middle of its transaction, after it has written pages in place."""

    def act() -> None:
        connection = sqlite3.connect(ledger_path(path), isolation_level=None)
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE meta SET value = 2000000000 WHERE key IN ('newest', 'looked', 'baseline')")
        connection.execute("DELETE FROM setting")
        connection.execute("DELETE FROM entity_pin")
        for i in range(2000):
            connection.execute("INSERT INTO entity VALUES (NULL, ?, x'', NULL, ?)", (b"%d" % i, bytes(200)))
        die()

    in_killed_child(act)
    assert ledger_path(path).with_name("ledger.db-journal").stat().st_size > 0


@contextmanager
def fresh() -> Iterator[Ledger]:
    """A new ledger in a folder of its own."""
    with TemporaryDirectory() as folder:
        memory, path = Path(folder, "memory.jsonl"), Path(folder, "ledger.db")
        memory.write_bytes(b"")
        with new_ledger(path, memory.stat()):
            pass
        with ledger_to_write(path) as ledger:
            assert ledger is not None
            yield ledger


def looked(ledger: Ledger, data: bytes, now: datetime = NOW) -> Comparison:
    """What a recorded look at `data` found."""
    known = ledger.known_lines()
    with ledger.transaction(write=True):
        return ledger.record(look_at(data, known), known, now, log_size=0)
