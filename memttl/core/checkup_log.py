"""The audit log's events and the outcomes of unwatched runs into findings: runs that failed, backups that are gone.

Called by `files/checkup_state.py`, which reads them. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from memttl.core.failed_runs import failures
from memttl.core.findings import Finding, of_file

_REMOVALS = ("removed", "removed_entity", "removed_relation", "removed_line")


class _Run(NamedTuple):
    run: str
    backup: str
    lacks_text: bool
    undoes: str


def newest_time(events: Sequence[Mapping[str, Any]]) -> str:
    """Give the latest time in the log, "" for none: they are ISO 8601 in UTC, so that texts sort.

    What stands before the last repair of the state does not count: that one has lowered what lay after the clock.
    """
    repairs = [place for place, e in enumerate(events) if e.get("event") == "repaired"]
    since = events[repairs[-1] :] if repairs else events
    kinds = ("begin", "end", "baseline", "set", "arrived", "repaired")
    times = [str(e.get("time", "")) for e in since if e.get("event") in kinds]
    return max((t for t in times if t.endswith("Z")), default="")


def check_backups(events: Sequence[Mapping[str, Any]], backups: Collection[str], file: str) -> Iterator[Finding]:
    """Name the runs whose texts are neither in the log (`[audit] text = false`) nor in a backup that is still there.

    `backups` are the names of the files in the folder of backups.
    """
    runs = [*_applied_runs(events)]
    undone = {run.undoes for run in runs if run.undoes}
    for run in runs:
        if not run.lacks_text or run.run in undone:
            continue
        if not {run.backup, f"{run.backup}.gz"} & set(backups):
            backup = f"its backup {run.backup} is gone" if run.backup else "it kept no backup"
            message = (
                f"what the run {run.run} removed cannot be put back: its texts are not in the audit log, and {backup}"
            )
            help_ = f"Set `[audit] text = true` for the runs to come; {of_file('policy show', file)} prints what holds."
            yield Finding("warning", "backup-gone", message, help_)


def _applied_runs(events: Sequence[Mapping[str, Any]]) -> Iterator[_Run]:
    """Give each run that applied and removed something; only lines since its last `begin` count."""
    begin: Mapping[str, Any] = {}
    removals: list[Mapping[str, Any]] = []
    for event in events:
        kind = event.get("event")
        if kind == "begin":
            begin, removals = event, []
        elif kind in _REMOVALS:
            removals.append(event)
        elif kind == "end":
            if event.get("applied") is True and (removals or begin.get("undoes")):
                backup = str(event.get("backup") or begin.get("backup") or "").replace("\\", "/").rpartition("/")[2]
                lacks = any("raw" not in removal for removal in removals)
                yield _Run(str(event.get("run")), backup, lacks, str(begin.get("undoes") or ""))
            begin, removals = {}, []


def check_outcomes(outcomes: Sequence[Mapping[str, Any]], file: str) -> Iterator[Finding]:
    """Say of each command whether its last runs without a terminal failed, one after another to this day."""
    for failed in failures(outcomes):
        again = "prune --dry-run" if failed.command == "prune" else failed.command
        help_ = f"{of_file(again, file)} says why at a terminal."
        if failed.is_mended:
            what = f"{failed.words}; something was mended since"
            yield Finding("note", "failed-runs", what, f"The next scheduled run shows whether it is over. {help_}")
        else:
            yield Finding("warning", "failed-runs", failed.words, help_)
