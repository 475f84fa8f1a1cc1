"""An undo's outcome as lines of text, and as a JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from memttl.core.inverse import Moved, MovedLine
from memttl.core.memory import value_of
from memttl.core.undo import UndoPlan
from memttl.core.undo_outcome import UndoOutcome
from memttl.core.wording import plural
from memttl.report.documents import finite, run_head
from memttl.report.text import cut, entity_title, observation_text, run_words, visible


def render(outcome: UndoOutcome, *, with_plan: bool = True, width: int | None = None) -> str:
    """Give what moves, grouped by entity, then the totals; the totals alone without `with_plan`.

    Texts are shortened to `width` columns where a screen has so many.
    """
    lines = list(plan_lines(outcome.plan, width)) if with_plan and outcome.plan is not None else []
    return "".join(visible(line) + "\n" for line in (*lines, *_closing(outcome, with_plan=with_plan)))


def question(outcome: UndoOutcome) -> str:
    """Give the question that stands below the plan."""
    assert outcome.plan is not None
    return visible(f"{_what(outcome.plan, ('Put back', 'take out')).capitalize()} in {outcome.file}?")


def plan_lines(plan: UndoPlan, width: int | None) -> Iterator[str]:
    """Give what is put back (+) and taken out (-), grouped by entity, and an empty line below."""
    done = plan.inverse
    for sign, moved in (("+", done.back), ("-", done.out)):
        for (entity, entity_type), of_entity in groupby(moved, key=lambda m: (m.item.entity, m.item.entity_type)):
            yield entity_title(entity, entity_type)
            for m in of_entity:
                yield cut(f"  {sign} {observation_text(value_of(m.item.raw))}", width)
    yield from (f"+ {_line_words(line)}" for line in done.lines_back)
    yield from (f"- {_line_words(line)}" for line in done.lines_out)
    for lost in plan.lost:
        yield f"! {lost.entity or 'one line'}: {lost.why}"
    if not plan.does_nothing or plan.lost:
        yield ""


def _line_words(line: MovedLine) -> str:
    kinds = {"entity": f"the entity {line.entity} itself", "relation": f"a relation of {line.entity}"}
    return kinds.get(line.kind, "a line that is neither entity nor relation")


def _closing(outcome: UndoOutcome, *, with_plan: bool) -> Iterator[str]:
    plan = outcome.plan
    if plan is None:
        yield f"Nothing to undo in {outcome.file}: {outcome.nothing}."
        return
    run = f"the run {plan.run.run} ({plan.run.command}, {plan.run.time[:16].replace('T', ' ')} UTC)"
    if plan.does_nothing:
        yield f"Nothing to undo in {outcome.file}: all that can be moved of {run} is as before it."
    elif outcome.applied:
        yield f"Undid {run}: {_what(plan, ('put back', 'took out'))} in {outcome.file}."
    elif with_plan:
        yield f"Would undo {run}: {_what(plan, ('put back', 'take out'))} in {outcome.file}."
    if with_plan or not outcome.declined:  # after a no all of it stands above the question
        yield from _notes(plan)
    if outcome.applied:
        yield run_words(outcome.run, outcome.backup)
    elif outcome.declined:
        yield "Nothing was changed."
    elif outcome.dry_run:
        yield "Dry run: nothing was written."


def _what(plan: UndoPlan, verbs: tuple[str, str]) -> str:
    done = plan.inverse
    parts = [
        f"{verb} {count_words(moved, lines)}"
        for verb, moved, lines in ((verbs[0], done.back, done.lines_back), (verbs[1], done.out, done.lines_out))
        if moved or lines
    ]
    return " and ".join(parts) or f"{verbs[0]} types and spacing"


def count_words(moved: Sequence[Moved], lines: Sequence[MovedLine]) -> str:
    """Count observations and whole lines by their kinds."""
    words = [plural(len(moved), "observation")] if moved else []
    for kind, noun in (("entity", "entity"), ("relation", "relation"), ("line", "other line")):
        found = sum(line.kind == kind for line in lines)
        words += [plural(found, noun)] if found else []
    return ", ".join(words)


def _notes(plan: UndoPlan) -> Iterator[str]:
    pinned = sum(asked.pinned for asked in plan.settings.values())
    unpinned = len(plan.settings) - pinned
    if pinned:
        yield f"{plural(pinned, 'observation')} pinned, so that the next prune leaves what comes back (--no-pin: not)."
    if unpinned:
        yield f"{plural(unpinned, 'pin')} taken away that the undone run gave."
    if plan.inverse.there:
        yield f"{plan.inverse.there} of what the run removed came back meanwhile, and nothing is put back twice."
    if plan.lost:
        yield f"{len(plan.lost)} of what the run moved cannot be put back: see above."


def undo_document(outcome: UndoOutcome) -> dict[str, Any]:
    """Give what an undo did or would do."""
    plan = outcome.plan
    done = plan.inverse if plan else None
    return {
        **run_head(outcome),
        "backup": outcome.backup,
        "undoes": plan.run.run if plan else None,
        "restored": _moved(done.back if done else ()),
        "removed": _moved(done.out if done else ()),
        "restored_lines": [line._asdict() for line in done.lines_back] if done else [],
        "removed_lines": [line._asdict() for line in done.lines_out] if done else [],
        "pinned": sum(asked.pinned for asked in plan.settings.values()) if plan else 0,
        "already_there": done.there if done else 0,
        "lost": [lost._asdict() for lost in plan.lost] if plan else [],
        "warnings": list(outcome.warnings),
    }


def _moved(moved: Iterable[Moved]) -> list[dict[str, Any]]:
    return [
        {
            "entity": m.item.entity,
            "entity_type": m.item.entity_type,
            "line": m.line,
            "index": m.index,
            "observation": finite(value_of(m.item.raw)),
            "tier": m.item.tier,
        }
        for m in moved
    ]
