"""The policy as one frozen value, compiled; its defaults are the built-in policy.

`classify.py` and `plan.py` judge by it. What may stand in a policy file is told in `policy_file.py`, which takes its
defaults from here; `policy_load.py` reads one.
"""

from __future__ import annotations

from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from memttl.core.durations import NEVER, Duration
from memttl.core.rules import Rule, compile_rule

if TYPE_CHECKING:
    from memttl.core.formats import DateFormat

BUILT_IN = "built-in"


class Tier(NamedTuple):
    """A decay class: its TTL, and how many observations of one entity stay past it."""

    name: str
    ttl: Duration
    keep_last: int = 0


BUILT_IN_TIERS = {
    "session": Tier("session", Duration(days=30)),
    "operational": Tier("operational", Duration(days=90)),
    "permanent": Tier("permanent", NEVER),
}
# whatever a policy's rules say, this prefix works, and it is tried last
PERMANENT_RULE = compile_rule("permanent", "permanent", prefix=["permanent"])
_BUILT_IN_RULES = (
    compile_rule("session", "session", prefix=["session"]),
    compile_rule("operational", "operational", prefix=["operational"]),
    PERMANENT_RULE,
)


class Policy(NamedTuple):
    """One policy. `where` is its path, or "built-in"; `given` holds the TOML values as written, for `policy show`.

    Limits are fractions of the file's observations and counts of observations; ages and grace are durations.
    """

    where: str = BUILT_IN
    zone: tzinfo = UTC
    default_tier: str = "permanent"
    tiers: dict[str, Tier] = BUILT_IN_TIERS
    rules: tuple[Rule, ...] = _BUILT_IN_RULES
    formats: tuple[DateFormat, ...] = ()
    labels: tuple[str, ...] = ()
    grace: Duration = Duration(days=7)
    inherit: bool = False
    entity_created_at: bool = False
    when_due: Literal["expire", "list"] = "expire"
    remove_empty_entities: bool = False
    max_prune_fraction: float = 0.5
    max_prune_count: int = 1000
    max_vanished_fraction: float = 0.5
    backups_keep: int = 10
    backups_max_age: Duration = Duration(days=90)
    archive_path: str | None = None
    archive_max_age: Duration = Duration(months=24)
    audit_text: bool = True
    audit_max_age: Duration = Duration(months=12)
    state_dir: str | None = None
    warnings: tuple[str, ...] = ()
    given: dict[str, Any] = {}  # noqa: RUF012  # never changed

    @property
    def digest(self) -> str:
        """Give 16 hex digits of SHA-256, equal for policies that are written alike."""
        import hashlib
        import json

        return hashlib.sha256(json.dumps(self.given, sort_keys=True, default=str).encode()).hexdigest()[:16]


def prefixes_of(policy: Policy) -> set[str]:
    """Give every prefix that a rule of the policy names, normalised."""
    return {prefix for rule in policy.rules for prefix in rule.prefixes}
