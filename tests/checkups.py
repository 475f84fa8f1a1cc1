"""What tests of doctor need: the outcome of a checkup in this process, and the names of its findings."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from process import aged
from support import entity

from memttl.core.findings import DoctorOutcome, Finding
from memttl.settings import Given, resolve_anyway
from memttl.workflow.doctor import doctor

GOOD = entity(["a note"], name="A") + b"\n" + entity(["another"], name="B") + b"\n"


def checked(path: Path | str, *, now: str | None = None, check: bool = False, **environ: str) -> DoctorOutcome:
    """The outcome of a checkup of one memory file, by the clock unless `now` is given."""
    return doctor(resolve_anyway(str(path), Given(now=now), environ, datetime.now(UTC)), check=check)


def written(folder: Path, data: bytes = GOOD, *, name: str = "memory.jsonl") -> Path:
    """A memory file of these bytes, at rest."""
    path = folder / name
    path.write_bytes(data)
    return aged(path)


def names(outcome: DoctorOutcome) -> list[str]:
    """The names of all findings, each once, but for that of a lower rung, which is the machine's."""
    return list(dict.fromkeys(f.name for f in outcome.findings if f.name != "lower-rung"))


def only(outcome: DoctorOutcome, name: str) -> Finding:
    """The one finding, which must have this name."""
    assert names(outcome) == [name]
    return next(f for f in outcome.findings if f.name == name)


def one(outcome: DoctorOutcome, name: str) -> Finding:
    """The one finding of this name, among others."""
    (found,) = [f for f in outcome.findings if f.name == name]
    return found
