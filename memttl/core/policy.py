"""The policy: TOML text into one frozen value, with all problems at once.

`settings.py` reads the bytes and says where they came from; `classify.py` and `plan.py` judge by the value.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from pydantic import ValidationError

from memttl.core.dates import DateFormat, compile_format, normalise
from memttl.core.durations import NEVER, Duration
from memttl.core.policy_file import VERSION, PolicyFile, TierTable, near, place_of, problems_of
from memttl.core.rules import Rule, compile_rule
from memttl.core.zones import read_zone
from memttl.errors import BadPolicy

BUILT_IN = "built-in"
_TIERS = {"session": Duration(days=30), "operational": Duration(days=90), "permanent": NEVER}
# whatever a policy's rules say, this prefix works, and it is tried last
_PERMANENT = compile_rule("permanent", "permanent", prefix=["permanent"])


@dataclass(frozen=True, slots=True)
class Tier:
    """A decay class: its TTL, and how many observations of one entity stay past it."""

    name: str
    ttl: Duration
    keep_last: int = 0


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy, compiled. `file` holds its tables as validated; `where` is its path, or "built-in".

    `digest` (16 hex digits of SHA-256) is equal for policies that say the same.
    """

    where: str
    file: PolicyFile
    tiers: dict[str, Tier]
    rules: tuple[Rule, ...]
    formats: tuple[DateFormat, ...]
    zone: tzinfo
    digest: str
    given: dict[str, Any]
    warnings: tuple[str, ...] = ()


def load_policy(text: str, where: str = BUILT_IN, *, beside: bool = False) -> Policy:
    """Read a policy. `beside`: it lies beside the memory file, and may name no path outside that folder.

    Raises:
        BadPolicy: with all problems, each with its dotted place, the value given and what is allowed.
    """
    try:
        raw = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as e:
        raise BadPolicy(where, (f"no TOML: {e}",)) from None
    version = raw.get("version", VERSION)
    if type(version) is int and version > VERSION:
        newer = f"version = {version}: this memttl knows version {VERSION}; a newer memttl wrote it"
        raise BadPolicy(where, (newer,), hint="Update memttl, or write the policy for version 1.")
    problems: list[str] = []
    file = None
    try:
        file = PolicyFile.model_validate(raw)
    except ValidationError as e:
        problems += problems_of(e, raw)
    problems += _unknown_tiers(raw) + _doubled_tiers(raw) + (_paths_outside(raw) if beside else [])
    if problems or file is None:
        raise BadPolicy(where, tuple(problems))
    return _compile(file, where, raw)


def _compile(file: PolicyFile, where: str, raw: dict[str, Any]) -> Policy:
    tables = {name: TierTable.model_construct(ttl=ttl, keep_last=0) for name, ttl in _TIERS.items()} | file.tiers
    tiers = {name: Tier(name, t.ttl, t.keep_last) for name, t in tables.items()}
    default = tiers[file.default_tier]
    warnings = []
    if not default.ttl.is_never:
        warnings.append(f"default_tier = {default.name!r} has a TTL: observations that no rule names will expire too")
    return Policy(
        where=where,
        file=file,
        tiers=tiers,
        rules=_rules_of(file),
        formats=tuple(compile_format(f) for f in file.dates.formats),
        zone=read_zone(file.timezone),
        digest=hashlib.sha256(repr(file).encode("utf-8", "surrogatepass")).hexdigest()[:16],
        given=raw,
        warnings=tuple(warnings),
    )


def _rules_of(file: PolicyFile) -> tuple[Rule, ...]:
    if file.rules is None:
        return tuple(compile_rule(name, name, prefix=[name]) for name in _TIERS)
    rules = [
        compile_rule(
            r.name or f"rules[{i}]",
            r.tier,
            prefix=r.prefix or (),
            entity=r.entity or (),
            entity_type=r.entity_type or (),
            pattern=r.pattern or (),
        )
        for i, r in enumerate(file.rules)
    ]
    return (*rules, _PERMANENT)


def prefixes_of(policy: Policy) -> set[str]:
    """Give every prefix that a rule of the policy names, normalised."""
    return {prefix for rule in policy.rules for prefix in rule.prefixes}


def _unknown_tiers(raw: dict[str, Any]) -> list[str]:
    own = raw.get("tiers")
    known = sorted({*_TIERS, *(own if isinstance(own, dict) else ())})
    named: list[tuple[str, object]] = [("default_tier", raw.get("default_tier"))]
    rules = raw.get("rules")
    for i, rule in enumerate(rules if isinstance(rules, list) else ()):
        if isinstance(rule, dict):
            named.append((place_of(("rules", i, "tier")), rule.get("tier")))
    return [
        f'{place} = "{tier}": no such tier; allowed: {", ".join(known)}{near(tier, known)}'
        for place, tier in named
        if isinstance(tier, str) and tier not in known
    ]


def _doubled_tiers(raw: dict[str, Any]) -> list[str]:
    own = raw.get("tiers")
    seen = {normalise(name): name for name in _TIERS}
    problems = []
    for name in own if isinstance(own, dict) else ():
        other = seen.setdefault(normalise(name), name)
        if other != name:
            problems.append(f'tiers.{name}: differs only in case from the tier "{other}"; marks could not tell them')
    return problems


def _paths_outside(raw: dict[str, Any]) -> list[str]:
    """A policy beside the memory file may come with a cloned repository: it must not name a path elsewhere."""
    problems = []
    for table, key in (("archive", "path"), ("state", "dir")):
        values = raw.get(table)
        path = values.get(key) if isinstance(values, dict) else None
        if isinstance(path, str) and _leaves_folder(path):
            problems.append(
                f'{table}.{key} = "{path}": a policy beside the memory file may only name a relative path that '
                "stays inside that folder"
            )
    return problems


def _leaves_folder(path: str) -> bool:
    parts = re.split(r"[\\/]", path)
    return path.startswith(("/", "\\", "~")) or re.match(r"[A-Za-z]:", path) is not None or ".." in parts
