"""A move of a memory file as the state folders note it: what is under way, and where a file was moved from before.

`files/moving.py` keeps these notes; `setup/moved.py` and the checkup tell of them. Pure.
"""

from __future__ import annotations

import json
import shlex
from typing import Any, NamedTuple

UNDER_WAY, HISTORY = "moving", "moved"  # names in the state folder


class Move(NamedTuple):
    """One move. `digest` is that of the bytes that were moved, `kept` the old place of ledger, log and backups.

    `again`: a file had appeared at the old place after an earlier move, and what it holds is added. `archive` are the
    archive's old and new path, equal where it stays, None where there is none. `out`: the memory is out of the old
    place for sure, so that a file which lies there was begun anew, or replaced a link.
    """

    run: str
    time: str
    source: str
    target: str
    link: bool
    digest: str = ""
    kept: str = ""
    again: bool = False
    archive: tuple[str, str] | None = None
    out: bool = False


def move_line(move: Move) -> bytes:
    """Write a move as one line."""
    return json.dumps({"v": 1, **move._asdict()}).encode() + b"\n"


def read_moves(data: bytes) -> list[Move]:
    """Read the moves that are noted, oldest first; what cannot be read is left out."""
    found = []
    for line in data.split(b"\n"):
        try:
            found.append(_move(json.loads(line)))
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    return found


def _move(fields: Any) -> Move:
    texts = {key: str(fields[key]) for key in ("run", "time", "source", "target")}
    archive = fields.get("archive")
    return Move(
        **texts,
        link=fields["link"] is True,
        digest=str(fields.get("digest", "")),
        kept=str(fields.get("kept", "")),
        again=fields.get("again") is True,
        archive=(str(archive[0]), str(archive[1])) if archive else None,
        out=fields.get("out") is True,
    )


def finish_command(move: Move) -> str:
    """Give the command that finishes an interrupted move, or brings in what has come to the old place since."""
    link = "--link" if move.link else "--no-link"
    return f"memttl move {shlex.quote(move.target)} --file {shlex.quote(move.source)} {link}"


def give_up_command(memory: object) -> str:
    """Give the command that takes away the note of a move whose other place is gone for good."""
    folder, _, name = str(memory).replace("\\", "/").rpartition("/")
    return f"`rm {shlex.quote(f'{folder}/.memttl/{name}/{UNDER_WAY}')}`"


def under_way_words(move: Move) -> str:
    """Say that a move is at work, or was interrupted."""
    return f"a move from {move.source} to {move.target} is at work, or was interrupted"


def finish_words(move: Move) -> str:
    """Say how it is finished."""
    return f"`{finish_command(move)}` finishes it"


def reappeared_words(move: Move) -> str:
    """Say that a file lies at the old place again."""
    return (
        f"a file lies at {move.source} again, from where this one was moved on {move.time[:10]}: a memory server still "
        "writes there, so that there are two memories"
    )


def reappeared_help(move: Move) -> str:
    """Say what to do about it."""
    return (
        f"Let `MEMORY_FILE_PATH` in that client's config name {shlex.quote(move.target)} and restart the client; then "
        f"`{finish_command(move)}` adds what has come there to this file."
    )


def away_words(move: Move) -> str:
    """Say where a memory file went that is no longer at its old place."""
    return f"it was moved to {move.target} on {move.time[:10]}"


def away_help(move: Move) -> str:
    """Say what to do where the old place is still named."""
    return (
        f"Let what names the old place (a client's `MEMORY_FILE_PATH`, a timer, a script) name {move.target}: "
        f"`memttl doctor --file {shlex.quote(move.target)}` tells which schedules do not yet."
    )
