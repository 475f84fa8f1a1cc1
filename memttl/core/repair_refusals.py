"""Which files a repair leaves alone: those of other tools, in which it would mend nothing of the memory server's.

Called by `repair.py` once it has planned. Pure.
"""

from __future__ import annotations

from memttl.core.foreign import NO_RECORD, Census, foreign_document, foreign_lines
from memttl.core.memory import read_lines
from memttl.errors import AS_IT_WAS, Foreign


def refuse_foreign(text: bytes) -> None:
    """Where there is nothing to mend, say what doctor says of a file that is another tool's.

    Raises:
        Foreign: it is one.
    """
    census = Census()
    for line in read_lines(text):
        census.add(line)
    found = None if census.entities else foreign_document(text)
    if found:
        raise refusal((found[0], NO_RECORD))
    if found := foreign_lines(census):
        raise refusal(found)


def refuse_other_tools(text: bytes, new: bytes) -> None:
    """Leave one JSON document of another tool alone: nothing of it is a record of the server.

    Raises:
        Foreign: it is one.
    """
    if new == text or any(line.kind in ("entity", "relation") for line in read_lines(new)):
        return
    if (found := foreign_document(text)) and b"\n" in text.strip():
        raise refusal((found[0], NO_RECORD))


def refusal(found: tuple[str, str]) -> Foreign:
    """Give the error for what was found: (what it is, what to do)."""
    what, hint = found
    return Foreign(f"The file {what}; nothing was repaired; {AS_IT_WAS}.", hint=hint)
