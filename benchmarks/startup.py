"""Start-up: `memttl prune --dry-run` on 1,000 observations against a bare Typer program with the same options.

    python benchmarks/startup.py [RUNS]

Prints the CPU of both, run in turn, and the median ratio of the pairs. The aim is at most 1.3.
"""

from __future__ import annotations

import compileall
import json
import sys
import tempfile
from pathlib import Path

from side_by_side import compare, describe

HERE = Path(__file__).parent


def memory_file(path: Path, observations: int) -> None:
    """Write a memory file of `observations` plain and dated observations, ten an entity."""
    with path.open("w", encoding="utf-8") as f:
        for e in range(observations // 10):
            texts = [f"module {e} reads its settings from config/{e}.toml, part {i}" for i in range(8)]
            texts.append(f"[session] 2026-05-{1 + e % 28:02}: looked at module {e}")
            texts.append(f"Decision: keep module {e} (2026-05-02)")
            entity = {"type": "entity", "name": f"m{e}", "entityType": "module", "observations": texts}
            f.write(json.dumps(entity) + "\n")


def main() -> None:
    """Measure and print."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    compileall.compile_dir(HERE.parent / "memttl", quiet=1)  # as pip leaves an installed package
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.jsonl"
        memory_file(path, 1000)
        ours = [sys.executable, "-m", "memttl", "prune", "--dry-run", "--file", str(path), "--now", "2026-05-29"]
        bare = [sys.executable, str(HERE / "bare_typer.py"), "prune", "--dry-run", "--file", str(path)]
        a, b, ratio = compare(ours, bare, runs)
    print(describe())
    print(f"memttl prune --dry-run, 1,000 observations: {1000 * a:.0f} ms CPU")
    print(f"a bare Typer program with the same options: {1000 * b:.0f} ms CPU")
    print(f"ratio, median of {runs} pairs: {ratio:.2f} (aim: at most 1.30)")


if __name__ == "__main__":
    main()
