"""What `memttl init` counts on: the draft, and the draft anew once the answers change what would go.

`commands/init.py` calls it before its questions and before the last one. Nothing is written.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memttl.errors import BadPolicy

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from datetime import datetime

    from memttl.commands.init_questions import Answers
    from memttl.commands.init_steps import Wanted
    from memttl.core.first_steps import Draft
    from memttl.core.policy import Policy
    from memttl.settings import Given, Settings
    from memttl.workflow.init import Wish


def first_draft(settings: Settings | None, wish: Wish, answers: Answers, now: datetime) -> tuple[Draft, Wish]:
    """Draft, with the history's births where these will be taken without a question; give the wish for that, too."""
    from memttl.commands.init_steps import is_sound
    from memttl.workflow.init import draft

    planned = draft(settings, wish, now)
    is_unasked = answers.backfill or (answers.backfill is None and not answers.asks)
    after = wish
    if planned.begun is None and not is_sound(planned):  # its ages do not begin, unless somebody said so
        after = after._replace(scan=answers.scan is True)
    if settings is not None and wish.births is None and is_unasked and planned.commits and is_sound(planned):
        after = after._replace(births=_births(settings))
    return (planned, wish) if after == wish else (draft(settings, after, now), after)


def draft_as_answered(
    planned: Draft, wish: Wish, wanted: Wanted, settings: Settings, *, is_kept: bool
) -> tuple[Draft, bool]:
    """Draft anew where the answers change what would go; say whether they do."""
    from memttl.workflow.init import draft

    after = wish
    if planned.begun is None:
        after = after._replace(scan=wanted.scan)
    if wanted.backfill and wish.births is None and planned.commits:
        after = after._replace(births=_births(settings))
    if is_kept and planned.before == "other" and wish.counting is None:
        after = after._replace(counting=_policy_at(planned.target, settings))
    if after == wish:
        return planned, False
    return draft(settings, after, settings.now), True


def _births(settings: Settings) -> dict[str, dict[bytes, datetime | None]]:
    from memttl.workflow.backfill import births_in_history

    return {entity: dict(births) for entity, births in births_in_history(settings).items()}


def _policy_at(path: str, settings: Settings) -> Policy | None:
    """Read the policy that stays; None for one that cannot be used, which the next step tells."""
    from memttl.policies import lies_beside, read_policy

    try:
        return read_policy(path, beside=lies_beside(path, settings.named))
    except BadPolicy:
        return None


def policy_before(target: str, settings: Settings | None, given: Given) -> str | None:
    """Give the path of a policy that will count instead of the one at `target`; None where that one will."""
    from memttl.policies import policy_places

    places = policy_places(settings.named if settings else None, given.policy, os.environ)
    found = next((p for p in places if p == target or os.path.lexists(p)), None)
    return found if target in places and found != target else None
