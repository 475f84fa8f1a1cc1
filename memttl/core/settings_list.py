"""All that the user set, for `set --list`: of observations in the file, and of those that are gone. Pure."""

from __future__ import annotations

from typing import NamedTuple

from memttl.core.change_plan import is_meant
from memttl.core.changes import Before
from memttl.core.digests import text_digest
from memttl.core.entities import Entities, name_of, read_entities
from memttl.core.evidence import text_of
from memttl.core.known import EntityPins, Setting
from memttl.core.oddities import plan_warnings
from memttl.core.policy import Policy
from memttl.core.progress import Progress, no_progress
from memttl.core.selection import Choice, match_names


class Listed(NamedTuple):
    """What is set for one observation; `setting.text` is the file's where it is present, else the one kept, or None."""

    setting: Setting
    is_present: bool


class SettingsList(NamedTuple):
    """All settings and entity pins that were asked for; `is_damaged`: a line of the file cannot be read."""

    settings: tuple[Listed, ...]
    entity_pins: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    is_damaged: bool = False


def list_settings(
    data: bytes, choice: Choice, before: Before, policy: Policy, *, progress: Progress = no_progress
) -> SettingsList:
    """List what is set, of one entity (or glob) and text where `choice` names them.

    Raises:
        Foreign: it is no file of the memory server.
        UnknownEntity: neither the file nor any setting holds such an entity.
    """
    entities = read_entities(data, sound=False, progress=progress)
    settings, pins = before.settings, tuple(before.entity_pins)
    if choice.entity is not None:
        named = match_names(choice.entity, entities.names | {s.entity for s in settings} | set(pins))
        settings = [s for s in settings if s.entity in named]
        pins = tuple(p for p in pins if p in named or any(EntityPins([p]).pin_of(name) for name in named))
    texts = _texts(entities, {s.entity for s in settings})
    listed = [_listed(s, texts.get((s.entity, s.digest))) for s in settings]
    chosen = sorted((x for x in listed if is_meant(x.setting, choice)), key=_place)
    damaged = bool(entities.odd.malformed)
    return SettingsList(tuple(chosen), pins, plan_warnings(data, policy, entities.odd), damaged)


def _texts(entities: Entities, named: set[str]) -> dict[tuple[str, str], str]:
    """Give the texts of some entities by name and digest."""
    lines = [line for line in entities.lines if name_of(line) in named]
    found = [(name_of(line), text_of(o)) for line in lines if line.record for o in line.record["observations"]]
    return {(name, text_digest(text)): text for name, text in found if text is not None}


def _listed(setting: Setting, text: str | None) -> Listed:
    return Listed(setting if text is None else setting._replace(text=text), text is not None)


def _place(listed: Listed) -> tuple[str, bool, str, str]:
    setting = listed.setting
    return setting.entity, not listed.is_present, setting.text or "", setting.digest
