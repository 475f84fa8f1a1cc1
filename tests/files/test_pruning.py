"""The write of an approved plan, below the use cases: what it says where it is interrupted."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pruning import AT_ONCE
from reviewing import OLD, OLDER, three_entities
from support import NOW, judge_of

from memttl.core.plan import Approval, Plan, make_plan
from memttl.core.policy import Policy
from memttl.errors import Interrupted
from memttl.files.looking import Moment
from memttl.files.pruning import Pruning, write_plan
from memttl.files.snapshot import read_once
from memttl.files.state import state_of
from memttl.files.writing import Options


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return three_entities(tmp_path)


def test_ctrl_c_once_it_is_written_does_not_say_that_the_file_is_as_it_was(memory: Path) -> None:
    judge = judge_of()

    def plan(data: bytes, approval: Approval | None) -> Plan:
        if OLD.encode() not in data:  # the look afterwards
            raise KeyboardInterrupt
        return make_plan(data, judge, approval=approval)

    snapshot = read_once(memory)
    pruning = Pruning(
        state_of(memory),
        "prune",
        Policy(),
        Moment(NOW, datetime.now(UTC)),
        plan_with=lambda _: plan,
        check=lambda _: None,
        options=Options(pace=AT_ONCE),
    )
    with pytest.raises(Interrupted) as caught:
        write_plan(pruning, snapshot, plan(snapshot.data, None))
    assert caught.value.applied
    assert OLDER not in memory.read_text()
