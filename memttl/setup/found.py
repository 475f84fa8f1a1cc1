"""What a look for memory files on a machine gives: files, who points at them, and what is amiss, as values.

`setup/discover.py` makes them; the commands, `settings.py` and the reports read them.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

System = Literal["linux", "macos", "windows"]
OWN = "memttl serve"


class Machine(NamedTuple):
    """Where a user's things lie: all that discovery takes from its surroundings, so that a test can give another.

    `folder` is where the user stands (project configs are looked for there and above); `appdata` and `localappdata` are
    those of Windows, None elsewhere; `environ` holds the variables that clients and npm read.
    """

    system: System
    home: Path
    folder: Path
    environ: dict[str, str]
    appdata: Path | None = None
    localappdata: Path | None = None


class Pointer(NamedTuple):
    """One place in a client's config that starts a memory server.

    `client` is a client's title ("Claude Desktop"), `keys` the way to the server's entry in the config
    (`("mcpServers", "memory")`), `project` the folder for which it holds, None for the whole user. `version` is the
    release that the config asks for, None where it names none. `idle` says why the client does not start it (it is
    disabled), "" where it does. `server` is what it starts: an npm package, or `memttl serve`; "" where that has no
    name.
    """

    client: str
    config: Path
    keys: tuple[str, ...]
    project: Path | None
    version: str | None
    idle: str = ""
    server: str = ""

    @property
    def is_memttl(self) -> bool:
        """True where it is memttl's own server."""
        return self.server == OWN

    @property
    def is_of_project(self) -> bool:
        """True where the config lies inside the project; Claude Code's `projects` stand in the user's own config."""
        return self.project is not None and self.keys[:1] != ("projects",)


class Trouble(NamedTuple):
    """One thing that is amiss with a memory file or its config, and what to do about it.

    `command` is a command to type, where the remedy is one.
    """

    name: str
    problem: str
    remedy: str
    command: str = ""


class Found(NamedTuple):
    """One memory file that a client points at, or that lies where the server keeps its own.

    `path` is None where the config does not say it; `text` is what it says, "" where it names no file. The counts are
    None where there is no file, or where it is none of a memory server. `release` is that of the installed server that
    would read it. `moved_to` is where `memttl move` took what lay there, "" where it did not, `moved_on` that day.
    """

    path: Path | None
    text: str
    pointers: tuple[Pointer, ...]
    exists: bool
    entities: int | None
    observations: int | None
    size_bytes: int | None
    changed: datetime | None
    release: str | None
    troubles: tuple[Trouble, ...]
    moved_to: str = ""
    moved_on: str = ""


class Unread(NamedTuple):
    """A config that is there and could not be read, and why."""

    client: str
    config: Path
    problem: str


class Place(NamedTuple):
    """A place where a client's config may lie, and whether one is there."""

    client: str
    config: Path
    is_there: bool


class Discovery(NamedTuple):
    """All memory files of a machine, those with entities first, and the configs that could not be read.

    `looked` are all places where configs were looked for, in order, `caches` the npx caches that were looked through.
    """

    found: tuple[Found, ...]
    unread: tuple[Unread, ...]
    looked: tuple[Place, ...] = ()
    caches: tuple[Path, ...] = ()
    system: System = "linux"
