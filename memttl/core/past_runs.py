"""The audit log's events into runs: what each did, whether it was applied, and whether it is undone. Pure.

`undo`, `backups` and `log` ask it. Lines of a run count only between its last `begin` and an `end` that applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from memttl.core.near import near
from memttl.errors import RunThinned, UnknownRun

Event = Mapping[str, Any]


class PastRun(NamedTuple):
    """One run that wrote the memory file, or tried to. `time` is that of its `begin`, as it stands in the log.

    `events` are its lines between `begin` and `end`; `applied` is None for one that has not ended. `undone_by` is the
    applied run that undid all of it and stands, "" where none did; `partly_undone_by` are those that undid a part, or
    were undone in part themselves, and is empty beside `undone_by`. `is_thinned`: nothing but a summary is left.
    """

    run: str
    command: str
    time: str
    applied: bool | None
    begin: Event
    events: Sequence[Event]
    end: Event
    undone_by: str = ""
    is_thinned: bool = False
    partly_undone_by: tuple[str, ...] = ()

    @property
    def removed(self) -> list[Event]:
        """What it took out of the memory file; nothing for a run that was not applied."""
        return self._named("removed")

    @property
    def restored(self) -> list[Event]:
        """What it put into the memory file."""
        return self._named("restored")

    def _named(self, word: str) -> list[Event]:
        kinds = (word, *(f"{word}_{kind}" for kind in ("entity", "relation", "line")))
        return [e for e in self.events if e.get("event") in kinds] if self.applied else []


def runs_of(events: Iterable[Event]) -> list[PastRun]:
    """Give the runs of a log, in the order in which they began."""
    found: dict[str, PastRun] = {}
    lines: dict[str, list[Event]] = {}
    for event in events:
        name, kind = event.get("run"), event.get("event")
        if not isinstance(name, str):
            continue
        run = found.get(name)
        if kind == "summary":
            found[name] = _run_of(event, applied=event.get("applied") is True, is_thinned=True)
        elif kind == "begin" and not (event.get("again") is True or (run and run.applied)):
            lines[name] = []  # a further try supersedes the one before
            found[name] = _run_of(event, lines=lines[name])
        elif run is not None and run.applied is None:  # what comes after the end says nothing new
            if kind == "end":
                found[name] = run._replace(applied=event.get("applied") is True, end=event)
            else:
                lines[name].append(event)
    return _with_undone(list(found.values()))


def _run_of(
    event: Event, *, lines: Sequence[Event] = (), applied: bool | None = None, is_thinned: bool = False
) -> PastRun:
    name, command, time = (str(event.get(key, "")) for key in ("run", "command", "time"))
    return PastRun(name, command, time, applied, event, lines, {}, is_thinned=is_thinned)


def _with_undone(runs: Sequence[PastRun]) -> list[PastRun]:
    """Note which runs are undone, newest first: an undo that is undone itself has undone nothing."""
    undone: dict[str, str] = {}
    partly: dict[str, list[str]] = {}
    out = []
    for run in reversed(runs):
        by, parts = undone.get(run.run, ""), partly.get(run.run, [])
        target = run.begin.get("undoes")
        if run.applied and isinstance(target, str) and not by:
            if parts or run.begin.get("partial") is True:
                partly.setdefault(target, []).append(run.run)
            else:
                undone.setdefault(target, run.run)
        out.append(run._replace(undone_by=by, partly_undone_by=() if by else tuple(parts[::-1])))
    return out[::-1]


def run_named(runs: Sequence[PastRun], name: str) -> PastRun:
    """Give the run of this name, or the only one whose name begins so.

    Raises:
        UnknownRun: there is none, or more than one.
    """
    whole = named_run([run.run for run in runs], name)
    return next(run for run in runs if run.run == whole)


def named_run(names: Sequence[str], name: str) -> str:
    """Give the one of these names that is meant; raises as `run_named`."""
    exact = [whole for whole in names if whole == name]
    found = exact[:1] or list(dict.fromkeys(whole for whole in names if name and whole.startswith(name)))
    if len(found) == 1:
        return found[0]
    if found:
        raise UnknownRun(f"{name!r} could be {len(found)} runs: {', '.join(found[:5])}; nothing was done.")
    raise UnknownRun(f"The audit log knows no run {name!r}{near(name, names)}; nothing was done.")


def refuse_thinned(run: PastRun, *, backup: str | None = None) -> None:
    """Refuse to undo a run of which the log has kept a summary only; `backup` is one of that time, if there is one.

    Raises:
        RunThinned: it was thinned; the message says since when.
    """
    if not run.is_thinned:
        return
    since = str(run.begin.get("thinned", ""))[:10]
    when = f" on {since}" if since else ""
    instead = f"The backup {backup} holds the whole file of before that run." if backup else RunThinned.hint
    raise RunThinned(
        f"The run {run.run} was thinned{when} ([audit] max_age): its texts are gone; nothing was done.", hint=instead
    )
