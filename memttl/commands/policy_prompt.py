"""`memttl policy prompt`: the policy in words for an assistant, printed, or kept in its instruction file.

It does not ask: the option names the file, only the block between the markers changes, and `--remove` takes it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from memttl.commands.in_force import named_files, policy_in_force, protected
from memttl.commands.options import Color, DryRun, File, Json, Now, Output, PolicyPath, Quiet, Verbose, warn, words
from memttl.commands.printing import put, say
from memttl.errors import ExitCode, UsageError
from memttl.report.text import fold, visible

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from pathlib import Path

    from memttl.core.marked_block import BlockChange
    from memttl.core.policy_prompt import Told
    from memttl.settings import Given

_WHERE = (
    "Claude Code: `memttl policy prompt --append CLAUDE.md`. Claude Desktop: paste it into a project's instructions, "
    "or for all chats into the personal preferences in its settings."
)
Append = Annotated[
    str | None, typer.Option("--append", metavar="FILE", help="Keep it in this file, between markers, once.")
]
Remove = Annotated[str | None, typer.Option("--remove", metavar="FILE", help="Take it out of this file.")]


def prompt(
    append: Append = None,
    remove: Remove = None,
    dry_run: DryRun = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Tell an assistant how to write what this policy understands."""
    from memttl.report.policy_prompt import change_lines, change_words, prompt_document
    from memttl.settings import Given

    output, given = Output(json, quiet, verbose, color), Given(words(file), policy, now)
    _check(append, remove, dry_run=dry_run)
    named = named_files(given, output)
    told = None if remove is not None else _told(given, named, output)  # taking it out needs no policy
    change = _change(append, remove, told, protected(given, named))
    if change and not dry_run:
        from memttl.files.instructions import make_change

        make_change(change)
    if json:
        from memttl.report.documents import to_text

        put(to_text(prompt_document(told, change, dry_run=dry_run)))
    elif change is None:
        put(told.prompt.text if told else "")  # a document that was asked for: --quiet does not take it away
        if output.is_terminal and not quiet:
            say("\n" + "\n".join(fold(_WHERE, output.width)))
    elif not quiet:
        put(change_lines(change) if dry_run else "")
        say(change_words(change, dry_run=dry_run))
    return ExitCode.OK


def _check(append: str | None, remove: str | None, *, dry_run: bool) -> None:
    if append is not None and remove is not None:
        raise UsageError("--append and --remove ask for two things; nothing was done.", hint="Give one of them.")
    if dry_run and append is None and remove is None:
        raise UsageError(
            "--dry-run has nothing to show: the prompt is only printed.",
            hint="Give --append FILE or --remove FILE with it.",
        )


def _told(given: Given, named: Sequence[str], output: Output) -> Told:
    from memttl.core.policy_prompt import Told, make_prompt

    found = policy_in_force(given, named)
    if output.verbose:
        say(f"policy {visible(found.where)}")
    warn(found.warnings, output)
    return Told(found, make_prompt(found))


def _change(
    append: str | None, remove: str | None, told: Told | None, own: tuple[list[Path], list[Path]]
) -> BlockChange | None:
    from memttl.files.instructions import plan_append, plan_removal

    if append is not None and told is not None:
        return plan_append(append, told.prompt.text, *own)
    return plan_removal(remove, *own) if remove is not None else None
