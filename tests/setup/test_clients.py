"""Each folder of fixtures/clients is a home with configs as a client writes them, and what must be found there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from clients import CASES, Case
from without_root import NOBODY, nobodys_folder

from memttl.setup.discover import discover

CLIENTS = [
    "claude-desktop",
    "claude-code",
    "cursor",
    "vs-code",
    "copilot",
    "windsurf",
    "zed",
    "codex",
    "gemini-cli",
    "cline",
]


def check(case: Case) -> None:
    discovery = discover(case.machine)
    expected, unread = case.expected["found"], case.expected.get("unread", [])
    assert [case.told(found, like) for found, like in zip(discovery.found, expected, strict=True)] == expected
    assert [[u.client, str(u.config.relative_to(case.home))] for u in discovery.unread] == [u[:2] for u in unread]
    assert all(u.problem.startswith(e[2]) for u, e in zip(discovery.unread, unread, strict=True))


@pytest.mark.parametrize("name", [name for name in CASES if "unreadable" not in name])
def test_what_is_found_is_what_was_expected(name: str, tmp_path: Path) -> None:
    check(Case(name, tmp_path / "home"))


@pytest.mark.parametrize("name", [name for name in CASES if "unreadable" in name])
def test_what_may_not_be_read_is_named(name: str) -> None:
    with nobodys_folder() as folder:
        case = Case(name, folder / "home")
        is_root = os.geteuid() == 0  # for root, permission bits forbid nothing
        if is_root:
            os.seteuid(NOBODY)
        try:
            check(case)
        finally:
            if is_root:
                os.seteuid(0)


@pytest.mark.parametrize("system", ["linux", "macos", "windows"])
@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_has_a_fixture_for_every_system(client: str, system: str) -> None:
    assert f"{client}-{system}" in CASES
