"""What a command came to over several files, in one line below all results. Called by `commands/over_files.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memttl.core.findings import SEVERITIES
from memttl.core.wording import plural
from memttl.errors import ExitCode

if TYPE_CHECKING:  # each command has imported its own
    from memttl.core.findings import DoctorOutcome
    from memttl.core.outcome import PruneOutcome
    from memttl.core.plan import Counts
    from memttl.core.report import ReportOutcome
    from memttl.core.scan_outcome import ScanOutcome

_DONE = (ExitCode.OK, ExitCode.FOUND_WORK)
_WORDS = {
    ExitCode.BUG: "a bug",
    ExitCode.USAGE: "usage",
    ExitCode.LIMIT: "refused by a limit",
    ExitCode.MALFORMED: "damaged or foreign",
    ExitCode.NO_INPUT: "missing",
    ExitCode.CANNOT_CREATE: "cannot be written",
    ExitCode.TRY_AGAIN: "try again",
    ExitCode.NO_PERMISSION: "not permitted",
    ExitCode.BAD_POLICY: "bad policy",
    ExitCode.INTERRUPTED: "interrupted",
}


def summary(files: int, codes: Sequence[ExitCode], *, passed_over: int, sums: str) -> str:
    """Say how many of the files were done, which codes the others ended with, and what it sums up to."""
    failed = Counter(code for code in codes if code not in _DONE)
    parts = [f"{len(codes) - failed.total()} done"]
    if failed:
        kinds = ", ".join(f"{plural(number, 'file')} {_kind(code)}" for code, number in sorted(failed.items()))
        parts.append(f"{failed.total()} not ({_kind(*failed) if len(failed) == 1 else kinds})")
    if passed_over:
        parts.append(f"{passed_over} passed over")
    if files > len(codes) + passed_over:
        parts.append(f"{files - len(codes) - passed_over} not begun")
    return f"{plural(files, 'file')}: {', '.join(parts)}." + (f" {sums}" if sums else "") + "\n"


def _kind(code: ExitCode) -> str:
    return f"{int(code)} {_WORDS.get(code, '')}".rstrip()


def prune_sums(outcomes: Sequence[PruneOutcome]) -> str:
    """Say how many observations went from all files, or would go."""
    planned = [o.plan.counts for o in outcomes if o.dry_run and not o.plan.refusals]
    went = [o.plan.counts for o in outcomes if not o.dry_run and not o.plan.refusals]
    applied = sum(o.plan.counts.removed for o in outcomes if o.applied)
    if planned:
        return f"Would remove {sum(c.removed for c in planned)} of {_all(planned)}."
    return f"Removed {applied} of {_all(went)}." if went else ""


def scan_sums(outcomes: Sequence[ScanOutcome]) -> str:
    """Say how many observations were new, gone and known in all files."""
    found = [o.found for o in outcomes if not o.refusals]
    words = (f"{sum(getattr(f, name) for f in found)} {name}" for name in ("new", "gone", "known"))
    return f"{', '.join(words)}." if found else ""


def report_sums(outcomes: Sequence[ReportOutcome]) -> str:
    """Say how many observations of all files have expired."""
    counts = [o.report.counts for o in outcomes]
    return f"{sum(c.expired for c in counts)} of {_all(counts)} have expired." if counts else ""


def doctor_sums(outcomes: Sequence[DoctorOutcome]) -> str:
    """Say how much is amiss in all files."""
    found = ((sum(len(o.of(severity)) for o in outcomes), severity) for severity in SEVERITIES)
    words = ", ".join(plural(number, severity) for number, severity in found if number)
    return f"{words}." if words else "All is well."


def _all(counts: Sequence[Counts]) -> str:
    return plural(sum(c.observations for c in counts), "observation")
