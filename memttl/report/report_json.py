"""A report as one JSON document, and as rows with one observation each, which NDJSON and CSV share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from memttl.core.listing import LISTED_AS
from memttl.core.report import Report, ReportOutcome
from memttl.core.wording import instant_text, when_text
from memttl.report.documents import SCHEMA, verdict_document

ROW_KEYS = (
    "file", "listed_as", "entity", "entity_type", "line", "index", "observation", "tier", "rule", "age_source",
    "created_at", "expires_at", "expired", "review_due", "pinned", "action", "reason",
)  # fmt: skip


def report_document(outcome: ReportOutcome) -> dict[str, Any]:
    """Give the whole report; `observations` are the listed verdicts, in the order of `groups`."""
    found = outcome.report
    listed = found.listed
    whys = Counter(item.listed_as for item in listed)
    return {
        "schema": SCHEMA,
        "file": outcome.file,
        "now": instant_text(outcome.now),
        "summary": {
            **found.counts._asdict(),
            "known_age": found.known_age,
            "seen_age": found.seen_age,
            **found.weights._asdict(),
        },
        "listed": {
            "until": instant_text(found.window.until) if found.window.until else None,
            "observations": len(listed),
            **{why: whys[why] for why in LISTED_AS},
        },
        "groups": _groups(found),
        "observations": [verdict_document(item.verdict) for item in listed],
        "tiers": [{"tier": share.name or None, **_numbers(share._asdict())} for share in found.tiers],
        "types": [{"entity_type": share.name or None, **_numbers(share._asdict())} for share in found.types],
        "months": [{"month": m.month, "observations": m.observations, "tiers": dict(m.tiers)} for m in found.months],
        "ages": [age._asdict() for age in found.ages],
        "heaviest": [heavy._asdict() for heavy in found.heaviest],
        "one_date": [{**one._asdict(), "date": when_text(one.date)} for one in found.one_dated],
        "one_date_entities": found.one_dated_count,
        "damaged": [damaged._asdict() for damaged in found.damaged],
        "refusals": list(found.refusals),
        "warnings": list(outcome.warnings),
    }


def _groups(found: Report) -> list[dict[str, Any]]:
    return [
        {
            "group": group.name or None,
            "observations": len(group.listed),
            "characters": group.characters,
            "tokens": group.tokens,
        }
        for group in found.groups
    ]


def _numbers(share: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in share.items() if key != "name"}


def rows(outcome: ReportOutcome) -> Iterator[dict[str, Any]]:
    """Give one row for each listed observation: the file, why it is listed, and its verdict."""
    for item in outcome.report.listed:
        yield {"file": outcome.file, "listed_as": item.listed_as, **verdict_document(item.verdict)}
