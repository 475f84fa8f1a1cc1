"""What a search found, in colour: the same lines as in a pipe, names bold and the places that hold the query yellow."""

from __future__ import annotations

from rich.color import ColorSystem
from rich.style import Style

from memttl.core.needle import needle_of
from memttl.core.search import SearchOutcome
from memttl.report.search import Piece, lines_of

# each piece is styled by itself and never wrapped: the terminal does that, and a console would take minutes for 100,000
_STYLES = {"plain": Style.null(), "name": Style(bold=True), "match": Style(bold=True, color="yellow")}


def render(outcome: SearchOutcome, *, verdicts: bool = False) -> str:
    """Give what was found as coloured lines of any width."""
    lines = lines_of(outcome, needle_of(outcome.query.text), verdicts=verdicts)
    return "".join("".join(map(_styled, line)) + "\n" for line in lines)


def _styled(piece: Piece) -> str:
    return _STYLES[piece.role].render(piece.text, color_system=ColorSystem.STANDARD)
