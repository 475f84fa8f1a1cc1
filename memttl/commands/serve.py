"""`memttl serve`: the memory server with a lifecycle, for MCP clients."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from memttl.commands.options import File, PolicyPath, words
from memttl.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from memttl.settings import Settings


PrintConfig = Annotated[
    str | None,
    typer.Option("--print-config", metavar="CLIENT", help="Print the config of this client instead: claude, cursor …"),
]


def serve(file: File = None, policy: PolicyPath = None, print_config: PrintConfig = None) -> int:
    """Serve the memory file to an MCP client, without what has expired."""
    from memttl.memory_files import memory_files, only_one, refuse_doubt
    from memttl.settings import Given

    given = Given(words(file), policy)
    if print_config is not None:
        from memttl.commands.serve_config import print_config as print_piece

        print_piece(print_config, given)
        return ExitCode.OK
    name = only_one(memory_files(given, os.environ, doubt=refuse_doubt))

    from memttl.commands.serving_settings import ServingSettings

    _server()(ServingSettings(name, given, os.environ))
    return ExitCode.OK


def _server() -> Callable[[Callable[[], Settings]], None]:
    try:
        from memttl.server.serve import serve as run
    except ModuleNotFoundError as e:
        if e.name is None or e.name.startswith("memttl"):
            raise
        from memttl.setup.mcp_extra import extra_command

        raise UsageError(
            f"`memttl serve` needs the extra `mcp`, which is not installed ({e.name} is missing); nothing was done.",
            hint=f"Install it: {extra_command()}",
        ) from None
    return run
