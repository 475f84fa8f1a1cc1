"""Near names for misspelt ones, in every message that says no to a name."""

from __future__ import annotations

from collections.abc import Sequence

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
