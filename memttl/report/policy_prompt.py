"""What `memttl policy prompt` did to an instruction file, or would do: as a difference, in a sentence, and as JSON."""

from __future__ import annotations

from typing import Any

from memttl.core.marked_block import BlockChange
from memttl.core.policy_prompt import Told
from memttl.core.wording import instant_text
from memttl.report.documents import SCHEMA
from memttl.report.text import visible

# what was done -> as a sentence about what is done, and about what would be; {} is the file
_DEEDS = {
    "created": ("Wrote {}, a new file.", "Would write {}, a new file."),
    "appended": ("Added to {}, between markers.", "Would add this to {}."),
    "updated": ("Brought {} up to date.", "Would bring {} up to date."),
    "removed": ("Took it out of {}.", "Would take it out of {}."),
    "unchanged": ("{} is as it should be; nothing was written.", "{} is as it should be."),
}


def change_words(change: BlockChange, *, dry_run: bool) -> str:
    """Say what was done, or would be."""
    return _DEEDS[change.deed][dry_run].format(visible(change.target))


def change_lines(change: BlockChange) -> str:
    """Give the difference as `diff -u` writes it; empty where nothing changes."""
    return "".join(f"{line}\n" for line in _difference(change))


def _difference(change: BlockChange) -> list[str]:
    from difflib import unified_diff  # here: hardly any run shows one

    before, after = (_lines(data) for data in (change.before, change.after))
    named = "/dev/null" if change.before is None else change.target
    return [visible(line) for line in unified_diff(before, after, named, change.target, lineterm="")]


def _lines(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", "backslashreplace")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def prompt_document(told: Told | None, change: BlockChange | None, *, dry_run: bool) -> dict[str, Any]:
    """Give the prompt and what became of it; `told` is None where it was only taken out of a file."""
    return {
        "schema": SCHEMA,
        "policy": told and told.policy.where,
        "digest": told and told.policy.digest,
        "prompt": told and told.prompt.text,
        "tokens_estimated": told and told.prompt.tokens,
        "examples": [
            {
                "observation": example.observation,
                "tier": example.tier,
                "expires_at": instant_text(example.expires_at) if example.expires_at else None,
            }
            for example in (told.prompt.examples if told else ())
        ],
        "file": change and change.target,
        "change": change and change.deed,
        "dry_run": dry_run,
        "applied": change is not None and change.deed != "unchanged" and not dry_run,
        "difference": _difference(change) if change else [],
        "warnings": list(told.policy.warnings) if told else [],
    }
