"""The system's time zone is found by name where the system tells it, and is none where it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from memttl.setup.timezone import system_timezone


def system(folder: Path, *, link: str = "", text: str = "") -> Path:
    (folder / "etc").mkdir()
    if link:
        (folder / "etc/localtime").symlink_to(link)
    if text:
        (folder / "etc/timezone").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("link", "name"),
    [
        ("/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"),
        ("../usr/share/zoneinfo/America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"),
        ("/var/db/timezone/zoneinfo/Asia/Tokyo", "Asia/Tokyo"),
        ("/usr/share/zoneinfo/posix/Europe/Madrid", "Europe/Madrid"),
        ("/usr/share/zoneinfo/Etc/UTC", "Etc/UTC"),
    ],
)
def test_link_to_a_zone_names_it(tmp_path: Path, link: str, name: str) -> None:
    assert system_timezone({}, system(tmp_path, link=link)) == name


def test_file_timezone_names_it_where_localtime_is_no_link(tmp_path: Path) -> None:
    assert system_timezone({}, system(tmp_path, text="Europe/Lisbon\n")) == "Europe/Lisbon"


@pytest.mark.parametrize("value", ["Asia/Seoul", ":Asia/Seoul", "/usr/share/zoneinfo/Asia/Seoul"])
def test_variable_goes_before_the_system(tmp_path: Path, value: str) -> None:
    assert system_timezone({"TZ": value}, system(tmp_path, text="Europe/Lisbon")) == "Asia/Seoul"


@pytest.mark.parametrize("value", ["CET-1CEST,M3.5.0,M10.5.0/3", "Nowhere/Here", "/etc/localtime", "../x"])
def test_variable_that_names_no_zone_leaves_no_name(tmp_path: Path, value: str) -> None:
    assert system_timezone({"TZ": value}, system(tmp_path, text="Europe/Lisbon")) is None


@pytest.mark.parametrize("how", [{}, {"link": "/etc/other"}, {"text": "Middle/Earth"}, {"text": "\x00\x1b"}])
def test_system_that_tells_nothing_has_none(tmp_path: Path, how: dict[str, str]) -> None:
    assert system_timezone({}, system(tmp_path, **how)) is None
