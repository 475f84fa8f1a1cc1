"""A truncated or swapped file is told from a busily edited one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memttl.core.look import Comparison
from memttl.core.vanished import vanished


def said(*, then: int, gone: int, new: int = 0, names: int = 1, names_gone: int = 0, removed: int = 0) -> bool:
    """Whether a file is refused of which `then` observations were there and `gone` are not there any more."""
    found = Comparison(
        new=new, gone=gone, known=then - gone, then=then, entities=1, entities_gone=names_gone, entities_then=names
    )
    return bool(vanished(found, removed=removed, max_fraction=0.5))


@pytest.mark.parametrize(("then", "refused"), [(19, False), (20, True), (21, True)])
def test_below_twenty_observations_a_fraction_says_nothing(then: int, refused: bool) -> None:
    assert said(then=then, gone=then) == refused


@pytest.mark.parametrize(("gone", "refused"), [(10, False), (11, True)])
def test_just_the_fraction_may_go(gone: int, refused: bool) -> None:
    assert said(then=20, gone=gone) == refused


@pytest.mark.parametrize(("new", "refused"), [(0, True), (3, True), (4, False)])
def test_half_as_many_as_then_is_no_loss(new: int, refused: bool) -> None:
    assert said(then=20, gone=14, new=new) == refused


@pytest.mark.parametrize(("names_gone", "refused"), [(2, False), (3, True)])
def test_more_than_half_of_the_names_gone_is_another_file(names_gone: int, refused: bool) -> None:
    assert said(then=20, gone=20, new=20, names=4, names_gone=names_gone) == refused


def test_all_reworded_is_ordinary() -> None:
    assert not said(then=1000, gone=1000, new=1000, names=10)


def test_names_alone_are_no_loss() -> None:
    assert not said(then=20, gone=10, names=10, names_gone=9)


@pytest.mark.parametrize("removed", [14, 20])
def test_what_memttl_removed_does_not_count(removed: int) -> None:
    assert not said(then=40, gone=removed + 5, removed=removed)


def test_loss_beside_what_memttl_removed_is_refused() -> None:
    assert said(then=40, gone=38, removed=15)


def test_sentence_names_the_limit_and_both_numbers() -> None:
    found = Comparison(gone=30, known=10, then=40, entities_then=1)
    words = vanished(found, removed=0, max_fraction=0.25)
    assert "30 of the 40 observations" in words
    assert "limits.max_vanished_fraction = 0.25" in words


counts = st.integers(0, 200)


@given(counts, counts, counts, st.floats(0, 1))
def test_without_a_loss_nothing_is_refused(then: int, new: int, removed: int, fraction: float) -> None:
    found = Comparison(new=new, known=then, then=then, entities=3, entities_then=3)
    assert not vanished(found, removed=removed, max_fraction=fraction)


@given(counts, counts, counts)
def test_fraction_of_one_lifts_the_limit(then: int, gone: int, removed: int) -> None:
    found = Comparison(gone=min(gone, then), known=then - min(gone, then), then=then, entities_then=1, entities_gone=1)
    assert not vanished(found, removed=removed, max_fraction=1.0)
