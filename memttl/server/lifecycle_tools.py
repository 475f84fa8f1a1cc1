"""The tools that the stock memory server lacks, as a client sees them: what is stale, how long things stay, what goes.

`tools.py` adds them to its nine, and `lifecycle.py` answers them.
"""

from __future__ import annotations

from memttl.server.shapes import Fields, Items, Scalar
from memttl.server.tool import DELETES, LIFE, READS, Hints, Tool

_TEXT = Scalar(("string",))
_COUNT = Scalar(("integer",))
_SAID = Scalar(("string",), "What came of it, in words")
_MAYBE = Scalar(("string", "null"))
_NARROWED = {
    "entities": Items(_TEXT, "Only these entities, by their names or globs such as 'Sprint *'"),
    "types": Items(_TEXT, "Only entities of these types"),
    "tiers": Items(_TEXT, "Only observations of these tiers of the policy"),
}
_OBSERVATION = {
    "entityName": _TEXT,
    "entityType": _MAYBE,
    "observation": _TEXT,
    "tier": _MAYBE,
    "created_at": _MAYBE,
    "expires_at": _MAYBE,
    "reason": _TEXT,
}
_LEFT_OUT = Scalar(("integer",), "How many more there are that are not listed here")
_WARNINGS = Items(_TEXT, "What a person should know of the file or the policy")
_CHOSEN = {
    "observation": Scalar(("string",), "The whole text of the observation that is meant"),
    "contains": Scalar(("string",), "In place of observation: a part of the text, in any case; all that hold it"),
}
_NEW_LIFE = {
    "renew": Scalar(
        ("boolean", "number", "string"),
        "true: keep it from now on for as long as its own TTL or its tier lasts; or a number of days, or a duration "
        "such as 90d",
    ),
    "clear": Scalar(("boolean",), "First take away what was set before, but for a pin"),
    "tier": Scalar(("string",), "The same as decay"),
}

LIFECYCLE_TOOLS = (
    Tool(
        "prune",
        "Prune Expired Observations",
        "Remove the observations that have expired by the policy of this memory. Without confirm nothing is removed: "
        "the answer lists what would go and why, to be shown to the user first. With confirm true it is removed, and "
        "`undo_prune` puts it back. The limits of the policy hold.",
        DELETES,
        Fields({}, {"confirm": Scalar(("boolean",), "Really remove it", default=False), **_NARROWED}),
        Fields(
            {
                "message": _SAID,
                "applied": Scalar(("boolean",), "Something was removed"),
                "run": Scalar(("string", "null"), "The name of this run, for undo_prune"),
                "removed": Items(Fields(_OBSERVATION), "What goes, or would go"),
                "left_out": _LEFT_OUT,
                "emptied": Items(_TEXT, "Entities that are left empty and go as well, with their relations"),
                "counts": Fields(
                    dict.fromkeys(("observations", "expired", "removed", "review_due", "pinned", "unknown_age"), _COUNT)
                ),
                "refusals": Items(_TEXT, "Why all of it was refused, if it was"),
                "warnings": _WARNINGS,
            }
        ),
    ),
    Tool(
        "report_stale",
        "Report Stale Observations",
        "List the observations that have expired, that expire soon, or that are due for review, with the reason of "
        "each. Changes nothing.",
        READS,
        Fields(
            {},
            {
                "within": Scalar(
                    ("number", "string"),
                    "What counts as soon: a number of days, or a duration such as 90d; 30 days if not given",
                ),
                "expire_before": Scalar(("string",), "In place of within: a day or instant (ISO 8601)"),
                **_NARROWED,
            },
        ),
        Fields(
            {
                "message": _SAID,
                "until": Scalar(("string", "null"), "What expires by then counts as soon; null: without an end"),
                "stale": Items(
                    Fields({**_OBSERVATION, "status": Scalar(("string",), "expired, due or review")}),
                    "Those that have expired first, then by their expiry",
                ),
                "left_out": _LEFT_OUT,
                "counts": Fields(dict.fromkeys(("observations", "expired", "due", "review"), _COUNT)),
                "warnings": _WARNINGS,
            }
        ),
    ),
    Tool(
        "set_lifecycle",
        "Set Lifecycle",
        "Say how long observations that are there stay: ttl, decay, expires, review_by, pin, renew. The observation is "
        "named by its whole text, or several of one entity by a part of it (contains). With pin alone, and neither "
        "of them, the entity itself is pinned, with all that comes later. What is said last counts, and a ttl counts "
        "from now. No text is changed, but what is let expire is no longer shown; all items are done, or none.",
        Hints(destructive=True),
        Fields(
            {
                "items": Items(
                    Fields(
                        {"entityName": Scalar(("string",), "The exact name of the entity")},
                        {**_CHOSEN, **LIFE, **_NEW_LIFE},
                    )
                )
            },
            {"dry_run": Scalar(("boolean",), "Only say what would change", default=False)},
        ),
        Fields(
            {
                "message": _SAID,
                "applied": Scalar(("boolean",), "Something was changed"),
                "run": Scalar(("string", "null"), "The name of this change in the audit log"),
                "matched": Items(_COUNT, "How many observations each item means, in the order of the items"),
                "changed": Items(
                    Fields(
                        {
                            "entityName": _TEXT,
                            "observation": _TEXT,
                            "tier": _MAYBE,
                            "expires_at_before": Scalar(("string", "null"), "null: never"),
                            "expires_at": Scalar(("string", "null"), "null: never"),
                            "pinned": Scalar(("boolean",)),
                            "reason": Scalar(("string",), "Why it stays or goes from now on"),
                        }
                    )
                ),
                "left_out": _LEFT_OUT,
                "entities": Items(Fields({"entityName": _TEXT, "pinned": Scalar(("boolean",))})),
                "unchanged": Scalar(("integer",), "How many were so already"),
                "warnings": _WARNINGS,
            }
        ),
    ),
    Tool(
        "undo_prune",
        "Undo Prune",
        "Put back what the last prune or deletion of this memory removed, or what the run named in run removed. What "
        "came since stays, and what is put back is pinned, so that the next prune does not take it again.",
        Hints(),
        Fields(
            {},
            {
                "run": Scalar(("string",), "The name of a run, as prune gives it; the last one if not given"),
                "dry_run": Scalar(("boolean",), "Only say what would come back", default=False),
            },
        ),
        Fields(
            {
                "message": _SAID,
                "applied": Scalar(("boolean",), "Something was put back"),
                "run": Scalar(("string", "null"), "The name of this undo"),
                "undoes": Scalar(("string", "null"), "The name of the run that is undone"),
                "restored": Items(
                    Fields({"entityName": _TEXT, "entityType": _MAYBE, "observation": _TEXT}),
                ),
                "left_out": _LEFT_OUT,
                "lines": Items(_TEXT, "Whole entities and relations that come back"),
                "pinned": Scalar(("integer",), "How many of them are pinned from now on"),
                "already_there": _COUNT,
                "lost": Scalar(("integer",), "How many cannot be put back, since their text was not kept"),
                "warnings": _WARNINGS,
            }
        ),
    ),
)
