"""What a shell tells of the line that is typed into words, and a candidate into the line that its script reads.

`completing.py` calls it. Text of a memory file must come out as text, whatever it holds: a name such as `$(reboot)` is
quoted where the shell would run it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Candidate(NamedTuple):
    """One word that may stand at the cursor, and what to say of it."""

    value: str
    told: str = ""


class Typed(NamedTuple):
    """The words before the cursor's, and the text of that one up to the cursor; both as the program would get them.

    `quote` is the quotation mark that is open at the cursor, and `before` the part of `text` that stands before the
    word as the shell's editor sees it: that begins behind each colon or equals sign.
    """

    words: tuple[str, ...]
    text: str
    quote: str = ""
    before: str = ""


def typed_of(shell: str, words: Sequence[str], environ: Mapping[str, str]) -> Typed:
    """Give what is typed: bash tells the line and what its editor breaks words at, the others the words."""
    if shell == "bash":
        line, breaks = words
        typed = split_line(line, breaks)
        while typed.words and _ASSIGNMENT.match(typed.words[0]):  # NAME=value before the command
            typed = typed._replace(words=typed.words[1:])
        return typed._replace(words=typed.words[1:])
    if shell == "powershell":  # an empty word would be lost among the arguments
        return Typed(tuple(words), environ.get("_MEMTTL_WORD", "").strip("'\""))
    # fish tells the word at the cursor as it is written
    text = split_line(words[-1], "").text if shell == "fish" else words[-1]
    return Typed(tuple(words[:-1]), text)


_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_PLAIN = re.compile(r"[^A-Za-z0-9_./,@%+\-\x80-\U0010ffff]")


def split_line(line: str, breaks: str) -> Typed:
    """Split a line as a POSIX shell does, up to its end, where a quotation may still be open."""
    words: list[str] = []
    text, before, quote, is_word = "", "", "", False
    characters = iter(line)
    for c in characters:
        if quote:
            if c == quote:
                quote, before = "", text
            elif c == "\\" and quote == '"':
                after = next(characters, "")
                text += after if after in '$`"\\' else c + after
            else:
                text += c
        elif c in " \t\n":
            words += [text] if is_word else []
            text, before, is_word = "", "", False
        else:
            is_word = True
            if c in "'\"":
                quote, before = c, text
            elif c == "\\":
                text += next(characters, "")
            else:
                text += c
                before = text if c in breaks else before
    return Typed(tuple(words), text, quote, before)


def _for_bash(candidate: Candidate, prefix: str, typed: Typed) -> str:
    whole = prefix + candidate.value
    if not whole.startswith(typed.before):
        return ""
    rest = whole[len(typed.before) :]
    if typed.quote:
        text = rest.replace("'", "'\\''")
        if typed.quote == '"':
            text = re.sub(r'([$`"\\])', r"\\\1", rest).replace("!", "\"'!'\"")
        # readline closes the quotation, but where the text ends like one that was closed
        return text + (typed.quote if text.endswith(typed.quote) else "")
    # a name of an option stays readable; readline breaks words at `=` and `:` unless they are quoted
    start = len(prefix) - len(typed.before) if len(typed.before) < len(prefix) else 0
    return rest[:start] + _PLAIN.sub(lambda found: f"\\{found[0]}", rest[start:])


def _for_zsh(candidate: Candidate, prefix: str, typed: Typed) -> str:
    value = candidate.value.replace("\\", "\\\\").replace(":", "\\:")
    return f"{value}:{candidate.told}" if candidate.told else value


def _for_fish(candidate: Candidate, prefix: str, typed: Typed) -> str:
    return f"{prefix}{candidate.value}\t{candidate.told}"


def _for_powershell(candidate: Candidate, prefix: str, typed: Typed) -> str:
    value = candidate.value
    if _PLAIN.search(value) or not value.isascii():
        value = "'" + re.sub("(['‘’‚‛])", r"\1\1", value) + "'"  # all of these end a string there
    return f"{prefix}{value}\t{candidate.told or candidate.value}"


LAYOUTS: dict[str, Callable[[Candidate, str, Typed], str]] = {
    "bash": _for_bash,
    "zsh": _for_zsh,
    "fish": _for_fish,
    "powershell": _for_powershell,
}
