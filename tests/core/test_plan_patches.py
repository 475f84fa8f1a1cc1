"""Changes of single observations, each by a patch of its own, and what they warn of."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import pytest
from support import NOW, entity, instant, judge_of

from memttl.core.change_plan import plan_patches, renewal
from memttl.core.changes import Before, Changes
from memttl.core.digests import text_digest
from memttl.core.durations import Duration
from memttl.core.known import Knower, Setting
from memttl.core.model import UserSettings
from memttl.core.wish import Patch

OLD = "[session] 2026-01-05: old"
DATA = entity([OLD, OLD, "note [expires 2027-05-01]"])
DAY = date(2026, 1, 9)
PIN, LONG = Patch(pinned=True), "note [expires 2027-05-01]"


def planned(patches: Mapping[str, Patch], *, pins: tuple[str, ...] = (), **was: UserSettings) -> Changes:
    """The changes of E's texts by these patches, where something `was` set for OLD."""
    settings = [Setting("E", text_digest(OLD), OLD, asked) for asked in was.values()]
    before = Before(settings, pins, Knower(lambda _: {}, settings, pins).known_of)
    return plan_patches(DATA, {("E", text): patch for text, patch in patches.items()}, before, judge_of(), NOW)


def test_each_text_gets_its_own_patch() -> None:
    changes = planned({OLD: PIN, LONG: Patch(tier="session")})
    assert [(c.text, c.after) for c in changes.observations] == [
        (OLD, UserSettings(pinned=True)),
        (LONG, UserSettings(tier="session")),
    ]


def test_copies_share_one_change() -> None:
    assert len(planned({OLD: PIN}).observations) == 1


def test_what_is_gone_is_left_out() -> None:
    assert planned({"nowhere": PIN}).are_none


def test_what_is_set_already_is_no_change() -> None:
    changes = planned({OLD: PIN}, was=UserSettings(pinned=True))
    assert (changes.observations, changes.unchanged) == ((), 1)


def test_the_verdict_after_a_renewal_is_told() -> None:
    (change,) = planned({OLD: renewal(Duration(days=30), judge_of())}).observations
    assert change.will_be is not None
    assert change.will_be.expires_at == instant("2026-07-01T12:00:00Z")


def test_a_renewal_that_lets_go_sooner_is_warned_of() -> None:
    changes = planned({LONG: renewal(Duration(days=30), judge_of())})
    assert "earlier than before" in changes.warnings[0]


def test_a_tier_below_an_expiry_that_was_set_is_warned_of() -> None:
    changes = planned({OLD: Patch(tier="permanent")}, was=UserSettings(expires=NOW))
    assert changes.warnings == (
        "1 observation keeps the expiry that was set before, which counts more than what is set now: 'E'",
    )


@pytest.mark.parametrize(
    ("patch", "was", "keeps"),
    [
        (Patch(review_by=DAY), UserSettings(expires="never"), "expiry"),
        (Patch(ttl=Duration(days=3), tier="session"), UserSettings(review_by=DAY), "review-by date"),
        (Patch(tier="session"), UserSettings(ttl=Duration(days=3)), "TTL"),
    ],
)
def test_what_is_set_below_what_was_set_is_warned_of(patch: Patch, was: UserSettings, keeps: str) -> None:
    (warning,) = planned({OLD: patch}, was=was).warnings
    assert f"keeps the {keeps} that was set before" in warning


@pytest.mark.parametrize(
    ("patch", "was"),
    [
        (Patch(expires="never"), UserSettings(review_by=DAY)),
        (Patch(expires="never", review_by=DAY), UserSettings(tier="session")),
        (Patch(clear=True, tier="permanent"), UserSettings(expires=DAY)),
        (Patch(created=DAY), UserSettings(expires="never")),
        (Patch(tier="permanent"), UserSettings(review_by=DAY)),
    ],
)
def test_what_decides_once_it_is_set_is_not_warned_of(patch: Patch, was: UserSettings) -> None:
    assert planned({OLD: patch}, was=was).warnings == ()


def test_what_stays_pinned_all_the_same_is_warned_of() -> None:
    changes = planned({OLD: Patch(tier="session")}, pins=("E",))
    assert "stays pinned" in changes.warnings[0]
    assert planned({OLD: PIN}, pins=("E",)).warnings == ()
