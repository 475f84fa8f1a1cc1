"""What Typer's parser says no with, into memttl's own sentences: what is unknown, a near name, what to do.

`cli.py` and `groups.py` call it when a command line is refused; it is imported then only.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from memttl.core.foreign_words import meant_by
from memttl.core.near import unknown
from memttl.errors import UsageError


def unknown_command(context: Any, words: Sequence[str]) -> UsageError:
    """Refuse the first of `words`, which no subcommand of the context's command is named."""
    path, word = context.command_path, words[0]
    names = [name for name, command in getattr(context.command, "commands", {}).items() if not command.hidden]
    if context.parent is None and _is_like_a_file(word):
        message = f"{path} knows no command {word!r}: a memory file is named by --file, after a command"
        return UsageError(f"{message}; nothing was done.", hint=f"Try `{path} report --file {shlex.quote(word)}`.")
    meant = meant_by(word, names)
    return UsageError(unknown(path, "command", word, names, meant=meant), hint=f"Try `{path} --help`.")


def _is_like_a_file(word: str) -> bool:
    return "/" in word or "\\" in word or word.endswith((".json", ".jsonl", ".ndjson"))


def refused(error: Any, group: Any, words: Sequence[str]) -> UsageError:
    """Give an error of Typer's parser as one of ours; `group` is the whole app, `words` the command line."""
    path, command = _command_of(group, words)
    hint = f"Try `{path} --help`."
    message = error.format_message()
    if hasattr(error, "possibilities"):
        return _unknown_option(error.option_name, path, command, words)
    if "unexpected extra argument" in message:
        quotes = "A query of several words stands in quotes. " if path.endswith(" search") else ""
        return UsageError(message, hint=f"{quotes}The memory file is named by --file PATH.")
    if type(error).__name__ == "MissingParameter":
        return UsageError(f"{path} needs {_name(error.param)}; nothing was done.", hint=hint)
    return UsageError(f"{message.rstrip('.')}; nothing was done.", hint=hint)


def _unknown_option(option: str, path: str, command: Any, words: Sequence[str]) -> UsageError:
    names = sorted({name for parameter in command.params for name in _names(parameter)} | {"--help"})
    subcommands = getattr(command, "commands", {})
    if subcommands and any(option in _names(p) for sub in _all(subcommands) for p in sub.params):
        name = next((word for word in words if word in subcommands), "COMMAND")
        rest = [shlex.quote(word) for word in words[len(path.split()) - 1 :] if word != name]
        return UsageError(
            f"{option} stands after the name of the command, and not before it; nothing was done.",
            hint=f"Write `{' '.join([path, name, *rest])}`.",
        )
    return UsageError(unknown(path, "option", option, names), hint=f"Try `{path} --help`.")


def _all(commands: Any) -> Iterator[Any]:
    for command in commands.values():
        yield command
        yield from _all(getattr(command, "commands", {}))


def _command_of(group: Any, words: Sequence[str]) -> tuple[str, Any]:
    """Give the path and the command that the words lead to, up to the first that is no name."""
    path, command = ["memttl"], group
    for word in words:
        if word not in getattr(command, "commands", {}):
            break
        path.append(word)
        command = command.commands[word]
    return " ".join(path), command


def _names(parameter: Any) -> list[str]:
    return [name for name in (*parameter.opts, *parameter.secondary_opts) if name.startswith("-")]


def _name(parameter: Any) -> str:
    """Name a parameter as its command's usage line does."""
    option = next(iter(_names(parameter)), None)
    return option or str(parameter.metavar or parameter.name.upper())
