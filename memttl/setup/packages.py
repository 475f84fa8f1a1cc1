"""The memory servers as a table: the official package, its forks and `memttl serve`, and where each keeps its file.

`launches.py` recognises them in what a config starts; `paths.py` works out the file. A new fork is a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from memttl.setup.found import OWN

SERVER = "@modelcontextprotocol/server-memory"


class Package(NamedTuple):
    """One server: npm packages and commands by which it is known, and the folders that its `index.js` lies in.

    `argument` and `variables` name its file, the argument first. A relative path counts from `base`: the folder of the
    server's own code, or where it is started. `default` is where the file lies when nothing names it.
    """

    names: tuple[str, ...]
    commands: tuple[str, ...]
    folders: tuple[str, ...]
    argument: str = ""
    variables: tuple[str, ...] = ("MEMORY_FILE_PATH",)
    base: Literal["dist", "cwd"] = "dist"
    default: str = "{dist}/memory.jsonl"
    takes_folder: bool = False  # the argument may name a folder, in which the file is memory.jsonl
    is_original: bool = False
    short: str = ""  # the argument in one letter


PACKAGES = (
    Package(
        (SERVER,),
        ("mcp-server-memory",),
        ("server-memory", "src/memory"),  # src/memory: a clone of modelcontextprotocol/servers
        is_original=True,
    ),
    # reads the variable as well [its index.ts]; what is relative counts from where it is started
    Package(
        ("@itseasy21/mcp-knowledge-graph", "mcp-knowledge-graph-improved", "@jakkaj/mcp-knowledge-graph-improved"),
        ("mcp-knowledge-graph-improved",),
        ("mcp-knowledge-graph-improved",),
        argument="--memory-path",
        base="cwd",
    ),
    Package(
        ("mcp-knowledge-graph", "@shaneholloman/mcp-knowledge-graph"),
        ("mcp-knowledge-graph",),
        ("mcp-knowledge-graph",),
        argument="--memory-path",
        variables=(),
        base="cwd",
        takes_folder=True,
    ),
    Package(
        ("mcp-think-tank",),
        ("mcp-think-tank",),
        ("mcp-think-tank",),
        argument="--memory-path",
        variables=("MEMORY_PATH",),
        base="cwd",
        default="{home}/.mcp-think-tank/memory.jsonl",
    ),
)

# the words that start it instead of an npm package: it is none, and has no folder of its own to keep a file in
MEMTTL = Package((OWN,), (), (), "--file", ("MEMTTL_FILE", "MEMORY_FILE_PATH"), base="cwd", default="", short="-f")


def value_at(package: Package, words: Sequence[str]) -> tuple[int, str, str] | None:
    """Give the place of the word that names the file, what stands before the path in it, and the path.

    The place is behind the last word, and the path "", where the argument is the last word. None: it is not among them.
    """
    for at, word in enumerate(words):
        if word in (package.argument, package.short):
            return at + 1, "", words[at + 1] if at + 1 < len(words) else ""
        starts = (f"{package.argument}=", *((package.short,) if package.short else ()))
        start = next((start for start in starts if word.startswith(start)), None)
        if start is not None:
            return at, start, word.removeprefix(start)
    return None


def package_named(name: str) -> Package | None:
    """Give the server of an npm package."""
    return next((p for p in PACKAGES if name in p.names), None)


def package_of_command(name: str) -> Package | None:
    """Give the server of a command, without its folder and ending."""
    return next((p for p in PACKAGES if name in p.commands), None)


def package_of_script(path: str) -> Package | None:
    """Give the server whose code lies at a path, with / between folders."""
    folder = path.rpartition("/")[0].removesuffix("/dist").removesuffix("/build")
    return next((p for p in PACKAGES if any(f"/{folder}".endswith(f"/{f}") for f in p.folders)), None)
