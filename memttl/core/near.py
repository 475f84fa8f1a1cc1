"""Near names for misspelt ones, in every message that says no to a name, and the one sentence that does so."""

from __future__ import annotations

from collections.abc import Sequence

from memttl.errors import UsageError

LONGEST = 200  # nobody mistypes a longer name, and comparing such takes seconds


def near(name: str, names: Sequence[str]) -> str:
    """Give ` (did you mean "…"?)` for a misspelt name, or nothing."""
    from difflib import get_close_matches

    names = [n for n in names if len(n) <= LONGEST]
    if len(name) > LONGEST:
        return ""
    found = get_close_matches(name.casefold(), [n.casefold() for n in names], n=1)
    match = next((n for n in names if found and n.casefold() == found[0]), None)
    return f' (did you mean "{match}"?)' if match else ""


def unknown(place: str, kind: str, word: str, words: Sequence[str], *, meant: str = "") -> str:
    """Give the sentence that says no to a word: where it stands, what it should be, a near one; `kind` may be empty.

    `meant` is known to be what is meant, whatever the letters say.
    """
    what = f"{kind} {word!r}" if kind else repr(word)
    hint = f' (did you mean "{meant}"?)' if meant else near(word, words)
    return f"{place} knows no {what}{hint}; nothing was done."


def refuse_unknown_word(option: str, word: str, words: Sequence[str]) -> None:
    """Refuse a value of an option that knows only certain words.

    Raises:
        UsageError: it names a near one, and all that there are.
    """
    if word not in words:
        raise UsageError(unknown(option, "", word, words), hint=f"Use {', '.join(words)}.")
