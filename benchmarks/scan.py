"""A scan that finds nothing new, against a bare orjson loop over the same bytes.

    python benchmarks/scan.py [OBSERVATIONS] [RUNS]

Makes a seeded memory file (default: 1,000,000 observations in 66,667 entities, as many relations, about 130 MB), takes
a first scan, and prints the CPU of further ones and of the loop, run in turn, the median ratio of the pairs, and the
peak memory of each. The aim is at most 6 times the loop, and 150 MB.
"""

from __future__ import annotations

import compileall
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from side_by_side import compare, describe

HERE = Path(__file__).parent
LOOP = (
    "import sys, orjson\nwith open(sys.argv[1], 'rb', buffering=1 << 18) as f:\n    for line in f: orjson.loads(line)\n"
)
PER_ENTITY = 15


def memory_file(path: Path, observations: int) -> None:
    """Write a memory file as the server does: entities, then relations; a third of its texts dated or marked."""
    rng = random.Random(1)
    words = [f"{word}{n}" for word in ("deploy", "cache", "queue", "login", "schema", "worker") for n in range(60)]
    shapes = ("{}", "{}", "{}", "[session] 2026-05-{d:02}: {}", "Decision: {} (2026-04-{d:02})", "{} [ttl: 30d]")

    def text() -> str:
        return rng.choice(shapes).format(" ".join(rng.choices(words, k=14)), d=rng.randint(1, 28))

    count = -(-observations // PER_ENTITY)
    with path.open("w", encoding="utf-8") as f:
        for e in range(count):
            left = min(PER_ENTITY, observations - e * PER_ENTITY)
            entity = {
                "type": "entity",
                "name": f"e{e}",
                "entityType": "note",
                "observations": [text() for _ in range(left)],
            }
            f.write(json.dumps(entity, separators=(",", ":")) + "\n")
        for e in range(count):
            relation = {"type": "relation", "from": f"e{e}", "to": f"e{rng.randrange(count)}", "relationType": "uses"}
            f.write(json.dumps(relation, separators=(",", ":")) + "\n")


def peak_of(command: list[str]) -> float:
    """Give the peak memory of a command in MB, by the process's own account: a fork inherits its parent's maximum."""
    tell = "import sys, runpy, re; sys.argv = sys.argv[1:]\ntry:\n    runpy.run_module('memttl', run_name='__main__')\n"
    tell += "except SystemExit: pass\nprint(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
    out = subprocess.run([sys.executable, "-c", tell, "memttl", *command], capture_output=True, text=True, check=True)
    return int(out.stdout.split()[-1]) / 1024


def main() -> None:
    """Measure and print."""
    observations = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    compileall.compile_dir(HERE.parent / "memttl", quiet=1)  # as pip leaves an installed package
    os.environ["PYTHONPATH"] = str(HERE.parent)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.jsonl"
        memory_file(path, observations)
        size = path.stat().st_size
        scan = ["scan", "--quiet", "--file", str(path)]
        first = peak_of(scan)
        a, b, ratio = compare([sys.executable, "-m", "memttl", *scan], [sys.executable, "-c", LOOP, str(path)], runs)
        again = statistics.median(peak_of(scan) for _ in range(3))
        ledger = (path.parent / ".memttl/memory.jsonl/ledger.db").stat().st_size
    print(describe())
    print(f"{observations:,} observations, {size / 1e6:.0f} MB; the ledger has {ledger / 1e6:.0f} MB")
    print(f"memttl scan, nothing new: {1000 * a:.0f} ms CPU; bare orjson loop: {1000 * b:.0f} ms CPU")
    print(f"ratio, median of {runs} pairs: {ratio:.2f} (aim: at most 6)")
    print(f"peak memory: first scan {first:.0f} MB, further ones {again:.0f} MB (aim: under 150 MB)")


if __name__ == "__main__":
    main()
