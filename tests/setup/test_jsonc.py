"""JSON with comments and trailing commas becomes plain JSON; what stands in texts stays, and length costs no more."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memttl.setup.jsonc import plain_json

texts = st.text(st.sampled_from('a"\\/*,]}{[\n \u2028'), max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=10,
)
BETWEEN = ["", " ", "\n", '// a " ] comment, \n', '/* a } " // comment */', "/**/"]


def dressed(value: Any, draw: Any) -> str:
    """The JSON of a value with comments between its parts, and commas behind its last ones."""

    def gap() -> str:
        return draw(st.sampled_from(BETWEEN))

    if isinstance(value, list):
        parts = [dressed(v, draw) + gap() for v in value]
    elif isinstance(value, dict):
        parts = [json.dumps(k) + gap() + ":" + dressed(v, draw) + gap() for k, v in value.items()]
    else:
        return gap() + json.dumps(value) + gap()
    last = draw(st.sampled_from(["", ","])) if parts else ""
    opening, closing = "[]" if isinstance(value, list) else "{}"
    return gap() + opening + gap() + ("," + gap()).join(parts) + last + gap() + closing + gap()


@given(values)
def test_plain_json_means_the_same(value: Any) -> None:
    assert json.loads(plain_json(json.dumps(value))) == value


@given(values, st.data())
def test_comments_and_trailing_commas_mean_nothing(value: Any, data: st.DataObject) -> None:
    assert json.loads(plain_json(dressed(value, data.draw))) == value


@given(st.text(st.sampled_from('"\\/*,]}{[\n a'), max_size=60))
def test_any_text_goes_through(text: str) -> None:
    assert isinstance(plain_json(text), str)


@pytest.mark.parametrize("text", ["[,]", "[1,,]", "{,}", "[1 2]"])
def test_what_is_no_json_stays_none(text: str) -> None:
    with pytest.raises(ValueError):
        json.loads(plain_json(text))
