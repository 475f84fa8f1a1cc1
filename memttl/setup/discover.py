"""All memory files that the MCP clients of a machine point at, and those that lie where a server keeps its own.

`memttl discover` shows them, and `settings.py` takes the one that is there; nothing is written, and nothing waits.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from memttl.setup.clients import CLIENTS, At, Client
from memttl.setup.configs import Config, read_config
from memttl.setup.entries import entries, projects_of
from memttl.setup.found import Discovery, Found, Machine, Place, Pointer, System, Trouble, Unread
from memttl.setup.home import home_of
from memttl.setup.identity import identity
from memttl.setup.launches import launch_of
from memttl.setup.look import Seen, look_at
from memttl.setup.moved import moved_away
from memttl.setup.npm import global_folders, manifest_of, npm_cache, npx_modules, release_of, servers_in
from memttl.setup.paths import Where, where_of
from memttl.setup.rivals import with_rivals
from memttl.setup.troubles import bom_of_config, troubles_of

_VARIABLE = re.compile(r"\{(\w+)\}")


def this_machine(environ: Mapping[str, str]) -> Machine:
    """Give where the things of this process's user lie."""
    system: System = "windows" if sys.platform == "win32" else "macos" if sys.platform == "darwin" else "linux"
    home = home_of(environ)
    try:
        folder = os.getcwd()
    except OSError:  # it was removed meanwhile
        folder = home

    def folder_of(name: str) -> Path | None:
        return Path(environ[name]) if system == "windows" and environ.get(name) else None

    return Machine(system, Path(home), Path(folder), dict(environ), folder_of("APPDATA"), folder_of("LOCALAPPDATA"))


def discover(machine: Machine, *, counting: bool = True) -> Discovery:
    """Find the memory files of a machine; without `counting` their contents are not read."""
    looked: list[Place] = []
    unread: list[Unread] = []
    spots: list[_Spot] = []
    values, folders = _values(machine), _project_folders(machine)
    for client in CLIENTS:
        for source in _sources(client, machine.system, values, folders):
            config = _read(client, source, looked, unread)
            if config.values is not None:
                spots += _spots(client, source, config, machine)
                if client.title == "Claude Code" and source.project is None:
                    spots += _of_projects(client, config, machine, looked, unread)
    caches = _caches(machine)
    spots += _unpointed(caches, spots, machine)
    found = with_rivals(_found(group, machine, counting=counting) for group in _grouped(spots, machine.system))
    found.sort(key=lambda f: (not f.pointers, not f.entities, not f.exists))
    return Discovery(tuple(found), tuple(unread), tuple(looked), tuple(caches), machine.system)


def user_configs(client: Client, machine: Machine) -> Iterator[Path]:
    """Yield the places of a user's configs that a new entry may go into."""
    values = _values(machine)
    return (path for at in client.user if not at.keys for path in _paths(at, machine.system, values))


def pointers_to(discovery: Discovery, memory: Path) -> tuple[Pointer, ...]:
    """Give all places of configs that point at a memory file, whatever links lead there."""
    return tuple(pointer for found in only_of(discovery, [memory]).found for pointer in found.pointers)


def only_of(discovery: Discovery, files: Iterable[Path]) -> Discovery:
    """Give what was found of some memory files only."""
    wanted = {identity(path, discovery.system) for path in files}
    is_wanted = [f for f in discovery.found if f.path and identity(f.path, discovery.system) in wanted]
    return discovery._replace(found=tuple(is_wanted))


class _Source(NamedTuple):
    path: Path
    keys: tuple[str, ...]
    project: Path | None
    idle: str = ""


class _Spot(NamedTuple):
    """One server of a config and where it keeps its file; `pointer` is None where no config names it."""

    pointer: Pointer | None
    where: Where
    has_bom: bool = False


def _sources(client: Client, system: System, values: dict[str, str], folders: list[Path]) -> Iterator[_Source]:
    """Yield the places of a client's configs: the user's (`values` has what is put in), then those in `folders`."""
    idle, own = "", set()
    for at in client.user:
        for path in _paths(at, system, values):
            own.add(path)
            yield _Source(path, at.keys or client.keys, None, idle)
            if client.shadow and os.path.exists(path):
                idle = client.shadow
    for folder in folders:
        for name, keys in client.project:
            if folder / name not in own:  # in the home folder, ~/.cursor/mcp.json is the user's
                yield _Source(folder / name, keys, folder)


def _paths(at: At, system: System, values: dict[str, str]) -> list[Path]:
    if system not in at.systems:
        return []
    for template in at.paths:
        names = _VARIABLE.findall(template)
        if all(values.get(name) for name in names):
            text = _VARIABLE.sub(lambda m: values[m[1]], template)
            return _globbed(text) if "*" in template else [Path(text)]
    return []


def _values(machine: Machine) -> dict[str, str]:
    """Give what stands for the names in a place of `clients.py`: variables, and folders of the user."""
    support = machine.home / "Library/Application Support"
    config = {
        "linux": machine.environ.get("XDG_CONFIG_HOME") or str(machine.home / ".config"),
        "macos": str(support),
        "windows": str(machine.appdata or ""),
    }[machine.system]
    places = {"home": machine.home, "config": config, "appdata": machine.appdata, "localappdata": machine.localappdata}
    return {**machine.environ, **{name: str(place or "") for name, place in places.items()}}


def _globbed(text: str) -> list[Path]:
    import glob

    head, _, tail = text.partition("*")
    head, _, start = head.rpartition("/")
    return [Path(path) for path in sorted(glob.glob(f"{glob.escape(head)}/{start}*{tail}"))]


def _project_folders(machine: Machine) -> list[Path]:
    """Give the folder where the user stands and those above it, to the root of the repository, or below the home."""
    home, folders = identity(machine.home, machine.system), [machine.folder]
    for folder in machine.folder.parents:
        if os.path.exists(folders[-1] / ".git") or home in (identity(f, machine.system) for f in (folders[-1], folder)):
            break
        folders.append(folder)
    return folders


def _read(client: Client, source: _Source, looked: list[Place], unread: list[Unread]) -> Config:
    config = read_config(source.path)
    looked.append(Place(client.title, source.path, config.is_there))
    if config.is_there and config.values is None:
        unread.append(Unread(client.title, source.path, config.problem))
    return config


def _of_projects(
    client: Client, config: Config, machine: Machine, looked: list[Place], unread: list[Unread]
) -> Iterator[_Spot]:
    """Yield what the .mcp.json of each project says in which Claude Code has been used, and that is still there."""
    seen = {place.config for place in looked}
    for text in projects_of(config.values or {}):
        for name, keys in client.project:
            source = _Source(Path(text) / name, keys, Path(text))
            if source.path not in seen and os.path.exists(source.path):
                inner = _read(client, source, looked, unread)
                if inner.values is not None:
                    yield from _spots(client, source, inner, machine)


def _spots(client: Client, source: _Source, config: Config, machine: Machine) -> Iterator[_Spot]:
    for entry in entries(client, config.values or {}, source.keys, machine, source.project):
        launch = launch_of(entry, machine)
        where = where_of(launch, entry, machine) if launch else None
        if launch and where:
            idle = entry.idle or source.idle
            pointer = Pointer(client.title, source.path, entry.keys, entry.project, launch.version, idle, launch.server)
            yield _Spot(pointer, where, config.has_bom)


def _caches(machine: Machine) -> list[Path]:
    return [npm_cache(machine, {})]


def _unpointed(caches: list[Path], spots: list[_Spot], machine: Machine) -> Iterator[_Spot]:
    """Yield the memory files in npx caches and beside global installations that no client points at."""
    known = {identity(spot.where.path, machine.system) for spot in spots if spot.where.path}
    modules = [*(folder for cache in caches for folder in npx_modules(cache)), *global_folders(machine)]
    for path in (dist / name for dist in servers_in(modules) for name in ("memory.jsonl", "memory.json")):
        if os.path.exists(path) and identity(path, machine.system) not in known:
            yield _Spot(None, Where(path, "", release_of(manifest_of(path.parent))))


def _grouped(spots: Iterable[_Spot], system: System) -> list[list[_Spot]]:
    groups: dict[tuple[object, ...], list[_Spot]] = {}
    for number, spot in enumerate(spots):
        key = identity(spot.where.path, system) if spot.where.path else ("unknown", number)
        groups.setdefault(key, []).append(spot)
    return list(groups.values())


def _found(group: list[_Spot], machine: Machine, *, counting: bool) -> Found:
    where = group[0].where
    seen = look_at(where.path, counting=counting) if where.path else None
    pointers = tuple(dict.fromkeys(spot.pointer for spot in group if spot.pointer))
    home = {"HOME": str(machine.home), "LOCALAPPDATA": str(machine.localappdata or "")}
    move = moved_away(where.path, {**machine.environ, **home}) if where.path else None
    return Found(
        path=where.path,
        text=where.text,
        pointers=pointers,
        exists=bool(seen and seen.exists),
        entities=seen.entities if seen else None,
        observations=seen.observations if seen else None,
        size_bytes=seen.size_bytes if seen else None,
        changed=seen.changed if seen else None,
        release=next((spot.where.release for spot in group if spot.where.release), None),
        troubles=tuple(_troubles(group, seen, machine)),
        moved_to=move.target if move else "",
        moved_on=move.time[:10] if move else "",
    )


def _troubles(group: list[_Spot], seen: Seen | None, machine: Machine) -> Iterator[Trouble]:
    """Yield what is amiss with one file, once each: two configs may name it by two odd paths."""
    only_own = all(spot.pointer is not None and spot.pointer.is_memttl for spot in group)
    yield from dict.fromkeys(
        trouble for s in group for trouble in troubles_of(s.where, seen, s.pointer, machine, only_own=only_own)
    )
    for config, client in dict.fromkeys((s.pointer.config, s.pointer.client) for s in group if s.pointer and s.has_bom):
        yield bom_of_config(config, client)
