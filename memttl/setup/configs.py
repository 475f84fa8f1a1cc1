"""Reads one config of a client, whatever lies there: into a table of values, or into a sentence that says why not.

`discover.py` calls it for every place of `clients.py`; nothing that lies there makes it fail or wait.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any, NamedTuple

from memttl.setup.jsonc import plain_json

MAX_BYTES = 32 << 20  # Claude Code keeps its history in its config, which grows to megabytes
MAX_WITH_COMMENTS = 2 << 20  # no editor writes such a config, and going through it by character takes its time
MAX_TOML = 1 << 20  # nobody's history is in one
_WHY = {
    errno.ELOOP: "it is a link in a circle",
    errno.EACCES: "it may not be read",
    errno.EPERM: "it may not be read",
    errno.ENXIO: "it is no regular file",
}


class Config(NamedTuple):
    """What lies at a place: `values`, None where `problem` says why not; `is_there` is false where nothing lies.

    `has_bom` is true where it begins with a byte order mark, over which some clients stumble.
    """

    values: dict[str, Any] | None = None
    problem: str = ""
    is_there: bool = True
    has_bom: bool = False


def read_config(path: Path) -> Config:
    """Read a config: TOML by its ending, else JSON with or without comments."""
    try:
        data = read_small(path, MAX_BYTES)
    except FileNotFoundError:
        return Config(is_there=os.path.islink(path), problem="it is a link that leads nowhere")
    except NotADirectoryError:
        return Config(is_there=False)
    except (OSError, ValueError) as e:
        return Config(problem=_why(e))
    return _parsed(path, data)


def read_small(path: Path, limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes, and wait for nothing.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no regular file, or too large; or no file can have that name.
    """
    # O_NONBLOCK: a FIFO must not hang
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise ValueError("it is a folder")
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is no regular file")
        if found.st_size > limit:
            raise ValueError(_too_large(limit))
        pieces, size = [], 0
        while size <= limit and (piece := os.read(descriptor, 1 << 20)):
            pieces.append(piece)
            size += len(piece)
        if size > limit:  # it grew, or lies in /proc, where a size says nothing
            raise ValueError(_too_large(limit))
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def _too_large(limit: int) -> str:
    return f"it is larger than {limit >> 20} MiB"


def _why(e: OSError | ValueError) -> str:
    if isinstance(e, UnicodeError) or "null" in str(e):
        return "no file can have such a name"
    if isinstance(e, ValueError):
        return str(e)
    return _WHY.get(e.errno or 0) or (e.strerror or str(e)).lower()


def _parsed(path: Path, data: bytes) -> Config:
    text, has_bom = _decoded(data)
    if text is None:
        return Config(problem="it is no UTF-8")
    if not text.strip():
        return Config({}, has_bom=has_bom)  # clients make an empty one
    try:
        values = _toml(text) if path.suffix == ".toml" else _json(text)
    except RecursionError:
        return Config(problem="it is nested too deep", has_bom=has_bom)
    except ValueError as e:
        return Config(problem=f"it is no valid {'TOML' if path.suffix == '.toml' else 'JSON'} ({e})", has_bom=has_bom)
    if not isinstance(values, dict):
        return Config(problem="it holds no table of settings", has_bom=has_bom)
    return Config(values, has_bom=has_bom)


def _decoded(data: bytes) -> tuple[str | None, bool]:
    """Give the text, and whether a byte order mark stood before it: Notepad and PowerShell 5.1 write one."""
    has_bom = data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"))
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return data.decode(encoding), has_bom
    except UnicodeDecodeError:
        return None, has_bom


def _toml(text: str) -> Any:
    from memttl.core.toml_text import read_toml  # here: one client of ten has such a config

    if len(text) > MAX_TOML:
        raise ValueError(f"larger than {MAX_TOML >> 20} MiB")
    return read_toml(text)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        if len(text) > MAX_WITH_COMMENTS:
            raise
    return json.loads(plain_json(text))
