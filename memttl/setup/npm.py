"""Where npm keeps packages on a machine: its npx caches, its global folders, and the release of an installed one.

`paths.py` asks for the folder of a server's code, `discover.py` for all npx caches.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from memttl.setup.configs import read_small
from memttl.setup.found import Machine
from memttl.setup.packages import PACKAGES
from memttl.setup.variables import variable

_SMALL = 1 << 20  # no .npmrc and no package.json is larger
_MANY = 5000  # folders of an npx cache: more than anybody has


def npx_folder(cache: Path, specs: Iterable[str]) -> Path:
    """Give the folder in which npx installs these specs: named by the digest of their very text."""
    import hashlib  # here: where every config names its file, none is needed

    # libnpmexec sorts by locale; of one spec, which nearly all are, there is nothing to sort
    name = hashlib.sha512("\n".join(sorted(specs)).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return cache / "_npx" / name


def npm_cache(machine: Machine, env: Mapping[str, str]) -> Path:
    """Give npm's cache folder: by a variable (`env` is the server's), by ~/.npmrc, else the usual one."""
    for name in ("npm_config_cache", "NPM_CONFIG_CACHE"):
        value = env.get(name) or variable(machine, name)
        if value:
            return Path(value)
    told = _npmrc(machine).get("cache")
    if told:
        return Path(told)
    if machine.system == "windows" and machine.localappdata:
        return machine.localappdata / "npm-cache"
    return machine.home / ".npm"


def _npmrc(machine: Machine) -> dict[str, str]:
    """Read the user's .npmrc, as far as its lines are `key=value`."""
    path = variable(machine, "NPM_CONFIG_USERCONFIG") or variable(machine, "npm_config_userconfig")
    try:
        text = read_small(Path(path) if path else machine.home / ".npmrc", _SMALL).decode("utf-8-sig", "replace")
    except (OSError, ValueError):
        return {}
    found = {}
    for line in text.splitlines():
        key, sign, value = line.partition("=")
        value = value.strip().strip("\"'")
        if sign and value and not line.lstrip().startswith(("#", ";")):
            found[key.strip()] = _expanded(value, machine)
    return found


def _expanded(value: str, machine: Machine) -> str:
    """Put in what npm knows in a path: a ~ at its start, and `${HOME}`."""
    if value.startswith(("~/", "~\\")):
        return str(machine.home / value[2:])
    from memttl.setup.variables import filled

    return filled(value, ("braces",), machine, None)


def global_folders(machine: Machine) -> list[Path]:
    """Give the folders of globally installed packages: beside each node on PATH, npm's own prefix, and nvm's."""
    prefix = variable(machine, "npm_config_prefix") or _npmrc(machine).get("prefix")
    prefixes = [Path(prefix)] if prefix else []
    if machine.system == "windows":
        prefixes += [machine.appdata / "npm"] if machine.appdata else []
        return [p / "node_modules" for p in prefixes]
    prefixes += [folder.parent for folder in path_folders(machine) if _has_node(folder)]
    prefixes += _children(Path(variable(machine, "NVM_DIR") or machine.home / ".nvm") / "versions/node")
    return list(dict.fromkeys(p / "lib/node_modules" for p in prefixes))


def path_folders(machine: Machine) -> list[Path]:
    """Give the folders in which commands are looked for."""
    text = variable(machine, "PATH") or ""
    return [Path(part) for part in text.split(";" if machine.system == "windows" else ":") if part]


def _has_node(folder: Path) -> bool:
    return any(os.path.exists(folder / name) for name in ("node", "npm", "npx"))


def npx_modules(cache: Path) -> list[Path]:
    """Give the folders of packages in an npx cache."""
    return [folder / "node_modules" for folder in _children(cache / "_npx")]


def servers_in(modules: Iterable[Path]) -> Iterator[Path]:
    """Yield the folders of memory servers' code that lie in folders of packages."""
    names = [name for package in PACKAGES for name in package.names]
    return (folder / name / "dist" for folder in modules for name in names if os.path.exists(folder / name / "dist"))


def _children(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for _, entry in zip(range(_MANY), entries, strict=False))
    except (OSError, ValueError):
        return []


def manifest_of(dist: Path) -> dict[str, Any]:
    """Read the package.json of the server whose code lies in `dist`; empty where there is none."""
    for folder in (dist.parent, dist):
        try:
            found = json.loads(read_small(folder / "package.json", _SMALL))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return {}


def release_of(manifest: dict[str, Any]) -> str | None:
    """Give the release that a package.json names, None where it names none."""
    version = manifest.get("version")
    return version if isinstance(version, str) else None
