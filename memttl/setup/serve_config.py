"""What to write into a client's config so that it starts `memttl serve` on a memory file: the piece, and where it goes.

`memttl serve --print-config` prints it. The config itself is never written: it is the client's, and may hold comments.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memttl.core.near import refuse_unknown_word
from memttl.errors import UsageError
from memttl.setup.client_config import snippet_of
from memttl.setup.clients import CLIENTS, Client
from memttl.setup.configs import Config, read_config
from memttl.setup.discover import pointers_to, user_configs
from memttl.setup.entries import table_at
from memttl.setup.found import OWN, Discovery, Found, Machine, Pointer
from memttl.setup.here import Here
from memttl.setup.mcp_extra import extra_command, extra_problem
from memttl.setup.packages import MEMTTL, PACKAGES, SERVER
from memttl.setup.serve_place import place_words
from memttl.setup.variables import left_in

WORDS = tuple(client.word for client in CLIENTS)
_NAME = "memory"  # as the memory server's own page names its entry: what a client allows of its tools goes on
_FILE_VARIABLES = {name for package in (*PACKAGES, MEMTTL) for name in package.variables}


class ServeConfig(NamedTuple):
    """The piece of a client's config, and what to say beside it.

    `config` is the file that it goes into, `keys` the way to the entry in it. `commands` are those of the client that
    do the same, to be run in `folder` ("" for anywhere). `replaces`: an entry of this name is there and is replaced;
    `before` is the memory file that it names, "" for this same one. `others` are the client's other entries on this
    file, each with its config; `project` is the config in a project that would take the piece as well, "" for none.
    """

    client: str
    config: str
    keys: tuple[str, ...]
    snippet: str
    commands: tuple[str, ...] = ()
    folder: str = ""
    replaces: str = ""
    before: str = ""
    others: tuple[tuple[str, str], ...] = ()
    project: str = ""
    is_new_file: bool = False
    warnings: tuple[str, ...] = ()


def client_of(word: str) -> Client:
    """Give the client of a word of the command line: `cursor`, `claude-code`.

    Raises:
        UsageError: there is none; it names a near one, and all.
    """
    name = word.strip().lower().replace(" ", "-")
    titles = {client.title.lower().replace(" ", "-"): client.word for client in CLIENTS}
    name = titles.get(name, name)
    refuse_unknown_word("--print-config", name if name in WORDS else word, WORDS)
    return next(client for client in CLIENTS if client.word == name)


def config_for(
    client: Client,
    memory: str,
    discovery: Discovery,
    machine: Machine,
    here: Here,
    *,
    policy: str | None = None,
    options: Sequence[str] = (),
) -> ServeConfig:
    """Give the piece that starts this very memttl as the client's memory server on the file `memory`.

    `options` are further words of the command line of `memttl serve`. Neither the file nor the extra need be there.

    Raises:
        UsageError: a path cannot be written into a config.
    """
    words = _words(os.path.abspath(memory), here, policy, options)
    _refuse_unwritable((*words, *(value for _, value in here.environment)))
    own = [(found, p) for found in discovery.found for p in found.pointers if p.client == client.title]
    on_it = [p for p in pointers_to(discovery, Path(memory)) if p.client == client.title]
    chosen = _replaced(on_it, [p for _, p in own])
    if chosen is None:
        place, config, keys, entry = _new_place(client, machine, words, here)
    else:
        place, config, keys = chosen.config, read_config(chosen.config), chosen.keys
        entry = _served(table_at(config.values or {}, keys), words, here)
    return ServeConfig(
        client=client.title,
        config=str(place or ""),
        keys=keys,
        snippet=snippet_of(place, keys, entry),
        commands=_commands(client, keys, chosen, entry, here),
        folder=str(chosen.project) if chosen and chosen.project else "",
        replaces=keys[-1] if chosen else "",
        before="" if chosen is None or chosen in on_it else _named(own, chosen),
        others=tuple((p.keys[-1], str(p.config)) for p in on_it if p != chosen and not p.idle),
        project=client.project[0][0] if client.project and chosen is None and client.project[0][1] == keys[:-1] else "",
        is_new_file=not config.is_there,
        warnings=(
            *place_words(memory, machine),
            *_warnings(client, chosen, place, config, words, here),
        ),
    )


def _words(memory: str, here: Here, policy: str | None, options: Sequence[str]) -> list[str]:
    python, *rest = here.program
    if python.endswith("pythonw.exe"):  # it has no standard output, over which the client and the server speak
        python = python.removesuffix("pythonw.exe") + "python.exe"
    policy = policy or here.environ.get("MEMTTL_POLICY")  # the client's environment is not this shell's
    named = ["--policy", os.path.abspath(os.path.expanduser(policy))] if policy else []
    return [python, *rest, "serve", "--file", memory, *named, *options]


def _refuse_unwritable(texts: Sequence[str]) -> None:
    for text in texts:
        is_text = text.encode("utf-8", "replace").decode() == text
        if not is_text or any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
            raise UsageError(
                f"{text!r} holds a control character or is no UTF-8, so that no config can name it; nothing was done.",
                hint="Rename it.",
            )


def _replaced(on_it: list[Pointer], own: list[Pointer]) -> Pointer | None:
    """Give the entry that the piece replaces: of a known server on this file, else the user's only memory server."""
    known = sorted((p for p in on_it if p.server), key=lambda p: (bool(p.idle), p.is_of_project))
    if known:
        return known[0]
    used = [p for p in own if p.server in (SERVER, OWN) and p.project is None and not p.idle]
    return used[0] if len(used) == 1 else None


def _named(own: list[tuple[Found, Pointer]], chosen: Pointer) -> str:
    found = next(found for found, pointer in own if pointer == chosen)
    return str(found.path) if found.path else found.text or "a place that the config does not say"


def _new_place(
    client: Client, machine: Machine, words: list[str], here: Here
) -> tuple[Path | None, Config, tuple[str, ...], dict[str, Any]]:
    """Give where a new entry goes, under a name that is free there, and the entry."""
    places = list(user_configs(client, machine))
    there = (*filter(os.path.exists, places), *(p for p in places if os.path.exists(p.parent)), *places)
    place = next(iter(there), None)
    config = read_config(place) if place else Config(is_there=False)
    taken = table_at(config.values or {}, client.keys)
    names = (_NAME, "memttl", *(f"memttl-{number}" for number in range(2, len(taken) + 3)))
    name = next(name for name in names if name not in taken)
    also = {key: list(value) if isinstance(value, tuple) else value for key, value in client.also}
    return place, config, (*client.keys, name), {**also, **_served({}, words, here)}


def _served(entry: dict[str, Any], words: list[str], here: Here) -> dict[str, Any]:
    """Give an entry that starts `words`; its other keys and variables stay, but for those that name a memory file."""
    old = entry.get("command")
    inner = old if isinstance(old, dict) else entry  # an old form of Zed
    env = inner.get("env")
    kept = {k: v for k, v in env.items() if k not in _FILE_VARIABLES} if isinstance(env, dict) else {}
    variables = {**kept, **dict(here.environment)}
    new = {**inner, "path" if inner is old else "command": words[0], "args": words[1:], "env": variables}
    if not variables:
        del new["env"]
    return {**entry, "command": new} if inner is old else new


def _commands(
    client: Client, keys: tuple[str, ...], chosen: Pointer | None, entry: dict[str, Any], here: Here
) -> tuple[str, ...]:
    """Give the commands of Claude Code, which writes its config by itself."""
    if client.word != "claude":
        return ()
    scope = "user" if chosen is None or chosen.project is None else "project" if chosen.is_of_project else "local"
    variables = [word for name, value in entry.get("env", {}).items() for word in ("-e", f"{name}={value}")]
    # `-e` takes all words up to the next option, so that the name must not follow it
    add = ["claude", "mcp", "add", *variables, "--scope", scope, keys[-1], "--", entry["command"], *entry["args"]]
    remove = ["claude", "mcp", "remove", "--scope", scope, keys[-1]]
    join = subprocess.list2cmdline if here.platform == "win32" else shlex.join
    return tuple(join(words) for words in ((remove,) if chosen else ()) + (add,))


def _warnings(
    client: Client, chosen: Pointer | None, place: Path | None, config: Config, words: list[str], here: Here
) -> list[str]:
    found = []
    if config.is_there and config.values is None:
        found.append(f"the config {place} could not be read ({config.problem}): look there for an entry to be replaced")
    if chosen and chosen.idle:
        found.append(f'{client.title} does not start "{chosen.keys[-1]}": {chosen.idle}')
    if here.passing:
        found.append(
            f"this memttl lies in a cache ({here.passing}), which may be emptied at any time, and then the server does "
            "not start: install it for good (with `pipx install` or `uv tool install`), and print the config with that"
        )
    elif here.checkout:
        found.append(
            f"this memttl lies in a source tree ({here.checkout}): the server does not start once that is moved or "
            "removed, and `pipx install '.[mcp]'` or `uv tool install '.[mcp]'` there makes one that stays"
        )
    filled = next((left_in(word) for word in words if client.styles and left_in(word)), "")
    if filled:
        found.append(f"{client.title} may put something else in for {filled}: rename what has it in its path")
    problem = extra_problem()
    if problem:
        found.append(f"{problem}: {extra_command()}")
    return found
