"""Wrong parameters of requests, named as the stock server's checker names them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memttl.server.requests import refusal


def places(method: str, params: dict[str, Any] | None) -> list[tuple[list[str], str]]:
    """Where a refusal finds fault, and with what words."""
    return [(issue["path"], issue["message"]) for issue in json.loads(refusal(method, params) or "[]")]


def test_each_wrong_parameter_is_named_in_the_order_of_the_method() -> None:
    assert places("tools/call", {"arguments": [], "name": None}) == [
        (["params", "name"], "Invalid input: expected string, received null"),
        (["params", "arguments"], "Invalid input: expected record, received array"),
    ]


def test_missing_parameters_are_one_fault_where_one_is_needed() -> None:
    assert places("resources/read", None) == [(["params"], "Invalid input: expected object, received undefined")]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/list", None),
        ("tools/list", {}),
        ("tools/call", {"name": "read_graph"}),
        ("tools/call", {"name": "read_graph", "arguments": {}, "extra": 1}),
        ("ping", {"anything": 1}),
    ],
)
def test_what_is_right_or_unknown_is_no_fault(method: str, params: dict[str, Any] | None) -> None:
    assert refusal(method, params) == ""
