"""The real memory server under a hammer, shortened: nothing acknowledged is lost, and the path never vanishes.

The full numbers stand in benchmarks/hammer.md, with their commands. `HAMMER_SECONDS` makes this one longer.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SECONDS = os.environ.get("HAMMER_SECONDS", "10")
pytestmark = [pytest.mark.server, pytest.mark.slow]


def program_of(release: str) -> str:
    """The program of one release, or a skip that says what is missing."""
    program = ROOT / f"fixtures/server/node_modules/server-{release}/dist/index.js"
    if not shutil.which("node"):
        pytest.skip("node is not installed")
    if not program.exists():
        pytest.skip(f"the memory server {release} is not installed: npm ci --prefix fixtures/server")
    return str(program)


@pytest.mark.parametrize("way", [(), ("--in-process", "--no-watch")], ids=["commands", "in one process"])
@pytest.mark.parametrize("release", ["2026-8-31", "2026-7-4"])
def test_nothing_that_the_server_acknowledged_is_lost(release: str, way: tuple[str, ...]) -> None:
    command = [sys.executable, str(ROOT / "benchmarks/hammer.py"), program_of(release), "--seconds", SECONDS, *way]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.stdout, run.stderr
    result = json.loads(run.stdout)
    lost = {key: result[key] for key in ("lost", "deletions_undone", "server_errors", "expired_left")}
    assert lost == {"lost": 0, "deletions_undone": 0, "server_errors": {}, "expired_left": 0}
    assert result["path"].get("vanished", 0) == 0
    assert result["beside"] == [".memttl"]
    assert result["prunes"].get("0", 0) > 0
