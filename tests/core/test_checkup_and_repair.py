"""Doctor and repair agree: the one names the other exactly where that one changes something."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import FIXTURES

from memttl.core.checkup import check_bytes
from memttl.core.repair import plan_repair
from memttl.errors import Foreign

ALL = sorted([*(FIXTURES / "memory").glob("*.jsonl"), *(FIXTURES / "from-servers").glob("*.jsonl")])


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_a_repair_is_named_exactly_where_it_changes_something(path: Path) -> None:
    data = path.read_bytes()
    try:
        is_needed, is_refused = plan_repair(data).is_needed, False
    except Foreign:
        is_needed, is_refused = False, True
    found = check_bytes(data, "memory.jsonl")
    assert any("memttl doctor --repair" in finding.help for finding in found.findings) == is_needed
    assert found.is_damaged or not is_refused
    assert is_needed or is_refused or not found.is_damaged
