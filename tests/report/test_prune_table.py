"""The table of a prune at a terminal: what several observations go by is said once, and it stays compact."""

from __future__ import annotations

from rich.cells import cell_len
from support import NOW, entity, plan_of

from memttl.core.outcome import PruneOutcome
from memttl.report.prune_table import render

SHARED = "session notes keep 30 days"


def table_of(*lines: bytes, width: int = 80) -> list[str]:
    """The lines of the table alone, without what is below it."""
    outcome = PruneOutcome("memory.jsonl", NOW, plan_of(b"\n".join(lines)), dry_run=True)
    table = render(outcome, width=width, color=False).split("\n\n")[0]
    return [line.rstrip() for line in table.split("\n")]


def sessions(count: int, name: str = "Payments") -> bytes:
    texts = [f"[session] 2026-03-{day:02}: moved the webhooks of the payments" for day in range(1, count + 1)]
    return entity(texts, name=name)


def test_what_an_entitys_observations_go_by_is_said_once() -> None:
    shown = table_of(sessions(9), sessions(3, "Sprint"))
    assert sum(SHARED in line for line in shown) == 2
    assert shown[1] == f"Payments (note)  {SHARED}"


def test_each_row_says_its_own_day() -> None:
    shown = "\n".join(table_of(sessions(9)))
    assert all(f"written 2026-03-{day:02}" in shown for day in range(1, 10))


def test_17_observations_take_40_lines_of_80_columns_at_most() -> None:
    shown = table_of(sessions(9), sessions(8, "Sprint"))
    assert len(shown) <= 40
    assert max(map(cell_len, shown)) <= 80


def test_two_whys_in_one_entity_stand_each_above_their_own() -> None:
    shown = table_of(entity(["[session] 2026-03-01: a", "[operational] 2025-03-01: b"], name="E"))
    texts = [line.strip() for line in shown]
    assert texts.index(SHARED) < texts.index("operational notes keep 90 days")
    assert texts[1] == "E (note)"


def test_tier_is_named_where_the_reason_does_not() -> None:
    shown = table_of(entity(["open [expires 2026-04-30]"], name="E"))
    assert shown[1] == "E (note)  permanent: expires 2026-04-30"
