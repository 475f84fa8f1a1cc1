"""This installation and its machine as facts for a bug report: versions, how it was installed, locale, node, variables.

`workflow/about.py` gathers them. What cannot be told says so; nothing of what lies in a memory file is looked at.
"""

from __future__ import annotations

import glob
import importlib.metadata
import json
import locale
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

_LIBRARIES = ("typer", "pydantic", "pydantic-core", "rich", "orjson", "python-dateutil", "portalocker", "platformdirs")
_MORE_LIBRARIES = ("tzdata", "mcp")
# all that memttl or its libraries read; no other is printed, since it may hold a secret
_VARIABLES = (
    "MEMTTL_FILE MEMTTL_POLICY MEMTTL_NOW MEMTTL_STATE_DIR MEMTTL_LOG MEMORY_FILE_PATH NO_COLOR FORCE_COLOR TERM "
    "COLUMNS LANG LC_ALL LC_CTYPE TZ HOME XDG_CONFIG_HOME XDG_STATE_HOME APPDATA LOCALAPPDATA TMPDIR PYTHONPATH "
    "PYTHONUTF8 PYTHONIOENCODING npm_config_cache CLAUDE_CONFIG_DIR COPILOT_HOME USERPROFILE XDG_DATA_HOME ZDOTDIR"
)
_PACKAGE = "node_modules/@modelcontextprotocol/server-memory/package.json"
_NODE_S = 5.0


class Fact(NamedTuple):
    """One line of the report."""

    title: str
    value: str


def told(title: str, tell: Callable[[], str]) -> Fact:
    """Give a fact; of one that cannot be told, why not."""
    try:
        return Fact(title, tell())
    except Exception as e:  # whatever is broken here is what the report is about
        why = e.strerror if isinstance(e, OSError) else str(e)
        return Fact(title, f"cannot be told ({type(e).__name__}: {why})")


def install_facts() -> Iterator[Fact]:
    """Tell where memttl, Python and the libraries are, and which."""
    yield told("installed", installed)
    yield told("Python", lambda: f"{platform.python_version()} ({platform.python_implementation()}), {sys.executable}")
    yield told("system", _system)
    yield told("libraries", lambda: ", ".join(_versions((*_LIBRARIES, *_MORE_LIBRARIES))))


def machine_facts(environ: Mapping[str, str]) -> Iterator[Fact]:
    """Tell what else a run depends on: encodings, node and the server's packages, and the variables that are set."""
    yield told("encodings", _encodings)
    yield told("node", _node)
    yield told("servers", lambda: ", ".join(_servers(environ)) or "none in the npx cache")
    for name in _VARIABLES.split():
        if name in environ:
            yield Fact(name, environ[name] or "(empty)")


def installed(prefix: str = sys.prefix) -> str:
    """Say where memttl lies and what installed it."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        found = importlib.metadata.distribution("memttl")
    except importlib.metadata.PackageNotFoundError:
        return f"{folder}, not installed"
    url = json.loads(found.read_text("direct_url.json") or "{}")
    if url.get("dir_info", {}).get("editable"):
        return f"{folder}, editable"
    if not os.path.samefile(folder, str(found.locate_file("memttl"))):
        return f"{folder}, not the installed one"
    parts = prefix.replace("\\", "/")
    tools = (("/pipx/", "pipx"), ("/uv/tools/", "uv tool"), ("/uv/archive", "uvx"), ("/uv/environments", "uvx"))
    tool = next((name for part, name in tools if part in parts), (found.read_text("INSTALLER") or "?").strip())
    return f"{folder}, by {tool}"


def _system() -> str:
    libc = " ".join(platform.libc_ver()) if sys.platform == "linux" else ""
    is_wsl = "microsoft" in platform.release().lower()
    words = (platform.system(), platform.release(), platform.machine(), libc.strip(), "WSL" if is_wsl else "")
    return " ".join(word for word in words if word)


def _versions(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        try:
            yield f"{name} {importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            if name != "mcp":  # an extra
                yield f"{name} missing"


def _encodings() -> str:
    streams = ((name, getattr(sys, name)) for name in ("stdin", "stdout", "stderr"))
    tty = ", ".join(f"{name} {_stream(stream)}" for name, stream in streams)
    here = f"locale {locale.setlocale(locale.LC_CTYPE)}, {locale.getpreferredencoding(do_setlocale=False)}"
    return f"{here}; names {sys.getfilesystemencoding()}; {tty}"


def _stream(stream: object) -> str:
    if stream is None:
        return "closed"
    is_tty = bool(getattr(stream, "isatty", bool)())
    return f"{getattr(stream, 'encoding', '?')}{' (terminal)' if is_tty else ''}"


def _node() -> str:
    node = shutil.which("node")
    if node is None:
        return "not found"
    ended = subprocess.run(
        [node, "--version"], capture_output=True, text=True, timeout=_NODE_S, stdin=subprocess.DEVNULL, check=False
    )
    return f"{ended.stdout.strip()[:40] or '?'}, {node}"


def _servers(environ: Mapping[str, str]) -> Iterator[str]:
    """Give the releases of the memory server in the npx cache, each with the name of its folder there."""
    default = os.path.join(environ.get("LOCALAPPDATA", ""), "npm-cache") if os.name == "nt" else "~/.npm"
    cache = os.path.join(os.path.expanduser(environ.get("npm_config_cache") or default), "_npx")
    for path in sorted(glob.glob(os.path.join(glob.escape(cache), "*", _PACKAGE))):
        with open(path, encoding="utf-8") as f:
            yield f"{json.load(f)['version']} in {os.path.relpath(path, cache).replace(os.sep, '/').partition('/')[0]}"
