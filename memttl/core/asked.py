"""What the user set, as the ledger and the audit log hold it, and back. Pure.

A memttl that does not know a key leaves it out, and may so let go what the key would keep: once a version has been
released, a new key raises the versions of both (`files/ledger.py`, `files/audit.py`), so that it refuses them instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from memttl.core.durations import parse_duration
from memttl.core.model import Expiry, UserSettings, When
from memttl.core.wording import when_text


def asked_document(asked: UserSettings) -> dict[str, Any]:
    """Give settings as JSON holds them; only what is set has a key, so that {} is nothing."""
    rows: dict[str, Any] = {
        "pinned": asked.pinned or None,
        "pinned_by_undo": asked.pinned_by_undo or None,
        "created_at": when_text(asked.created),
        "expires_at": "never" if asked.expires == "never" else when_text(asked.expires),
        "review_by": when_text(asked.review_by),
        "ttl": str(asked.ttl) if asked.ttl is not None else None,
        "tier": asked.tier,
    }
    return {key: value for key, value in rows.items() if value is not None}


def asked_of(document: Mapping[str, Any]) -> UserSettings:
    """Read what `asked_document` wrote. Keys that this version does not know are left out.

    Raises:
        ValueError: it holds a value that cannot be read.
    """
    created, expires, review_by = (document.get(key) for key in ("created_at", "expires_at", "review_by"))
    ttl, tier = document.get("ttl"), document.get("tier")
    if not (tier is None or isinstance(tier, str)):
        raise ValueError(f"{tier!r} is no tier")
    return UserSettings(
        pinned=document.get("pinned") is True,
        pinned_by_undo=document.get("pinned_by_undo") is True,
        created=_when(created) if created is not None else None,
        expires=_expiry(expires) if expires is not None else None,
        ttl=parse_duration(ttl) if ttl is not None else None,
        tier=tier,
        review_by=_when(review_by) if review_by is not None else None,
    )


def _expiry(value: object) -> Expiry:
    return "never" if value == "never" else _when(value)


def _when(value: object) -> When:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no date")  # one error for all that cannot be read
    if len(value) == len("2026-01-05"):
        return date.fromisoformat(value)
    return datetime.fromisoformat(value).astimezone(UTC)
