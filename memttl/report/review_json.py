"""What came of a review as one JSON document."""

from __future__ import annotations

from typing import Any

from memttl.core.review_outcome import ReviewOutcome
from memttl.core.wording import instant_text
from memttl.report.documents import SCHEMA, verdict_document
from memttl.report.settings import change_documents


def review_document(outcome: ReviewOutcome) -> dict[str, Any]:
    """Give what was decided; `recorded` and `applied` say whether it was done."""
    return {
        "schema": SCHEMA,
        "file": outcome.file,
        "now": instant_text(outcome.now),
        "dry_run": outcome.dry_run,
        "recorded": outcome.settings_run is not None,
        "applied": outcome.run is not None,
        "settings_run": outcome.settings_run,
        "run": outcome.run,
        "backup": outcome.backup,
        "archive": outcome.archive,
        "counts": outcome.counts._asdict(),
        "changes": change_documents(outcome.changes),
        "removed": [verdict_document(verdict) for verdict in outcome.removals],
        "refusals": list(outcome.refusals),
        "warnings": list(outcome.warnings),
    }
