"""What `set`, `pin`, `unpin` and `renew` are asked for, as words, and the patch on what was set that they mean. Pure.

`changes.py` puts the patch on the settings of each observation that is meant.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NamedTuple

from memttl.core.dates import DateReader, no_birth_because
from memttl.core.durations import BadDuration, Duration, parse_duration
from memttl.core.model import Expiry, UserSettings, When
from memttl.core.policy import Policy
from memttl.core.selection import Choice, refuse_unknown_tier
from memttl.errors import UsageError

Command = Literal["set", "pin", "unpin", "renew"]
_DATES = "Write it as 2026-06-01 or 2026-06-01T12:00:00Z, or in a format of the policy"


class Wish(NamedTuple):
    """What the user asked for, unread: which observations, or which entities to pin or unpin, and the options' words.

    `keep_for` is how long a renewal lasts, None for the TTL of each observation's tier.
    """

    command: Command
    choice: Choice = Choice()
    entity_pins: tuple[str, ...] = ()
    ttl: str | None = None
    tier: str | None = None
    expires: str | None = None
    created: str | None = None
    clear: bool = False
    keep_for: str | None = None

    @property
    def sets_nothing(self) -> bool:
        """True where `set` was given none of its options."""
        given = (self.ttl, self.tier, self.expires, self.created)
        return self.command == "set" and not self.clear and all(word is None for word in given)


class Patch(NamedTuple):
    """A change to what was set: what is not None takes the place of what was; `clear` first takes all but a pin."""

    pinned: bool | None = None
    created: When | None = None
    expires: Expiry | None = None
    ttl: Duration | None = None
    tier: str | None = None
    clear: bool = False

    def on(self, was: UserSettings) -> UserSettings:
        """Give what is set once this is put on what was set."""
        base = UserSettings(pinned=was.pinned, pinned_by_undo=was.pinned_by_undo) if self.clear else was
        after = base._replace(**self._given())
        return after if self.pinned is None else after._replace(pinned_by_undo=False)  # now it is the user's own word

    @property
    def only_takes_away(self) -> bool:
        """True where it sets nothing new, so that it makes sense for an observation that is gone as well."""
        given = self._given()
        return (self.clear or bool(given)) and all(value is False for value in given.values())

    def _given(self) -> dict[str, Any]:
        return {k: v for k, v in self._asdict().items() if v is not None and k != "clear"}


def check_wish(wish: Wish) -> None:
    """Refuse a wish that names nothing to change, before any file is read.

    Raises:
        UsageError: what is missing.
    """
    if wish.entity_pins and wish.choice != Choice():
        raise UsageError(
            "--entity names whole entities, ENTITY and TEXT observations; nothing was done.",
            hint="Give one or the other.",
        )
    if not wish.entity_pins and wish.choice.entity is None:
        also = ", or --entity for whole entities" if wish.command in ("pin", "unpin") else ""
        raise UsageError(
            f"Nothing says which observations `memttl {wish.command}` means; nothing was done.",
            hint=f"Name an entity (a glob such as 'Sprint *' means several, '*' every one){also}.",
        )
    if wish.sets_nothing:
        raise UsageError(
            "Nothing is given to set; nothing was done.",
            hint="Give --ttl, --tier, --expires, --created or --clear; --list shows what is set.",
        )


def read_patch(wish: Wish, policy: Policy, now: datetime) -> Patch:
    """Read the options' words by a policy. Of a renewal the expiry is still to come, since each tier has its own.

    Raises:
        UsageError: a word that cannot be read, or names nothing.
    """
    if wish.command in ("pin", "unpin"):
        return Patch(pinned=wish.command == "pin")
    if wish.tier is not None:
        refuse_unknown_tier(wish.tier, list(policy.tiers))
    dates = DateReader(policy.formats, policy.zone)
    return Patch(
        created=_birth(wish.created, dates, now) if wish.created is not None else None,
        expires=_expiry(wish.expires, dates) if wish.expires is not None else None,
        ttl=read_duration("--ttl", wish.ttl) if wish.ttl is not None else None,
        tier=wish.tier,
        clear=wish.clear,
    )


def read_duration(option: str, text: str) -> Duration:
    """Read a duration that the user gave.

    Raises:
        UsageError: what is wrong with it.
    """
    try:
        return parse_duration(text)
    except BadDuration as e:
        raise UsageError(f"{option} {text!r} cannot be read: {e}; nothing was done.") from None


def _expiry(text: str, dates: DateReader) -> Expiry:
    if text.strip().lower() == "never":
        return "never"
    when = dates.field(text)
    if when is None:
        raise UsageError(f"--expires {text!r} cannot be read; nothing was done.", hint=f"{_DATES}; or never.")
    return _whole_seconds(when)


def _birth(text: str, dates: DateReader, now: datetime) -> When:
    when = dates.field(text)
    why = no_birth_because(when, now, dates.zone)
    if when is None or why:
        problem = "cannot be read" if when is None else f"cannot be a birth: {why}"
        raise UsageError(f"--created {text!r} {problem}; nothing was done.", hint=f"{_DATES}.")
    return _whole_seconds(when)


def _whole_seconds(when: When) -> When:
    """As the ledger and the audit log hold instants."""
    return when.replace(microsecond=0) if isinstance(when, datetime) else when
