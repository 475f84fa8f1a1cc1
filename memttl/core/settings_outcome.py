"""What came of changing or listing settings, as values: the workflow makes them, `report/settings.py` renders them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple

from memttl.core.changes import Changes
from memttl.core.settings_list import SettingsList
from memttl.core.wish import Command

Changer = Command | Literal["serve"]  # who changes: a command, or a client of `memttl serve`


class ChangeOutcome(NamedTuple):
    """What one change came to. `file` is the path as named; `run` its name in the audit log, None unless recorded.

    `declined`: its question was answered no.
    """

    file: str
    now: datetime
    command: Changer
    changes: Changes
    dry_run: bool = False
    declined: bool = False
    run: str | None = None
    warnings: tuple[str, ...] = ()


class ListOutcome(NamedTuple):
    """What is set in one memory file; `file` is the path as named."""

    file: str
    now: datetime
    found: SettingsList
    warnings: tuple[str, ...] = ()
