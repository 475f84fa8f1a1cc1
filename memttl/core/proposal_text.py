"""A `Proposal` into the text of a commented policy file, the same for the same file. Pure.

`workflow/init.py` calls it. What is commented out stands at its default; `load_policy` reads the text with no problem.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from memttl.core.policy import Policy
from memttl.core.policy_schema import describe
from memttl.core.proposal import DateChoice, PrefixRule, Proposal
from memttl.core.proposal_names import Family
from memttl.core.proposal_words import KEPT_PATTERNS, OVER_PATTERNS, marked_pattern
from memttl.core.toml_text import toml
from memttl.core.wording import plural, some_of

_DEFAULT = Policy()
_WIDTH = 110
_HEAD = """\
# How long what stands in a memory file lasts. Written by `memttl init`, and yours to change: what is commented out
# stands at its default. `memttl policy check` validates it, `memttl prune --dry-run` shows what it does,
# `memttl explain` why each observation stays or goes, and `memttl policy prompt` teaches it to your assistant.
"""
# keys that people change, with their defaults; a table without one in force is commented as a whole
_TABLES: tuple[tuple[str, tuple[tuple[str, object], ...]], ...] = (
    ("age", (("grace", _DEFAULT.grace.short), ("inherit", _DEFAULT.inherit))),
    ("review", (("when_due", _DEFAULT.when_due),)),
    ("prune", (("remove_empty_entities", _DEFAULT.remove_empty_entities),)),
    ("limits", (("max_prune_fraction", _DEFAULT.max_prune_fraction), ("max_prune_count", _DEFAULT.max_prune_count))),
    ("backups", (("keep", _DEFAULT.backups_keep), ("max_age", _DEFAULT.backups_max_age.short))),
    ("archive", (("path", "memory-archive.jsonl"), ("max_age", _DEFAULT.archive_max_age.short))),
    ("audit", (("text", _DEFAULT.audit_text), ("max_age", _DEFAULT.audit_max_age.short))),
    ("state", (("dir", "state"),)),
)


class Places(NamedTuple):
    """Where the policy in force so far puts state and archive: a new one must say the same."""

    state_dir: str | None = None
    archive_path: str | None = None


_ANYWHERE = Places()


def policy_text(
    proposal: Proposal, timezone: str, *, zone_note: str = "", schema: str = "", places: Places = _ANYWHERE
) -> str:
    """Write the policy; `zone_note` is a comment on the time zone, `schema` what `#:schema` names, if anything."""
    named = {"archive.path": places.archive_path, "state.dir": places.state_dir}
    parts = [
        *([f"#:schema {schema}\n"] if schema else []),
        _HEAD,
        "version = 1\n",
        _key("timezone", timezone, note=zone_note),
        _key("default_tier", _DEFAULT.default_tier),
        _tiers(proposal),
        *_rules(proposal),
        _dates(proposal),
        *(_table(name, keys, named) for name, keys in _TABLES),
    ]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _key(name: str, value: object, *, note: str = "") -> str:
    return "\n".join([*_comment(_sentence(name)), *_comment(note), f"{name} = {toml(value)}"])


def _sentence(key: str) -> str:
    words = describe(key)
    return words[:1].upper() + words[1:] + "."


def _comment(text: str) -> list[str]:
    """Wrap a text into lines of comment at its spaces."""
    lines, line = list[str](), "#"
    for word in text.split(" ") if text else ():
        if len(line) + len(word) + 1 > _WIDTH and line != "#":
            lines, line = [*lines, line], "#"
        line += f" {word}"
    return [*lines, line] if text else []


def _tiers(proposal: Proposal) -> str:
    lines = [*_comment(_sentence("tiers")), "[tiers]"]
    lines += [f"{tier.name} = {toml(tier.ttl.short)}" for tier in _DEFAULT.tiers.values()]
    if proposal.types:
        lines += ['# notes = { ttl = "90d", keep_last = 5 }    # for the rules by entity type below']
    return "\n".join(lines)


def _rules(proposal: Proposal) -> Iterator[str]:
    yield "\n".join(_comment(_sentence("rules")))
    if not proposal.has_rules:
        yield "\n".join(_comment(_NO_RULES))
    yield from (_prefix_rule(rule) for rule in proposal.prefixes)
    yield from _family_rules(proposal)
    if proposal.unsure:
        names = some_of(f'"{word}:" begins {plural(count, "observation")}' for word, count in proposal.unsure)
        yield "\n".join(_comment(f"Not proposed, since they may be no notes: {names}."))
    if proposal.types:
        yield _type_rule(proposal)


_NO_RULES = (
    "Nothing in the file says of itself that it is passing, so these are the built-in rules alone: what begins with "
    "[session] or session: is a session note, with [operational] or operational: an operational one; all else stays. "
    "`memttl policy prompt --append CLAUDE.md` tells an assistant to write so."
)


def _rule(name: str, tier: str, *, commented: bool = False, **conditions: Sequence[str]) -> list[str]:
    lines = ["[[rules]]", f"name = {toml(name)}"]
    lines += [line for key, values in conditions.items() if values for line in _list(key, values)]
    lines.append(f"tier = {toml(tier)}")
    return [f"# {line}" for line in lines] if commented else lines


def _list(key: str, values: Sequence[str]) -> list[str]:
    """Write a list, wrapped where it is long; regular expressions as they are, without doubled backslashes."""
    written = [f"'{v}'" if key == "pattern" and "'" not in v else toml(v) for v in values]
    whole = f"{key} = [{', '.join(written)}]"
    if len(whole) <= _WIDTH or len(values) == 1:
        return [whole]
    lines = [f"{key} = ["]
    for value in written:
        if len(lines) > 1 and len(lines[-1]) + len(value) + 2 <= _WIDTH:
            lines[-1] += f" {value},"
        else:
            lines.append(f"    {value},")
    return [*lines, "]"]


def _prefix_rule(rule: PrefixRule) -> str:
    name = f"{rule.tier} notes"
    if not rule.marked_only:
        about = f"{plural(rule.uses, 'observation')} of the file so far." if rule.uses else ""
        return "\n".join([*_comment(about), *_rule(name, rule.tier, prefix=rule.prefixes)])
    where = f" ({some_of(map(toml, rule.bare_in))})" if rule.bare_in else ""
    about = f"Only in brackets or with a date beside it: without, the word begins what may be no note{where}."
    patterns = (marked_pattern(rule.prefixes),)
    return "\n".join([*_comment(about), *_rule(f"{name}, marked", rule.tier, prefix=rule.prefixes, pattern=patterns)])


_ONLY_OVER = (
    "Of these goes what says that it is done, or is the line of a log, and nothing else: without the pattern all of it "
    "would go, open work, too, that no word gives away."
)


def _family_rules(proposal: Proposal) -> Iterator[str]:
    if not proposal.families:
        return
    globs = list(dict.fromkeys(g for family in proposal.families for g in family.entity))
    kinds = list(dict.fromkeys(k for family in proposal.families for k in family.entity_type))
    about = "What stays although it stands in one of these: open work, faults, decisions, lessons, addresses."
    yield "\n".join(_rule("permanent notes", "permanent", prefix=["permanent"]))
    kept = _rule("kept in notes", "permanent", entity=globs, entity_type=kinds, pattern=KEPT_PATTERNS)
    yield "\n".join([*_comment(about), *kept])
    for family in proposal.families:
        about = f"{plural(len(family.names), 'entity')} so far: {some_of(map(toml, family.names))}. {_ONLY_OVER}"
        yield "\n".join([*_comment(about), *_family_rule(family)])


def _family_rule(family: Family) -> list[str]:
    globs, kinds = family.entity, family.entity_type
    return _rule(family.title, "operational", entity=globs, entity_type=kinds, pattern=OVER_PATTERNS)


def _type_rule(proposal: Proposal) -> str:
    about = (
        "By entity type alone: look at each before you take the # away. On real files half of what such rules removed "
        "was still true; keep_last in [tiers] holds the newest of each entity. "
    )
    met = some_of(f"{toml(name)} holds {plural(count, 'observation')}" for name, count in proposal.types)
    kinds = [name for name, _ in proposal.types]
    return "\n".join([*_comment(f"{about}{met}."), *_rule("by type", "notes", commented=True, entity_type=kinds)])


def _dates(proposal: Proposal) -> str:
    lines = [*_comment(_sentence("dates"))]
    labels, formats = _taken(proposal.labels), _taken(proposal.formats)
    lines += ["[dates]" if labels or formats else "# [dates]"]
    for key, taken, choices, example in (
        ("labels", labels, proposal.labels, "Knowledge captured"),
        ("formats", formats, proposal.formats, "%d/%m/%Y"),
    ):
        lines += _comment(_sentence(f"dates.{key}"))
        lines += _list(key, taken) if taken else [f"# {key} = {toml([example])}"]
        for why in dict.fromkeys(c.why_not for c in choices if c.why_not):
            named = some_of(f"{toml(c.text)} ({c.uses})" for c in choices if c.why_not == why)
            lines += _comment(f"Not proposed: {named}: {why}.")
    return "\n".join(lines)


def _taken(choices: Iterable[DateChoice]) -> list[str]:
    return [choice.text for choice in choices if not choice.why_not]


def _table(name: str, keys: Iterable[tuple[str, object]], named: Mapping[str, str | None]) -> str:
    """Write a table of defaults as a comment, but for what is `named`."""
    in_force = {key: named[f"{name}.{key}"] for key, _ in keys if named.get(f"{name}.{key}")}
    lines = [*_comment(_sentence(name)), f"{'' if in_force else '# '}[{name}]"]
    for key, value in keys:
        is_named = key in in_force
        text = f"{key} = {toml(in_force[key] if is_named else value)}"
        lines += [*_comment(_sentence(f"{name}.{key}")), text if is_named else f"# {text}"]
    return "\n".join(lines)
