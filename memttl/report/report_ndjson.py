"""A report as NDJSON: one line for each listed observation."""

from __future__ import annotations

import json
from collections.abc import Sequence

from memttl.core.report import ReportOutcome
from memttl.report.report_json import rows


def render(outcomes: Sequence[ReportOutcome]) -> str:
    """Give a line for each listed observation of all files."""
    return "".join(json.dumps(row) + "\n" for outcome in outcomes for row in rows(outcome))
