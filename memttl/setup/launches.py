"""What an entry of a config starts: its words into the memory server and how it is run, or None for another server.

`discover.py` calls it for each entry. Wrappers (cmd /c, a shell, env, proxies) are taken off one by one.
"""

from __future__ import annotations

import re
from itertools import dropwhile
from typing import Literal, NamedTuple

from memttl.setup.containers import Mount, container_of
from memttl.setup.entries import Entry, split
from memttl.setup.found import Machine
from memttl.setup.packages import (
    MEMTTL,
    PACKAGES,
    Package,
    package_named,
    package_of_command,
    package_of_script,
)

How = Literal["npx", "other runner", "script", "command", "container", "memttl", "unknown"]
# what reads MEMORY_FILE_PATH and is none of the table is a server of somebody's own
UNKNOWN = Package((), (), (), base="cwd", default="")
_ENDINGS = (".exe", ".cmd", ".bat", ".ps1")
_SHELLS = ("sh", "bash", "zsh", "dash", "fish", "ksh")
_POWERSHELLS = ("powershell", "pwsh")
_NPX_WITH_VALUE = ("--registry", "--cache", "--userconfig", "--prefix", "--loglevel", "-w", "--workspace", "--node-arg")
_NODE_WITH_VALUE = ("-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions")
_SCRIPT_RUNNERS = ("node", "nodejs", "bun", "tsx", "ts-node", "deno")
# runner -> the words behind it that mean "run this package"
_PACKAGE_RUNNERS = {"bunx": (), "bun": ("x",), "pnpx": (), "pnpm": ("dlx",), "yarn": ("dlx",)}
_CONTAINERS = ("docker", "podman", "nerdctl")
_ASSIGNMENT = re.compile(r"(?:\$env:)?([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_ENDS_OF_COMMAND = ("&&", "||", ";", "|", "&")
_SPEC = re.compile(r"(@[^/@\s]+/[^/@\s]+|[^/@\s]+)(?:@(.+))?")
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*w?|py")
_PYTHON_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")
# as a command, or as uvx and pipx take it: memttl, memttl[mcp], memttl==1.2, memttl@1.2
_MEMTTL = re.compile(r"memttl(?:\[[\w, -]*\])?(?:(?:==|@)\s*([\w.+-]+)|[<>=~!]\S*)?")
_CODE = (".js", ".mjs", ".cjs", ".ts")
_WORDS = 500  # a longer command line is none that somebody wrote
_WRAPPERS = 6  # more of them, one in another, nobody writes


class Launch(NamedTuple):
    """How a memory server is started. `target` is what is run: an npm spec, a script, a command or an image.

    `specs` are the npm specs from which npx names its cache; `mounts` what a container sees of the host; `env` what the
    server gets (in a container: what is given into it).
    """

    package: Package
    how: How
    target: str
    version: str | None
    arguments: tuple[str, ...]
    env: dict[str, str]
    specs: tuple[str, ...] = ()
    cache: str = ""
    mounts: tuple[Mount, ...] = ()
    env_files: tuple[str, ...] = ()

    @property
    def server(self) -> str:
        """What is started, by name; "" where that is not known before its package.json is read."""
        package = package_of_script(self.target.replace("\\", "/")) if self.how == "script" else self.package
        return package.names[0] if package and package.names else ""


def launch_of(entry: Entry, machine: Machine) -> Launch | None:
    """Give what memory server an entry starts, None where it starts none that is known."""
    found = _launch(list(entry.words[:_WORDS]), dict(entry.env), machine, _WRAPPERS)
    if found is None and entry.env.get("MEMORY_FILE_PATH"):
        return Launch(UNKNOWN, "unknown", entry.words[0], None, entry.words[1:], entry.env)
    if found is not None and found.how == "memttl":  # `uvx --from memttl==1.2 memttl serve`
        asked = (match[1] for word in entry.words if (match := _MEMTTL.fullmatch(word)) and match[1])
        return found._replace(version=next(asked, None))
    return found


def _launch(words: list[str], env: dict[str, str], machine: Machine, depth: int) -> Launch | None:
    while words and (found := _ASSIGNMENT.fullmatch(words[0])):
        env = {**env, found[1]: found[2]}
        words = words[1:]
    if not words or depth == 0:
        return None
    name, rest = command_name(words[0]), words[1:]
    serve = _behind_serve(words)
    if serve is not None:
        return Launch(MEMTTL, "memttl", words[0], None, tuple(words[serve:]), env)
    if name in ("npx", "npm"):
        return _npx(rest if name == "npx" else _behind(rest, ("exec", "x")), env)
    if name in _PACKAGE_RUNNERS and rest[: len(_PACKAGE_RUNNERS[name])] == list(_PACKAGE_RUNNERS[name]):
        return _other_runner(rest[len(_PACKAGE_RUNNERS[name]) :], env)
    if name in _SCRIPT_RUNNERS:
        return _script(rest, env)
    if name in _CONTAINERS:
        return _container(rest, env)
    package = package_of_command(name)
    if package:
        return Launch(package, "command", words[0], None, tuple(rest), env)
    return next(
        (f for inner in _unwrapped(name, rest, machine) if (f := _launch(inner, env, machine, depth - 1))), None
    )


def command_name(word: str) -> str:
    """Give the name of a command without its folder and ending, in lower case: `npx` of `C:\\nodejs\\npx.cmd`."""
    name = word.replace("\\", "/").rpartition("/")[2].lower()
    return next((name.removesuffix(ending) for ending in _ENDINGS if name.endswith(ending)), name)


def _behind_serve(words: list[str]) -> int | None:
    """Give the place behind `memttl serve`, `python -m memttl serve` …; None where the words start something else."""
    name = command_name(words[0])
    at = 1 if _MEMTTL.fullmatch(name) else _behind_module(words) if _PYTHON.fullmatch(name) else None
    return at + 1 if at is not None and words[at : at + 1] == ["serve"] else None


def _behind_module(words: list[str]) -> int | None:
    """Give the place behind `-m memttl` among the words of a Python, or behind the script of that name."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        word = words[at]
        if word.startswith("--") or word[1:2] in ("W", "X"):
            at += 2 if word in _PYTHON_WITH_VALUE else 1
        elif "m" in word:  # also with others: -Pm, -Immemttl
            module = word.partition("m")[2] or "".join(words[at + 1 : at + 2])
            return (at + 1 if word.partition("m")[2] else at + 2) if module == "memttl" else None
        else:
            at += 1
    is_script = at < len(words) and command_name(words[at]) == "memttl"
    return at + 1 if is_script else None


def _behind(words: list[str], subcommands: tuple[str, ...]) -> list[str]:
    place = next((i for i, word in enumerate(words) if word in subcommands), None)
    return [] if place is None else words[place + 1 :]


def _npx(words: list[str], env: dict[str, str]) -> Launch | None:
    packages: list[str] = []
    cache, at = "", 0
    while at < len(words) and words[at].startswith("-"):
        option, has_value, value = words[at].partition("=")
        takes = option in ("-p", "--package", "-c", "--call", *_NPX_WITH_VALUE)
        if takes and not has_value:
            at += 1
            value = words[at] if at < len(words) else ""
        if option in ("-p", "--package"):
            packages.append(value)
        elif option == "--cache":
            cache = value
        elif option in ("-c", "--call"):
            words = [*words[: at + 1], *value.split()]
        at += 1
        if option == "--":
            break
    rest = words[at:]
    if not packages and not rest:
        return None
    specs = packages or rest[:1]
    for spec in specs:
        package, version = _named(spec)
        if package:
            arguments = tuple(word for word in rest[1:] if word != "--")
            return Launch(package, "npx", spec, version, arguments, env, specs=tuple(specs), cache=cache)
    return None


def _named(spec: str) -> tuple[Package | None, str | None]:
    found = _SPEC.fullmatch(spec.removeprefix("npm:"))
    return (package_named(found[1]), found[2]) if found else (None, None)


def _other_runner(words: list[str], env: dict[str, str]) -> Launch | None:
    for at, word in enumerate(words):
        package, version = _named(word.removeprefix("--package="))
        if package:
            return Launch(package, "other runner", word, version, tuple(words[at + 1 :]), env)
    return None


def _script(words: list[str], env: dict[str, str]) -> Launch | None:
    at = 0
    while at < len(words) and (words[at].startswith("-") or words[at] == "run"):
        at += 2 if words[at] in _NODE_WITH_VALUE else 1
    if at >= len(words):
        return None
    target, arguments = words[at], tuple(words[at + 1 :])
    package, version = _named(target) if target.startswith("npm:") else (None, None)
    if package:
        return Launch(package, "other runner", target, version, arguments, env)
    package = package_of_script(target.replace("\\", "/"))
    # a copy under another folder's name is known by its package.json, which `paths.py` reads
    return Launch(package or PACKAGES[0], "script", target, None, arguments, env) if target.endswith(_CODE) else None


def _container(words: list[str], env: dict[str, str]) -> Launch | None:
    found = container_of(words, env)
    if found is None:
        return None
    return Launch(
        PACKAGES[0], "container", found.image, found.version, found.arguments, found.env, mounts=found.mounts,
        env_files=found.env_files,
    )  # fmt: skip


def _unwrapped(name: str, words: list[str], machine: Machine) -> list[list[str]]:
    """Give the command lines that may stand inside of a wrapper, each to be tried."""
    if name == "cmd":
        inner = _behind([word.lower() if word[:1] == "/" else word for word in words], ("/c", "/k"))
        return [split(inner[0], machine) if len(inner) == 1 else inner]
    if name in _SHELLS or name in _POWERSHELLS:
        options = ("-command", "-c") if name in _POWERSHELLS else ()
        at = next((i for i, w in enumerate(words) if w.lower() in options or _is_shell_c(w)), None)
        return [] if at is None else _commands_of(words[at + 1 :], machine)
    if name == "env":
        return [list(dropwhile(lambda word: word.startswith("-"), words))]
    found = [words[words.index("--") + 1 :]] if "--" in words else []
    known = ("npx", "npm", *_PACKAGE_RUNNERS, *_SCRIPT_RUNNERS, *_CONTAINERS, *_SHELLS, "cmd")
    for at, word in enumerate(words):
        if " " in word and "memory" in word:  # a proxy that takes the whole command as one word
            found.append(split(word, machine))
        elif command_name(word) in known or package_of_command(command_name(word)) or _behind_serve(words[at:]):
            found.append(words[at:])
    return found


def _is_shell_c(word: str) -> bool:
    return len(word) > 1 and word[0] == "-" and word[1:].isalpha() and word.endswith("c") and len(word) < 5


def _commands_of(words: list[str], machine: Machine) -> list[list[str]]:
    """Give the commands of a shell's script, with the variables that are set before them."""
    script = split(words[0], machine) if len(words) == 1 else words
    commands: list[list[str]] = [[]]
    for word in script:
        if word in _ENDS_OF_COMMAND or word.endswith(";"):
            commands[-1] += [word.rstrip(";")] if word.rstrip(";") and word not in _ENDS_OF_COMMAND else []
            commands.append([])
        elif word not in ("exec", "export", "set"):
            commands[-1].append(word)
    assigned = [w for command in commands if all(_ASSIGNMENT.fullmatch(w) for w in command) for w in command]
    return [[*assigned, *command] for command in commands]
