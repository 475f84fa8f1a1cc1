"""`memttl serve`: the memory server with a lifecycle, for MCP clients."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from memttl import trace
from memttl.commands.options import PolicyPath, tell, words
from memttl.commands.printing import can_ask, say
from memttl.errors import BadPolicy, ExitCode, UsageError
from memttl.report.text import visible

if TYPE_CHECKING:
    from memttl.server.serve import How
    from memttl.settings import Given, Settings

ServedFile = Annotated[
    list[str] | None,
    typer.Option("--file", "-f", metavar="PATH", help="The memory file to serve, one; it need not be there yet."),
]
PruneEvery = Annotated[
    str | None,
    typer.Option(
        "--prune-every", metavar="HOURS", help="Prune at the start, then again after so many hours (default: never)."
    ),
]
Log = Annotated[str | None, typer.Option("--log", metavar="FILE", help="Write to this file what would go to stderr.")]
PrintConfig = Annotated[
    str | None,
    typer.Option("--print-config", metavar="CLIENT", help="Print the config of this client instead: claude, cursor …"),
]


def serve(
    file: ServedFile = None,
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
    _refuse_surroundings(os.environ)
    run, how = _server()
    every_s = None if prune_every is None else _every(prune_every)
    name = only_one(memory_files(given, os.environ, doubt=refuse_doubt))
    _settle_logs(log, name, given)

    from memttl.commands.serving_settings import ServingSettings

    settings = ServingSettings(name, given, os.environ)
    first = settings()
    _say(f"{name}, policy {first.policy.where}")
    tell(first.warnings)
    tell(_in_the_way(name))
    tell(_of_archive(first))
    if can_ask():
        _say("this speaks with an MCP client, which is to start it: `memttl serve --print-config CLIENT` shows how")
    run(settings, how(every_s, _say))
    return ExitCode.OK


def _refuse_surroundings(environ: Mapping[str, str]) -> None:
    """Refuse to start where no client could be served, or not by the clock."""
    if sys.stdin is None or sys.stdout is None:  # as Python has it where the descriptor is closed
        raise UsageError(
            "`memttl serve` speaks over standard input and output, and one of them is closed; nothing was done.",
            hint="An MCP client starts it: `memttl serve --print-config CLIENT` prints what to tell the client.",
        )
    if environ.get("MEMTTL_NOW"):
        raise UsageError(
            "MEMTTL_NOW is set, and a server goes by the clock: with a fixed instant it would hide what has not "
            "expired, and give wrong births to what arrives; nothing was done.",
            hint="Take it out of the environment in which the client starts `memttl serve`.",
        )


def _in_the_way(name: str) -> list[str]:
    """Say what keeps this file from being read and written; one that is not there yet is no such thing."""
    if os.path.isfile(name):
        return []
    from memttl.setup.discover import this_machine  # here: most servers find their file
    from memttl.setup.serve_place import words_in_the_way

    return list(words_in_the_way(name, this_machine(os.environ)))


def _of_archive(settings: Settings) -> list[str]:
    """Say of an archive that is the memory file itself what a prune would refuse with; serving needs none."""
    if settings.archive is None:
        return []
    from memttl.files.archive_file import refuse_itself  # here: most policies name none
    from memttl.files.state import state_of

    try:
        refuse_itself(settings.archive, state_of(settings.memory, settings.state_elsewhere), settings.policy)
    except BadPolicy as e:
        return [f"{problem}; nothing is pruned until {e.where} is corrected" for problem in e.problems]
    return []


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
            "`memttl serve` needs the extra `mcp`, which is not installed; nothing was done.",
            hint=f"Install it: {extra_command()}",
        ) from None
    return run, How
