"""The normal form in which prefixes, marks, dates and names by glob are compared."""

from __future__ import annotations

import re
import unicodedata

# the standard library sorts a run of combining marks by insertion: a megabyte of them would take an hour, so long texts
# go in pieces, which end before ASCII (nothing composes across that) or in the middle of a run that no word has
_LONGEST_RUN = 500
_PIECES = re.compile(rf"[\x00-\x7f]*[^\x00-\x7f]{{0,{_LONGEST_RUN}}}")


def normalise(text: str) -> str:
    """Give the form in which prefixes, marks and dates are compared: NFC and case folding."""
    if text.isascii():
        return text.lower()
    if len(text) > _LONGEST_RUN:
        return "".join(_fold(piece) for piece in _PIECES.findall(text))
    return _fold(text)


def _fold(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
