"""All that judging needs besides the file: the policy, the instant that is now, and the ledger's baseline.

The workflow makes one a run; `evidence.py` and `classify.py` judge with it.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from memttl.core.birth import BirthReader
from memttl.core.dates import DateReader
from memttl.core.head import HeadReader
from memttl.core.marks import TailReader
from memttl.core.policy import Policy, prefixes_of


class Judge(NamedTuple):
    """A policy at an instant, with the readers that it needs. `baseline`: when the ledger first met this file."""

    policy: Policy
    now: datetime
    baseline: datetime | None
    heads: HeadReader
    tails: TailReader
    births: BirthReader


def make_judge(policy: Policy, now: datetime, *, baseline: datetime | None = None) -> Judge:
    """Prepare judging by `policy` at `now` (aware); `baseline` is None where there is no ledger yet."""
    dates = DateReader(policy.formats, policy.zone)
    tails = TailReader(policy.tiers, dates)
    births = BirthReader(dates, policy.labels, now)
    return Judge(policy, now, baseline, HeadReader(prefixes_of(policy), dates), tails, births)
