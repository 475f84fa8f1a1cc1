"""What `set`, `pin`, `unpin` and `renew`, or a client of `serve`, ask for, and the patch on what was set. Pure.

`changes.py` puts the patch on the settings of each observation that is meant.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

from memttl.core.dates import DateReader, no_birth_because
from memttl.core.durations import BadDuration, Duration, parse_duration
from memttl.core.model import Expiry, UserSettings, When
from memttl.core.near import unknown
from memttl.core.normal import normalise
from memttl.core.policy import Policy
from memttl.core.selection import Choice, refuse_unknown_tier
from memttl.errors import UsageError

_PART_OF_DAYS = re.compile(r"[0-9]{1,9}\.[0-9]{1,9}")
_LONGEST = 200  # characters of a value: what is longer was meant for something else, and would fill the answer
_ENDS = ("expires", "review_by", "ttl")  # what says when it ends, in the order in which they count; then the tier
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
    review_by: str | None = None
    created: str | None = None
    clear: bool = False
    keep_for: str | None = None

    @property
    def sets_nothing(self) -> bool:
        """True where `set` was given none of its options."""
        given = (self.ttl, self.tier, self.expires, self.review_by, self.created)
        return self.command == "set" and not self.clear and all(word is None for word in given)


class Patch(NamedTuple):
    """A change to what was set: what is not None takes the place of what was; `clear` first takes all but a pin.

    `instead`: what it says of how long takes the place of all that says so, too, and would count more.
    """

    pinned: bool | None = None
    created: When | None = None
    expires: Expiry | None = None
    ttl: Duration | None = None
    tier: str | None = None
    review_by: When | None = None
    clear: bool = False
    instead: bool = False

    def on(self, was: UserSettings) -> UserSettings:
        """Give what is set once this is put on what was set."""
        base = UserSettings(pinned=was.pinned, pinned_by_undo=was.pinned_by_undo) if self.clear else was
        new: dict[str, Any] = {**dict.fromkeys(self.displaced), **self._given()}
        after = base._replace(**new)
        return after if self.pinned is None else after._replace(pinned_by_undo=False)  # now it is the user's own word

    @property
    def only_takes_away(self) -> bool:
        """True where it sets nothing new, so that it makes sense for an observation that is gone as well."""
        given = self._given()
        return (self.clear or bool(given)) and all(value is False for value in given.values())

    def _given(self) -> dict[str, Any]:
        return {k: v for k, v in self._asdict().items() if v is not None and k not in ("clear", "instead")}

    @property
    def says_how_long(self) -> bool:
        """True where it gives an expiry, a day of review, a TTL or a tier."""
        return any(getattr(self, name) is not None for name in (*_ENDS, "tier"))

    @property
    def displaced(self) -> set[str]:
        """Name what goes with it although it gives nothing in its place."""
        return set(_ENDS) - self._given().keys() if self.instead and self.says_how_long else set()


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
            hint="Give --ttl, --tier, --expires, --review-by, --created or --clear; --list shows what is set.",
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
        created=_birth("--created", wish.created, dates, now) if wish.created is not None else None,
        expires=_expiry("--expires", wish.expires, dates) if wish.expires is not None else None,
        review_by=_review_by("--review-by", wish.review_by, dates) if wish.review_by is not None else None,
        ttl=read_duration("--ttl", wish.ttl) if wish.ttl is not None else None,
        tier=wish.tier,
        clear=wish.clear,
    )


def patch_of(
    policy: Policy,
    now: datetime,
    *,
    ttl: object = None,
    decay: object = None,
    expires: object = None,
    review_by: object = None,
    created: object = None,
    pin: object = None,
    names: Mapping[str, str] | None = None,
) -> Patch:
    """Read what a client gives of one observation, as JSON values; None is not given, and changes nothing.

    `ttl` is a number of days, parts of one included, or a duration's text; `decay` a tier's name, in any case; the
    dates are texts as `memttl set` takes them; `pin` is true or false. `names` are the client's words for these
    arguments where they are others (`{"decay": "tier"}`, `{"ttl": "observations[2].ttl"}`).

    Raises:
        UsageError: an argument that cannot be read, or names nothing; its message begins with the client's word.
    """
    called = {name: name for name in ("ttl", "decay", "expires", "review_by", "created", "pin")} | dict(names or {})
    dates = DateReader(policy.formats, policy.zone)

    def text(name: str, value: object) -> str:
        return _text(called[name], value, "a date such as 2026-06-01")

    ends = [
        called[n] for n, value in (("ttl", ttl), ("expires", expires), ("review_by", review_by)) if value is not None
    ]
    if len(ends) > 1:
        raise UsageError(f"{ends[0]} and {ends[1]} both say when it ends; nothing was done.", hint="Give one of them.")
    if not (pin is None or isinstance(pin, bool)):
        raise _of_other_kind(called["pin"], pin, "true or false")
    return Patch(
        pinned=pin,
        created=_birth(called["created"], text("created", created), dates, now) if created is not None else None,
        expires=_expiry(called["expires"], text("expires", expires), dates) if expires is not None else None,
        ttl=_days(called["ttl"], ttl) if ttl is not None else None,
        tier=_tier(called["decay"], decay, policy) if decay is not None else None,
        review_by=_review_by(called["review_by"], text("review_by", review_by), dates)
        if review_by is not None
        else None,
    )


def _days(name: str, value: object) -> Duration:
    """Read a number of days, parts of one rounded up to hours, or a duration's text."""
    what = "a number of days, or a duration such as 90d"
    if isinstance(value, str):
        text = _text(name, value, what)
        if not _PART_OF_DAYS.fullmatch(text.strip()):
            return read_duration(name, text)
        value = float(text)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _of_other_kind(name, value, what)
    days: object = value
    if isinstance(value, float) and math.isfinite(value):
        if 0 < value < 10**9 and not value.is_integer():
            hours = max(1, math.ceil(round(value * 24, 6)))  # 0.1 days are 2.4000000000000004 hours
            return Duration(days=hours // 24, hours=hours % 24)
        days = int(value)
    try:
        return parse_duration(days)
    except BadDuration as e:
        raise UsageError(f"{name} cannot be read: {e}; nothing was done.") from None


def _tier(name: str, value: object, policy: Policy) -> str:
    text = _text(name, value, "the name of a tier").strip()
    own = {normalise(tier): tier for tier in policy.tiers}  # as marks and fields are compared
    tier = text if text in policy.tiers else own.get(normalise(text))
    if tier is None:
        tiers = list(policy.tiers)
        raise UsageError(unknown(name, "tier", text, tiers), hint=f"The policy's tiers are: {', '.join(tiers)}.")
    return tier


def _text(name: str, value: object, what: str) -> str:
    if not isinstance(value, str):
        raise _of_other_kind(name, value, what)
    if len(value) > _LONGEST:
        raise UsageError(f"{name} is a text of {len(value)} characters, not {what}; nothing was done.")
    return value


def _of_other_kind(name: str, value: object, what: str) -> UsageError:
    kinds = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list"}
    return UsageError(f"{name} is {kinds.get(type(value), 'an object')}, not {what}; nothing was done.")


def read_duration(option: str, text: str) -> Duration:
    """Read a duration that the user gave.

    Raises:
        UsageError: what is wrong with it.
    """
    try:
        return parse_duration(text)
    except BadDuration as e:
        raise UsageError(f"{option} {text!r} cannot be read: {e}; nothing was done.") from None


def _expiry(name: str, text: str, dates: DateReader) -> Expiry:
    if text.strip().lower() == "never":
        return "never"
    return _day(name, text, dates, f"{_DATES}; or never.")


def _review_by(name: str, text: str, dates: DateReader) -> When:
    never = " What is to stay for good is given an expiry of never." if text.strip().lower() == "never" else ""
    return _day(name, text, dates, f"{_DATES}.{never}")


def _day(name: str, text: str, dates: DateReader, hint: str) -> When:
    when = dates.field(text)
    if when is None:
        raise UsageError(f"{name} {text!r} cannot be read; nothing was done.", hint=hint)
    return _whole_seconds(when)


def _birth(name: str, text: str, dates: DateReader, now: datetime) -> When:
    when = dates.field(text)
    why = no_birth_because(when, now, dates.zone)
    if when is None or why:
        problem = "cannot be read" if when is None else f"cannot be a birth: {why}"
        raise UsageError(f"{name} {text!r} {problem}; nothing was done.", hint=f"{_DATES}.")
    return _whole_seconds(when)


def _whole_seconds(when: When) -> When:
    """As the ledger and the audit log hold instants."""
    return when.replace(microsecond=0) if isinstance(when, datetime) else when
