"""What stands in the output of every day has no word that only the source explains."""

from __future__ import annotations

import re

import pytest
from support import instant

from memttl.core.clock import clock_warning
from memttl.files.ladder import quiet_words
from memttl.files.rebuild import Rebuilt

NOW = instant("2026-06-01T00:00:00Z")


@pytest.mark.parametrize(
    "words",
    [
        quiet_words("nfs4"),
        quiet_words(None),
        Rebuilt(NOW).words(),
        *clock_warning(instant("2026-01-01T00:00:00Z"), NOW),
    ],
)
def test_warnings_of_a_prune_name_nothing_that_only_the_source_explains(words: str) -> None:
    assert re.search(r"\b(rung|baseline|ledger|grace|rail|README)\b", words) is None
