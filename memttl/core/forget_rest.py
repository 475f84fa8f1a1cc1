"""What is left of a text in a memory file, in its log or in any other bytes, as counts of what holds it. Pure.

`files/forget_survey.py` tells with it in what a secret still stands, before a forget and after it.
"""

from __future__ import annotations

from collections import Counter

from memttl.core.cut import raw_elements
from memttl.core.memory import line_spans, parse_line
from memttl.core.mentions import Mentions
from memttl.core.model import Line

Kinds = tuple[tuple[int, str], ...]
DAMAGED = "damaged line"
TIME = "time"


def rest_in_lines(data: bytes, mentions: Mentions) -> Kinds:
    """Give how many things of which kind hold it in the bytes of a memory file or a copy of one."""
    often, found = mentions.count(data), Counter[str]()
    if not often:
        return ()
    for number, start, end, _ in line_spans(data):
        raw = data[start:end]
        if mentions.count(raw):
            found.update(_in_line(parse_line(raw, number), mentions))
    return tuple((count, noun) for noun, count in found.items()) or ((often, TIME),)  # UTF-16 has no such lines


def rest_in_log(data: bytes, mentions: Mentions) -> Kinds:
    """Give how many lines of an audit log hold it."""
    lines = sum(mentions.count(line) > 0 for line in data.split(b"\n")) if mentions.count(data) else 0
    return ((lines, "line"),) if lines else ()


def rest_in_bytes(data: bytes, mentions: Mentions) -> Kinds:
    """Give how often any bytes hold it."""
    often = mentions.count(data)
    return ((often, TIME),) if often else ()


def _in_line(line: Line, mentions: Mentions) -> list[str]:
    if line.kind == "malformed":
        return [DAMAGED]
    if line.kind != "entity":
        return ["relation" if line.kind == "relation" else "other line"]
    record = line.record or {}
    fields = (("entity name", record.get("name")), ("entity type", record.get("entityType")))
    found = [noun for noun, value in fields if isinstance(value, str) and mentions.count(_bytes(value))]
    raws = raw_elements(line.raw) if line.is_judged else []
    found += ["other observation" for raw in raws if mentions.count(_bytes(raw))]
    return found or ["other field of an entity"]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
