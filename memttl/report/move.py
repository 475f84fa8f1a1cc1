"""A move's outcome as lines of text, and as a JSON document."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from memttl.core.installed import Installed
from memttl.core.move_outcome import ClientStep, MoveOutcome
from memttl.core.wording import plural
from memttl.report.documents import run_head
from memttl.report.text import legible, visible

LINK = (
    "With a link at the old place, servers that run go on with the moved file until their clients are restarted; but "
    "release 2026.8.31 of the server replaces the link by a file at its next write, and then there are two memories. "
    "Without one, a server that still has the old path begins an empty memory there at its next write."
)
LINK_QUESTION = "Leave a link at the old place?"


def render(outcome: MoveOutcome, *, with_plan: bool = True) -> str:
    """Give what moves where, then what is left to do; the second alone without `with_plan`."""
    if outcome.kind == "nothing":
        return _lines([f"{outcome.target} lies there already, moved from {outcome.source}: nothing to do."])
    lines = [*_plan(outcome)] if with_plan else []
    if outcome.declined:
        return _lines([*lines, "Nothing was moved."])
    if outcome.applied:
        lines += _done(outcome)
    return _lines(lines) + _todo(outcome) + (_lines(["Dry run: nothing was written."]) if outcome.dry_run else "")


def _lines(lines: list[str]) -> str:
    return "".join(visible(line) + "\n" for line in lines)


def plan_text(outcome: MoveOutcome) -> str:
    """Give what stands above the question."""
    link = [LINK] if outcome.link is None and outcome.kind in ("move", "bring in") else []
    return _lines([*_plan(outcome), *link])


def question(outcome: MoveOutcome) -> str:
    """Give the question that stands below the plan."""
    verb = {"finish": "Finish the move of", "bring in": "Add what lies in", "remove link": "Remove the link"}
    return visible(f"{verb.get(outcome.kind, 'Move')} {outcome.source} to {outcome.target}?").replace(
        "Remove the link ", "Remove the link at "
    )


def _plan(outcome: MoveOutcome) -> Iterator[str]:
    if outcome.kind == "remove link":
        yield f"The link {outcome.source} to {outcome.target} goes."
        return
    if outcome.kind == "finish":
        yield f"An interrupted move from {outcome.source} to {outcome.target} is finished."
    elif outcome.kind == "bring in":
        yield f"A file lies at {outcome.source} again; what is new in it is added to {outcome.target}."
    else:
        yield f"{outcome.source} -> {outcome.target}"
    if outcome.kind != "finish":
        yield f"  {plural(outcome.entities, 'entity')}, {plural(outcome.observations, 'observation')}"
    yield from (f"  folder {folder} is made, open to its owner alone" for folder in outcome.folders)
    if outcome.kind != "bring in":
        yield f"  ledger, audit log and backups: {outcome.state[0]} -> {outcome.state[1]}"
    yield from _policy(outcome)
    if outcome.archive is not None:
        before, after = outcome.archive
        yield f"  archive: {before}" + (f" -> {after}" if before != after else " stays, and is told of the new place")
    if outcome.link is not None:
        yield f"  at the old place: {'a link to the new one' if outcome.link else 'nothing'}"
    elif outcome.dry_run:
        yield "  at the old place: nothing, or with --link a link to the new one"


def _policy(outcome: MoveOutcome) -> Iterator[str]:
    step = outcome.policy
    words = {
        "taken": f"  policy: {step.source} -> {step.target}",
        "copied": f"  policy: {step.source} is copied to {step.target}, since other memory files stay beside it",
        "stays": f"  policy: {step.target} holds; it lies there already",
    }
    if step.kind in words:
        yield words[step.kind]
    if step.kind in ("taken", "copied") and step.schema:
        yield f"  {step.schema}, which its first line names, goes along"


def _done(outcome: MoveOutcome) -> Iterator[str]:
    if outcome.kind == "remove link":
        yield f"Removed the link {outcome.source}."
        return
    verb = "Added what was new at" if outcome.kind == "bring in" else "Moved"
    yield f"{verb} {outcome.source} to {outcome.target}."
    if outcome.merged:
        yield (
            f"{plural(outcome.merged, 'version')} that another program wrote at the old place meanwhile "
            f"{'was' if outcome.merged == 1 else 'were'} brought in."
        )
    if outcome.backup:
        yield f"The file as it was moved is kept in {outcome.backup}"


def _todo(outcome: MoveOutcome) -> str:
    """Say what memttl leaves to people: configs of clients, variables, timers."""
    if outcome.kind == "remove link" or outcome.declined:
        return ""
    text = ""
    for client in outcome.clients:
        text += "\n" + _lines([*_client(client)])
        text += legible(client.snippet.rstrip("\n")) + "\n" if client.snippet else ""
    todo = []
    if outcome.clients:
        todo.append("memttl does not edit clients' configs. Restart each client once its config is changed.")
    else:
        todo.append(
            "No client's config was found that names the old place. Let MEMORY_FILE_PATH be "
            f"{outcome.target} in yours, and restart the client."
        )
    todo += [f"The variable {name} names the old place in this environment: change it." for name in outcome.environment]
    for one in outcome.schedules:
        root = ", as root" if one.system else ""
        todo.append(f"{one.path} runs `memttl {one.command}` at the old place. Let it run at the new one{root}:")
        todo += [f"  {command}" for command in _schedule_commands(outcome, one)]
    return text + "\n" + _lines(todo)


def _client(client: ClientStep) -> Iterator[str]:
    """Say what to change in a config; other servers of it stay as they are."""
    yield f"{client.client}: {client.config} names the old place."
    if client.place:
        yield "In it change this one value:"
        yield f"  {client.place}: {client.value}"
        yield from ["All else stays, other servers too. It then reads there:"] if client.snippet else []
    elif client.snippet:
        yield "In it let this entry read as follows; all else stays, other servers too:"


def _schedule_commands(outcome: MoveOutcome, one: Installed) -> tuple[str, str]:
    """Give the commands that take a schedule away, and put one like it in place for the new path."""
    step = outcome.policy
    policy = step.target if step.kind in ("taken", "copied") and one.policy == step.source else None
    return one.remove_command(one.file or outcome.source), one.install_command(outcome.target, policy=policy)


def returned_words(outcome: MoveOutcome) -> list[str]:
    """Say that a running server has made a file at the old place again."""
    if not outcome.returned:
        return []
    command = f"memttl move {shlex.quote(outcome.target)} --file {shlex.quote(outcome.source)}"
    return [
        f"a running memory server has put a file at {outcome.source} again, so that there are two memories: change its "
        f"client's config, restart the client, and run `{command}` again, which adds what came there"
    ]


def move_document(outcome: MoveOutcome) -> dict[str, Any]:
    """Give what a move did or would do."""
    archive = outcome.archive
    return {
        **run_head(outcome),
        "backup": outcome.backup,
        "kind": outcome.kind,
        "from": outcome.source,
        "to": outcome.target,
        "link": outcome.link,
        "entities": outcome.entities,
        "observations": outcome.observations,
        "state": {"from": outcome.state[0], "to": outcome.state[1]},
        "policy": outcome.policy._asdict(),
        "archive": {"from": archive[0], "to": archive[1]} if archive else None,
        "folders": list(outcome.folders),
        "clients": [client._asdict() for client in outcome.clients],
        "environment": list(outcome.environment),
        "schedules": [one.path for one in outcome.schedules],
        "schedule_commands": [command for one in outcome.schedules for command in _schedule_commands(outcome, one)],
        "merged": outcome.merged,
        "returned": outcome.returned,
        "warnings": [*outcome.warnings, *returned_words(outcome)],
    }
