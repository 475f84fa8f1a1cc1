"""Words by which other programs call what memttl does, each with memttl's own commands for it, the likelier first.

`commands/refusals.py` asks where a command is unknown: by its letters alone, `clean` is nearest to `scan`.
"""

from __future__ import annotations

from collections.abc import Collection

_OURS = {
    "prune": "clean cleanup gc purge expire sweep trim vacuum tidy",
    "report list": "list ls show status stats stat info view print overview summary",
    "show": "cat",
    "explain": "why reason",
    "search": "find grep query filter",
    "doctor": "check fsck verify validate lint repair fix diagnose",
    "log": "history journal audit",
    "forget prune": "delete del rm remove erase shred wipe",
    "undo restore": "restore rollback revert recover",
    "init": "setup install start configure",
    "schedule": "cron crontab timer systemd launchd daemon",
    "discover": "where locate which",
    "move": "mv rename relocate",
    "diff": "compare",
}
_MEANT = {word: ours.split() for ours, words in _OURS.items() for word in words.split()}


def meant_by(word: str, names: Collection[str]) -> str:
    """Give the one of the commands `names` that other programs call `word`; "" where there is none."""
    return next((ours for ours in _MEANT.get(word.casefold(), ()) if ours in names), "")
