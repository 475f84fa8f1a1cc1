"""The audit log's events into a timeline, oldest first: one entry a run, or a line that stands alone. Pure.

`workflow/log.py` makes it from what lies in the state folder, and `report/log.py` renders it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import NamedTuple

from memttl.core.dates import DateReader
from memttl.core.durations import BadDuration, Duration, before, end_of_day, parse_duration
from memttl.core.near import near
from memttl.core.past_runs import Event, PastRun, named_run, runs_of
from memttl.core.rules import compile_glob
from memttl.errors import UnknownEntity, UsageError

_ALONE = {"baseline": "scan", "backfill": "backfill", "accepted": "scan", "forgotten": "forget", "repaired": "repair"}
_ALONE |= {"moved": "move"}
_EDITED = "edited"  # no line of a log has such a key
_CHANGES = ("removed", "restored", "quarantined", "erased")


class Entry(NamedTuple):
    """What happened at one time. `changes` are its lines; `past` is the run that wrote the memory file, or tried to.

    `kind` is run, settings, or what a line that stands alone tells: baseline, backfill, accepted, forgotten, repaired
    or moved; that line is `told`, and so is what a forget that wrote the memory file tells besides. `time` is as it
    stands in the log.
    """

    kind: str
    time: str
    run: str | None
    command: str
    changes: tuple[Event, ...] = ()
    past: PastRun | None = None
    told: Event = {}  # noqa: RUF012  # never changed

    @property
    def is_edited(self) -> bool:
        """True where a line that is none of its changes is not as memttl wrote it."""
        ends: tuple[Event, ...] = (self.past.begin, self.past.end) if self.past is not None else ()
        return any(is_edited(event) for event in (*ends, self.told))

    @property
    def moment(self) -> datetime | None:
        """The same time as an instant; None where it cannot be read."""
        try:
            found = datetime.fromisoformat(self.time)
        except ValueError:
            return None
        return found if found.tzinfo else found.replace(tzinfo=UTC)


class Wanted(NamedTuple):
    """Which part of a timeline is asked for: runs, entities (names or globs), from `since` to before `until`."""

    runs: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None


def marked(event: Event) -> Event:
    """Give an event of a line that is not as memttl wrote it: without its text, and so that it can be told."""
    return {**{key: value for key, value in event.items() if key != "raw"}, _EDITED: True}


def is_edited(event: Event) -> bool:
    """Say whether an event is of a line that is not as memttl wrote it."""
    return event.get(_EDITED) is True


def timeline_of(events: Sequence[Event]) -> list[Entry]:
    """Give all that the log tells, in the order in which it began."""
    runs = {run.run: run for run in runs_of(events)}
    entries: dict[object, Entry] = {}
    settings: dict[object, list[Event]] = {}
    for place, event in enumerate(events):
        kind, run = str(event.get("event")), event.get("run")
        if kind == "forgotten" and run in runs:
            entry = entries.get(run) or _of_run(runs[str(run)])
            entries[run] = entry._replace(told=event)
        elif kind in _ALONE:
            entries[place] = Entry(kind, _time(event), _text(run), _ALONE[kind], told=event)
        elif isinstance(run, str) and run in runs:
            if run not in entries:
                entries[run] = _of_run(runs[run])
        elif isinstance(run, str) and kind in ("set", "erased") and event.get("of") != "arrived":
            if run not in settings:
                settings[run] = []
                entries[run] = Entry("settings", _time(event), run, str(event.get("command", "set")))
            settings[run].append(event)
            if not entries[run].time:
                entries[run] = entries[run]._replace(time=_time(event))
    return [e._replace(changes=tuple(settings[e.run])) if e.run in settings else e for e in entries.values()]


def _of_run(run: PastRun) -> Entry:
    changes = tuple(e for e in run.events if _is_change(str(e.get("event"))))
    return Entry("run", run.time, run.run, run.command or "run", changes, run)


def _is_change(kind: str) -> bool:
    return kind.startswith(_CHANGES) and not kind.endswith("_again")


def _time(event: Event) -> str:
    return str(event.get("time", ""))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def narrowed(entries: Sequence[Entry], wanted: Wanted) -> list[Entry]:
    """Give the part that is asked for; of an entry, only the lines of the entities that are.

    Raises:
        UnknownRun: no run, or more than one, has a name that begins so.
        UnknownEntity: the log tells of no such entity.
    """
    found = list(entries)
    if wanted.runs:
        named = [e.run for e in entries if e.run is not None]
        names = {named_run(named, run) for run in wanted.runs}
        found = [e for e in found if e.run in names]
    if wanted.entities:
        found = _of_entities(found, wanted.entities, _names_in(entries))
    return [e for e in found if _lies_between(e.moment, wanted.since, wanted.until)]


def _lies_between(moment: datetime | None, since: datetime | None, until: datetime | None) -> bool:
    if moment is None:  # rather shown than hidden
        return True
    return (since is None or moment >= since) and (until is None or moment < until)


def _names_in(entries: Iterable[Entry]) -> set[str]:
    names = (c.get(key) for e in entries for c in e.changes for key in ("entity", "entity_pin"))
    return {name for name in names if isinstance(name, str)}


def _of_entities(entries: Sequence[Entry], wanted: Sequence[str], names: set[str]) -> list[Entry]:
    chosen = set[str]()
    for text in wanted:
        glob = compile_glob(text)
        # an exact name goes first; a glob names the entity pins, too, that may hold it
        found = {text} if text in names else {name for name in names if glob.fullmatch(name)}
        found |= {name for name in names if _is_glob(name) and compile_glob(name).fullmatch(text)}
        if not found and not _is_glob(text):
            raise UnknownEntity(
                f"The audit log tells of no entity {text!r}{near(text, sorted(names))}; nothing was done.",
                hint="What a server deleted is not in the log: `memttl backups diff latest`. "
                "Names compare with case; a glob such as 'Sprint *' matches several.",
            )
        chosen |= found
    kept = ((e, tuple(c for c in e.changes if {c.get("entity"), c.get("entity_pin")} & chosen)) for e in entries)
    return [entry._replace(changes=changes) for entry, changes in kept if changes]


def _is_glob(text: str) -> bool:
    return "*" in text or "?" in text


def read_bound(option: str, text: str, now: datetime, reader: DateReader) -> datetime:
    """Read `--since` or `--until`: a day, an instant, or how long before now ("30d").

    A bare day counts whole: it begins with it, or ends with it.

    Raises:
        UsageError: it cannot be read.
    """
    when = reader.field(text)
    if isinstance(when, datetime):
        return when
    found = _edge(option, when, reader) if when else before(now, _duration(option, text), reader.zone)
    if found is None:
        raise UsageError(f"{option} {text!r} lies beyond the calendar; nothing was done.")
    return found


def _edge(option: str, day: date, reader: DateReader) -> datetime | None:
    if option == "--until":
        return end_of_day(day, reader.zone)
    try:
        return datetime(day.year, day.month, day.day, tzinfo=reader.zone).astimezone(UTC)
    except OverflowError:
        return None


def _duration(option: str, text: str) -> Duration:
    hint = "Write it as 2026-06-01, 2026-06-01T12:00:00Z, or 30d for so long before now."
    try:
        found = parse_duration(text)
    except BadDuration:
        raise UsageError(f"{option} {text!r} cannot be read; nothing was done.", hint=hint) from None
    if found.is_never:
        raise UsageError(f"{option} {text!r} names no time; nothing was done.", hint=hint)
    return found
