"""JSON as people write it into configs, with comments, trailing commas and a byte order mark, into plain JSON.

`configs.py` calls it for what the standard reader refuses. One pass over the characters; what stands in strings stays.
"""

from __future__ import annotations

_SPACE = " \t\r\n"


def plain_json(text: str) -> str:
    """Give the text without comments, and without commas that nothing follows; a comment becomes a space."""
    kept: list[str] = []
    comma = -1  # where in `kept` the comma stands behind which nothing has come yet
    last = ""  # the last character that means something
    at = 0
    while at < len(text):
        character = text[at]
        if character == "/" and text[at + 1 : at + 2] in ("/", "*"):
            at = _end_of_comment(text, at)
            kept.append(" ")
            continue
        end = _end_of_string(text, at) if character == '"' else at + 1
        if character in "]}" and comma >= 0:
            kept[comma] = " "
        if character not in _SPACE:
            comma = len(kept) if character == "," and last not in ("", "[", "{", ",") else -1
            last = character
        kept.append(text[at:end])
        at = end
    return "".join(kept)


def _end_of_comment(text: str, at: int) -> int:
    if text[at + 1] == "/":
        end = text.find("\n", at)
        return end if end >= 0 else len(text)
    end = text.find("*/", at + 2)
    return end + 2 if end >= 0 else len(text)


def _end_of_string(text: str, at: int) -> int:
    """Give the place behind the string that begins at `at`; one that never ends goes to the end."""
    at += 1
    quote = text.find('"', at)
    while quote >= 0:  # each of the two is looked for once more only behind where it was found: a text may be long
        slash = text.find("\\", at, quote)
        if slash < 0:
            return quote + 1
        at = slash + 2
        if at > quote:
            quote = text.find('"', at)
    return len(text)
