"""What `report` lists and `review` goes through: expired, due within a window, due for review, undated. Pure.

Both read `--within` and `--expire-before` here, so that the same words mean the same observations.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple

from memttl.core.dates import DateReader, read_instant
from memttl.core.durations import expires_after
from memttl.core.model import Verdict
from memttl.core.policy import Policy
from memttl.core.wish import read_duration
from memttl.errors import UsageError

ListedAs = Literal["expired", "due", "review", "undated", ""]
LISTED_AS: tuple[ListedAs, ...] = ("expired", "due", "review", "undated")  # in the order in which they are shown
WITHIN = "30d"
_OWN_DATES = ("set", "object", "text")


class Window(NamedTuple):
    """What counts as due: what will have expired at `until` (aware); None where there is no end."""

    until: datetime | None


def window_of(within: str | None, before: str | None, policy: Policy, now: datetime) -> Window:
    """Read `--within` (a duration from now, 30 days by default) or `--expire-before` (a day, or an instant).

    A bare day is its 00:00 in the policy's time zone: what expires before it has expired by then.

    Raises:
        UsageError: one that cannot be read, or both.
    """
    if within is not None and before is not None:
        raise UsageError(
            "--within and --expire-before both say what is due; nothing was done.", hint="Give one of them."
        )
    if before is None:
        return Window(expires_after(now, read_duration("--within", WITHIN if within is None else within), policy.zone))
    return Window(read_expire_before(before, policy))


def read_expire_before(
    text: str, policy: Policy, *, name: str = "--expire-before", undone: str = "nothing was done"
) -> datetime:
    """Read `--expire-before`: ISO 8601 or a format of the policy; a bare day is its 00:00 in the policy's zone.

    `name` is what it is called where it was given, `undone` what the error says was not done.

    Raises:
        UsageError: it cannot be read.
    """
    instant = read_instant(text, DateReader(policy.formats, policy.zone))
    if instant is None:
        raise UsageError(
            f"{name} {text!r} cannot be read; {undone}.",
            hint="Write it as 2026-06-01 or 2026-06-01T12:00:00Z, or in a format of the policy.",
        )
    return instant


def listed_as(verdict: Verdict, window: Window) -> ListedAs:
    """Say why an observation is to be looked at now: it has expired, is due, or is due for review; "" for neither."""
    if verdict.expired:
        return "expired"
    if verdict.expires_at is not None and (window.until is None or verdict.expires_at <= window.until):
        return "due"
    return "review" if verdict.review_due else ""


def is_undated(verdict: Verdict) -> bool:
    """Say whether an observation has no date of its own: none is written in it, and the user set none."""
    return verdict.age_source is not None and verdict.age_source not in _OWN_DATES
