"""A run of the past and today's bytes into the plan of its undo: what is put back, taken out and pinned. Pure.

`workflow/undo.py` shows it, and makes it anew under the lock on the bytes that it then replaces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from memttl.core.asked import asked_document
from memttl.core.changes import Key as SettingKey
from memttl.core.digests import text_digest
from memttl.core.evidence import text_of
from memttl.core.inverse import Inverse, Key, Moved, MovedLine, invert
from memttl.core.memory import parse_line, read_lines, value_of
from memttl.core.model import NOTHING_SET, UserSettings
from memttl.core.oddities import some
from memttl.core.past_runs import PastRun
from memttl.core.places import Standing, line_key, standing
from memttl.core.records import raw_fields
from memttl.core.undo_items import Lost, UndoItems
from memttl.core.undo_whole import whole_inverse
from memttl.core.wording import plural


class UndoPlan(NamedTuple):
    """What an undo of `run` makes of the bytes `before`.

    `settings` holds what is set from then on for each observation that is pinned, or no longer, by the way: by entity
    and digest of its text. `is_whole`: it puts back other things than observations and lines, too (types, spacing).
    """

    run: PastRun
    before: bytes
    inverse: Inverse
    settings: Mapping[SettingKey, UserSettings]
    lost: tuple[Lost, ...]
    warnings: tuple[str, ...]
    is_whole: bool = False

    @property
    def does_nothing(self) -> bool:
        """True where the file is already as an undo would leave it."""
        return self.inverse.data == self.before


def plan_undo(
    data: bytes,
    run: PastRun,
    items: UndoItems,
    asked: Mapping[SettingKey, UserSettings],
    *,
    pin: bool,
    approved: Counter[Key] | None = None,
) -> UndoPlan:
    """Plan the undo of `run` on today's bytes; `asked` is what is set by now, `approved` the most that may move."""
    return _plan(data, run, invert(data, items.back, items.out, approved), asked, items.lost, pin=pin)


def plan_whole(
    data: bytes, new: bytes, run: PastRun, asked: Mapping[SettingKey, UserSettings], *, pin: bool
) -> UndoPlan:
    """Give the plan by which `new` takes the place of today's bytes: the undo of a restore or a repair."""
    return _plan(data, run, whole_inverse(data, new), asked, (), pin=pin)._replace(is_whole=True)


def _plan(
    data: bytes,
    run: PastRun,
    inverse: Inverse,
    asked: Mapping[SettingKey, UserSettings],
    lost: tuple[Lost, ...],
    *,
    pin: bool,
) -> UndoPlan:
    settings = _pins(inverse.back, asked) if pin else {}
    settings |= _unpins(inverse.out, asked)
    return UndoPlan(run, data, inverse, settings, lost, _warnings(inverse))


def _pins(back: Iterable[Moved], asked: Mapping[SettingKey, UserSettings]) -> dict[SettingKey, UserSettings]:
    """Pin what is put back; what is pinned already stays so, by whoever did it."""
    keys = [key for moved in back if (key := _setting_key(moved)) is not None]
    befores = {key: asked.get(key, NOTHING_SET) for key in keys}
    return {
        key: before._replace(pinned=True, pinned_by_undo=True) for key, before in befores.items() if not before.pinned
    }


def _unpins(out: Iterable[Moved], asked: Mapping[SettingKey, UserSettings]) -> dict[SettingKey, UserSettings]:
    """Take the pin away that the undone run gave; one that the user has given since stays, and all else that is set."""
    keys = [key for moved in out if moved.item.pinned and (key := _setting_key(moved)) is not None]
    befores = {key: asked.get(key, NOTHING_SET) for key in keys}
    return {
        key: before._replace(pinned=False, pinned_by_undo=False)
        for key, before in befores.items()
        if before.pinned and before.pinned_by_undo
    }


def _setting_key(moved: Moved) -> SettingKey | None:
    text = text_of(value_of(moved.item.raw))
    return (moved.item.entity, text_digest(text)) if text is not None else None


def _warnings(inverse: Inverse) -> tuple[str, ...]:
    """Warn of relations that come back while an end of theirs is gone."""
    numbers = {moved.line for moved in inverse.lines_back if moved.kind == "relation"}
    if not numbers:
        return ()
    lines = list(read_lines(inverse.data))
    names = {line.record.get("name") for line in lines if line.kind == "entity" and line.record is not None}
    relations = [line.record for line in lines if line.number in numbers and line.record is not None]
    missing = [end for r in relations for end in (r.get("from"), r.get("to")) if end not in names]
    if not missing:
        return ()
    ends = some([repr(end) for end in dict.fromkeys(map(str, missing))])
    return (f"{plural(len(missing), 'end')} of relations that come back are gone from the file: {ends}",)


def damage_words(data: bytes) -> tuple[str, ...]:
    """Warn of lines that the memory server cannot read, beside which something is put back."""
    damaged = [line.number for line in read_lines(data) if line.kind == "malformed"]
    if not damaged:
        return ()
    lines = some([str(number) for number in damaged])
    return (
        f"the memory server cannot read this file: {plural(len(damaged), 'line')} damaged ({lines}), kept as they are; "
        "`memttl doctor --repair` mends them, and better before an undo, which cannot look into them",
    )


def undo_events(plan: UndoPlan, run: str, *, with_text: bool) -> list[dict[str, Any]]:
    """Give one event for each observation and whole line that the undo moves, for an undo of the undo."""
    done, name = plan.inverse, plan.run.run
    before = standing(plan.before, _indexes(done.out), {moved.line for moved in done.lines_out})
    after = standing(done.data, _indexes(done.back), {moved.line for moved in done.lines_back})
    out, back = f"it was put there by the run {name}, which is undone", f"put back: the run {name} is undone"
    return [
        *(_event("removed", m, before, plan, run, out, with_text=with_text) for m in done.out),
        *(_line_event("removed", m, before, run, out, with_text=with_text) for m in done.lines_out),
        *(_event("restored", m, after, plan, run, back, with_text=with_text) for m in done.back),
        *(_line_event("restored", m, after, run, back, with_text=with_text) for m in done.lines_back),
    ]


def _indexes(moved: Sequence[Moved]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for m in moved:
        found.setdefault(m.line, []).append(m.index)
    return found


def _event(
    word: str, moved: Moved, at: Standing, plan: UndoPlan, run: str, reason: str, *, with_text: bool
) -> dict[str, Any]:
    item, element, setting = moved.item, at.elements[moved.line, moved.index], _setting_key(moved)
    asked = plan.settings.get(setting) if setting is not None else None
    settings = {"digest": setting[1], "settings": asked_document(asked)} if setting and asked is not None else {}
    return {
        "event": word,
        "run": run,
        "entity": item.entity,
        "entity_type": item.entity_type,
        "line": moved.line,
        "index": moved.index,
        **raw_fields(element.raw, with_text=with_text),
        "key": item.key,
        "place": element.place,
        "tier": item.tier,
        "reason": reason,
        **settings,
    }


def _line_event(word: str, moved: MovedLine, at: Standing, run: str, reason: str, *, with_text: bool) -> dict[str, Any]:
    line = at.lines[moved.line]
    return {
        "event": f"{word}_{moved.kind}",
        "run": run,
        "entity": moved.entity,
        "line": moved.line,
        **raw_fields(line.raw.decode("utf-8", "surrogateescape"), with_text=with_text),
        "key": line_key(parse_line(line.raw, 1)),
        "place": line.place,
        "reason": reason,
    }
