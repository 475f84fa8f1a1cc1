"""What each key of a policy file means, in plain words, with values that one may write there.

`policy_schema.py` puts them into the JSON Schema, and `memttl init` into the comments of the policy that it writes.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Words(NamedTuple):
    """What one key means, in one sentence without its full stop, and `examples` of its value."""

    description: str
    examples: tuple[Any, ...] = ()


_MAX_AGE = ("30d", "90d", "1y", "never")
# the dotted key, with * for the name of a tier and [] for a rule -> its words
WORDS: dict[str, Words] = {
    "version": Words("the version of this file's format; this memttl knows 1"),
    "timezone": Words(
        "the IANA time zone in which days end at midnight; also of written times without an offset",
        ("UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo"),
    ),
    "default_tier": Words(
        "the tier of what no mark, field or rule names; with one that expires, everything else expires too",
        ("permanent", "operational", "session"),
    ),
    "tiers": Words("how long each kind of note lasts, by name; these add to session, operational and permanent"),
    "tiers.*": Words(
        'how long its observations last (30d, 12h, 2w, 6mo, 1y6mo, P90D, "90 days", 45 for days, never), or a table '
        "with ttl and keep_last",
        ("30d", "12h", "2w", "6mo", "1y", "never"),
    ),
    "tiers.*.ttl": Words(
        'how long its observations last: 30d, 12h, 2w, 6mo, 1y6mo, P90D, "90 days", 45 (days) or never',
        ("30d", "12h", "2w", "6mo", "1y", "never"),
    ),
    "tiers.*.keep_last": Words("how many of each entity's latest observations in this tier stay past its ttl", (5,)),
    "rules": Words(
        "what belongs to which tier: the first rule that matches counts; these replace the built-in rules, but for the "
        "prefix permanent"
    ),
    "rules[]": Words("one rule: all of its conditions must hold, any one value of each"),
    "rules[].name": Words("what reports, explain and the audit log call this rule", ("session notes",)),
    "rules[].prefix": Words(
        "the observation begins with one of these words, written as [session] or session:, in any case",
        (["session"], ["session", "temp"]),
    ),
    "rules[].entity": Words(
        "the entity has one of these names; * stands for any text, ? for one character, in any case", (["Sprint *"],)
    ),
    "rules[].entity_type": Words(
        "the entity has one of these types; * stands for any text, ? for one character, in any case", (["status*"],)
    ),
    "rules[].pattern": Words(
        "one of these regular expressions (Python's) is found in the text; case counts unless it begins with (?i)",
        (["^\\[DEPRECATED\\]"], ["(?i)\\bworkaround\\b"]),
    ),
    "rules[].tier": Words("the tier that this rule names", ("session", "operational", "permanent")),
    "dates": Words("how dates are written in the texts, besides ISO 8601 (2026-01-31)"),
    "dates.formats": Words(
        "further forms of a date, as strptime writes them; each names a year and a month", (["%d/%m/%Y", "%B %Y"],)
    ),
    "dates.labels": Words(
        "words before a colon and a date that say anywhere in the text when it was written", (["Knowledge captured"],)
    ),
    "age": Words("where ages come from, and how long a newcomer stays whatever its text says"),
    "age.grace": Words("how long a newcomer stays, whatever date is written in it; 0 switches it off", ("7d", "2w", 0)),
    "age.inherit": Words("true: an entity's only date is the birth of its undated observations, too"),
    "age.entity_created_at": Words("true: an entity's createdAt is the birth of its undated observations, too"),
    "review": Words("what a review-by date does, written or set"),
    "review.when_due": Words(
        "expire: the observation goes once that day has passed; list: it is only listed as due for review"
    ),
    "prune": Words("what a prune removes besides observations"),
    "prune.remove_empty_entities": Words("true: entities that a prune has emptied go, with their relations"),
    "limits": Words("a plan past one of these is refused whole, never trimmed"),
    "limits.max_prune_fraction": Words(
        "the most that one prune may remove, as a part of the file's observations; counts from 20 observations up"
    ),
    "limits.max_prune_count": Words("the most observations that one prune may remove"),
    "limits.max_vanished_fraction": Words(
        "the most that may have gone since the last look, as a part of what it found; above it the file counts as "
        "truncated or swapped"
    ),
    "backups": Words("how long whole-file backups stay: the newest ones, and the newest of each day"),
    "backups.keep": Words("how many of the newest backups stay, however old"),
    "backups.max_age": Words("how long the newest backup of each day stays besides", _MAX_AGE),
    "archive": Words("where removed observations are kept, as a memory file of its own; off without a path"),
    "archive.path": Words(
        "the archive's file, relative to the memory file's folder; without it there is none", ("memory-archive.jsonl",)
    ),
    "archive.max_age": Words("how long what was removed stays in the archive", _MAX_AGE),
    "audit": Words("the log of all that memttl did"),
    "audit.text": Words("true: the log holds the removed texts; false: their digests only, and undo needs the backup"),
    "audit.max_age": Words("how long the log's lines stay before they are thinned to summaries", _MAX_AGE),
    "state": Words("where memttl keeps what it knows"),
    "state.dir": Words(
        "the folder for ledger, backups and audit log; without it .memttl beside the memory file", ("state",)
    ),
}


def words_of(key: str) -> Words:
    """Give the words of a dotted key: `limits.max_prune_count`, `tiers.incident.ttl`, `rules[0].prefix`.

    Raises:
        KeyError: a policy file has no such key.
    """
    table, dot, rest = key.partition(".")
    if table == "tiers" and dot:  # a tier's name may hold dots itself
        last = next((f".{k}" for k in ("ttl", "keep_last") if rest.endswith(f".{k}")), "")
        return WORDS[f"tiers.*{last}"]
    return WORDS[("rules[]" if table.startswith("rules[") else table) + dot + rest]
