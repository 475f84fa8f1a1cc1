"""`docker run …` into the image, what it is given, and what it sees of the host; and a path in it into one of the host.

`launches.py` takes a command line apart with it, and `paths.py` asks where a file of the container lies.
"""

from __future__ import annotations

import posixpath
import re
from typing import NamedTuple

DIST = "/app/dist"  # where the image of the memory server has its code [its Dockerfile]
_IMAGE = re.compile(r"(?:[^\s/]+/)*mcp/memory(?::(?P<tag>[^\s@]+))?(?:@\S+)?")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_HOST = re.compile(r"[/.~\\]|\$|%|[A-Za-z]:[\\/]")


class Mount(NamedTuple):
    """Something that a container has at `target`: a folder or file of the host, or a volume that docker keeps."""

    source: str
    target: str
    is_volume: bool


class Container(NamedTuple):
    """What a command line runs in a container, and what it gives into it."""

    image: str
    version: str | None
    arguments: tuple[str, ...]
    env: dict[str, str]
    mounts: tuple[Mount, ...]
    env_files: tuple[str, ...]


def container_of(words: list[str], outer: dict[str, str]) -> Container | None:
    """Read the words behind `docker`; `outer` is the environment of that command. None for another image."""
    place = next((i for i, word in enumerate(words) if _IMAGE.fullmatch(word)), None)
    if place is None or not ({"run", "create"} & set(words[:place])):
        return None
    env: dict[str, str] = {}
    mounts: list[Mount] = []
    files: list[str] = []
    for option, value in _options(words[:place]):
        if option in ("-e", "--env"):
            name, has_value, text = value.partition("=")
            if has_value or name in outer:  # without a value it is handed on
                env[name] = text if has_value else outer[name]
        elif option in ("-v", "--volume"):
            mounts += _volume(value)
        elif option == "--mount":
            mounts += _mount(value)
        elif option == "--env-file":
            files.append(value)
    found = _IMAGE.fullmatch(words[place])
    version = found["tag"] if found else None
    return Container(words[place], version, tuple(words[place + 1 :]), env, tuple(mounts), tuple(files))


def _options(words: list[str]) -> list[tuple[str, str]]:
    found = []
    for at, word in enumerate(words):
        behind = words[at + 1] if at + 1 < len(words) else ""
        if word in ("-e", "--env", "-v", "--volume", "--mount", "--env-file"):
            found.append((word, behind))
        elif word.startswith(("--env=", "--volume=", "--mount=", "--env-file=")):
            option, _, value = word.partition("=")
            found.append((option, value))
        elif word[:2] in ("-e", "-v") and len(word) > 2:
            found.append((word[:2], word[2:].removeprefix("=")))
    return found


def _volume(text: str) -> list[Mount]:
    start = 2 if _DRIVE.match(text) else 0  # the colon of C:\ ends nothing
    source, _, rest = text[start:].partition(":")
    target = rest.partition(":")[0]
    source = text[:start] + source
    return [Mount(source, target, not _HOST.match(source))] if target else []


def _mount(text: str) -> list[Mount]:
    fields = dict(part.partition("=")[::2] for part in text.split(","))
    source = fields.get("source") or fields.get("src") or ""
    target = fields.get("target") or fields.get("destination") or fields.get("dst") or ""
    return [Mount(source, target, fields.get("type", "volume") != "bind")] if source and target else []


def mount_of(path: str, mounts: tuple[Mount, ...]) -> tuple[Mount, str] | None:
    """Give the mount in which a path of the container lies, and the path within it; None for the container itself."""
    path = posixpath.normpath(path)
    best: tuple[Mount, str] | None = None
    for mount in mounts:
        target = posixpath.normpath(mount.target)
        if path == target or path.startswith(target.rstrip("/") + "/"):
            rest = path[len(target.rstrip("/")) :].lstrip("/")
            if best is None or len(target) > len(posixpath.normpath(best[0].target)):
                best = mount, rest
    return best
