"""`memttl help`: the help of a command, for hands that are used to git."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from memttl.commands.options import words
from memttl.commands.printing import put


def help_(
    context: typer.Context,
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[COMMAND]...", help="A command, and its subcommand.")
    ] = None,
) -> None:
    """Show the help of a command, as its own --help does."""
    at: Any = context.parent
    for word in words(command):
        if word not in getattr(at.command, "commands", {}):
            from memttl.commands.refusals import unknown_command

            raise unknown_command(at, [word])
        at = at.command.get_command(at, word).make_context(word, [], parent=at, resilient_parsing=True)
    put(at.get_help() + "\n")
