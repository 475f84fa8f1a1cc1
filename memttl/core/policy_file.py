"""What may stand in a policy file: one pydantic model a table, and one sentence a kind of problem.

`policy_load.py` validates the parsed TOML with it and compiles the result. A new key is one field here, and a use.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    field_validator,
    model_validator,
)

from memttl.core.durations import BadDuration, Duration, parse_duration
from memttl.core.formats import BadFormat, compile_format
from memttl.core.near import near
from memttl.core.policy import Policy

VERSION = 1
_DEFAULT = Policy()


def _ttl(value: object) -> Duration:
    try:
        return parse_duration(value)
    except BadDuration as e:
        raise ValueError(str(e)) from None


def _grace(value: object) -> Duration:
    try:
        return parse_duration(value, zero_allowed=True)
    except BadDuration as e:
        raise ValueError(str(e)) from None


def _path(value: str) -> str:
    if "\0" in value:
        raise ValueError("a path holds no NUL")
    return value


def _prefix(value: str) -> str:
    bare = value.strip().strip("[]()").rstrip(":： ").strip()
    if not bare or bare != value:
        raise ValueError(f'a prefix is the bare word; write "{bare or "session"}"')
    return value


def _pattern(value: str) -> str:
    try:
        re.compile(value)
    except (re.error, OverflowError, RecursionError) as e:
        raise ValueError(f"no regular expression: {e}") from None
    return value


def _label(value: str) -> str:
    if not value.strip(" \t:："):
        raise ValueError('a label is the words before the colon, such as "Knowledge captured"')
    return value


def _format(value: str) -> str:
    try:
        compile_format(value)
    except BadFormat as e:
        raise ValueError(str(e)) from None
    return value


# each item of a list has a place of its own, so that all that are wrong are named
Prefix = Annotated[str, AfterValidator(_prefix)]
Pattern = Annotated[str, AfterValidator(_pattern)]
Label = Annotated[str, AfterValidator(_label)]
Format = Annotated[str, AfterValidator(_format)]
PathText = Annotated[str, Field(min_length=1), AfterValidator(_path)]
Ttl = Annotated[Duration, PlainValidator(_ttl, json_schema_input_type=str | int)]
Grace = Annotated[Duration, PlainValidator(_grace, json_schema_input_type=str | int)]
Names = Annotated[list[str], Field(min_length=1)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class TierTable(_Table):
    """A tier: how long its observations last, and how many of each entity stay whatever their age."""

    ttl: Ttl
    keep_last: int = Field(default=0, ge=0)

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: object) -> object:
        return value if isinstance(value, dict) else {"ttl": value}


class RuleTable(_Table):
    """A row of judgement: all of its conditions must hold, any one value of each."""

    tier: str
    name: str | None = None
    prefix: Annotated[list[Prefix], Field(min_length=1)] | None = None
    entity: Names | None = None
    entity_type: Names | None = None
    pattern: Annotated[list[Pattern], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _has_condition(self) -> RuleTable:
        if not (self.prefix or self.entity or self.entity_type or self.pattern):
            raise ValueError("a rule needs a condition: prefix, entity, entity_type or pattern")
        return self


class DatesTable(_Table):
    """How dates are written besides ISO 8601, and which labels stand before a birth."""

    formats: list[Format] = []
    labels: list[Label] = []


class AgeTable(_Table):
    """Where ages come from, and how long a newcomer stays whatever its text says."""

    grace: Grace = _DEFAULT.grace
    inherit: bool = _DEFAULT.inherit
    entity_created_at: bool = _DEFAULT.entity_created_at


class ReviewTable(_Table):
    """What happens once a review-by day has passed."""

    when_due: Literal["expire", "list"] = _DEFAULT.when_due


class PruneTable(_Table):
    """What a prune removes besides observations."""

    remove_empty_entities: bool = _DEFAULT.remove_empty_entities


class LimitsTable(_Table):
    """Rails: a plan past these is refused whole, never trimmed."""

    max_prune_fraction: float = Field(default=_DEFAULT.max_prune_fraction, ge=0, le=1)
    max_prune_count: int = Field(default=_DEFAULT.max_prune_count, ge=0)
    max_vanished_fraction: float = Field(default=_DEFAULT.max_vanished_fraction, ge=0, le=1)


class BackupsTable(_Table):
    """Which whole-file backups stay: the newest `keep`, and the newest of each day up to `max_age`."""

    keep: int = Field(default=_DEFAULT.backups_keep, ge=1)
    max_age: Ttl = _DEFAULT.backups_max_age


class ArchiveTable(_Table):
    """Where removed observations are kept as a memory file of their own; off without a path."""

    path: PathText | None = None
    max_age: Ttl = _DEFAULT.archive_max_age


class AuditTable(_Table):
    """Whether the audit log holds the removed texts, and how long its lines stay."""

    text: bool = _DEFAULT.audit_text
    max_age: Ttl = _DEFAULT.audit_max_age


class StateTable(_Table):
    """Where memttl keeps backups and the audit log; beside the memory file without a dir."""

    dir: PathText | None = None


class PolicyFile(_Table):
    """The whole policy file."""

    version: int = Field(default=VERSION, ge=1)
    timezone: str = "UTC"
    default_tier: str = _DEFAULT.default_tier
    tiers: dict[str, TierTable] = {}
    rules: list[RuleTable] | None = None
    dates: DatesTable = Field(default_factory=DatesTable)
    age: AgeTable = Field(default_factory=AgeTable)
    review: ReviewTable = Field(default_factory=ReviewTable)
    prune: PruneTable = Field(default_factory=PruneTable)
    limits: LimitsTable = Field(default_factory=LimitsTable)
    backups: BackupsTable = Field(default_factory=BackupsTable)
    archive: ArchiveTable = Field(default_factory=ArchiveTable)
    audit: AuditTable = Field(default_factory=AuditTable)
    state: StateTable = Field(default_factory=StateTable)

    @field_validator("timezone")
    @classmethod
    def _known(cls, value: str) -> str:
        from memttl.core.zones import read_zone

        read_zone(value)
        return value


def problems_of(error: ValidationError, raw: dict[str, Any]) -> list[str]:
    """Give one sentence a problem: dotted place, the value given, what is allowed, and a near name."""
    return [_sentence(e, raw) for e in error.errors(include_url=False)]


def place_of(keys: tuple[int | str, ...]) -> str:
    """Give the dotted place of a value: `rules[1].prefix`, counted from 0."""
    text = ""
    for key in keys:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else str(key)
    return text or "the policy"


# pydantic's error type -> what is allowed
_ALLOWED: dict[str, Callable[[dict[str, Any]], str]] = {
    "missing": lambda e: "is missing",
    "string_type": lambda e: "must be text in quotes",
    "int_type": lambda e: "must be a whole number",
    "int_from_float": lambda e: "must be a whole number",
    "float_type": lambda e: "must be a number",
    "bool_type": lambda e: "must be true or false",
    "list_type": lambda e: "write [[rules]]" if e["loc"] == ("rules",) else 'must be a list, such as ["session"]',
    "dict_type": lambda e: "must be a table",
    "model_type": lambda e: "must be a table",
    "too_short": lambda e: "must not be empty",
    "string_too_short": lambda e: "must not be empty",
    "greater_than_equal": lambda e: f"must be at least {e['ctx']['ge']:g}",
    "less_than_equal": lambda e: f"must be at most {e['ctx']['le']:g}",
    "literal_error": lambda e: f"allowed: {e['ctx']['expected'].replace(chr(39), chr(34))}",
    "value_error": lambda e: str(e["ctx"]["error"]),
}


def _sentence(error: Any, raw: dict[str, Any]) -> str:
    keys: tuple[int | str, ...] = error["loc"]
    if len(keys) == 3 and keys[0] == "tiers" and not isinstance(raw["tiers"][keys[1]], dict):
        keys = keys[:2]  # the short form, session = "30d", has no key of its own
    place = place_of(keys)
    if error["type"] == "extra_forbidden":
        allowed = _keys_beside(keys)
        given = "" if isinstance(error["input"], dict | list) else f" = {_toml(error['input'])}"
        return f"{place}{given}: unknown key; allowed: {', '.join(allowed)}{near(str(keys[-1]), allowed)}"
    say = _ALLOWED[error["type"]](error) if error["type"] in _ALLOWED else str(error["msg"])
    if error["type"] == "missing" or isinstance(error["input"], dict | list):
        return f"{place}: {say}"
    return f"{place} = {_toml(error['input'])}: {say}"


def _keys_beside(keys: tuple[int | str, ...]) -> list[str]:
    table = _TABLES[str(keys[0])] if len(keys) > 1 else PolicyFile
    return list(table.model_fields)


_TABLES: dict[str, type[BaseModel]] = {
    "tiers": TierTable, "rules": RuleTable, "dates": DatesTable, "age": AgeTable, "review": ReviewTable,
    "prune": PruneTable, "limits": LimitsTable, "backups": BackupsTable, "archive": ArchiveTable,
    "audit": AuditTable, "state": StateTable,
}  # fmt: skip


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
