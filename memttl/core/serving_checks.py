"""Is this a file that `memttl serve` may write? A damaged memory is, line by line; another tool's file is not. Pure."""

from __future__ import annotations

from memttl.core.foreign import Census
from memttl.core.graph import Graph
from memttl.core.plan import refuse_foreign, refuse_unsound


def refuse_to_serve(graph: Graph) -> None:
    """Refuse a file that is not the memory server's, as `scan` does; one without any line that can be read, too.

    Raises:
        Foreign, Malformed: what it is and what to do.
    """
    census, malformed = Census(), []
    for number, row in enumerate(graph.rows, start=1):
        line = row.line._replace(number=number) if row.line.kind in ("other", "malformed") else row.line
        census.add(line)
        if line.kind == "malformed":
            malformed.append(line)
    if malformed and not (census.server_lines or census.other_lines):
        refuse_unsound(graph.data, census, malformed)
    refuse_foreign(graph.data, census, malformed=bool(malformed))
