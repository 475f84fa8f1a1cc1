"""The Typer app: registers the commands, and turns every error into a message and an exit code, in one place."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from memttl import __version__
from memttl.commands import explain, policy, prune
from memttl.commands.options import say_error
from memttl.errors import ExitCode, Interrupted, MemttlError, NoPermission, UsageError

# the parent of all that Typer's parser says no with (an unknown option, a missing value); Typer exports its child only
_ParserError: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")

app = typer.Typer(
    help="The lifecycle tool for the knowledge graph that AI assistants keep through the MCP memory server.",
    rich_markup_mode=None,  # plain help: importing rich costs more than all the rest
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command()(prune.prune)
app.command()(explain.explain)
app.add_typer(policy.app, name="policy")


@app.callback(invoke_without_command=True)
def _main(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        print(f"memttl {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


def run() -> int:
    """Run the command line of this process; give its exit code. No traceback for anything that a user can cause."""
    _soften_encoding()
    as_json = "--json" in sys.argv[1:]
    try:
        return int(app(standalone_mode=False) or 0)
    except MemttlError as e:
        return _fail(e, as_json=as_json)
    except _ParserError as e:
        return _fail(UsageError(e.format_message(), hint=_usage_hint(e)), as_json=as_json)
    except (KeyboardInterrupt, typer.Abort):
        return _fail(Interrupted("Interrupted; the memory file is as it was."), as_json=as_json)
    except BrokenPipeError:
        return _close_quietly()
    except PermissionError as e:
        return _fail(NoPermission(f"{e.filename}: {e.strerror}."), as_json=as_json)


def _soften_encoding() -> None:
    """A terminal that cannot show a character gets a replacement, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _fail(error: MemttlError, *, as_json: bool) -> int:
    try:
        if as_json:
            from memttl.report.documents import error_document, to_text

            sys.stdout.write(to_text(error_document(error)))
        else:
            say_error(error)
    except BrokenPipeError:
        return _close_quietly()
    return int(error.exit_code)


def _usage_hint(error: Any) -> str:
    context = getattr(error, "ctx", None)
    return f"Try `{context.command_path} --help`." if context is not None else "Try `memttl --help`."


def _close_quietly() -> int:
    """Whoever read our output went away (`| head -1`): end without a word, and let no flush at exit complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(ExitCode.OK)
