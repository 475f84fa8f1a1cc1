"""Settings changed and listed in this process or in a forked child, on a memory file of one entity."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from process import aged
from pruning import at, pruned, settings_of, state_folder
from support import entity

from memttl.core.model import UserSettings
from memttl.core.selection import Choice
from memttl.core.settings_outcome import ChangeOutcome
from memttl.core.wish import Wish
from memttl.workflow.change_settings import change_settings
from memttl.workflow.list_settings import listed_settings

OLD = "[session] 2026-01-05: old"
OBJECT = "[session] 2026-01-05: object"
NO_TEXT = "[audit]\ntext = false\n"
PIN = Wish("pin", Choice("A", "old"))
PINNED = UserSettings(pinned=True)


def one_entity(folder: Path) -> Path:
    """A memory file with two observations that have expired, one of them an object, and one that has not."""
    path = folder / "memory.jsonl"
    path.write_bytes(entity([OLD, "note", {"content": OBJECT, "by": 1}], name="A"))
    return aged(path)


def changed(path: Path, wish: Wish, *, policy: str = "", **how: Any) -> ChangeOutcome:
    """What came of a wish that needs no question, unless `ask` is given."""
    return change_settings(settings_of(path, policy=policy), wish, **how)


def listed(path: Path, *names: str) -> list[tuple[str, str | None, bool, UserSettings]]:
    """All settings: entity, text, whether it is in the file, and what is set."""
    found = listed_settings(settings_of(path), Choice(*names)).found.settings
    return [(x.setting.entity, x.setting.text, x.is_present, x.setting.asked) for x in found]


def asked(path: Path) -> dict[str | None, UserSettings]:
    """What is set for each text."""
    return {text: settings for _, text, _, settings in listed(path)}


def pins(path: Path) -> tuple[str, ...]:
    """The names and globs by which entities are pinned."""
    return listed_settings(settings_of(path), Choice()).found.entity_pins


def removed(path: Path, **how: Any) -> list[object]:
    """What a prune that is approved removes."""
    return [v.observation for v in pruned(path, **how).plan.removals]


def forked(act: Callable[[], object]) -> int:
    """Start `act` in a child, which ends with 1 where that raises; give its process id."""
    child = os.fork()
    if not child:
        try:
            act()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return child


def killed(path: Path, wish: Wish, step: str) -> None:
    """Change settings in a child that is killed at a step."""
    kill = at(step, lambda: os.kill(os.getpid(), signal.SIGKILL))
    _, status = os.waitpid(forked(lambda: changed(path, wish, step=kill)), 0)
    assert os.WIFSIGNALED(status), f"no step {step}"


def lose_ledger(path: Path) -> None:
    """Remove the ledger, as somebody might who tidies up."""
    (state_folder(path) / "ledger.db").unlink()
