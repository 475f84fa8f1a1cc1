"""Reports made in this process: of bytes in memory, and the rows that each format lists, read back."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import datetime
from typing import Any

from support import NOW, judge_of

from memttl.core.report import Query, Report, ReportOutcome
from memttl.core.survey import survey
from memttl.report import report_csv, report_json, report_markdown, report_ndjson, report_plain
from memttl.report.documents import to_text

Row = tuple[str, str, str]  # an entity, its type, a text: as the format writes them


def report_of(data: bytes, policy: str = "", *, now: datetime = NOW, known_of: Any = None, **query: Any) -> Report:
    """The report on `data`."""
    return survey(data, judge_of(policy, now=now), Query(**query), known_of=known_of)


def outcome_of(data: bytes, policy: str = "", *, file: str = "memory.jsonl", **query: Any) -> ReportOutcome:
    """What the command would render of `data`."""
    return ReportOutcome(file, NOW, Query(**query), report_of(data, policy, **query))


def texts(report: Report) -> list[Any]:
    """The texts that are listed, in order."""
    return [item.verdict.observation for item in report.listed]


def by_group(report: Report) -> dict[str, list[Any]]:
    """The texts that are listed, under their headings."""
    return {group.name: [item.verdict.observation for item in group.listed] for group in report.groups}


def json_rows(*outcomes: ReportOutcome) -> list[Row]:
    """What the JSON documents list."""
    documents = [json.loads(to_text(report_json.report_document(outcome))) for outcome in outcomes]
    return [_row(v) for document in documents for v in document["observations"]]


def ndjson_rows(*outcomes: ReportOutcome) -> list[Row]:
    """What the NDJSON lists."""
    return [_row(json.loads(line)) for line in report_ndjson.render(outcomes).split("\n")[:-1]]


def _row(verdict: dict[str, Any]) -> Row:
    return verdict["entity"], verdict["entity_type"] or "", verdict["observation"]


def csv_rows(*outcomes: ReportOutcome) -> list[Row]:
    """What the CSV lists, as a spreadsheet reads it."""
    found = csv.DictReader(io.StringIO(report_csv.render(outcomes), newline=""), strict=True)
    return [(row["entity"], row["entity_type"], row["observation"]) for row in found]


def markdown_rows(*outcomes: ReportOutcome) -> list[Row]:
    """What the tables of the Markdown list, read as GitHub reads a table."""
    found, in_list = [], False
    for line in report_markdown.render(outcomes).split("\n"):
        cells = [unescaped(cell) for cell in re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]] if line[:1] == "|" else []
        if cells == list(report_markdown.LISTED_COLUMNS):
            in_list = True
        elif not cells:
            in_list = False
        elif in_list and not line.startswith("|---"):
            found.append((cells[0], cells[1], cells[5]))
    return found


def unescaped(cell: str) -> str:
    """A cell of a table as it is shown."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", cell.strip(" ").replace("<br>", "\n"))


def plain_texts(*outcomes: ReportOutcome) -> list[str]:
    """The texts that the plain lines list."""
    lines = report_plain.render(outcomes).split("\n")
    return [lines[place + 1][6:] for place, line in enumerate(lines) if line.startswith("    - ")]
