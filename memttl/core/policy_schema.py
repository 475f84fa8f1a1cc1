"""What may stand in a policy file, as a JSON Schema for editors, and each key in words. Pure.

`memttl policy schema` prints it; `memttl init` takes the words for its comments. What `load_policy` reads, the schema
takes; what it cannot know (which tiers there are, time zones, regular expressions) `memttl policy check` tells.
"""

from __future__ import annotations

from typing import Any

from memttl.core.durations import Duration
from memttl.core.formats import DIRECTIVES
from memttl.core.policy import BUILT_IN_TIERS
from memttl.core.policy_words import words_of

Schema = dict[str, Any]

# draft-07: Taplo promises draft-04 and reads draft-07, Tombi reads draft-07 and later
_DRAFT = "http://json-schema.org/draft-07/schema#"
_KEPT = ("type", "enum", "minimum", "maximum", "minLength", "minItems")

# The patterns are for every engine of regular expressions, without flags and look-around, and for people: an editor
# shows them with what does not fit. So they let a misspelt unit through ("3 dags"), which `policy check` names.
_NEVER = "[nN][eE][vV][eE][rR]"
_PIECES = r"(?:[0-9]+\s*(?:[yYwWdDhH]|[mM][oO])[^0-9]*)+"
_ISO = "[pP](?:[0-9]+[yYmMwWdD])*(?:[tT][0-9]+[hH])?"
_ZERO_OR_LONGER = {"pattern": rf"^\s*(?:{_NEVER}|-0+|[0-9]+|{_PIECES}|{_ISO})\s*$"}
_LONGER = {"pattern": rf"^\s*(?:{_NEVER}|[0-9]+|{_PIECES}|{_ISO})\s*$", "allOf": [{"pattern": f"[1-9]|{_NEVER}"}]}
_DIRECTIVES = "".join(DIRECTIVES)

# what the validators of `policy_file.py` ask for besides: the dotted key -> what its schema says more
_MORE: dict[str, Schema] = {
    "rules[]": {"anyOf": [{"required": [name]} for name in ("prefix", "entity", "entity_type", "pattern")]},
    "rules[].prefix": {"items": {"type": "string", "pattern": r"^(?:[^\s\[\]()][\s\S]*)?[^\s\[\]():：]$"}},
    "dates.formats": {
        "items": {
            "type": "string",
            "pattern": rf"^(?:[^%]|%[{_DIRECTIVES}])*$",
            "allOf": [{"pattern": "%[Yy]"}, {"pattern": "%[mBbj]"}],
        }
    },
    "dates.labels": {"items": {"type": "string", "pattern": "[^ \\t:：]"}},
}


def policy_schema() -> Schema:
    """Give the JSON Schema (draft-07) of a policy file: each key with its words, default, examples and what may stand.

    Nothing in it is a reference: Taplo ignores what stands beside one.
    """
    from memttl.core.policy_file import VERSION, PolicyFile

    models = PolicyFile.model_json_schema()
    root = _of_key("", models, models.pop("$defs"))
    root["properties"]["version"]["maximum"] = VERSION
    # Tombi: memttl reads TOML 1.0 (Python's tomllib), and the name of a tier is free
    root["properties"]["tiers"]["x-tombi-additional-key-label"] = "tier"
    about = {"title": "memttl policy", "description": "Which observations of a memory file last how long, and why."}
    return {"$schema": _DRAFT, **about, "x-tombi-toml-version": "v1.0.0", **root}


def describe(key: str) -> str:
    """Say what a key of a policy file means, in one sentence without its full stop.

    The key is dotted: `timezone`, `limits`, `limits.max_prune_count`, `tiers.incident`, `tiers.incident.ttl`, `rules`,
    `rules[0]`, `rules[0].prefix` (whatever the number).

    Raises:
        KeyError: a policy file has no such key.
    """
    return words_of(key).description


def _of_key(key: str, model: Schema, models: Schema) -> Schema:
    """One key's schema from the one that pydantic made of its model."""
    node = _unwrapped(model, models)
    schema: Schema = {"description": words_of(key).description} if key else {}
    if key and words_of(key).examples:
        schema["examples"] = list(words_of(key).examples)
    if _is_duration(node):
        schema |= _duration(zero_allowed=key == "age.grace")
    else:
        schema |= {name: node[name] for name in _KEPT if name in node}
    default = model.get("default")
    if default not in (None, {}, []):
        schema["default"] = Duration(*default).short if _is_duration(node) else default
    if "items" in node:
        schema["items"] = _of_key("rules[]", node["items"], models) if key == "rules" else dict(node["items"])
    if node.get("type") == "object":
        schema |= _table(key, node, models)
    return schema | _MORE.get(key, {})


def _unwrapped(model: Schema, models: Schema) -> Schema:
    """Follow a reference to another model, and leave out null, which TOML lacks."""
    if "$ref" in model:
        found: Schema = models[model["$ref"].rpartition("/")[2]]
        return found
    choices = [choice for choice in model.get("anyOf", ()) if choice != {"type": "null"}]
    return _unwrapped(choices[0], models) if len(choices) == 1 else model


def _is_duration(node: Schema) -> bool:
    return [choice.get("type") for choice in node.get("anyOf", ())] == ["string", "integer"]


def _table(key: str, node: Schema, models: Schema) -> Schema:
    dot = f"{key}." if key else ""
    free = node["additionalProperties"]
    if free is False:
        required = {"required": node["required"]} if "required" in node else {}
        properties = {name: _of_key(dot + name, inner, models) for name, inner in node["properties"].items()}
        return {"properties": properties, **required, "additionalProperties": False}
    tier = _tier(free, models)
    built_in = {t.name: {**tier, "default": t.ttl.short} for t in BUILT_IN_TIERS.values()}
    return {"properties": built_in, "additionalProperties": tier}


def _tier(model: Schema, models: Schema) -> Schema:
    """A tier is a duration, or a table with one."""
    table = _of_key("tiers.*", model, models)
    words = {name: table.pop(name) for name in ("description", "examples")}
    return {**words, "anyOf": [*_duration()["anyOf"], table]}


def _duration(*, zero_allowed: bool = False) -> Schema:
    """What `durations.py` reads: nothing that it reads is refused, and of what it refuses hardly anything is taken."""
    text: Schema = {"type": "string", **(_ZERO_OR_LONGER if zero_allowed else _LONGER)}
    return {"anyOf": [text, {"type": "integer", "minimum": 0 if zero_allowed else 1, "maximum": 10**9 - 1}]}
