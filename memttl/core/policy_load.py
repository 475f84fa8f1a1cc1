"""TOML text into a `Policy`, with all problems at once. Called by `settings.py`, where there is a policy file."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from pydantic import ValidationError

from memttl.core.formats import compile_format
from memttl.core.near import near
from memttl.core.normal import normalise
from memttl.core.policy import BUILT_IN, BUILT_IN_TIERS, PERMANENT_RULE, Policy, Tier
from memttl.core.policy_file import VERSION, PolicyFile, place_of, problems_of
from memttl.core.rules import Rule, compile_rule
from memttl.core.toml_text import read_toml
from memttl.core.zones import read_zone
from memttl.errors import BadPolicy


def load_policy(text: str, where: str = BUILT_IN, *, beside: bool = False) -> Policy:
    """Read a policy file's text; the empty text says what the built-in policy says.

    A policy `beside` the memory file may come with a cloned repository, and so may name no path outside that folder.

    Raises:
        BadPolicy: with all problems, each with its dotted place, the value given and what is allowed.
    """
    try:
        raw = read_toml(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as e:  # tomllib lets a number of thousands of digits raise a plain ValueError
        raise BadPolicy(where, (f"no TOML: {e}",)) from None
    _refuse_newer(raw, where)
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


def refuse_newer(text: str, where: str) -> None:
    """Refuse the text of a policy that a newer memttl wrote; what is no policy at all is none of it.

    Raises:
        BadPolicy: it is such a one.
    """
    with suppress(ValueError, RecursionError):
        _refuse_newer(read_toml(text.removeprefix("\ufeff")), where)


def _refuse_newer(raw: dict[str, Any], where: str) -> None:
    version = raw.get("version", VERSION)
    if type(version) is int and version > VERSION:
        newer = f"version = {version}: this memttl knows version {VERSION}; a newer memttl wrote it"
        raise BadPolicy(where, (newer,), hint="Update memttl, or write the policy for version 1.")


def _compile(file: PolicyFile, where: str, raw: dict[str, Any]) -> Policy:
    tiers = BUILT_IN_TIERS | {name: Tier(name, t.ttl, t.keep_last) for name, t in file.tiers.items()}
    return Policy(
        where=where,
        zone=read_zone(file.timezone),
        default_tier=file.default_tier,
        tiers=tiers,
        rules=Policy().rules if file.rules is None else _rules_of(file),
        formats=tuple(compile_format(f) for f in file.dates.formats),
        labels=tuple(file.dates.labels),
        grace=file.age.grace,
        inherit=file.age.inherit,
        entity_created_at=file.age.entity_created_at,
        when_due=file.review.when_due,
        remove_empty_entities=file.prune.remove_empty_entities,
        max_prune_fraction=file.limits.max_prune_fraction,
        max_prune_count=file.limits.max_prune_count,
        max_vanished_fraction=file.limits.max_vanished_fraction,
        backups_keep=file.backups.keep,
        backups_max_age=file.backups.max_age,
        archive_path=file.archive.path,
        archive_max_age=file.archive.max_age,
        audit_text=file.audit.text,
        audit_max_age=file.audit.max_age,
        state_dir=file.state.dir,
        warnings=_warnings(tiers[file.default_tier]),
        given=raw,
    )


def _warnings(default: Tier) -> tuple[str, ...]:
    if default.ttl.is_never:
        return ()
    return (f"default_tier = {default.name!r} has a TTL: observations that no rule names will expire too",)


def _rules_of(file: PolicyFile) -> tuple[Rule, ...]:
    rules = [
        compile_rule(
            r.name or f"rules[{i}]",
            r.tier,
            prefix=r.prefix or (),
            entity=r.entity or (),
            entity_type=r.entity_type or (),
            pattern=r.pattern or (),
        )
        for i, r in enumerate(file.rules or ())
    ]
    return (*rules, PERMANENT_RULE)


def _unknown_tiers(raw: dict[str, Any]) -> list[str]:
    own = raw.get("tiers")
    known = sorted({*BUILT_IN_TIERS, *(own if isinstance(own, dict) else ())})
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
    seen = {normalise(name): name for name in BUILT_IN_TIERS}
    problems = []
    for name in own if isinstance(own, dict) else ():
        other = seen.setdefault(normalise(name), name)
        if other != name:
            problems.append(f'tiers.{name}: differs only in case from the tier "{other}"; marks could not tell them')
    return problems


def _paths_outside(raw: dict[str, Any]) -> list[str]:
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
