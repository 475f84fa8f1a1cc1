"""A command line that is being typed, into what may stand at its end: commands, options, names, tiers, runs, words.

`cli.py` calls it when a shell asks (`_MEMTTL_COMPLETE`). It reads and never writes, and whatever goes wrong ends in no
suggestion: nobody who presses the tab key wants to read an error.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from memttl.commands.completion_words import LAYOUTS, Candidate, Typed, typed_of
from memttl.commands.printing import put

if TYPE_CHECKING:  # imported in the functions: to complete the name of a command must not wait for them
    from memttl.settings import Given

ASKS = "_MEMTTL_COMPLETE"
_FILES = frozenset({"PATH", "FILE"})
_DURATIONS = ("7d", "30d", "90d", "6mo", "1y")


class Place(NamedTuple):
    """Where the cursor stands: in `command`, at a value of `parameter` (None: at a name), with `prefix` before it.

    `given` holds the words that were given so far, by the name of their parameter; `is_open` is true where a word that
    begins with a dash is no option any more.
    """

    command: Any
    parameter: Any
    text: str
    prefix: str
    given: Mapping[str, Sequence[str]]
    is_open: bool


def complete(group: Any, environ: Mapping[str, str], words: Sequence[str]) -> int:
    """Print what may stand at the end of the command line that a shell tells of; `group` is the whole app."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
        try:
            shell = environ[ASKS].removeprefix("complete_")
            typed = typed_of(shell, words, environ)
            put(_answer(place_of(group, typed), typed, group, environ, shell))
        except Exception:  # see above; a shell shows nothing then
            return 1
    return 0


def _answer(place: Place, typed: Typed, group: Any, environ: Mapping[str, str], shell: str) -> str:
    """Give the first line, `files` or `words`, and a line for each candidate as the shell's script reads it."""
    if place.parameter is not None and _key(place.parameter) in _FILES:
        return "files\n"
    found = sorted({c for c in _candidates(place, group, environ) if c.value and c.value.startswith(place.text)})
    lines = (LAYOUTS[shell](candidate, place.prefix, typed) for candidate in found)
    return "".join(f"{line}\n" for line in ("words", *lines) if line)


def place_of(group: Any, typed: Typed) -> Place:
    """Follow the words through the app, as its parser would, to where the cursor stands."""
    command, given, waiting, is_open = group, dict[str, list[str]](), None, False
    for word in typed.words:
        if waiting is not None:
            given.setdefault(waiting.name, []).append(word)
            waiting = None
        elif word == "--" and not is_open:
            is_open = True
        elif _is_option(word) and not is_open:
            waiting = _take_option(command, word, given)
        elif word in getattr(command, "commands", {}):
            command, given = command.commands[word], {}
        else:
            argument = _next_argument(command, given)
            given.setdefault(argument.name if argument else "", []).append(word)
    return _at_cursor(command, given, waiting, typed.text, is_open=is_open)


def _at_cursor(command: Any, given: dict[str, list[str]], waiting: Any, text: str, *, is_open: bool) -> Place:
    if waiting is not None:
        return Place(command, waiting, text, "", given, True)
    name, equals, value = text.partition("=")
    if not is_open and text.startswith("-"):
        option = _option(command, name) if equals else None
        if option is not None:
            return Place(command, option, value, f"{name}=", given, True)
        return Place(command, None, text, "", given, False)
    argument = None if getattr(command, "commands", None) else _next_argument(command, given)
    return Place(command, argument, text, "", given, is_open)


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "-"


def _take_option(command: Any, word: str, given: dict[str, list[str]]) -> Any:
    """Note an option; give it where its value is the next word."""
    name, equals, value = word.partition("=")
    option = _option(command, name)
    if option is None and not word.startswith("--"):  # -nq, -fPATH
        for place, letter in enumerate(word[1:], start=2):
            option = _option(command, f"-{letter}")
            if option is None or not option.is_flag:
                value = word[place:]
                break
    if option is None:
        return None
    if option.is_flag:
        given[option.name] = []
        return None
    if equals or value:
        given.setdefault(option.name, []).append(value)
        return None
    return option


def _option(command: Any, name: str) -> Any:
    return next((p for p in command.params if name in (*p.opts, *p.secondary_opts) and name.startswith("-")), None)


def _next_argument(command: Any, given: Mapping[str, Sequence[str]]) -> Any:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    return next((p for p in arguments if p.nargs == -1 or p.name not in given), None)


def _candidates(place: Place, group: Any, environ: Mapping[str, str]) -> Iterator[Candidate]:
    if place.parameter is not None:
        yield from _values(place, group, environ)
    elif place.text.startswith("-") and not place.is_open:
        yield from _option_names(place)
    else:
        yield from _command_names(place.command)


def _command_names(command: Any) -> Iterator[Candidate]:
    for name, subcommand in getattr(command, "commands", {}).items():
        if not subcommand.hidden:
            yield Candidate(name, subcommand.get_short_help_str(limit=200))


def _option_names(place: Place) -> Iterator[Candidate]:
    yield Candidate("--help", "Show this message and exit.")
    for option in place.command.params:
        is_used = option.name in place.given and not option.multiple
        if option.param_type_name == "option" and not option.hidden and not is_used:
            for name in (*option.opts, *option.secondary_opts):
                yield Candidate(name, option.help or "")


def _key(parameter: Any) -> str:
    """Give what stands for a parameter's value in help texts, without the signs around it: `NAME`, `a|b|c`."""
    return re.sub(r"[\[\]{}.]", "", parameter.metavar or parameter.name.upper())


def _values(place: Place, group: Any, environ: Mapping[str, str]) -> Iterable[Candidate]:
    key = _key(place.parameter)
    if "|" in key:
        return [Candidate(word) for word in key.split("|")]
    if key == "COMMAND":
        command = group
        for word in place.given.get(place.parameter.name, ()):
            command = getattr(command, "commands", {}).get(word)
        return _command_names(command)
    if key == "DURATION":
        return [Candidate(word) for word in _DURATIONS]
    if key == "SHELL":
        from memttl.commands.completion_scripts import SCRIPTS

        return [Candidate(shell) for shell in SCRIPTS]
    if key == "CLIENT":
        from memttl.setup.clients import CLIENTS

        return [Candidate(client.word, client.title) for client in CLIENTS]
    if key == "TIER":
        return _tiers(place, environ)
    if key == "SOURCE":
        from memttl.core.report import SOURCES

        return [Candidate(source) for source in SOURCES]
    return _from_files(key, place, environ)


def _from_files(key: str, place: Place, environ: Mapping[str, str]) -> Iterator[Candidate]:
    from memttl.workflow import complete as known

    sources = {
        "NAME": known.entities,
        "ENTITY": known.entities,
        "TYPE": known.types,
        "RUN": known.runs,
        "BACKUP": known.backups,
        "OTHER": known.backups,
    }
    if key not in sources:
        return
    is_argument = place.parameter.param_type_name == "argument" and not place.is_open
    for value, told in sources[key](_given(place), environ):
        if not (is_argument and value.startswith("-")):  # that would be read as an option
            yield Candidate(value, told)


def _tiers(place: Place, environ: Mapping[str, str]) -> list[Candidate]:
    """Give the tiers of the policy in force, and how long each lasts."""
    from memttl.policies import find_policy
    from memttl.workflow.complete import named, typeable

    given = _given(place)
    policy = find_policy(next(iter(named(given, environ)), None), given.policy, environ)
    return [Candidate(typeable(name), str(tier.ttl)) for name, tier in policy.tiers.items()]


def _given(place: Place) -> Given:
    from memttl.settings import Given

    return Given(tuple(place.given.get("file", ())), next(iter(place.given.get("policy", ())), None))
