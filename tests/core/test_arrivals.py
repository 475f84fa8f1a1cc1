"""What is set for an observation that a client adds again after it has expired."""

from __future__ import annotations

from datetime import date

import pytest
from support import entity, instant, judge_of, verdicts_of

from memttl.core.arrivals import settings_of
from memttl.core.graph_edits import Arrival
from memttl.core.model import Known, UserSettings
from memttl.core.wish import Patch

OLD = "[session] 2026-01-05: old"


@pytest.mark.parametrize(
    ("patch", "after"),
    [
        (Patch(), UserSettings(expires=instant("2026-07-01T12:00:00Z"))),
        (Patch(review_by=date(2026, 8, 1)), UserSettings(review_by=date(2026, 8, 1))),
        (Patch(expires=date(2026, 8, 1)), UserSettings(expires=date(2026, 8, 1))),
    ],
)
def test_what_is_renewed_goes_by_the_date_of_the_call_else_by_its_tier(patch: Patch, after: UserSettings) -> None:
    judge, known = judge_of(), Known(settings=UserSettings(review_by=date(2026, 5, 1)))
    (verdict,) = verdicts_of(entity([OLD]), judge, known)
    assert verdict.expired
    assert settings_of(Arrival("E", OLD, patch, is_renewed=True), judge, lambda _e, _t: known, verdict) == after
