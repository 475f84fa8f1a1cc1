"""The policy's schema: it agrees with what memttl reads, says every key in words, and every editor can read it."""

from __future__ import annotations

from typing import get_args

import pytest
from pydantic import BaseModel

from memttl.core.policy_file import PolicyFile, RuleTable, TierTable
from memttl.core.policy_schema import describe
from memttl.core.policy_words import WORDS


def keys_of_the_models() -> set[str]:
    """Every dotted key that the policy's models know."""
    found = {f"tiers.*.{key}" for key in TierTable.model_fields} | {f"rules[].{key}" for key in RuleTable.model_fields}
    for table, field in PolicyFile.model_fields.items():
        found.add(table)
        model = field.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            found |= {f"{table}.{key}" for key in model.model_fields}
        elif get_args(model):
            found.add("tiers.*" if table == "tiers" else f"{table}[]")
    return found


def test_every_key_has_its_words_and_no_other() -> None:
    assert set(WORDS) == keys_of_the_models()


def test_words_are_sentences_without_a_full_stop() -> None:
    assert all(w.description and w.description == w.description.strip(" .\n") for w in WORDS.values())


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("rules[7].prefix", "rules[].prefix"),
        ("rules[]", "rules[]"),
        ("tiers.incident", "tiers.*"),
        ("tiers.a.b", "tiers.*"),
        ("tiers.a.b.keep_last", "tiers.*.keep_last"),
        ("tiers", "tiers"),
        ("limits.max_prune_count", "limits.max_prune_count"),
    ],
)
def test_a_key_is_described_by_its_dotted_place(key: str, words: str) -> None:
    assert describe(key) == WORDS[words].description


@pytest.mark.parametrize("key", ["nosuch", "limits.nosuch", "rules[0].nosuch", "", "."])
def test_what_no_policy_has_is_not_described(key: str) -> None:
    with pytest.raises(KeyError):
        describe(key)
