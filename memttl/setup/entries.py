"""The servers of one config: values of any shape into entries whose words are all text.

`discover.py` calls it for each config that could be read. What has another shape than a client's is no entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from memttl.setup.clients import Client
from memttl.setup.found import Machine
from memttl.setup.variables import filled


class Entry(NamedTuple):
    """One server of a config: the way to it, and what it starts, with the values of variables put in.

    `folder` is where it is started, None where the config does not say.
    """

    keys: tuple[str, ...]
    project: Path | None
    words: tuple[str, ...]
    env: dict[str, str]
    env_file: str
    folder: Path | None
    idle: str


def entries(
    client: Client, values: dict[str, Any], keys: tuple[str, ...], machine: Machine, project: Path | None
) -> Iterator[Entry]:
    """Yield the servers that stand under `keys`; with Claude Code also those of its projects."""
    tables = [(keys, project)]
    if client.title == "Claude Code" and project is None:
        tables += [(("projects", folder, *client.keys), Path(folder)) for folder in projects_of(values)]
    for way, folder in tables:
        for name, value in table_at(values, way).items():
            entry = _entry(client, (*way, name), value, machine, folder)
            if entry is not None:
                yield entry


def projects_of(values: dict[str, Any]) -> list[str]:
    """Give the folders in which Claude Code has been used."""
    return [folder for folder, inside in table_at(values, ("projects",)).items() if isinstance(inside, dict)]


def table_at(values: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """Give the table under `keys`, an empty one where there is none."""
    found: Any = values
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _entry(client: Client, keys: tuple[str, ...], value: Any, machine: Machine, project: Path | None) -> Entry | None:
    if not isinstance(value, dict):
        return None

    def fill(text: str) -> str:
        return filled(text, client.styles, machine, project)

    command = value.get("command")
    inner = command if isinstance(command, dict) else value  # an old form of Zed: {"command": {"path", "args", "env"}}
    words = _words(inner.get("path") if inner is command else command, inner.get("args"), machine)
    if not words:
        return None
    env = inner.get("env")
    env_file, folder = value.get("envFile"), value.get("cwd")
    return Entry(
        keys=keys,
        project=project,
        words=tuple(fill(word) for word in words),
        env={key: fill(str(text)) for key, text in env.items() if _is_plain(text)} if isinstance(env, dict) else {},
        env_file=fill(env_file) if isinstance(env_file, str) else "",
        folder=Path(fill(folder)) if isinstance(folder, str) and folder else project,
        idle=_idle(value),
    )


def _words(command: Any, args: Any, machine: Machine) -> list[str]:
    parts = command if isinstance(command, list) else [command]
    words = [word for word in [*parts, *(args if isinstance(args, list) else [])] if isinstance(word, str)]
    if len(words) == 1 and " " in words[0]:  # one text for all: "npx -y @modelcontextprotocol/server-memory"
        return split(words[0], machine)
    return words if parts and isinstance(parts[0], str) else []


def split(text: str, machine: Machine) -> list[str]:
    """Split a command line into words; one that cannot be split is one word."""
    import shlex  # here: few configs hold one

    try:
        if machine.system == "windows":  # its shells read no backslash
            return [word.strip('"') for word in shlex.split(text, posix=False)]
        return shlex.split(text)
    except ValueError:
        return [text]


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def _idle(value: dict[str, Any]) -> str:
    if value.get("disabled") is True or value.get("enabled") is False:
        return "it is disabled in the config"
    return ""
