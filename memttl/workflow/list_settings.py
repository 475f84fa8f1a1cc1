"""The use case behind `set --list`: settled read, then what the user set. Writes nothing, takes no lock."""

from __future__ import annotations

from memttl.core.changes import Before
from memttl.core.selection import Choice
from memttl.core.settings_list import SettingsList, list_settings
from memttl.core.settings_outcome import ListOutcome
from memttl.files.knowledge import knowledge_of
from memttl.files.leftovers import unfinished
from memttl.files.snapshot import read_with_damage
from memttl.files.state import state_of
from memttl.settings import Settings


def listed_settings(settings: Settings, choice: Choice) -> ListOutcome:
    """Give what is set in one memory file, of the observations that `choice` names.

    Raises:
        UnknownEntity: no such entity is there, and none is set.
        LedgerLost: the ledger is lost, and with it what was set.
        Foreign: it is no file of the memory server.
    """
    state = state_of(settings.memory, settings.state_elsewhere)
    with knowledge_of(state, must_know=True) as knowledge:
        before = Before(knowledge.settings, knowledge.entity_pins, knowledge.known_of)
        warnings = (*settings.warnings, *unfinished(state), *knowledge.warnings)

    def look(data: bytes) -> SettingsList:
        return list_settings(data, choice, before, settings.policy, progress=settings.progress)

    found = read_with_damage(settings.memory, look, is_damaged=lambda found: found.is_damaged)
    return ListOutcome(settings.named, settings.now_here, found, (*warnings, *found.warnings))
