"""A checkup's outcome as text for people, the worst first, and as a JSON document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from memttl.core.findings import SEVERITIES, DoctorOutcome, Finding, Severity
from memttl.core.wording import instant_text, plural
from memttl.report.documents import SCHEMA
from memttl.report.fitting import columns_of, wrap
from memttl.report.text import visible

_HEADINGS: dict[Severity, str] = {"error": "Errors", "warning": "Warnings", "note": "Good to know"}
_ON_SCREEN = 20
_HANGING = 6
_COMMAND = re.compile("`[^`]*`[.,;:)]*")
_JOINT = "\ue000"  # stands for a space at which no line may break


def render(outcome: DoctorOutcome, *, width: int | None = None) -> str:
    """Give first whether all is well, then a block for each severity, and last how much the file holds.

    On a screen of `width` columns sentences are wrapped, and not all of very many findings of one kind are shown.
    """
    lines = [_verdict(outcome), ""]
    for severity in SEVERITIES:
        found = outcome.of(severity)
        if found:
            lines += [f"{_HEADINGS[severity]}:", *_block(found, None if width is None else _ON_SCREEN), ""]
    if outcome.unread is None:
        lines.append(_sizes(outcome))
    shown = map(visible, lines)
    return "".join(line + "\n" for line in (shown if width is None else (w for s in shown for w in _wrapped(s, width))))


def short(outcome: DoctorOutcome) -> str:
    """Give one line for whoever asked for quiet: the file, and the names of what is amiss."""
    amiss = dict.fromkeys(f.name for f in outcome.findings if f.severity != "note")
    return visible(f"{_verdict(outcome).rstrip('.')} ({', '.join(amiss)}).")


def _verdict(outcome: DoctorOutcome) -> str:
    counts = [plural(len(outcome.of(severity)), severity) for severity in SEVERITIES if outcome.of(severity)]
    if not (outcome.of("error") or outcome.of("warning")):
        return f"{outcome.file}: all is well" + (f" ({counts[0]})." if counts else ".")
    return f"{outcome.file}: not all is well: {', '.join(counts)}."


def _block(findings: list[Finding], most: int | None) -> Iterator[str]:
    """Give findings of one severity; what those of a kind have in common is said once below them."""
    for of_kind in _grouped(findings, lambda f: (f.name, f.help)):
        for alike in _grouped(of_kind, lambda f: f.server):
            yield from (f"  {finding.name}: {finding.message}{_begins(finding)}" for finding in alike[:most])
            if most is not None and len(alike) > most:
                yield f"  … and {len(alike) - most} more of these: `memttl doctor --json` lists all of them."
            if alike[0].server:
                yield f"    What happens: {alike[0].server}."
        yield f"    What helps: {of_kind[0].help}"


def _grouped(findings: list[Finding], key: Callable[[Finding], object]) -> list[list[Finding]]:
    """Put findings together that share a key, in the order in which the keys first come."""
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(key(finding), []).append(finding)
    return list(groups.values())


def _begins(finding: Finding) -> str:
    return f" (begins {finding.first_bytes})" if finding.first_bytes is not None else ""


def _wrapped(line: str, width: int) -> Iterator[str]:
    """Break a line at spaces, the rest of it indented; a command in backticks stays whole where it fits."""
    text = line.lstrip(" ")
    indent = len(line) - len(text)
    room = max(20, width - _HANGING)
    if _JOINT not in text:
        text = _COMMAND.sub(lambda m: m[0].replace(" ", _JOINT) if columns_of(m[0]) < room else m[0], text)
    first, *rest = wrap(text, room + _HANGING - indent)
    yield " " * indent + first.replace(_JOINT, " ")
    for piece in wrap(text[len(first) :].lstrip(), room) if rest else ():
        yield " " * (_HANGING if indent else 0) + piece.replace(_JOINT, " ")


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
    without = f", not counting {plural(sizes.malformed_lines, 'damaged line')}" if sizes.malformed_lines else ""
    cost = f"reading the graph costs about {sizes.tokens_estimated:,} tokens{without}."
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
