"""What a command does where nobody named the memory file, and the one that was found may not be the one that is meant.

`over_files.py` settles it, by what the command says of itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from memttl.commands.options import Output
from memttl.commands.printing import say
from memttl.report.text import visible

if TYPE_CHECKING:
    from memttl.setup.choice import Doubt

Changes = Literal["nothing", "asks", "unasked"]


def changes_of(*, dry_run: bool, yes: bool) -> Changes:
    """Say whether a run changes something: nothing, or what it asks about before, or what nobody is asked about."""
    return "nothing" if dry_run else "unasked" if yes else "asks"


def settle(doubt: Doubt, output: Output, changes: Changes) -> None:
    """Say what speaks against a file that nobody named; refuse it where nobody is asked before it is changed.

    Raises:
        UsageError: why.
    """
    if changes == "unasked":
        raise doubt.refusal()
    if changes == "nothing" and (output.quiet or output.json):
        return
    if changes == "asks" and (output.quiet or output.json):  # who answers must see the path
        say(f"memttl: the memory file is {visible(doubt.path)}")
    say(f"{'warning' if doubt.unread else 'memttl'}: {visible(doubt.why)}")
