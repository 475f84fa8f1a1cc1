"""`memttl policy check`, `show` and `schema`: is it valid, what is in force, and what may stand in it.

`memttl policy prompt` has a module of its own.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from memttl.commands import policy_prompt
from memttl.commands.groups import Group
from memttl.commands.in_force import named_files, policy_in_force, protected
from memttl.commands.options import Color, File, Json, Now, Output, PolicyPath, Quiet, Verbose, warn, words
from memttl.commands.printing import put, say
from memttl.core.wording import plural
from memttl.errors import ExitCode, UsageError
from memttl.report.text import visible

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.core.policy import Policy
    from memttl.settings import Given

app = typer.Typer(
    help="Validate the policy, show what is in force, and tell editors and assistants of it.",
    rich_markup_mode=None,
    cls=Group,
)


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
    """Validate a policy and name all its problems at once."""
    from memttl.policies import POLICY_BESIDE, read_policy
    from memttl.settings import Given

    output = Output(json, quiet, verbose, color)
    if path is None:
        found = _in_force(Given(words(file), policy, now))
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
    """Show the policy in force, and where each value came from."""
    from memttl.core.policy_show import policy_toml
    from memttl.settings import Given

    output = Output(json, quiet, verbose, color)
    found = _in_force(Given(words(file), policy, now))
    _print(found, output, policy_toml(found))
    return ExitCode.OK


@app.command()
def schema(
    output_file: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write it to this file.")
    ] = None,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Print the JSON Schema of a policy, for editors."""
    from memttl.core.policy_schema import policy_schema
    from memttl.report.documents import to_text
    from memttl.report.policy_json import schema_document
    from memttl.settings import Given

    found = policy_schema()
    target = None if output_file in ("-", "/dev/stdout") else output_file
    if target is not None:
        _write_schema(target, to_text(found), Given(words(file), policy, now))
    if json or target is None:
        put(to_text(schema_document(found, target) if json else found))
    elif not quiet:
        say(f"Wrote {visible(target)}. In a policy beside it, the first line names it, with an empty line below:")
        say(f"#:schema ./{visible(os.path.basename(target))}")
    return ExitCode.OK


def _write_schema(target: str, text: str, given: Given) -> None:
    from memttl.files.output_file import check_target, write_output
    from memttl.files.schema_file import refuse_other_file

    if not target:
        raise UsageError("--output was given an empty path; nothing was done.", hint="Name a file.")
    check_target(target, *protected(given, named_files(given)))
    refuse_other_file(target)
    write_output(target, text, mode=0o666)


app.command()(policy_prompt.prompt)


def _in_force(given: Given) -> Policy:
    return policy_in_force(given, named_files(given))


def _print(policy: Policy, output: Output, text: str) -> None:
    if output.verbose:
        say(f"policy {visible(policy.where)}")
    warn(policy.warnings, output)
    if output.json:
        from memttl.report.documents import to_text
        from memttl.report.policy_json import policy_document

        put(to_text(policy_document(policy)))
    elif not output.quiet:
        put("\n".join(visible(line) for line in text.split("\n")))
