"""`memttl serve`: the memory server with a lifecycle, for MCP clients."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memttl.commands.options import File, PolicyPath, words
from memttl.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from memttl.settings import Settings


def serve(file: File = None, policy: PolicyPath = None) -> int:
    """Serve the memory file to an MCP client, without what has expired."""
    from memttl.memory_files import memory_files, refuse_doubt
    from memttl.settings import Given, resolve

    given = Given(words(file), policy)
    names = memory_files(given, os.environ, doubt=refuse_doubt)
    if len(names) != 1:
        raise UsageError(f"{len(names)} memory files are meant, and one can be served; nothing was done.")

    def settings() -> Settings:
        return resolve(names[0], given, os.environ, datetime.now(UTC))

    _server()(settings)
    return ExitCode.OK


def _server() -> Callable[[Callable[[], Settings]], None]:
    try:
        from memttl.server.serve import serve as run
    except ModuleNotFoundError as e:
        if e.name is None or e.name.startswith("memttl"):
            raise
        raise UsageError(
            f"`memttl serve` needs the extra `mcp`, which is not installed ({e.name} is missing); nothing was done.",
            hint="Install memttl with it, such as by `pip install '.[mcp]'` in its source folder.",
        ) from None
    return run
