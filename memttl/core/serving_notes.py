"""What `memttl serve` says besides an answer: lines left out; knowledge or a policy that is out of date.

`workflow/serving.py` asks for each read, `files/served.py` after each write for the lines. Clients show it to a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memttl.core.graph import Graph
from memttl.core.oddities import BOM_WORDS, SHOWN
from memttl.core.wording import plural
from memttl.errors import BadPolicy


def serving_notes(
    graph: Graph, problem: str, bad_policy: BadPolicy | None, put_off: Iterable[str] = ()
) -> Iterator[str]:
    """Yield each sentence for a read.

    `problem` is that on what is amiss with ledger or audit log, `put_off` those on what holds after the next start.
    """
    yield from line_notes(graph)
    if problem:
        yield problem
    if bad_policy is not None:
        problems = "; ".join(bad_policy.problems[:SHOWN])
        yield f"The policy {bad_policy.where} cannot be used ({problems}). The one of before stays in use."
    yield from put_off


def line_notes(graph: Graph) -> Iterator[str]:
    """Yield what is to be said of the lines of a file that cannot be shown whole."""
    if graph.has_bom:
        yield f"{BOM_WORDS[0].upper()}{BOM_WORDS[1:]}."
    for number, why in graph.odd[:SHOWN]:
        yield f"Line {number} of the memory file is shown in part or not at all: {why}."
    rest = len(graph.odd) - SHOWN
    if rest > 0:
        yield f"So {'is' if rest == 1 else 'are'} {plural(rest, 'more line')}; `memttl doctor` looks closer."
