"""`memttl serve`: the memory server with a lifecycle, for MCP clients."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from memttl import trace
from memttl.commands.options import File, PolicyPath, tell, words
from memttl.commands.printing import say
from memttl.errors import ExitCode, UsageError
from memttl.report.text import visible

if TYPE_CHECKING:
    from memttl.server.serve import How
    from memttl.settings import Given, Settings

PruneEvery = Annotated[
    str | None,
    typer.Option("--prune-every", metavar="HOURS", help="Prune at the start and every so many hours, or 1d (off)."),
]
Log = Annotated[str | None, typer.Option("--log", metavar="FILE", help="Write to this file what would go to stderr.")]
PrintConfig = Annotated[
    str | None,
    typer.Option("--print-config", metavar="CLIENT", help="Print the config of this client instead: claude, cursor …"),
]


def serve(
    file: File = None,
    policy: PolicyPath = None,
    prune_every: PruneEvery = None,
    log: Log = None,
    print_config: PrintConfig = None,
) -> int:
    """Serve the memory file to an MCP client, without what has expired."""
    from memttl.memory_files import memory_files, only_one, refuse_doubt
    from memttl.settings import Given

    given = Given(words(file), policy)
    if print_config is not None:
        from memttl.commands.serve_config import print_config as print_piece

        print_piece(print_config, given, options=_options(prune_every, log))
        return ExitCode.OK
    run, how = _server()
    every_s = None if prune_every is None else _every(prune_every)
    name = only_one(memory_files(given, os.environ, doubt=refuse_doubt))
    _settle_logs(log, name, given)

    from memttl.commands.serving_settings import ServingSettings

    settings = ServingSettings(name, given, os.environ)
    first = settings()
    _say(f"{name}, policy {first.policy.where}")
    tell(first.warnings)
    run(settings, how(every_s, _say))
    return ExitCode.OK


def _options(prune_every: str | None, log: str | None) -> list[str]:
    """Give the words by which a client starts the same server; a client has another working folder."""
    from memttl.settings import absolute

    every = ["--prune-every", prune_every] if prune_every is not None and _every(prune_every) else []
    return [*every, *(["--log", absolute(log)] if log else [])]


def _settle_logs(log: str | None, name: str, given: Given) -> None:
    if log is not None:
        from memttl.commands.serve_log import log_to  # here: most clients take what goes to stderr

        log_to(log, name, given)
    if trace.is_heard():
        from memttl.commands.diagnostics import clear  # here: few runs are logged

        clear([name], given, os.environ)


def _every(text: str) -> float:
    from memttl.server.cleaning import every_of  # here: most servers leave it to a timer

    return every_of(text)


def _say(line: str) -> None:
    say(f"memttl serve: {visible(line)}")


def _server() -> tuple[Callable[[Callable[[], Settings], How], None], type[How]]:
    try:
        from memttl.server.serve import How
        from memttl.server.serve import serve as run
    except ModuleNotFoundError as e:
        if e.name is None or e.name.startswith("memttl"):
            raise
        from memttl.setup.mcp_extra import extra_command

        raise UsageError(
            f"`memttl serve` needs the extra `mcp`, which is not installed ({e.name} is missing); nothing was done.",
            hint=f"Install it: {extra_command()}",
        ) from None
    return run, How
