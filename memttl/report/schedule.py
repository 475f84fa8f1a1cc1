"""What came of a schedule, as text and as a JSON document; printed units go as they are."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from memttl.core.installed import Installed
from memttl.core.outcome import PruneOutcome
from memttl.core.schedule_outcome import ScheduledFile, ScheduleOutcome
from memttl.core.wording import plural
from memttl.report.documents import SCHEMA, prune_document
from memttl.report.text import visible

_DONE = {"new": "written", "changed": "brought up to date", "same": "is up to date"}
_TO_DO = {"new": "would be written", "changed": "would be brought up to date", "same": "is up to date"}
_COMMENTS = {"systemd": "# {}", "cron": "# {}", "launchd": "<!-- {} -->", "windows": "<!-- {} -->"}


def printed(outcomes: Sequence[ScheduleOutcome]) -> str:
    """Give the texts of all schedules; each headed by its path where there are several."""
    pairs = [(outcome, file) for outcome in outcomes for file in outcome.files]
    if len(pairs) == 1:
        return pairs[0][1].content
    return "\n".join(f"{_head(outcome, file)}\n{file.content}" for outcome, file in pairs)


def _head(outcome: ScheduleOutcome, file: ScheduledFile) -> str:
    # two hyphens would end a comment in XML
    return _COMMENTS[outcome.wish.kind].format(visible(f"{outcome.file}: {file.path}".replace("--", "- -")))


def render_plan(outcome: ScheduleOutcome) -> str:
    """Give what would be written or removed, with its text, and which commands would run."""
    lines = [line for file in outcome.files for line in _planned(outcome, file)]
    lines += [f"Would run: {_words(words)}" for words in outcome.to_run]
    return "".join(visible(line) + "\n" for line in lines)


def _planned(outcome: ScheduleOutcome, file: ScheduledFile) -> Iterator[str]:
    if outcome.act == "remove":
        if file.change == "gone":
            yield f"{_place(outcome, file)}: would be removed"
        elif file.change == "foreign":
            yield _foreign(file)
        return
    yield f"{_place(outcome, file)}: {_TO_DO[file.change]}{'' if file.change == 'same' else ':'}"
    if file.change == "new":
        yield from (f"  {line}" for line in file.content.splitlines())
    elif file.change == "changed":
        both = ((file.before or "").splitlines(), file.content.splitlines())
        yield from (f"  {line}" for line in list(difflib.unified_diff(*both, lineterm="", n=1))[2:])


def render(outcome: ScheduleOutcome) -> str:
    """Give what was done, and what is left to do."""
    lines = list(_removed(outcome) if outcome.act == "remove" else _installed(outcome))
    return "".join(visible(line) + "\n" for line in lines)


def _installed(outcome: ScheduleOutcome) -> Iterator[str]:
    if outcome.declined:
        yield "Nothing was installed."
        return
    if outcome.is_unchanged:
        yield "All is in place already; nothing was written."
    yield from (f"{_place(outcome, file)}: {_DONE[file.change]}" for file in outcome.files)
    yield from (f"Ran: {_words(words)}" for words in outcome.ran)
    runs = "runs"
    if outcome.to_run:
        yield "Nothing runs it yet, since systemd does not answer here. Where it does, run:"
        yield from (f"  {_words(words)}" for words in outcome.to_run)
        runs = "will then run"
    yield f"`memttl {outcome.wish.command}` of {outcome.file} {runs} every {outcome.wish.cadence}."
    yield from (f"Note: {note}." for note in outcome.notes)
    twice = [one for one in outcome.others if one.command == outcome.wish.command]
    yield from (f"Note: {one.path} runs it, too; {_taken_away(one)}." for one in twice)


def _place(outcome: ScheduleOutcome, file: ScheduledFile) -> str:
    """Name a file; of a crontab only the lines that are meant."""
    if outcome.wish.kind != "cron" or outcome.wish.system:
        return file.path
    return f"{plural(len(file.content.splitlines()), 'line')} in {file.path} (all others stay)"


def _taken_away(one: Installed) -> str:
    return f"`{one.remove_command(one.file)}` takes it away{', as root' if one.system else ''}"


def _removed(outcome: ScheduleOutcome) -> Iterator[str]:
    if outcome.declined:
        yield "Nothing was removed."
        return
    yield from (_foreign(file) for file in outcome.files if file.change == "foreign")
    gone = [file for file in outcome.files if file.change == "gone"]
    if not gone:
        what = " or ".join(f"`memttl {command}`" for command in outcome.commands or (outcome.wish.command,))
        yield f"No schedule of {what} for {outcome.file} is installed ({outcome.wish.kind})."
        yield from _left(outcome)
        return
    yield from (f"{_place(outcome, file)}: {'would be removed' if outcome.dry_run else 'removed'}" for file in gone)
    yield from (f"Ran: {_words(words)}" for words in outcome.ran)
    verb = "Would run" if outcome.dry_run else "Where systemd answers, run"
    yield from (f"{verb}: {_words(words)}" for words in outcome.to_run)
    yield from _left(outcome)


def _left(outcome: ScheduleOutcome) -> Iterator[str]:
    """Say what else runs memttl on the file."""
    yield from (f"Still installed: {one.path} (`memttl {one.command}`); {_taken_away(one)}." for one in outcome.others)


def _foreign(file: ScheduledFile) -> str:
    return f"{file.path}: was not written by memttl, and is left as it is"


def _words(words: Sequence[str]) -> str:
    return shlex.join(words)


def schedule_document(outcome: ScheduleOutcome, first: PruneOutcome | None) -> dict[str, Any]:
    """Give a schedule; `first` is what its first run would do, null where nothing is to be removed or known."""
    wish = outcome.wish
    commands = [(words, True) for words in outcome.ran] + [(words, False) for words in outcome.to_run]
    return {
        "schema": SCHEMA,
        "file": outcome.file,
        "kind": wish.kind,
        "command": wish.command if len(outcome.commands) < 2 else None,
        "every": str(wish.cadence),
        "system": wish.system,
        "action": outcome.act,
        "name": outcome.name,
        "dry_run": outcome.dry_run,
        "installed": outcome.installed,
        "files": [{"path": f.path, "change": f.change, "content": f.content} for f in outcome.files],
        "commands": [{"words": list(words), "ran": ran} for words, ran in commands],
        "notes": list(outcome.notes),
        "others": [
            {"kind": o.kind, "command": o.command, "path": o.path, "remove": o.remove_command(o.file)}
            for o in outcome.others
        ],
        "first_run": prune_document(first) if first else None,
        "refusals": list(first.plan.refusals) if first and wish.command == "prune" else [],
        "warnings": list(outcome.warnings),
    }
