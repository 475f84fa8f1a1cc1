"""What a plan warns of, each a sentence: damaged or odd lines, unreadable marks, rules that empty an entity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from memttl.core.memory import BOM
from memttl.core.model import Line, LineRemoval, Verdict
from memttl.core.policy import Policy
from memttl.core.wording import plural

SHOWN = 5
BOM_WORDS = "the file begins with a byte order mark: the memory server cannot read such a file; it is kept as it is"


@dataclass(slots=True)
class Oddities:
    """What one pass over a file met that a person should know of.

    `emptied`: (rule by type alone, line, entity) of entities all of whose observations have expired.
    """

    unreadable: list[Verdict] = field(default_factory=list)
    malformed: list[Line] = field(default_factory=list)
    too_deep: list[int] = field(default_factory=list)
    emptied: list[tuple[str, int, str]] = field(default_factory=list)

    def add(self, line: Line) -> None:
        """Note a line that is damaged or nested too deep."""
        if line.kind == "malformed":
            self.malformed.append(line)
        if line.too_deep:
            self.too_deep.append(line.number)


def plan_warnings(
    data: bytes, policy: Policy, odd: Oddities, removals: Sequence[Verdict] = (), lines: Sequence[LineRemoval] = ()
) -> tuple[str, ...]:
    """Give the warnings of one pass over `data`, in a fixed order; `removals` go, and `lines` go whole."""
    found = list(policy.warnings)
    if data.startswith(BOM):
        found.append(BOM_WORDS)
    if odd.malformed:
        places = some([f"line {line.number}, column {line.column}" for line in odd.malformed])
        found.append(
            f"{plural(len(odd.malformed), 'line')} that the memory server cannot read, kept byte for byte: {places}"
        )
    if odd.too_deep:
        found.append(too_deep_words(odd.too_deep))
    if odd.unreadable:
        found.append(_unreadable(odd.unreadable))
    near = [v for v in removals if v.near_mark]
    if near:
        found.append(_near(near))
    going = {v.line for v in removals}
    return (*found, *_emptied_by_type([e for e in odd.emptied if e[1] in going]), *_whole_lines(lines))


def too_deep_words(numbers: Sequence[int]) -> str:
    """Warn of lines that cannot be judged; `numbers` count from 1."""
    return f"{plural(len(numbers), 'line')} nested too deep to judge, kept as it is: {some([str(n) for n in numbers])}"


def _unreadable(verdicts: Sequence[Verdict]) -> str:
    places = some([f"{v.entity!r} (line {v.line}): {v.warning}" for v in verdicts])
    noun, verb = ("observation holds", "stays") if len(verdicts) == 1 else ("observations hold", "stay")
    return f"{len(verdicts)} {noun} a mark or field that cannot be read and so {verb}: {places}"


def _near(verdicts: Sequence[Verdict]) -> str:
    places = some([f"{v.entity!r} (line {v.line}): {v.near_mark}" for v in verdicts])
    noun = "observation that goes ends" if len(verdicts) == 1 else "observations that go end"
    return f"{len(verdicts)} {noun} in what looks like a mark and is none (see `memttl policy prompt`): {places}"


def _emptied_by_type(emptied: Sequence[tuple[str, int, str]]) -> list[str]:
    """On real files half of what rules by entity type alone removed was still true."""
    rules: dict[str, list[str]] = {}
    for rule, _, entity in emptied:
        rules.setdefault(rule, []).append(repr(entity))
    return [
        f"the rule {rule!r} goes by entity type alone and would empty {some(entities)}: "
        "give its tier keep_last, or the rule a prefix"
        for rule, entities in rules.items()
    ]


def _whole_lines(lines: Sequence[LineRemoval]) -> list[str]:
    if not lines:
        return []
    kinds = Counter(r.kind for r in lines)
    names = "; ".join(r.label for r in lines)
    emptied = plural(kinds["entity"], "emptied entity")
    relations = f"{kinds['relation']} of their relations"
    return [f"{emptied} and {relations} go as well: {names}"]


def some(names: Sequence[str]) -> str:
    """Name the first few, and say how many more there are."""
    rest = len(names) - SHOWN
    return "; ".join(names[:SHOWN]) + (f"; and {rest} more" if rest > 0 else "")
