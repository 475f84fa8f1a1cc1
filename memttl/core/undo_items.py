"""What an undo moves: a run's lines in the audit log, with raw JSON from there or from its backup. Pure.

`inverse.py` puts back what a run removed and takes out what it restored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from memttl.core.cut import raw_elements
from memttl.core.digests import raw_digest
from memttl.core.memory import parse_line, read_lines, value_of
from memttl.core.past_runs import Event, PastRun
from memttl.core.places import element_key, line_key, name_of

LineWord = Literal["entity", "relation", "line"]


class Item(NamedTuple):
    """One observation that a run removed or restored, as it stood. `line` and `index` are those of that time.

    `raw` is "" where it is only to be taken out and its text was not kept: `key` tells which it is.

    `pinned`: the run pinned it by the way. `group` holds the indexes, by key, of what the run moved at the same place.
    """

    entity: str
    entity_type: str | None
    raw: str
    key: str
    place: Mapping[str, Any]
    line: int
    index: int  # type: ignore[assignment]  # tuple.index is of no use here
    tier: str | None
    pinned: bool
    group: Mapping[str, int] = {}  # never changed


class LineItem(NamedTuple):
    """One whole line that a run removed or restored. `entity` is the name that it belongs to, "" for none."""

    kind: LineWord
    entity: str
    raw: bytes
    key: str
    place: Mapping[str, Any]
    line: int


class Moves(NamedTuple):
    """Observations and lines of one direction, in the order of the file."""

    observations: tuple[Item, ...] = ()
    lines: tuple[LineItem, ...] = ()

    @property
    def are_none(self) -> bool:
        """True where nothing is to be moved."""
        return not (self.observations or self.lines)


class Lost(NamedTuple):
    """One thing that cannot be moved, since neither the log nor a backup holds it as it was."""

    entity: str
    why: str


class UndoItems(NamedTuple):
    """What goes back into the file, what is taken out of it, and what cannot be."""

    back: Moves
    out: Moves
    lost: tuple[Lost, ...]


def undo_items(run: PastRun, backup: Callable[[], bytes | None], is_meant: Callable[[Item], bool]) -> UndoItems:
    """Give what an undo of `run` moves. `backup` gives the bytes before the run, and is asked only where texts lack.

    `is_meant` narrows it to some observations, and to whole lines of their entities.
    """
    reader = _Reader(backup)
    back, out = reader.moves(run.removed), reader.moves(run.restored)
    lost = tuple(reader.lost)
    return UndoItems(_narrowed(back, is_meant), _narrowed(out, is_meant), lost)


def _narrowed(moves: Moves, is_meant: Callable[[Item], bool]) -> Moves:
    observations = tuple(item for item in moves.observations if is_meant(item))
    if len(observations) == len(moves.observations):
        return moves
    names = {item.entity for item in observations}
    return Moves(observations, tuple(line for line in moves.lines if line.entity in names))


class _Reader:
    """Reads events; what lacks its text is looked up in the backup."""

    def __init__(self, backup: Callable[[], bytes | None]) -> None:
        self._backup = backup
        self._held: dict[tuple[str, str], str] | None = None
        self.lost: list[Lost] = []

    def moves(self, events: Sequence[Event]) -> Moves:
        observations, lines = [], []
        for event in events:
            raw = "" if _is_known_by_key(event) else self._raw(event)
            if raw is None:
                continue
            if event.get("event") in ("removed", "restored"):
                observations.append(_item(event, raw))
            else:
                lines.append(_line_item(event, raw))
        return Moves(tuple(_in_groups(observations)), tuple(lines))

    def _raw(self, event: Event) -> str | None:
        """Give the raw JSON of an event, proven by its digest; None, noted as lost, where there is none."""
        digest = event.get("raw_digest")
        for raw in (event.get("raw"), None):
            text = raw if isinstance(raw, str) else self._from_backup(event)
            if text is not None and "\n" not in text and raw_digest(text) == digest and _is_readable(event, text):
                return text
        why = "its text was forgotten or not kept, and no backup holds it"
        self.lost.append(Lost(str(event.get("entity") or ""), why))
        return None

    def _from_backup(self, event: Event) -> str | None:
        """Give the raw JSON that an event is about: by its digest, since a forget may have moved what stood behind."""
        if str(event.get("event")).startswith("restored"):
            return None
        if self._held is None:
            self._held = _held_in(self._backup() or b"")
        entity = str(event.get("entity")) if event.get("event") == "removed" else ""
        return self._held.get((entity, str(event.get("raw_digest"))))


def _in_groups(items: Sequence[Item]) -> list[Item]:
    """Note with each item what the run moved between the same neighbours."""
    groups: dict[tuple[object, ...], dict[str, int]] = {}
    places = [(item.entity, item.line, item.place.get("slot")) for item in items]
    for item, place in zip(items, places, strict=True):
        groups.setdefault(place, {}).setdefault(item.key, item.index)
    return [item._replace(group=groups[place]) for item, place in zip(items, places, strict=True)]


def _held_in(data: bytes) -> dict[tuple[str, str], str]:
    """Give what a backup holds: each observation by entity and digest of its JSON, each line by "" and its digest."""
    held: dict[tuple[str, str], str] = {}
    for line in read_lines(data):
        text = line.raw.decode("utf-8", "surrogateescape")
        held["", raw_digest(text)] = text
        name = name_of(line)
        if name is not None:
            held.update(((name, raw_digest(raw)), raw) for raw in raw_elements(line.raw))
    return held


def _is_known_by_key(event: Event) -> bool:
    """Say whether it is something to take out, which need not be read to be found."""
    is_named = isinstance(event.get("entity"), str) or event.get("event") != "restored"
    return str(event.get("event")).startswith("restored") and isinstance(event.get("key"), str) and is_named


def _is_readable(event: Event, text: str) -> bool:
    """Say whether what a log line holds can be what it says: somebody may have edited it."""
    kind = event.get("event")
    if kind in ("removed", "restored"):
        try:
            value_of(text)
        except (ValueError, RecursionError):
            return False
        return isinstance(event.get("entity"), str)
    return str(kind).endswith("_line") or parse_line(_bytes(text), 1).kind == str(kind).rpartition("_")[2]


def _item(event: Event, raw: str) -> Item:
    kind, tier = event.get("entity_type"), event.get("tier")
    return Item(
        entity=str(event["entity"]),
        entity_type=kind if isinstance(kind, str) else None,
        raw=raw,
        key=element_key(raw) if raw else str(event["key"]),
        place=_place(event),
        line=_number(event.get("line")),
        index=_number(event.get("index")),
        tier=tier if isinstance(tier, str) else None,
        pinned=isinstance(event.get("settings"), dict),
    )


def _line_item(event: Event, text: str) -> LineItem:
    kind, raw = str(event.get("event")).rpartition("_")[2], _bytes(text)
    word: LineWord = "entity" if kind == "entity" else "relation" if kind == "relation" else "line"
    key = line_key(parse_line(raw, 1)) if text else str(event["key"])
    return LineItem(word, str(event.get("entity") or ""), raw, key, _place(event), _number(event.get("line")))


def _place(event: Event) -> Mapping[str, Any]:
    place = event.get("place")
    return place if isinstance(place, dict) else {"slot": _number(event.get("index"))}


def _number(value: object) -> int:
    return value if isinstance(value, int) else -1


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
