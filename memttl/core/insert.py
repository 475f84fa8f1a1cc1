"""Putting observations into a raw entity line, and making one anew: every byte that was there stays. Pure.

The inverse of `cut.py`. `inverse.py` calls it for each line that gets something back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memttl.core.cut import check_cut, observation_spans
from memttl.core.js_json import as_json
from memttl.core.spans import top_level_items

_COMMA = re.compile(rb"[ \t]*,[ \t]*")


def insert_elements(line: bytes, items: Sequence[tuple[int, str]]) -> tuple[bytes, list[int]]:
    """Give the line with each (position, raw JSON) put in before the element that stands at the position now.

    Those of one position stand in the order given. Gives the new index of each item, too.

    Raises:
        ValueError: the line has no single list of observations, or a position lies outside it.
        AssertionError: more than these elements would have changed.
    """
    spans = observation_spans(line)
    by_position: dict[int, list[int]] = {}
    for number, (position, _) in enumerate(items):
        if not 0 <= position <= len(spans):
            raise ValueError(f"position {position} of {len(spans)} observations")
        by_position.setdefault(position, []).append(number)
    indexes = [0] * len(items)
    done = 0
    for position in sorted(by_position):
        for number in by_position[position]:
            indexes[number] = position + done
            done += 1
    raws = {p: [items[n][1].encode() for n in numbers] for p, numbers in by_position.items()}
    new = _put_in(line, spans, raws)
    check_cut(new, line, indexes)  # without them it must be the old line again
    return new, indexes


def _put_in(line: bytes, spans: Sequence[tuple[int, int]], raws: dict[int, list[bytes]]) -> bytes:
    comma = _comma_of(line, spans)
    if not spans:
        return into_empty(line, comma.join(raws.get(0, ())))
    pieces, at = [line[: spans[0][0]]], spans[0][0]
    for position, (start, end) in enumerate(spans):
        pieces.append(line[at:start])
        pieces += [raw + comma for raw in raws.get(position, ())]
        pieces.append(line[start:end])
        at = end
    pieces += [comma + raw for raw in raws.get(len(spans), ())]
    return b"".join((*pieces, line[at:]))


def into_empty(line: bytes, text: bytes) -> bytes:
    """Put the text of observations into the empty list of a raw entity line."""
    start = next(start for key, start, _ in top_level_items(line) if key == "observations")
    return line[: start + 1] + text + line[start + 1 :]


def _comma_of(line: bytes, spans: Sequence[tuple[int, int]]) -> bytes:
    """Give the comma as this line writes it: between its observations, else behind its first field."""
    if len(spans) > 1:
        return line[spans[0][1] : spans[1][0]]
    first_end = next(end for _, _, end in top_level_items(line))
    found = _COMMA.match(line, first_end)
    return found[0] if found else b","


def entity_line(name: str, entity_type: str | None, raws: Iterable[str]) -> bytes:
    """Give the line of an entity as the memory server writes it, with these observations as they stand."""
    head = f'{{"type":"entity","name":{as_json(name)},"entityType":{as_json(entity_type or "")},"observations":['
    return (head + ",".join(raws) + "]}").encode()
