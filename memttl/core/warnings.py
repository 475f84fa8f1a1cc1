"""What a plan warns of, each a sentence: damaged or odd lines, unreadable marks, rules that empty an entity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from memttl.core.memory import BOM
from memttl.core.model import Line, LineRemoval, Verdict
from memttl.core.policy import Policy

SHOWN = 5


@dataclass(slots=True)
class Oddities:
    """What one pass over a file met that a person should know of. `emptied`: (rule by type alone, entity)."""

    unreadable: list[Verdict] = field(default_factory=list)
    malformed: list[Line] = field(default_factory=list)
    too_deep: list[int] = field(default_factory=list)
    emptied: list[tuple[str, str]] = field(default_factory=list)


def plan_warnings(data: bytes, policy: Policy, odd: Oddities, lines: Sequence[LineRemoval] = ()) -> tuple[str, ...]:
    """Give the warnings of one pass over `data`, in a fixed order; `lines` are those that go whole."""
    found = list(policy.warnings)
    if data.startswith(BOM):
        found.append(
            "the file begins with a byte order mark: the memory server cannot read such a file; it is kept as it is"
        )
    if odd.malformed:
        places = _some([f"{line.number}:{line.column}" for line in odd.malformed])
        found.append(f"{_lines(len(odd.malformed))} that the memory server cannot read, kept byte for byte: {places}")
    if odd.too_deep:
        numbers = _some([str(n) for n in odd.too_deep])
        found.append(f"{_lines(len(odd.too_deep))} nested too deep to judge, kept as it is: {numbers}")
    if odd.unreadable:
        found.append(_unreadable(odd.unreadable))
    return (*found, *_emptied_by_type(odd.emptied), *_whole_lines(lines))


def _unreadable(verdicts: Sequence[Verdict]) -> str:
    places = _some([f"{v.entity!r} (line {v.line}, observation {v.index}): {v.warning}" for v in verdicts])
    noun = "observation holds" if len(verdicts) == 1 else "observations hold"
    return f"{len(verdicts)} {noun} a mark or field that cannot be read and so stay: {places}"


def _emptied_by_type(emptied: Sequence[tuple[str, str]]) -> list[str]:
    """On real files half of what rules by entity type alone removed was still true."""
    rules: dict[str, list[str]] = {}
    for rule, entity in emptied:
        rules.setdefault(rule, []).append(repr(entity))
    return [
        f"the rule {rule!r} goes by entity type alone and would empty {_some(entities)}: "
        "give its tier keep_last, or the rule a prefix"
        for rule, entities in rules.items()
    ]


def _whole_lines(lines: Sequence[LineRemoval]) -> list[str]:
    if not lines:
        return []
    kinds = Counter(r.kind for r in lines)
    names = _some([repr(r.entity) for r in lines if r.kind == "entity"])
    return [f"{kinds['entity']} emptied entities and {kinds['relation']} relations of theirs go as well: {names}"]


def _lines(count: int) -> str:
    return f"{count} line" + ("s" if count != 1 else "")


def _some(names: Sequence[str]) -> str:
    rest = len(names) - SHOWN
    return "; ".join(names[:SHOWN]) + (f"; and {rest} more" if rest > 0 else "")
