"""How a repair is told: shortened on a screen, whole in a pipe, and never with a control character."""

from __future__ import annotations

import pytest
from support import NOW, entity

from memttl.core.repair import plan_repair
from memttl.core.repair_outcome import RepairOutcome
from memttl.report.repair import render

GOOD = entity(["x"], name="A")


def told(data: bytes, *, width: int | None = None) -> list[str]:
    return render(RepairOutcome("memory.jsonl", NOW, plan_repair(data), dry_run=True), width=width).splitlines()


def test_a_screen_shows_the_first_of_very_many_changes_and_counts_the_rest() -> None:
    data = b"\n".join([GOOD + b"}"] * 100)
    assert sum(line.startswith("line ") for line in told(data, width=80)) == 40
    assert "… and 60 changes more: `--dry-run --json` lists all of them." in told(data, width=80)
    assert sum(line.startswith("line ") for line in told(data)) == 100


def test_no_line_of_bytes_is_wider_than_the_screen() -> None:
    data = GOOD + b"x" * 5000
    assert all(len(line) <= 80 for line in told(data, width=80) if line.startswith("  "))


def test_a_file_in_utf_16_is_said_to_be_converted() -> None:
    assert any("UTF-16" in line for line in told(GOOD.decode().encode("utf-16")))


def test_a_good_file_has_nothing_to_repair() -> None:
    assert told(GOOD) == ["Nothing to repair in memory.jsonl: the memory server can read every line."]


@pytest.mark.parametrize(
    ("line", "was", "becomes"),
    [
        (GOOD.replace(b'"x"', b'"x\ty"'), r'["x\x09y"]', r'["x\ty"]'),
        (GOOD.replace(b'"x"', b'"x\xffy"'), r'["x\xffy"]', '["x\ufffdy"]'),
        (GOOD.replace(b'"x"', b'"x\ny"'), r'["x\x0ay"]', r'["x\ny"]'),
    ],
)
def test_bytes_that_change_look_different_from_what_they_become(line: bytes, was: str, becomes: str) -> None:
    _, minus, plus, *_ = told(line)
    assert (minus[:4], plus[:4]) == ("  - ", "  + ")
    assert was in minus
    assert becomes in plus


@pytest.mark.parametrize("before", ["n" * 300, "é" * 5000, "中" * 301])
def test_long_lines_are_cut_around_what_differs(before: str) -> None:
    _, minus, plus, *_ = told(entity([before + "HERE", "n" * 900]).replace(b"HERE", b"a\tb"), width=80)
    assert r"a\x09b" in minus
    assert r"a\tb" in plus
    assert minus.startswith(f"  - …{before[0]}")
    assert minus.endswith("…")


def test_torn_line_is_told_once_and_is_one_change() -> None:
    lines = told(entity(["x", "y"], name="A")[:-4])
    assert [line[:7] for line in lines[:3]] == ["line 1:", '  - ,"', "  + ]}"]
    assert "Would repair: 1 change in memory.jsonl, 2 bytes into quarantine." in lines
