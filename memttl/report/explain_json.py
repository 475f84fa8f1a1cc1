"""Explained verdicts as one JSON document."""

from __future__ import annotations

from typing import Any

from memttl.core.explain import ExplainOutcome
from memttl.core.model import Tried
from memttl.core.wording import instant_text
from memttl.report.documents import SCHEMA, verdict_document


def explain_document(answer: ExplainOutcome) -> dict[str, Any]:
    """Give the explained verdicts, each with what was tried."""
    return {
        "schema": SCHEMA,
        "file": answer.file,
        "now": instant_text(answer.now),
        "verdicts": [
            {**verdict_document(v), "tried": [_tried_document(t) for t in tried]}
            for v, tried in answer.explanation.verdicts
        ],
    }


def _tried_document(tried: Tried) -> dict[str, Any]:
    return {"kind": tried.kind, "what": tried.what, "matched": tried.matched, "note": tried.note}
