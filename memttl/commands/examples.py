"""Examples of every command, and the first three commands of somebody new: data, and how they stand in a help text.

`commands/groups.py` puts them under each `--help`, `docs/make_reference.py` into the reference and the man page. It is
imported when help is asked for, not before. A row may wait for a command that is not there.
"""

from __future__ import annotations

from typing import Any

# command ("" is memttl itself) -> (what to type, what that does)
EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "": (
        ("memttl report --file memory.jsonl", "What is in a memory file, and what of it is stale."),
        ("memttl prune --dry-run", "What would go, and why; nothing is written."),
    ),
    "help": (("memttl help backups restore", "The same as `memttl backups restore --help`."),),
    "prune": (
        ("memttl prune --dry-run", "Show what would go; write nothing at all."),
        ("memttl prune --tier session", "Remove what has expired of one tier, after a question."),
        ("memttl prune --yes --quiet --file memory.jsonl", "For a timer: no question, and no word when all is well."),
    ),
    "report": (
        ("memttl report --within 90d", "What has expired, and what will within 90 days."),
        ("memttl report --group-by entity --sort size", "The same under a heading for each entity, heaviest first."),
        ("memttl report -o report.html", "The whole report as one page for a browser."),
    ),
    "review": (
        ("memttl review", "Go through what is due; nothing changes before the question at the end."),
        ("memttl review --within 7d --entity 'Sprint *'", "Only what these entities lose within a week."),
    ),
    "explain": (
        ("memttl explain 'Sprint 11'", "Why each observation of this entity stays or goes."),
        ("memttl explain '*' cookie --json", "All that speak of cookies, as a JSON document."),
    ),
    "search": (
        ("memttl search webhook", "What the server's own search finds, without what has expired."),
        ("memttl search webhook --expired only", "Only what has expired."),
    ),
    "scan": (("memttl scan --quiet", "For a frequent timer: record what is there, so that its age is known."),),
    "backfill": (
        ("memttl backfill --git --dry-run", "What the file's git history tells of ages; nothing is recorded."),
        ("memttl backfill --from old-copy.jsonl", "Take earlier ages from an old copy of the file."),
    ),
    "doctor": (
        ("memttl doctor", "Check the file and all that memttl keeps of it."),
        ("memttl doctor --repair --dry-run", "What a repair of a damaged file would do."),
    ),
    "set": (
        ("memttl set 'Sprint 11' cookie --ttl 90d", "Keep what this entity says of cookies for 90 days."),
        ("memttl set 'Sprint 11' cookie --review-by 2026-12-01", "Have it looked at by then."),
        ("memttl set --list", "Everything that was set, pinned and renewed."),
    ),
    "pin": (
        ("memttl pin Jonas", "Keep what is in this entity now."),
        ("memttl pin --entity 'Sprint *'", "Keep these entities, what comes later included."),
    ),
    "unpin": (("memttl unpin Jonas", "Take those pins away again."),),
    "renew": (("memttl renew 'Sprint 11' cookie --for 90d", "Keep it for 90 days from now."),),
    "undo": (
        ("memttl undo --dry-run", "What the last run removed, and would be put back."),
        ("memttl undo --entity 'Sprint 11'", "Put back what it removed of one entity."),
    ),
    "move": (
        ("memttl move ~/memory/ --dry-run", "What would go where, and what is left to do."),
        ("memttl move ~/memory/ --no-link", "Move it, and leave nothing at the old place."),
    ),
    "forget": (
        ("memttl forget --text hunter2 --dry-run", "Every place in which a secret stands."),
        ("memttl forget '*' -", "Erase a secret that is typed, so that it stands in no shell's history."),
    ),
    "backups": (("memttl backups list", "The backups of the memory file, the newest last."),),
    "backups list": (("memttl backups list", "Each with its run, its size and what made it."),),
    "backups show": (
        ("memttl backups show latest", "What is in the newest backup."),
        ("memttl backups show latest --raw > old.jsonl", "Its bytes exactly, into a file."),
    ),
    "backups diff": (("memttl backups diff latest", "What was added and is gone since the newest backup."),),
    "backups restore": (("memttl backups restore latest --dry-run", "What putting the newest back would change."),),
    "backups prune": (("memttl backups prune --dry-run", "Which backups the policy lets go."),),
    "log": (
        ("memttl log --since 30d", "What was done within the last 30 days."),
        ("memttl log --entity 'Sprint 11'", "What became of one entity."),
    ),
    "log verify": (("memttl log verify", "Whether a line of the log was edited, lost or moved."),),
    "policy": (("memttl policy show", "The policy in force, and where each value came from."),),
    "policy check": (("memttl policy check memttl.toml", "All problems of a policy at once."),),
    "policy show": (("memttl policy show --file memory.jsonl", "The policy that this memory file is judged by."),),
    "policy schema": (("memttl policy schema > memttl.schema.json", "The JSON Schema that editors complete keys by."),),
    "policy prompt": (
        ("memttl policy prompt", "What to tell an assistant, so that it writes what this policy understands."),
        ("memttl policy prompt --append CLAUDE.md", "Put it into a file of instructions, or bring it up to date."),
    ),
    "discover": (("memttl discover", "The memory files that the MCP clients of this machine point at."),),
    "init": (
        ("memttl init", "The first steps: find the file, propose a policy, show what it would do."),
        (
            "memttl init --user --dry-run",
            "The policy that it would write for all of your memory files.",
        ),
    ),
    "serve": (
        ("memttl serve --file memory.jsonl", "The memory server itself, to be named in a client's config."),
        ("memttl serve --print-config cursor --file memory.jsonl", "What to put into that config, and where."),
        (
            "memttl serve --prune-every 6 --log serve.log",
            "The same, cleaning up every six hours, with a log of its own.",
        ),
    ),
    "schedule": (
        ("memttl schedule systemd", "Print the service and the timer for a daily prune."),
        ("memttl schedule systemd --install", "Show what the first run would remove, ask, and install them."),
        ("memttl schedule cron scan --every 1h", "Print the line for `crontab -e` that scans every hour."),
    ),
}
# what somebody new is shown, in this order, of the commands that there are
FIRST = (
    ("memttl init", "find your memory file, and write a policy for it"),
    ("memttl report", "see what is in it, what is stale and what goes when"),
    ("memttl prune --dry-run", "see what would be removed, and why; nothing is written"),
)
_INDENT = 2


def examples_of(command: str) -> tuple[tuple[str, str], ...]:
    """Give the examples of a command by its words (`backups list`); nothing where there is no row."""
    return EXAMPLES.get(command, ())


def write_examples(context: Any, formatter: Any) -> None:
    """Write the examples of a context's command below its options."""
    lines = [line for words, told in examples_of(words_of(context)) for line in (words, f"    {told}")]
    if lines:
        formatter.write_paragraph()
        formatter.write_heading("Examples")
        formatter.write("".join(f"{'':{_INDENT}}{line.rstrip()}\n" for line in lines))


def words_of(context: Any) -> str:
    """Give the words of a context's command without that of memttl itself: `backups list`, "" for memttl."""
    words, at = list[str](), context
    while at.parent is not None:
        words.insert(0, at.info_name or "")
        at = at.parent
    return " ".join(words)


def first_steps(names: set[str]) -> str:
    """Say what somebody new types first, of the commands that there are, and where help is."""
    rows = [(words, told) for words, told in FIRST if words.split()[1] in names]
    width = max(len(words) for words, _ in rows)
    steps = "".join(f"  {words:<{width}}  {told}\n" for words, told in rows)
    return (
        "memttl gives the memory of AI assistants a lifecycle: it shows what is stale, removes what\n"
        "has expired, and can put back what it removed. To begin:\n\n"
        f"{steps}\n"
        "`memttl --help` lists all commands, `memttl COMMAND --help` tells of one, with examples.\n"
    )
