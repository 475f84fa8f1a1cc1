"""What an undo moves: a run's lines in the audit log, with raw JSON from there or from its backup. Pure.

`inverse.py` puts back what a run removed and takes out what it restored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from memttl.core.cut import raw_elements
from memttl.core.digests import raw_digest
from memttl.core.memory import line_spans, parse_line
from memttl.core.past_runs import Event, PastRun
from memttl.core.places import element_key, line_key

LineWord = Literal["entity", "relation", "line"]


class Item(NamedTuple):
    """One observation that a run removed or restored, as it stood. `line` and `index` are those of that time.

    `raw` is "" where it is only to be taken out and its text was not kept: `key` tells which it is.

    `pinned`: the run pinned it by the way. `digest` is that of its text, where that was pinned.
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
        self._lines: dict[int, bytes] | None = None
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
        return Moves(tuple(observations), tuple(lines))

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
        if self._lines is None:
            data = self._backup() or b""
            self._lines = {number: data[start:end] for number, start, end, _ in line_spans(data)}
        line = self._lines.get(_number(event.get("line")))
        if line is None or str(event.get("event")).startswith("restored"):
            return None
        if event.get("event") != "removed":
            return line.decode("utf-8", "surrogateescape")
        index = _number(event.get("index"))
        found = raw_elements(line) if parse_line(line, 1).is_judged else []
        return found[index] if 0 <= index < len(found) else None


def _is_known_by_key(event: Event) -> bool:
    """Say whether it is something to take out, which need not be read to be found."""
    is_named = isinstance(event.get("entity"), str) or event.get("event") != "restored"
    return str(event.get("event")).startswith("restored") and isinstance(event.get("key"), str) and is_named


def _is_readable(event: Event, text: str) -> bool:
    """Say whether what a log line holds can be what it says: somebody may have edited it."""
    kind = event.get("event")
    if kind in ("removed", "restored"):
        try:
            json.loads(text)
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


def entities_of(items: Iterable[Item]) -> list[tuple[str, str | None]]:
    """Give (name, type) of each entity that items belong to, in order."""
    return list(dict.fromkeys((item.entity, item.entity_type) for item in items))
