"""Where a launched memory server keeps its file, worked out as the server does it, and what is odd about that.

`discover.py` calls it for each launch; the path may be one of another system than this.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from memttl.setup.configs import read_small
from memttl.setup.containers import DIST, mount_of
from memttl.setup.entries import Entry
from memttl.setup.found import Machine
from memttl.setup.launches import UNKNOWN, Launch, command_name
from memttl.setup.npm import global_folders, manifest_of, npm_cache, npx_folder, path_folders, release_of
from memttl.setup.packages import MEMTTL, Package, package_named, package_of_script, value_at
from memttl.setup.variables import left_in

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_SMALL = 1 << 20
_LONGEST = 4096  # PATH_MAX of Linux; macOS takes 1024, and Windows 260 unless told otherwise
_SHOWN = 80  # of what can be no path
_NO_VARIABLE = (2025,)  # releases before read no variable: 0.6.2 has its path in its code
_JSONL = (2025, 9, 25)  # from here on the default is memory.jsonl, and memory.json is renamed to it


class Where(NamedTuple):
    """Where a memory file lies, as far as that can be said.

    `path` is None where it cannot; `text` is what the config says, "" where it names no file. `release` is that of the
    server's code, None where it is not installed. `odd` is what is odd, by name, with the text that it is about.
    """

    path: Path | None
    text: str
    release: str | None
    odd: tuple[tuple[str, str], ...] = ()


def where_of(launch: Launch, entry: Entry, machine: Machine) -> Where | None:
    """Work out where the server keeps its file; None where a script turns out to be no memory server."""
    where = _where_of(launch, entry, machine)
    if where and where.path and not can_be_path(str(where.path)):
        text = where.text or str(where.path)
        text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        return where._replace(path=None, text=text, odd=(("no path", text),))
    return where


def can_be_path(text: str) -> bool:
    """Say whether a file can have that path at all: no NUL, no half of a character, not longer than systems take."""
    try:
        return "\0" not in text and len(text.encode("utf-8", "surrogateescape")) < _LONGEST
    except UnicodeEncodeError:
        return False


def _where_of(launch: Launch, entry: Entry, machine: Machine) -> Where | None:
    if launch.how == "container":
        return _in_container(launch, machine)
    if launch.how == "memttl":
        return _of_memttl(launch, entry, machine)
    dist = _dist(launch, entry, machine)
    manifest = manifest_of(dist) if dist else {}
    package = _package(launch, manifest)
    if package is None:
        return None
    release = release_of(manifest)
    default = _default(package, dist, release or launch.version, machine)
    named = _named(package, launch, entry)
    if not named:
        return Where(default, "", release, () if default else (("unknown place", launch.target),))
    if package.is_original and _is_before(release or launch.version, _NO_VARIABLE):
        return Where(default, named, release, (("ignored", named),))
    return _of_text(named, package, dist, release, entry, machine)


def _package(launch: Launch, manifest: dict[str, Any]) -> Package | None:
    """Give the server that is started: of a script, the one that its package.json or its folder names."""
    if launch.how != "script":
        return launch.package
    owner = package_named(str(manifest.get("name", ""))) or package_of_script(launch.target.replace("\\", "/"))
    return owner or (UNKNOWN if launch.env.get("MEMORY_FILE_PATH") else None)


def _named(package: Package, launch: Launch, entry: Entry) -> str:
    """Give the text by which the config names the file, "" where it names none."""
    found = value_at(package, launch.arguments) if package.argument else None
    if found and found[2]:
        return found[2]
    env = {**_env_file(entry), **launch.env}
    return next((env[name] for name in package.variables if env.get(name)), "")


def _env_file(entry: Entry) -> dict[str, str]:
    if not entry.env_file:
        return {}
    path = Path(entry.env_file)
    return env_of_file(entry.folder / path if entry.folder else path)


def env_of_file(path: Path) -> dict[str, str]:
    """Read a file of `NAME=value` lines, as VS Code and docker take it; empty where there is none."""
    try:
        lines = read_small(path, _SMALL).decode("utf-8-sig", "replace").splitlines()
    except (OSError, ValueError):
        return {}
    pairs = (line.removeprefix("export ").partition("=") for line in lines if not line.lstrip().startswith("#"))
    return {name.strip(): value.strip().strip("\"'") for name, sign, value in pairs if sign}


def _of_text(
    text: str, package: Package, dist: Path | None, release: str | None, entry: Entry, machine: Machine
) -> Where:
    variable = left_in(text)
    if variable:
        return Where(None, text, release, (("variable", variable),))
    if is_absolute(text, machine):
        return Where(_with_folder(Path(text), package), text, release)
    base = dist if package.base == "dist" else entry.folder
    odd = ("tilde" if text.startswith("~") else "relative", text)
    if base is None:
        return Where(None, text, release, (odd,))
    path = base / text.replace("\\", "/") if machine.system == "windows" else base / text
    return Where(_with_folder(_normal(path), package), text, release, (odd,))


def _normal(path: Path) -> Path:
    return Path(os.path.normpath(path))


def _with_folder(path: Path, package: Package) -> Path:
    """Give the file in a folder that an argument names, where the server takes one."""
    if not package.takes_folder or (path.suffix == ".jsonl" and os.path.exists(path)):
        return path
    return path.parent / "memory.jsonl" if path.suffix == ".jsonl" else path / "memory.jsonl"


def is_absolute(text: str, machine: Machine) -> bool:
    """Say whether Node.js takes a path for absolute on that system."""
    if machine.system == "windows":
        return text[:1] in ("/", "\\") or bool(_DRIVE.match(text))
    return text.startswith("/")


def _dist(launch: Launch, entry: Entry, machine: Machine) -> Path | None:
    """Give the folder of the server's code, None where it cannot be said."""
    if launch.how == "npx":
        return _dist_of_npx(launch, machine)
    if launch.how == "command":
        return _dist_of_command(launch, machine)
    if launch.how != "script":
        return None
    text = launch.target
    if left_in(text):
        return None
    if not is_absolute(text, machine):
        return _normal(entry.folder / text.replace("\\", "/")).parent if entry.folder else None
    # a path of Windows is one text elsewhere, so its folder is taken off by hand
    return Path(text.replace("\\", "/").rpartition("/")[0] or "/") if machine.system == "windows" else Path(text).parent


def _dist_of_npx(launch: Launch, machine: Machine) -> Path:
    name = next(n for n in launch.package.names if n in launch.target)
    if launch.target == name and launch.specs == (name,):
        # without a release npx takes what is installed globally before it looks into its cache [libnpmexec]
        for folder in global_folders(machine):
            if os.path.exists(folder / name / "dist"):
                return folder / name / "dist"
    cache = Path(launch.cache) if launch.cache else npm_cache(machine, launch.env)
    return npx_folder(cache, launch.specs) / "node_modules" / name / "dist"


def _dist_of_command(launch: Launch, machine: Machine) -> Path | None:
    """Follow a command to the package that it belongs to."""
    candidates = [Path(launch.target)]
    if command_name(launch.target) == launch.target.lower():
        candidates = [folder / launch.target for folder in path_folders(machine)]
    for path in candidates:
        if os.path.exists(path):
            real = Path(os.path.realpath(path))
            if real.suffix == ".js":
                return real.parent
            for name in launch.package.names:  # npm's .cmd on Windows lies beside node_modules
                if os.path.exists(path.parent / "node_modules" / name / "dist"):
                    return path.parent / "node_modules" / name / "dist"
    folders = [folder / name / "dist" for folder in global_folders(machine) for name in launch.package.names]
    return next((folder for folder in folders if os.path.exists(folder)), None)


def _default(package: Package, dist: Path | None, release: str | None, machine: Machine) -> Path | None:
    if "{dist}" in package.default and dist is None:
        return None
    if not package.default:
        return None
    path = Path(package.default.format(dist=dist, home=machine.home))
    old = path.with_name("memory.json")
    if not package.is_original:
        return path
    if is_before_jsonl(release):
        return old
    # the next start of the server renames it; until then it is the memory
    return old if os.path.exists(old) and not os.path.exists(path) else path


def is_before_jsonl(release: str | None) -> bool:
    """Say whether a release is known to keep its file in memory.json, and not to rename it."""
    return _is_before(release, _JSONL)


def _is_before(release: str | None, other: tuple[int, ...]) -> bool:
    """Say whether a release is known to be older than another; `latest` is not."""
    parts = (release or "").split(".")
    return all(part.isdecimal() for part in parts) and tuple(map(int, parts)) < other


def _of_memttl(launch: Launch, entry: Entry, machine: Machine) -> Where:
    """Work out which file `memttl serve` takes: it expands ~ but in MEMORY_FILE_PATH, and has no place of its own."""
    text = _named(MEMTTL, launch, entry)
    if not text:
        return Where(None, "", None, (("unnamed", launch.target),))
    if left_in(text) or is_absolute(text, machine):
        return _of_text(text, MEMTTL, None, None, entry, machine)
    named_by = [*filter(None, (value_at(MEMTTL, launch.arguments), launch.env.get("MEMTTL_FILE")))]
    if not named_by:
        return Where(None, text, None, (("refused", text),))
    if text.startswith(("~/", "~\\")):
        return Where(_normal(machine.home / text[2:].replace("\\", os.sep)), text, None)
    path = _normal(entry.folder / text) if entry.folder else None
    return Where(path, text, None, (("relative to the start", text),))


def _in_container(launch: Launch, machine: Machine) -> Where:
    """Follow a path of the container through its mounts to the host."""
    env = {**{k: v for f in launch.env_files for k, v in env_of_file(Path(f)).items()}, **launch.env}
    text = env.get("MEMORY_FILE_PATH", "")
    if left_in(text):
        return Where(None, text, None, (("variable", left_in(text)),))
    inside = text if text.startswith("/") else f"{DIST}/{text or 'memory.jsonl'}"
    found = mount_of(inside, launch.mounts)
    if found is None and not text:
        inside = f"{DIST}/memory.json"  # a file of this name alone may be mounted
        found = mount_of(inside, launch.mounts)
    if found is None:
        return Where(None, inside, None, (("lost in container", inside),))
    mount, rest = found
    if mount.is_volume:
        return Where(None, f"{inside} in the volume {mount.source}", None, (("volume", mount.source),))
    if left_in(mount.source):
        return Where(None, mount.source, None, (("variable", left_in(mount.source)),))
    if not is_absolute(mount.source, machine):
        return Where(None, mount.source, None, (("relative mount", mount.source),))
    path = Path(mount.source) / rest if rest else Path(mount.source)
    odd = () if rest else (("mounted alone", mount.source),)
    if not text and rest == "memory.jsonl" and not os.path.exists(path):
        old = path.with_name("memory.json")
        path = old if os.path.exists(old) else path
    return Where(path, inside, None, odd)
