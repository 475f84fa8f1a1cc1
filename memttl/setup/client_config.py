"""What to write into a client's config so that its server uses another memory file: the smallest piece, ready to paste.

`memttl move` prints it. The config itself is never written: it is the client's, and may hold comments.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from memttl.core.toml_text import toml, toml_key
from memttl.setup.clients import CLIENTS
from memttl.setup.configs import read_config
from memttl.setup.entries import entries, split, table_at
from memttl.setup.found import Machine, Pointer
from memttl.setup.launches import Launch, launch_of
from memttl.setup.packages import value_at

_SERVE = re.compile(r"\bmemttl\S* serve\b")
_FILE = re.compile(r"""(\bmemttl\S* serve\b.*?\s(?:--file[= ]|-f ?))("[^"]*"|'[^']*'|\S+)""")
_NO_MACHINE = Machine("linux", Path(), Path(), {})


class Change(NamedTuple):
    """What to write into a client's config; all "" where the entry is no longer there.

    `snippet` is the piece of it, JSON, or TOML where the config is that. `place` is the way to the one value that has
    to change, and `value` that value as it is written there: both "" where more than one changes, or one is not there
    yet.
    """

    snippet: str = ""
    place: str = ""
    value: str = ""


def change_of(pointer: Pointer, path: Path) -> Change:
    """Give the piece of the config that `pointer` names, with the memory file at `path` and all else as it is."""
    values = read_config(pointer.config).values or {}
    entry = table_at(values, pointer.keys)
    launch = _launch(pointer, values)
    if not entry or launch is None:
        return Change()
    changed = _changed(entry, launch, str(path))
    snippet, is_toml = snippet_of(pointer.config, pointer.keys, changed), pointer.config.suffix == ".toml"
    changes = list(_differences(entry, changed, pointer.keys))
    if len(changes) != 1 or changes[0] is None:
        return Change(snippet)
    keys, value = changes[0]
    return Change(snippet, " > ".join(keys), _value(value) if is_toml else json.dumps(value, ensure_ascii=False))


def snippet_of(config: Path | None, keys: tuple[str, ...], entry: dict[str, Any]) -> str:
    """Write an entry with the way to it as a config of that name has it: TOML by its ending, else JSON."""
    return _toml(keys, entry) if config and config.suffix == ".toml" else _json(keys, entry)


def _differences(before: Any, after: Any, keys: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any] | None]:
    """Give each value that is another one, with the way to it; None for what only one of the two has."""
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            if key in before and key in after:
                yield from _differences(before[key], after[key], (*keys, str(key)))
            else:
                yield None
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True), 1):
            yield from _differences(old, new, (*keys, f"item {number}"))
    else:
        yield None if isinstance(before, (dict, list)) else (keys, after)


def _launch(pointer: Pointer, values: dict[str, Any]) -> Launch | None:
    client = next((c for c in CLIENTS if c.title == pointer.client), None)
    if client is None:
        return None
    # the words are wanted as they stand in the config, so that no variable is put in
    found = entries(client._replace(styles=()), values, pointer.keys[:-1], _NO_MACHINE, pointer.project)
    return next((launch_of(entry, _NO_MACHINE) for entry in found if entry.keys[-1] == pointer.keys[-1]), None)


def _changed(entry: dict[str, Any], launch: Launch, path: str) -> dict[str, Any]:
    """Give an entry with another path, its other keys in their order."""
    inner = entry["command"] if isinstance(entry.get("command"), dict) else entry  # an old form of Zed
    inner = _in_words(inner)
    args = _texts(inner.get("args"))
    names = launch.package.variables or ("MEMORY_FILE_PATH",)
    name = next((name for name in names if launch.env.get(name)), names[0])
    if launch.how == "container":
        new = {**inner, "args": _with_mount(args, launch, path)}
    elif launch.package.argument and not (launch.how == "memttl" and _is_by_variable(launch)):
        new = {**inner, "args": _with_argument(args, launch, path)}
    elif any(f"{name}=" in word for word in args):  # `env NAME=…`, or a shell's script
        new = {**inner, "args": [_assigned(word, name, path) for word in args]}
    else:
        env = inner.get("env")
        new = {**inner, "env": {**(env if isinstance(env, dict) else {}), name: path}}
    return {**entry, "command": new} if isinstance(entry.get("command"), dict) else new


def _in_words(inner: dict[str, Any]) -> dict[str, Any]:
    """Give an entry whose command holds all words in one text, or in a list, as command and arguments."""
    command = inner.get("command")
    if isinstance(command, str) and " " in command and not inner.get("args"):
        command = split(command, _NO_MACHINE)
    if not isinstance(command, list) or not command:
        return inner
    return {**inner, "command": command[0], "args": [*command[1:], *_texts(inner.get("args"))]}


def _assigned(word: str, name: str, path: str) -> str:
    if word.startswith(f"{name}="):
        return f"{name}={path}"
    value = f"{name}={shlex.quote(path)}"
    return re.sub(rf"""\b{name}=("[^"]*"|'[^']*'|\S*)""", lambda _: value, word)


def _texts(args: Any) -> list[str]:
    return [str(word) for word in args] if isinstance(args, list) else []


def _is_by_variable(launch: Launch) -> bool:
    """Say whether a variable alone names the file."""
    return value_at(launch.package, launch.arguments) is None and any(
        launch.env.get(name) for name in launch.package.variables
    )


def _with_argument(args: list[str], launch: Launch, path: str) -> list[str]:
    # of memttl only what stands behind `serve` is its own: `-f` is also an option of other programs
    own = len(args) - len(launch.arguments) if launch.how == "memttl" else 0
    if own < 0 or (own and tuple(args[own:]) != launch.arguments):
        return [_in_script(word, path) for word in args]
    head, tail = args[:own], args[own:]
    found = value_at(launch.package, tail)
    if found is None:
        return [*args, launch.package.argument, path]
    at, start, _ = found
    return [*head, *tail[:at], start + path, *tail[at + 1 :]]


def _in_script(word: str, path: str) -> str:
    """Put the path into the `memttl serve` of a shell's script, which is one word."""
    if not _SERVE.search(word):
        return word
    value = shlex.quote(path)
    changed, count = _FILE.subn(lambda found: f"{found[1]}{value}", word, count=1)
    return changed if count else _SERVE.sub(lambda found: f"{found[0]} --file {value}", word, count=1)


def _with_mount(args: list[str], launch: Launch, path: str) -> list[str]:
    """Mount the folder of the new file as /memory, and name the file in there; the other mounts stay."""
    place = args.index(launch.target) if launch.target in args else len(args)
    folder, name = path.replace("\\", "/").rpartition("/")[::2]
    kept = _without_variable(args[:place])
    return [*kept, "-v", f"{folder}:/memory", "-e", f"MEMORY_FILE_PATH=/memory/{name}", *args[place:]]


def _without_variable(args: list[str]) -> list[str]:
    kept: list[str] = []
    for word in args:
        is_value = bool(kept) and kept[-1] in ("-e", "--env") and word.partition("=")[0] == "MEMORY_FILE_PATH"
        if is_value:
            kept.pop()
        elif not word.startswith(("-eMEMORY_FILE_PATH", "--env=MEMORY_FILE_PATH")):
            kept.append(word)
    return kept


def _json(keys: tuple[str, ...], entry: dict[str, Any]) -> str:
    nested: Any = entry
    for key in reversed(keys):
        nested = {key: nested}
    return json.dumps(nested, indent=2, ensure_ascii=False) + "\n"


def _toml(keys: tuple[str, ...], entry: dict[str, Any]) -> str:
    tables = {name: value for name, value in entry.items() if isinstance(value, dict)}
    lines = [f"[{_dotted(keys)}]"]
    lines += [f"{toml_key(name)} = {_value(value)}" for name, value in entry.items() if name not in tables]
    for name, table in tables.items():
        lines += ["", f"[{_dotted((*keys, name))}]"]
        lines += [f"{toml_key(inner)} = {_value(value)}" for inner, value in table.items()]
    return "\n".join(lines) + "\n"


def _dotted(keys: tuple[str, ...]) -> str:
    return ".".join(map(toml_key, keys))


def _value(value: Any) -> str:
    """Write a value of TOML, also a table inside a list."""
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{toml_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    return toml(value)
