"""Which names are time zones."""

from __future__ import annotations

import pytest

from memttl.core.zones import read_zone


@pytest.mark.parametrize("name", ["", "Factory", "posixrules", "localtime", "right/UTC", "Mars/Phobos", "../UTC"])
def test_name_of_no_place_is_no_zone(name: str) -> None:
    with pytest.raises(ValueError, match="no such time zone"):
        read_zone(name)


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "EST5EDT"])
def test_name_of_a_place_is_a_zone(name: str) -> None:
    assert read_zone(name)
