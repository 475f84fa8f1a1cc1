"""A checkup's outcome as text for people, the worst first, and as a JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from memttl.core.findings import SEVERITIES, DoctorOutcome, Finding, Severity
from memttl.core.wording import instant_text, plural
from memttl.report.documents import SCHEMA
from memttl.report.text import visible

_HEADINGS: dict[Severity, str] = {"error": "Errors", "warning": "Warnings", "note": "Good to know"}


def render(outcome: DoctorOutcome) -> str:
    """Give first whether all is well, then a block for each severity, and last how much the file holds."""
    lines = [_verdict(outcome), ""]
    for severity in SEVERITIES:
        found = outcome.of(severity)
        if found:
            lines += [f"{_HEADINGS[severity]}:", *_block(found), ""]
    if outcome.unread is None:
        lines.append(_sizes(outcome))
    return "".join(visible(line) + "\n" for line in lines)


def _verdict(outcome: DoctorOutcome) -> str:
    counts = [plural(len(outcome.of(severity)), severity) for severity in SEVERITIES if outcome.of(severity)]
    if not (outcome.of("error") or outcome.of("warning")):
        return f"{outcome.file}: all is well" + (f" ({counts[0]})." if counts else ".")
    return f"{outcome.file}: not all is well: {', '.join(counts)}."


def _block(findings: list[Finding]) -> Iterator[str]:
    """Give findings of one severity; what several have in common, one behind the other, is said once below them."""
    for (name, server, help_), alike in groupby(findings, key=lambda f: (f.name, f.server, f.help)):
        for finding in alike:
            begins = f" (begins {finding.first_bytes})" if finding.first_bytes is not None else ""
            yield f"  {name}: {finding.message}{begins}"
        if server:
            yield f"    What happens: {server}."
        yield f"    What helps: {help_}"


def _sizes(outcome: DoctorOutcome) -> str:
    sizes = outcome.sizes
    counts = ", ".join(
        plural(number, noun)
        for number, noun in (
            (sizes.entities, "entity"), (sizes.relations, "relation"), (sizes.observations, "observation"),
        )
    )  # fmt: skip
    if not sizes.lines:
        return f"{sizes.bytes:,} bytes."
    cost = f"reading the graph costs about {sizes.tokens_estimated:,} tokens."
    return f"{sizes.bytes:,} bytes in {plural(sizes.lines, 'line')}: {counts}; {cost}"


def doctor_document(outcome: DoctorOutcome) -> dict[str, Any]:
    """Give all findings, the worst first; `line`, `column` and `first_bytes` only where a finding has them."""
    return {
        "schema": SCHEMA,
        "file": outcome.file,
        "now": instant_text(outcome.now),
        "findings": [_finding_document(finding) for finding in outcome.findings],
        "summary": outcome.sizes._asdict(),
    }


def _finding_document(finding: Finding) -> dict[str, Any]:
    places = {"line": finding.line, "column": finding.column, "first_bytes": finding.first_bytes}
    return {
        "severity": finding.severity,
        "name": finding.name,
        "message": finding.sentence,
        "help": finding.help,
        **{key: value for key, value in places.items() if value is not None},
    }
