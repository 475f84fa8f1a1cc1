"""What is amiss with a memory file that was found, and what to do about each: facts into sentences.

`discover.py` calls it for each file.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

from memttl.core.synced import synced_by
from memttl.core.wording import plural
from memttl.setup.found import Machine, Pointer, Trouble
from memttl.setup.look import Seen
from memttl.setup.paths import Where, is_before_jsonl
from memttl.setup.variables import is_asked


def troubles_of(
    where: Where, seen: Seen | None, pointer: Pointer | None, machine: Machine, *, only_own: bool = False
) -> Iterator[Trouble]:
    """Yield what is amiss with one file: how the config names it, where it lies, what is in it.

    `pointer` is None where no config points at it. `only_own`: no other server than memttl's own uses it, which copes
    with links and with damaged lines.
    """
    for name, text in where.odd:
        yield _ODD[name](text, where, machine, pointer)
    if where.path is None or seen is None:
        return
    if pointer is None:
        yield Trouble(
            "unused",
            "no config points at it any more: the server kept it here before it was told another place, or was started "
            "with or without @latest, which are two memories",
            "Look what is in it before the next update of the server deletes it:",
            f"memttl report --file {shlex.quote(str(where.path))}",
        )
    if seen.exists or not any(name in ("tilde", "relative") for name, _ in where.odd):
        yield from _of_place(where, seen, named=bool(where.text), only_own=only_own)
    yield from _of_content(where.path, seen, only_own=only_own)


def _of_place(where: Where, seen: Seen, *, named: bool, only_own: bool) -> Iterator[Trouble]:
    assert where.path is not None
    path = where.path
    if "_npx" in path.parts:
        yield Trouble(
            "npx-cache",
            "it lies in the npx cache, where the next update of the server deletes it",
            "Move it to a place of your own:" if seen.exists else "Let the config name a file of your own before use.",
            f"memttl move ~/memory.jsonl --file {shlex.quote(str(path))}" if seen.exists else "",
        )
    elif not seen.exists and not seen.problem and path.is_absolute() and not os.path.isdir(path.parent):
        yield Trouble(
            "no-folder",
            f"the folder {path.parent} does not exist, and the server makes none: it could not write anything",
            "Make it:",
            f"mkdir -p {shlex.quote(str(path.parent))}",
        )
    if not named and path.name == "memory.jsonl" and os.path.exists(path.with_name("memory.json")):
        yield Trouble(
            "legacy",
            "beside it lies memory.json, the memory of releases before 2025.9.25, which the server no longer reads",
            "Look what is in it:",
            f"memttl report --file {shlex.quote(str(path.with_name('memory.json')))}",
        )
    is_read = path.name == "memory.json" and seen.exists and not os.path.exists(path.with_name("memory.jsonl"))
    if is_read and not named and not is_before_jsonl(where.release):
        yield Trouble(
            "legacy",
            "releases from 2025.9.25 on rename it to memory.jsonl when they start",
            "Name memory.jsonl from then on.",
        )
    if seen.is_link and not only_own:
        real = os.path.realpath(path)
        yield Trouble(
            "link",
            f"it is a symbolic link to {real}; release 2026.8.31 replaces the link by a file at its next write",
            f"Let the config name {real} itself.",
        )
    service = synced_by(str(path))
    if service:
        yield Trouble(
            "synced",
            f"it lies in a folder that {service} syncs; two machines that write it undo each other",
            "Keep it in a folder that is not synced.",
        )


def _of_content(path: Path, seen: Seen, *, only_own: bool) -> Iterator[Trouble]:
    if seen.problem:
        yield Trouble("unreadable", f"it {seen.problem}", "Look at its owner and its permissions.")
    if seen.foreign:
        yield Trouble("foreign", f"it {seen.foreign}; that is no memory file", "Let the config name another file.")
    if (seen.malformed or (seen.has_bom and not only_own)) and not seen.foreign:
        is_bom = seen.has_bom and not only_own
        what = "begins with a byte order mark" if is_bom else f"has {plural(seen.malformed, 'damaged line')}"
        copes = ", which memttl serve leaves out of what it shows and keeps as they are"
        yield Trouble(
            "malformed",
            f"it {what}{copes if only_own else ', and the server fails at that'}",
            "See which, and mend it:",
            f"memttl doctor --file {shlex.quote(str(path))}",
        )


def _tilde(text: str, where: Where, machine: Machine, _pointer: Pointer | None) -> Trouble:
    here = str(machine.home) + text[1:] if text[1:2] in ("/", "\\") else text
    return Trouble(
        "tilde",
        f"the config says {text}, and the server does not expand ~: {_server_means(where)}; your shell means {here}"
        f"{_there(Path(here))}",
        f"Write {here} into the config.",
    )


def _relative(text: str, where: Where, machine: Machine, pointer: Pointer | None) -> Trouble:
    folder = pointer.project if pointer and pointer.project else machine.folder
    here = Path(os.path.normpath(folder / text))
    return Trouble(
        "relative",
        f"the config says {text}, which the server reads from its own folder: {_server_means(where)}; from {folder} "
        f"it would be {here}{_there(here)}",
        "Write the whole path into the config.",
    )


def _server_means(where: Where) -> str:
    return f"it means {where.path}" if where.path else "where that is cannot be said"


def _there(path: Path) -> str:
    return ", which is there" if os.path.exists(path) else ""


def _variable(text: str, _where: Where, _machine: Machine, pointer: Pointer | None) -> Trouble:
    client = pointer.client if pointer else "the client"
    if is_asked(text):
        return Trouble(
            "variable",
            f"{client} asks for {text}, so the path stands nowhere",
            "Name the file with --file, as you answer there.",
        )
    why = f"{text} depends on the folder that is open" if "workspace" in text else f"{text} has no value here"
    return Trouble(
        "variable",
        f"{why}, or {client} puts none in",
        "Write the whole path into the config, or name the file with --file.",
    )


def _ignored(text: str, where: Where, _machine: Machine, pointer: Pointer | None) -> Trouble:
    release = where.release or (pointer.version if pointer else None) or "installed"
    return Trouble(
        "ignored",
        f"the config says {text}, but the release {release} of the server reads no MEMORY_FILE_PATH",
        "Let the config ask for @modelcontextprotocol/server-memory@latest; what is in the file here moves along with:",
        f"memttl move {shlex.quote(text)} --file {shlex.quote(str(where.path))}" if where.path else "",
    )


def _volume(text: str, _where: Where, _machine: Machine, _pointer: Pointer | None) -> Trouble:
    return Trouble(
        "volume",
        f"it lies in the volume {text} of a container, not in a folder of this machine, so memttl cannot reach it",
        "Mount a folder instead (-v FOLDER:/memory -e MEMORY_FILE_PATH=/memory/memory.jsonl). To copy what is there:",
        f"docker run --rm -v {shlex.quote(text)}:/from --entrypoint cat mcp/memory /from/memory.jsonl > memory.jsonl",
    )


def _lost(text: str, _where: Where, _machine: Machine, _pointer: Pointer | None) -> Trouble:
    return Trouble(
        "container",
        f"it is {text} inside of a container, which has no volume there: the memory is lost with the container",
        "Mount a folder (-v FOLDER:/memory -e MEMORY_FILE_PATH=/memory/memory.jsonl).",
    )


def _mounted_alone(text: str, _where: Where, _machine: Machine, _pointer: Pointer | None) -> Trouble:
    return Trouble(
        "mounted-alone",
        f"the file {text} is mounted into the container by itself; release 2026.8.31 cannot replace it there and fails",
        "Mount its folder instead.",
    )


def _relative_mount(text: str, _where: Where, _machine: Machine, _pointer: Pointer | None) -> Trouble:
    return Trouble(
        "relative",
        f"the container mounts {text}, which counts from where the client stands",
        "Write the whole path of the folder into the config.",
    )


def _unknown_place(text: str, _where: Where, _machine: Machine, _pointer: Pointer | None) -> Trouble:
    return Trouble(
        "unknown-place",
        f"the config names no file, and where {text} is installed cannot be said",
        "Let MEMORY_FILE_PATH in the config name a file of your own.",
    )


def _unnamed(text: str, _where: Where, _machine: Machine, _pointer: Pointer | None) -> Trouble:
    return Trouble(
        "unknown-place",
        f"the config starts memttl serve ({text}) and names no file: it takes the one that the other configs name",
        "Write --file and the whole path into its arguments.",
    )


def _refused(text: str, _where: Where, _machine: Machine, _pointer: Pointer | None) -> Trouble:
    return Trouble(
        "relative",
        f"MEMORY_FILE_PATH in the config is {text}, which is not absolute: memttl serve does not start with it",
        "Write the whole path into the config.",
    )


def _relative_to_the_start(text: str, _where: Where, _machine: Machine, pointer: Pointer | None) -> Trouble:
    client = pointer.client if pointer else "the client"
    return Trouble(
        "relative",
        f"the config says {text}, which memttl serve reads from the folder in which {client} starts it",
        "Write the whole path into the config.",
    )


def _no_path(text: str, _where: Where, _machine: Machine, _pointer: Pointer | None) -> Trouble:
    return Trouble(
        "no-path",
        f"no file can have the path that the config says ({text})",
        "Correct it in the config.",
    )


_ODD: dict[str, Callable[[str, Where, Machine, Pointer | None], Trouble]] = {
    "tilde": _tilde,
    "relative": _relative,
    "variable": _variable,
    "ignored": _ignored,
    "volume": _volume,
    "lost in container": _lost,
    "mounted alone": _mounted_alone,
    "relative mount": _relative_mount,
    "unknown place": _unknown_place,
    "unnamed": _unnamed,
    "refused": _refused,
    "relative to the start": _relative_to_the_start,
    "no path": _no_path,
}


def bom_of_config(config: Path, client: str) -> Trouble:
    """Say that a config begins with a byte order mark."""
    return Trouble(
        "config-bom",
        f"the config {config} begins with a byte order mark, with which {client} may read nothing of it",
        "Save it as UTF-8 without one.",
    )
