"""The Typer app: registers the commands, and turns every error into a message and an exit code, in one place."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from memttl import __version__, trace
from memttl.commands import (
    about,
    backfill,
    backups,
    discover,
    doctor,
    explain,
    forget,
    help,
    init,
    log,
    move,
    policy,
    prune,
    report,
    review,
    scan,
    schedule,
    search,
    serve,
    settings,
    undo,
)
from memttl.commands.groups import Group
from memttl.commands.home import settle_home
from memttl.commands.options import say_error, wants_json
from memttl.commands.printing import put, say, settle_streams
from memttl.errors import (
    AS_IT_WAS,
    Bug,
    CannotPrint,
    Interrupted,
    MemttlError,
    NoMemoryFile,
    NoPermission,
    UsageError,
    of_system,
)

# the parent of all that Typer's parser says no with (an unknown option, a missing value); Typer exports its child only
_ParserError: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")

app = typer.Typer(
    help="The lifecycle tool for the knowledge graph that AI assistants keep through the MCP memory server.",
    rich_markup_mode=None,  # plain help: importing rich costs more than all the rest
    pretty_exceptions_enable=False,
    add_completion=False,  # memttl answers shells itself: names out of a memory file are not safe with Typer's scripts
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command()(init.init)
app.command()(discover.discover)
app.command()(prune.prune)
app.command()(report.report)
app.command()(review.review)
app.command()(explain.explain)
app.command()(search.search)
app.command()(scan.scan)
app.command()(backfill.backfill)
app.command()(schedule.schedule)
app.command()(serve.serve)
app.command()(doctor.doctor)
app.command("set")(settings.set_)
app.command()(settings.pin)
app.command()(settings.unpin)
app.command()(settings.renew)
app.command()(undo.undo)
app.add_typer(backups.app, name="backups")
app.add_typer(log.app, name="log")
app.command()(forget.forget)
app.command()(move.move)
app.add_typer(policy.app, name="policy")
app.command("help")(help.help_)


@app.callback(invoke_without_command=True)
def _main(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    install_completion: Annotated[
        str | None,
        typer.Option("--install-completion", metavar="[SHELL]", help="Let bash, zsh or fish complete command lines."),
    ] = None,
    show_completion: Annotated[
        str | None,
        typer.Option(
            "--show-completion", metavar="[SHELL]", help="Print the script for bash, zsh, fish or powershell."
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="With --version: print what a bug report needs.")
    ] = False,
) -> None:
    if version and verbose:
        about.about()
    elif version:
        put(f"memttl {__version__}\n")
    elif verbose:
        raise UsageError(
            "--verbose stands after the command's name; before it there is only --version.",
            hint="`memttl --version --verbose` prints what a bug report needs.",
        )
    elif install_completion is not None or show_completion is not None:
        from memttl.commands.completion_scripts import install, show

        install(install_completion) if install_completion is not None else show(show_completion or "")
    elif context.invoked_subcommand is None:
        from memttl.commands.examples import first_steps

        put(first_steps(set(context.command.commands)))  # type: ignore[attr-defined]


def run() -> int:
    """Run the command line of this process; give its exit code. No traceback for anything that a user can cause."""
    settle_streams()
    settle_home(os.environ)
    words = sys.argv[1:]
    if "_MEMTTL_COMPLETE" in os.environ:
        from memttl.commands.completing import complete  # here: a shell asks, and nobody else

        return complete(typer.main.get_command(app), os.environ, words)
    if words in (["--install-completion"], ["--show-completion"]):
        words = [*words, "auto"]
    if not os.environ.get("MEMTTL_LOG"):
        return _run(words)
    from memttl.commands import diagnostics  # here: few runs are logged

    try:
        log = diagnostics.begin(os.environ, words, _known_words())
    except MemttlError as e:
        return _fail(e)
    code = _run(words)
    log.end(code)
    return code


def _run(words: list[str]) -> int:
    try:
        return int(app(words, prog_name="memttl", standalone_mode=False) or 0)
    except MemttlError as e:
        return _fail(e)
    except _ParserError as e:
        return _fail(_refused(e, words))
    except (KeyboardInterrupt, typer.Abort):
        return _fail(Interrupted(f"Interrupted; {AS_IT_WAS}."))
    except PermissionError as e:
        return _fail(NoPermission(f"{e.filename}: {e.strerror}."), cause=e)
    except FileNotFoundError as e:
        return _fail(_not_there(e), cause=e)
    except OSError as e:  # a disk that fails, a network folder that went away
        return _fail(of_system(e), cause=e)
    except Exception as e:
        import traceback

        say(traceback.format_exc())
        return _fail(Bug(f"{type(e).__name__}, which memttl did not reckon with."), cause=e)


def _not_there(e: FileNotFoundError) -> MemttlError:
    """Give the error for what is not there; of a relative path it is the folder in which this runs."""
    try:
        os.getcwd()
    except FileNotFoundError:
        if e.filename is None:
            return NoMemoryFile(
                "A path is relative, and the folder in which this runs exists no longer; nothing was done.",
                hint="Change to a folder that exists, or give absolute paths.",
            )
    return of_system(e)


def _known_words() -> set[str]:
    """Give the names of all commands and their options."""
    found: set[str] = set()
    pending: list[tuple[str, Any]] = [("", typer.main.get_command(app))]
    while pending:
        name, command = pending.pop()
        found.update([name] if name else [])
        found.update(option for p in command.params for option in (*p.opts, *p.secondary_opts) if option[:1] == "-")
        pending += [(f"{name} {sub}".strip(), c) for sub, c in getattr(command, "commands", {}).items()]
    return found


def _fail(error: MemttlError, *, cause: BaseException | None = None) -> int:
    if trace.is_heard():
        from memttl.commands.diagnostics import note_error

        note_error(cause or error)
    if wants_json(sys.argv[1:]) and not isinstance(error, CannotPrint):
        from memttl.report.documents import error_document, to_text

        try:
            put(to_text(error_document(error)))
        except CannotPrint as e:
            say_error(e)
    else:
        say_error(error)
    return int(error.exit_code)


def _refused(error: Any, words: list[str]) -> UsageError:
    from memttl.commands.refusals import refused

    return refused(error, typer.main.get_command(app), words)
