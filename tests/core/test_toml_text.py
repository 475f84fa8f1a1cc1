"""TOML of a stranger: what would take long or cannot be told is refused, as what is no TOML."""

from __future__ import annotations

import pytest

from memttl.core.policy_load import load_policy
from memttl.core.toml_text import read_toml
from memttl.errors import BadPolicy

DIGITS = "0x" + "f" * 6000  # more than Python writes as decimals


@pytest.mark.parametrize(
    "text", [".".join("a" * 100_000) + " = 1", f"[{'.'.join('a' * 1500)}]", f"x = [{DIGITS}]", "="]
)
def test_no_toml(text: str) -> None:
    with pytest.raises(ValueError, match=r"too many parts|64 bits|Invalid"):
        read_toml(text)


@pytest.mark.parametrize("key", ["version", "timezone", "x", "age.grace", "tiers.session", "rules"])
def test_policy_with_such_a_number_is_refused(key: str) -> None:
    with pytest.raises(BadPolicy, match="64 bits"):
        load_policy(f"{key} = {DIGITS}")


def test_ordinary_text_is_read() -> None:
    assert read_toml(f'a.b.c = {2**63 - 1}\nd = "{"." * 5000}"') == {"a": {"b": {"c": 2**63 - 1}}, "d": "." * 5000}
