"""The effective policy as TOML, each value with where it came from. Called by `memttl policy show`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from memttl.core.policy import BUILT_IN, Policy, Tier
from memttl.core.policy_file import PolicyFile, RuleTable
from memttl.core.toml_text import toml, toml_key

_TABLES = ("dates", "age", "review", "prune", "limits", "backups", "archive", "audit", "state")
_CONDITIONS = ("prefix", "entity", "entity_type", "pattern")


class Value(NamedTuple):
    """One effective value: its table, its key, the value as TOML (empty where it is not set), and its source."""

    table: str
    key: str
    text: str
    source: str


def effective_values(policy: Policy) -> list[Value]:
    """Give every value that is in force, in the order of a policy file."""
    file = PolicyFile.model_validate(policy.given)
    return [*_top(policy, file), *_tiers(policy), *_rules(policy, file), *_tables(policy, file)]


def policy_toml(policy: Policy) -> str:
    """Write the effective policy as TOML that memttl reads back, a comment behind each value saying its source."""
    lines, table = [f"# policy: {policy.where}"], ""
    for value in effective_values(policy):
        if value.table != table or (value.table == "[[rules]]" and value.key == "name"):
            table = value.table
            lines += ["", table]
        shown = f"{value.key} = {value.text}" if value.text else f"# {value.key} is not set"
        lines.append(f"{shown:<44} # {value.source}" if value.text else shown)
    if policy.given.get("rules") is not None:
        lines += ["", "# and whatever the rules say, the prefix permanent works, last"]
    return "\n".join(lines) + "\n"


def _top(policy: Policy, file: PolicyFile) -> Iterator[Value]:
    for key in ("version", "timezone", "default_tier"):
        yield Value("", key, toml(getattr(file, key)), _source(policy, key))
    if file.rules == []:  # no table says so: without this line the built-in rules would be read back
        yield Value("", "rules", "[]", policy.where)


def _tiers(policy: Policy) -> Iterator[Value]:
    for tier in policy.tiers.values():
        yield Value("[tiers]", toml_key(tier.name), _tier(tier), _source(policy, "tiers", tier.name))


def _tier(tier: Tier) -> str:
    ttl = toml(tier.ttl)
    return f"{{ ttl = {ttl}, keep_last = {tier.keep_last} }}" if tier.keep_last else ttl


def _rules(policy: Policy, file: PolicyFile) -> Iterator[Value]:
    source = BUILT_IN if file.rules is None else policy.where
    tables = file.rules
    if tables is None:
        tables = [RuleTable(name=rule.label, prefix=sorted(rule.prefixes), tier=rule.tier) for rule in policy.rules]
    for rule in tables:
        yield Value("[[rules]]", "name", toml(rule.name), source)
        for condition in _CONDITIONS:
            if getattr(rule, condition):
                yield Value("[[rules]]", condition, toml(getattr(rule, condition)), source)
        yield Value("[[rules]]", "tier", toml(rule.tier), source)


def _tables(policy: Policy, file: PolicyFile) -> Iterator[Value]:
    for table in _TABLES:
        values = getattr(file, table)
        for key in type(values).model_fields:
            yield Value(f"[{table}]", key, toml(getattr(values, key)), _source(policy, table, key))


def _source(policy: Policy, table: str, key: str | None = None) -> str:
    given = policy.given.get(table)
    if key is not None:
        given = given.get(key) if isinstance(given, dict) else None
    return BUILT_IN if given is None else policy.where
