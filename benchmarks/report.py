"""A report in each of its formats, against a dry run of a prune on the same file.

    python benchmarks/report.py [OBSERVATIONS] [RUNS]

Makes a seeded memory file (default: 100,000 observations), compares whole processes by CPU, run in turn, and prints the
median ratio of the pairs and how many observations each format lists, which must be the same. The aim is at most 3.
"""

from __future__ import annotations

import compileall
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from scan import memory_file
from side_by_side import compare, describe

HERE = Path(__file__).parent
NOW = "2026-06-01T12:00:00Z"


def _rows_of_html(text: str) -> int:
    return text.count("<tr data-why")


# format -> how many observations a text in it lists
COUNTS: dict[str, Callable[[str], int]] = {
    "table": lambda text: sum(line.startswith("    - ") for line in text.split("\n")),
    "json": lambda text: len(json.loads(text)["observations"]),
    "ndjson": lambda text: text.count("\n"),
    "csv": lambda text: len(list(csv.reader(io.StringIO(text, newline="")))) - 1,
    "markdown": lambda text: len(re.findall(r"^\| e\d+ \| note \| [a-z]+ \|", text, re.MULTILINE)),
    "html": _rows_of_html,
}


def main() -> None:
    """Measure and print."""
    observations = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    compileall.compile_dir(HERE.parent / "memttl", quiet=1)  # as pip leaves an installed package
    os.environ["PYTHONPATH"] = str(HERE.parent)
    print(describe())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.jsonl"
        memory_file(path, observations)
        os.utime(path, (1_700_000_000, 1_700_000_000))
        memttl = [sys.executable, "-m", "memttl"]
        dry_run = [*memttl, "prune", "--dry-run", "--force", "--quiet", "--file", str(path), "--now", NOW]
        for name, count in COUNTS.items():
            report = [*memttl, "report", "--format", name, "--file", str(path), "--now", NOW]
            listed = count(subprocess.run(report, capture_output=True, encoding="utf-8", check=True).stdout)
            a, b, ratio = compare(report, dry_run, runs)
            print(
                f"report --format {name}: {listed:,} listed; {1000 * a:.0f} ms CPU, dry run {1000 * b:.0f} ms; "
                f"ratio, median of {runs} pairs: {ratio:.2f} (aim: at most 3)"
            )


if __name__ == "__main__":
    main()
