"""What other programs call a command is taken for ours that does it, and none of our own names is such a word."""

from __future__ import annotations

import pytest
import typer

from memttl.cli import app
from memttl.core.foreign_words import meant_by

OURS = tuple(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
MEANT = {
    "prune": "clean gc purge expire",
    "report": "list ls show status stats",
    "explain": "why",
    "search": "find grep",
    "doctor": "check fsck verify repair",
    "log": "history",
    "forget": "delete rm remove erase shred",
    "undo": "restore rollback revert",
    "init": "setup install",
    "schedule": "cron timer",
    "discover": "where locate",
    "move": "mv",
}


@pytest.mark.parametrize(("ours", "words"), MEANT.items(), ids=MEANT)
def test_words_of_other_programs_are_taken_for_ours(ours: str, words: str) -> None:
    assert {meant_by(word, OURS) for word in words.split()} == {ours}


def test_case_does_not_matter() -> None:
    assert meant_by("LS", OURS) == "report"


def test_only_what_the_command_knows_is_meant() -> None:
    assert meant_by("rm", ("list", "show")) == ""
    assert meant_by("rm", ("list", "prune")) == "prune"
    assert meant_by("prnue", OURS) == ""
