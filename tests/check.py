"""The one command that checks everything: ruff, its formatter, mypy, then all tests. CI runs it too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
WORKERS = min(8, 2 * (os.cpu_count() or 1))  # two a core: half of a test's time is waiting for files to come to rest
STEPS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
    ("pytest", "-ra", "-n", str(WORKERS)),
)


def main() -> int:
    """Run each step; the first that fails ends it with its exit code."""
    for step in STEPS:
        print("+", *step, flush=True)
        code = subprocess.run([sys.executable, "-m", *step, *(sys.argv[1:] if step[0] == "pytest" else ())], cwd=ROOT)
        if code.returncode:
            return code.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
