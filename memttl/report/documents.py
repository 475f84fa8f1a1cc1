"""Verdicts, plans and errors as JSON documents (SPEC section 6). The schema's number is the promise of the keys."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

from memttl.core.model import Verdict
from memttl.core.outcome import PruneOutcome
from memttl.core.wording import instant_text, when_text
from memttl.errors import MemttlError

SCHEMA = 1


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """Give one verdict; always the same keys."""
    return {
        "entity": verdict.entity,
        "entity_type": verdict.entity_type,
        "line": verdict.line,
        "index": verdict.index,
        "observation": finite(verdict.observation),
        "tier": verdict.tier,
        "rule": verdict.rule,
        "age_source": verdict.age_source,
        "created_at": when_text(verdict.created_at),
        "expires_at": instant_text(verdict.expires_at) if verdict.expires_at else None,
        "expired": verdict.expired,
        "review_due": verdict.review_due,
        "pinned": verdict.pinned,
        "action": verdict.action,
        "reason": verdict.reason,
    }


class Ran(Protocol):
    """An outcome of a command that writes the memory file, or would."""

    @property
    def file(self) -> str:
        """The path as named."""

    @property
    def now(self) -> datetime:
        """The instant that it was judged by."""

    @property
    def dry_run(self) -> bool:
        """It could not have written."""

    @property
    def applied(self) -> bool:
        """The memory file was written."""

    @property
    def run(self) -> str | None:
        """The run's name, where it did something."""


def run_head(outcome: Ran) -> dict[str, Any]:
    """Give the keys with which the document of every command begins that writes the memory file."""
    return {
        "schema": SCHEMA,
        "file": outcome.file,
        "now": instant_text(outcome.now),
        "dry_run": outcome.dry_run,
        "applied": outcome.applied,
        "run": outcome.run,
    }


def finite(value: Any) -> Any:
    """Give null for a number that no double holds (1e400), as JSON.stringify does; JSON has no Infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [finite(v) for v in value]
    return {k: finite(v) for k, v in value.items()} if isinstance(value, dict) else value


def prune_document(outcome: PruneOutcome) -> dict[str, Any]:
    """Give what a prune did or would do."""
    return {
        **run_head(outcome),
        "backup": outcome.backup,
        "archive": outcome.archive,
        "counts": outcome.plan.counts._asdict(),
        "removed": [verdict_document(v) for v in outcome.plan.removals],
        "refusals": list(outcome.plan.refusals),
        "warnings": list(outcome.warnings),
    }


def error_document(error: MemttlError) -> dict[str, Any]:
    """Give an error; `applied` stands in it only when the memory file had been written."""
    fields = {"code": int(error.exit_code), "name": error.name, "message": error.message, "hint": error.hint}
    return {"schema": SCHEMA, "error": fields | ({"applied": True} if error.applied else {})}


def of_files(documents: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Give the one document of a command: that of its file, or all of them when it went over several."""
    return dict(documents[0]) if len(documents) == 1 else {"schema": SCHEMA, "files": list(documents)}


def to_text(document: dict[str, Any]) -> str:
    """Write a document; its escapes keep lone surrogates and any terminal's encoding safe."""
    return json.dumps(document, indent=2) + "\n"
