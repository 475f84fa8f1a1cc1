"""`memttl policy check` and `memttl policy show`: is it valid, and what is in force."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from memttl.commands.options import Color, File, Json, Now, Output, PolicyPath, Quiet, Verbose, tell, warn, words
from memttl.commands.printing import put
from memttl.core.wording import plural
from memttl.errors import ExitCode, NoMemoryFile, UsageError
from memttl.report.text import visible

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.core.policy import Policy

app = typer.Typer(help="Validate the policy, and show what is in force.", rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def _group(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        put(context.get_help() + "\n")


@app.command()
def check(
    path: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="The policy file; else the one in force.")
    ] = None,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Validate a policy and name all its problems at once. Example: memttl policy check memttl.toml"""
    from memttl.policies import POLICY_BESIDE, read_policy

    output = Output(json, quiet, verbose, color)
    if path is None:
        found = _in_force(file, policy, now)
    else:
        found = read_policy(path, beside=os.path.basename(path) == POLICY_BESIDE)
    rules = plural(len(found.rules), "rule")
    _print(found, output, f"{found.where}: valid ({plural(len(found.tiers), 'tier')}, {rules}).\n")
    return ExitCode.OK


@app.command()
def show(
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Show the policy in force, and where each value came from. Example: memttl policy show --file memory.jsonl"""
    from memttl.core.policy_show import policy_toml

    output = Output(json, quiet, verbose, color)
    found = _in_force(file, policy, now)
    _print(found, output, policy_toml(found))
    return ExitCode.OK


def _in_force(file: list[str] | None, policy: str | None, now: str | None) -> Policy:
    """The policy commands need no memory file; where one is named or used (the first), the policy beside it counts."""
    from memttl.policies import POLICY_BESIDE, find_policy
    from memttl.settings import Given, memory_files, read_now

    given = Given(words(file), policy, now)
    named = None
    try:
        named = memory_files(given, os.environ)[0]
    except (NoMemoryFile, UsageError):
        if file:
            raise
    found = find_policy(named, given.policy, os.environ)
    if now is not None:
        read_now(now, found)
    if named is None and os.path.lexists(POLICY_BESIDE) and found.where != POLICY_BESIDE:
        tell([f"no memory file is named, so the {POLICY_BESIDE} in this folder was not read; name it, or give --file"])
    return found


def _print(policy: Policy, output: Output, text: str) -> None:
    warn(policy.warnings, output)
    if output.json:
        from memttl.report.documents import to_text
        from memttl.report.policy_json import policy_document

        put(to_text(policy_document(policy)))
    elif not output.quiet:
        put("\n".join(visible(line) for line in text.split("\n")))
