"""What a change of settings does that one may not have meant, as warnings: pins and settings that still decide. Pure.

`change_plan.py` puts them below its changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from memttl.core.changes import Change, Changes
from memttl.core.evidence import ENTITY_PINNED
from memttl.core.model import Verdict
from memttl.core.oddities import some
from memttl.core.wording import head_of, plural

# what is set, in the order in which it decides (`classify.py`), and its name in a sentence
_DECIDING = {"expires": "expiry", "review_by": "review-by date", "ttl": "TTL", "tier": "tier"}


def sooner(changes: Changes) -> list[str]:
    """Say where a renewal lets something go earlier than it would have gone."""
    found = [
        c.entity
        for c in changes.observations
        if c.was
        and c.will_be
        and c.will_be.expires_at
        and (not c.was.expires_at or c.will_be.expires_at < c.was.expires_at)
    ]
    if not found:
        return []
    count = plural(len(found), "observation")
    return [f"this lets {count} go earlier than before, not later: {some([repr(e) for e in dict.fromkeys(found)])}"]


def idle(changes: Changes) -> list[str]:
    """Say where what is set does not decide, since something was set before that counts more."""
    found: dict[str, list[str]] = {}
    for change in changes.observations:
        above = _above(change)
        if above:
            found.setdefault(above, []).append(change.entity)
    return [_idle_words(_DECIDING[above], entities) for above, entities in found.items()]


def _above(change: Change) -> str:
    """Name the setting of before that counts more than all that is set now, "" where there is none."""
    if change.was and change.will_be and change.was.expires_at != change.will_be.expires_at:
        return ""  # a tier that never expires lets a review-by date only list
    given = [name for name in _DECIDING if getattr(change.patch, name) is not None]
    decides = next((name for name in _DECIDING if getattr(change.after, name) is not None), "")
    return decides if given and decides not in given else ""


def _idle_words(what: str, entities: list[str]) -> str:
    count = "1 observation keeps" if len(entities) == 1 else f"{len(entities)} observations keep"
    places = some([repr(e) for e in dict.fromkeys(entities)])
    return f"{count} the {what} that was set before, which counts more than what is set now: {places}"


def hidden(verdicts: Sequence[Verdict]) -> list[str]:
    """Say what readers will not see, since it has expired already by what it is given, or by its own mark."""
    if not verdicts:
        return []
    are = "1 of the observations is" if len(verdicts) == 1 else f"{len(verdicts)} of the observations are"
    rows = (f"\n- {head_of(v.observation)} ({v.entity}): {v.reason}" for v in verdicts)
    return [f"{are} hidden at once, having expired already:{''.join(rows)}"]


def stay_pinned(verdicts: Iterable[Verdict]) -> list[str]:
    """Say what stays for another reason than the settings that were given or taken away."""
    pinned = [v for v in verdicts if v.pinned]
    if not pinned:
        return []
    reasons = Counter((v.entity, v.reason) for v in pinned)
    places = some([f"{entity!r}: {reason}" + (f" ({n})" if n > 1 else "") for (entity, reason), n in reasons.items()])
    by_entity = any(reason.startswith(ENTITY_PINNED) for _, reason in reasons)
    way_out = "; `memttl unpin --entity` with what stands in brackets unpins an entity" if by_entity else ""
    count = "1 observation stays" if len(pinned) == 1 else f"{len(pinned)} observations stay"
    return [f"{count} pinned: {places}{way_out}"]
