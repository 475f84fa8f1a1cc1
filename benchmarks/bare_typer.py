"""The bare program that start-up is measured against: the commands and options of memttl, and nothing behind them.

A test holds its options equal to those of the real commands.
"""

from __future__ import annotations

from typing import Annotated

import typer

File = Annotated[list[str] | None, typer.Option("--file", "-f", metavar="PATH", help="h")]
PolicyPath = Annotated[str | None, typer.Option("--policy", metavar="PATH", help="h")]
Now = Annotated[str | None, typer.Option("--now", metavar="WHEN", help="h")]
Json = Annotated[bool, typer.Option("--json", help="h")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="h")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="h")]
Color = Annotated[bool | None, typer.Option("--color/--no-color", help="h")]

app = typer.Typer(help="h", rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
log_app = typer.Typer(help="h", rich_markup_mode=None)
app.add_typer(log_app, name="log")
backups_app = typer.Typer(help="h", rich_markup_mode=None)
app.add_typer(backups_app, name="backups")
policy_app = typer.Typer(help="h", rich_markup_mode=None)
app.add_typer(policy_app, name="policy")


@app.callback(invoke_without_command=True)
def _main(
    *,
    version: Annotated[bool, typer.Option("--version", help="h")] = False,
    install_completion: Annotated[str | None, typer.Option("--install-completion", metavar="[SHELL]", help="h")] = None,
    show_completion: Annotated[str | None, typer.Option("--show-completion", metavar="[SHELL]", help="h")] = None,
) -> None:
    pass


@app.command()
def init(
    output_path: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="h")] = None,
    user: Annotated[bool, typer.Option("--user", help="h")] = False,
    timezone: Annotated[str | None, typer.Option("--timezone", metavar="NAME", help="h")] = None,
    rules: Annotated[bool | None, typer.Option("--rules/--no-rules", help="h")] = None,
    scan: Annotated[bool | None, typer.Option("--scan/--no-scan", help="h")] = None,
    backfill: Annotated[bool | None, typer.Option("--backfill/--no-backfill", help="h")] = None,
    schedule: Annotated[str | None, typer.Option("--schedule", metavar="KIND", help="h")] = None,
    replace_policy: Annotated[bool, typer.Option("--replace-policy", help="h")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="h")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@app.command()
def discover(
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@app.command()
def prune(
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="h")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="h")] = False,
    check: Annotated[bool, typer.Option("--check", help="h")] = False,
    force: Annotated[bool, typer.Option("--force", help="h")] = False,
    keep_malformed: Annotated[bool, typer.Option("--keep-malformed", help="h")] = False,
    entity: Annotated[list[str] | None, typer.Option("--entity", metavar="NAME", help="h")] = None,
    type_: Annotated[list[str] | None, typer.Option("--type", metavar="TYPE", help="h")] = None,
    tier: Annotated[list[str] | None, typer.Option("--tier", metavar="TIER", help="h")] = None,
    write_path: Annotated[str, typer.Option("--write-path", metavar="auto|exchange|replace", help="h")] = "auto",
    break_hard_links: Annotated[bool, typer.Option("--break-hard-links", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@app.command()
def move(
    new: Annotated[str, typer.Argument(metavar="NEW", help="h")],
    link: Annotated[bool | None, typer.Option("--link/--no-link", help="h")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="h")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@app.command()
def undo(
    run: Annotated[str | None, typer.Argument(help="h")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="h")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="h")] = False,
    no_pin: Annotated[bool, typer.Option("--no-pin", help="h")] = False,
    entity: Annotated[list[str] | None, typer.Option("--entity", metavar="NAME", help="h")] = None,
    tier: Annotated[list[str] | None, typer.Option("--tier", metavar="TIER", help="h")] = None,
    break_hard_links: Annotated[bool, typer.Option("--break-hard-links", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@app.command()
def report(
    within: Annotated[str | None, typer.Option("--within", metavar="DURATION", help="h")] = None,
    expire_before: Annotated[str | None, typer.Option("--expire-before", metavar="DATE", help="h")] = None,
    expired_only: Annotated[bool, typer.Option("--expired-only", help="h")] = False,
    undated: Annotated[bool, typer.Option("--undated", help="h")] = False,
    entity: Annotated[list[str] | None, typer.Option("--entity", metavar="NAME", help="h")] = None,
    type_: Annotated[list[str] | None, typer.Option("--type", metavar="TYPE", help="h")] = None,
    tier: Annotated[list[str] | None, typer.Option("--tier", metavar="TIER", help="h")] = None,
    source: Annotated[list[str] | None, typer.Option("--source", metavar="SOURCE", help="h")] = None,
    sort: Annotated[str, typer.Option("--sort", metavar="expiry|age|size|entity", help="h")] = "expiry",
    group_by: Annotated[str | None, typer.Option("--group-by", metavar="tier|type|entity|month", help="h")] = None,
    top: Annotated[int, typer.Option("--top", metavar="N", help="h")] = 10,
    check: Annotated[bool, typer.Option("--check", help="h")] = False,
    format_: Annotated[
        str | None, typer.Option("--format", metavar="table|json|ndjson|csv|markdown|html", help="h")
    ] = None,
    output_file: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="h")] = None,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@app.command()
def review(
    within: Annotated[str | None, typer.Option("--within", metavar="DURATION", help="h")] = None,
    expire_before: Annotated[str | None, typer.Option("--expire-before", metavar="DATE", help="h")] = None,
    entity: Annotated[list[str] | None, typer.Option("--entity", metavar="NAME", help="h")] = None,
    type_: Annotated[list[str] | None, typer.Option("--type", metavar="TYPE", help="h")] = None,
    tier: Annotated[list[str] | None, typer.Option("--tier", metavar="TIER", help="h")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@app.command()
def explain(
    entity: Annotated[str | None, typer.Argument(metavar="[ENTITY]", help="h")] = None,
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="h")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="h")] = False,
    pattern: Annotated[bool, typer.Option("--pattern", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@app.command()
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="h")],
    expired: Annotated[str, typer.Option("--expired", metavar="exclude|include|only", help="h")] = "exclude",
    expire_before: Annotated[str | None, typer.Option("--expire-before", metavar="DATE", help="h")] = None,
    tier: Annotated[list[str] | None, typer.Option("--tier", metavar="TIER", help="h")] = None,
    type_: Annotated[list[str] | None, typer.Option("--type", metavar="TYPE", help="h")] = None,
    verdicts: Annotated[bool, typer.Option("--verdicts", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@app.command()
def serve(
    file: Annotated[list[str] | None, typer.Option("--file", "-f", metavar="PATH", help="h")] = None,
    policy: Annotated[str | None, typer.Option("--policy", metavar="PATH", help="h")] = None,
    prune_every: Annotated[str | None, typer.Option("--prune-every", metavar="HOURS", help="h")] = None,
    log: Annotated[str | None, typer.Option("--log", metavar="FILE", help="h")] = None,
    print_config: Annotated[str | None, typer.Option("--print-config", metavar="CLIENT", help="h")] = None,
) -> None: ...


@app.command()
def schedule(
    kind: Annotated[str | None, typer.Argument(metavar="[systemd|cron|launchd|windows]", help="h")] = None,
    command: Annotated[str | None, typer.Argument(metavar="[prune|scan]", help="h")] = None,
    every: Annotated[str | None, typer.Option("--every", metavar="DURATION", help="h")] = None,
    install: Annotated[bool, typer.Option("--install", help="h")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="h")] = False,
    system: Annotated[bool, typer.Option("--system", help="h")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="h")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@app.command()
def scan(
    accept_vanished: Annotated[bool, typer.Option("--accept-vanished", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@app.command()
def backfill(
    more: Annotated[list[str] | None, typer.Argument(metavar="[FILE]...", help="h")] = None,
    git: Annotated[bool, typer.Option("--git", help="h")] = False,
    from_: Annotated[list[str] | None, typer.Option("--from", metavar="FILE", help="h")] = None,
    date: Annotated[str | None, typer.Option("--date", metavar="WHEN", help="h")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@app.command()
def doctor(
    check: Annotated[bool, typer.Option("--check", help="h")] = False,
    repair: Annotated[bool, typer.Option("--repair", help="h")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="h")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="h")] = False,
    break_hard_links: Annotated[bool, typer.Option("--break-hard-links", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@app.command("set")
def set_(
    entity: Annotated[str | None, typer.Argument(metavar="[ENTITY]", help="h")] = None,
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="h")] = None,
    ttl: Annotated[str | None, typer.Option("--ttl", metavar="DURATION", help="h")] = None,
    tier: Annotated[str | None, typer.Option("--tier", metavar="TIER", help="h")] = None,
    expires: Annotated[str | None, typer.Option("--expires", metavar="WHEN", help="h")] = None,
    review_by: Annotated[str | None, typer.Option("--review-by", metavar="WHEN", help="h")] = None,
    created: Annotated[str | None, typer.Option("--created", metavar="WHEN", help="h")] = None,
    clear: Annotated[bool, typer.Option("--clear", help="h")] = False,
    list_: Annotated[bool, typer.Option("--list", help="h")] = False,
    exact: Annotated[bool, typer.Option("--exact", help="h")] = False,
    pattern: Annotated[bool, typer.Option("--pattern", help="h")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="h")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@app.command()
def pin(
    entity: Annotated[str | None, typer.Argument(metavar="[ENTITY]", help="h")] = None,
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="h")] = None,
    whole: Annotated[list[str] | None, typer.Option("--entity", metavar="NAME", help="h")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="h")] = False,
    pattern: Annotated[bool, typer.Option("--pattern", help="h")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="h")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@app.command()
def unpin(
    entity: Annotated[str | None, typer.Argument(metavar="[ENTITY]", help="h")] = None,
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="h")] = None,
    whole: Annotated[list[str] | None, typer.Option("--entity", metavar="NAME", help="h")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="h")] = False,
    pattern: Annotated[bool, typer.Option("--pattern", help="h")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="h")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@app.command()
def renew(
    entity: Annotated[str | None, typer.Argument(metavar="[ENTITY]", help="h")] = None,
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="h")] = None,
    keep_for: Annotated[str | None, typer.Option("--for", metavar="DURATION", help="h")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="h")] = False,
    pattern: Annotated[bool, typer.Option("--pattern", help="h")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="h")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@app.command()
def forget(
    entity: Annotated[str | None, typer.Argument(metavar="[ENTITY]", help="h")] = None,
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="h")] = None,
    text_of_all: Annotated[str | None, typer.Option("--text", metavar="TEXT", help="h")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="h")] = False,
    pattern: Annotated[bool, typer.Option("--pattern", help="h")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="h")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="h")] = False,
    for_good: Annotated[bool, typer.Option("--for-good", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@log_app.callback(invoke_without_command=True)
def log(
    run: Annotated[list[str] | None, typer.Option("--run", metavar="RUN", help="h")] = None,
    entity: Annotated[list[str] | None, typer.Option("--entity", metavar="NAME", help="h")] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="WHEN", help="h")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="WHEN", help="h")] = None,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@log_app.command()
def verify(
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@backups_app.command("list")
def backups_list(
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@backups_app.command("show")
def backups_show(
    backup: Annotated[str, typer.Argument(metavar="BACKUP", help="h")],
    entity: Annotated[list[str] | None, typer.Option("--entity", metavar="NAME", help="h")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@backups_app.command("diff")
def backups_diff(
    backup: Annotated[str, typer.Argument(metavar="BACKUP", help="h")],
    other: Annotated[str | None, typer.Argument(metavar="[OTHER]", help="h")] = None,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@backups_app.command("restore")
def backups_restore(
    backup: Annotated[str, typer.Argument(metavar="BACKUP", help="h")],
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="h")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="h")] = False,
    break_hard_links: Annotated[bool, typer.Option("--break-hard-links", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@backups_app.command("prune")
def backups_prune(
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="h")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@policy_app.command()
def check(
    path: Annotated[str | None, typer.Argument(metavar="[FILE]", help="h")] = None,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@policy_app.command()
def show(
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@policy_app.command()
def schema(
    output_file: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="h")] = None,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@policy_app.command()
def prompt(
    append: Annotated[str | None, typer.Option("--append", metavar="FILE", help="h")] = None,
    remove: Annotated[str | None, typer.Option("--remove", metavar="FILE", help="h")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="h")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Do nothing."""


@app.command("help")
def help_(
    command: Annotated[list[str] | None, typer.Argument(metavar="[COMMAND]...", help="h")] = None,
) -> None:
    """Do nothing."""


if __name__ == "__main__":
    app()
