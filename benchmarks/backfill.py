"""Backfill from git: finding the births in 2,000 commits of a 100 kB memory file, beside what git alone takes for it.

    python benchmarks/backfill.py [COMMITS] [RUNS]

Prints CPU (children included) and wall time of memttl's walk, of a plain `git log -p --follow` and of a plain `git
cat-file --batch` of all blobs, run in turn on the same seeded repositories: 40 entities, one single entity, one single
entity whose text is full of escapes; and the peak memory of a process that only walks. The aim is 20 s.
"""

from __future__ import annotations

import json
import os
import platform
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from repositories import Importer, git

from memttl.core.history import BirthFinder, wanted_of
from memttl.files.githistory import git_versions

FILE_BYTES = 100_000
START = 1735689600  # 2025-01-01
HOUR = 3600
NOW = datetime(2026, 6, 1, tzinfo=UTC)
WORDS = [f"{word}{n}" for word in ("module", "setting", "server", "decided", "file") for n in range(40)]
SHAPES = {"40 entities": (40, False), "one entity": (1, False), "one entity, escapes": (1, True)}


def repository(folder: Path, commits: int, entities: int, *, escapes: bool) -> Path:
    """Make the history: each commit adds an observation or two and, at 100 kB, removes the oldest ones."""
    rng, importer, mark = random.Random(7), Importer(), 0
    graph: dict[str, list[str]] = {f"entity {n}": [] for n in range(entities)}

    def add() -> None:
        words = " ".join(rng.choices(WORDS, k=14))
        text = f"{words} {rng.random()}"
        graph[f"entity {rng.randrange(entities)}"].append(text.replace("e", "é") if escapes else text)

    def lines() -> bytes:
        records = [{"type": "entity", "name": n, "entityType": "note", "observations": o} for n, o in graph.items()]
        return b"".join(json.dumps(record, ensure_ascii=escapes).encode() + b"\n" for record in records)

    while len(data := lines()) < FILE_BYTES:
        add()
    for n in range(commits):
        for _ in range(rng.randint(1, 2)):
            add()
        while len(data := lines()) > FILE_BYTES * 1.05:
            longest = max(graph.values(), key=len)
            longest.pop(0)
        when = START + n * HOUR
        mark = importer.commit({"memory.jsonl": data}, [mark] if mark else [], authored=when, committed=when)
    importer.into(folder)
    git(folder, "repack", "-a", "-d", "-q")
    return folder / "memory.jsonl"


def births(path: Path) -> int:
    """Do what `memttl backfill --git` does with it: read all versions, find all births."""
    finder = BirthFinder(wanted_of(path.read_bytes()), NOW)
    for version in git_versions(path):
        finder.meet(version)
    return len(finder.births)


def log_patches(path: Path) -> None:
    """Have git itself follow the file and print each change."""
    command = ["git", "-C", str(path.parent), "log", "-p", "--follow", "--", path.name]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def all_blobs(path: Path) -> None:
    """Have git print each version, unchanged ones of other files aside."""
    listed = git(path.parent, "rev-list", "--objects", "HEAD", "--", path.name)
    blobs = b"".join(line.split()[0] + b"\n" for line in listed.splitlines() if line.endswith(path.name.encode()))
    command = ["git", "-C", str(path.parent), "cat-file", "--batch"]
    subprocess.run(command, input=blobs, stdout=subprocess.DEVNULL, check=True)


def seconds_of(work: Callable[[], object]) -> tuple[float, float]:
    """Give CPU, with that of ended children, and wall time."""
    cpu, wall = _cpu(), time.perf_counter()
    work()
    return _cpu() - cpu, time.perf_counter() - wall


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def main() -> None:
    """Measure and print."""
    commits = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    version = git(Path("."), "--version").decode().strip()
    print(f"Python {platform.python_version()}, {version}, load {os.getloadavg()[0]:.2f}, {os.cpu_count()} CPUs")
    for shape, (entities, escapes) in SHAPES.items():
        with tempfile.TemporaryDirectory() as folder:
            path = repository(Path(folder) / "r", commits, entities, escapes=escapes)
            found = births(path)  # once before, so that all runs read from the page cache
            print(f"{shape}: {commits} commits of {FILE_BYTES // 1000} kB, {found} births, medians of {runs} rounds")
            compare(path, runs)


def compare(path: Path, runs: int) -> None:
    """Measure one repository and print its rows."""
    works = {"memttl": births, "git log -p --follow": log_patches, "git cat-file --batch": all_blobs}
    rows = [{name: seconds_of(partial(work, path)) for name, work in works.items()} for _ in range(runs)]
    for name in works:
        cpu, wall = (statistics.median(row[name][i] for row in rows) for i in (0, 1))
        ratio = statistics.median(row["memttl"][0] / row[name][0] for row in rows)
        print(f"  {name:22} {cpu:6.2f} s CPU  {wall:6.2f} s wall   memttl takes {ratio:.2f} of its CPU")
    alone = subprocess.run([sys.executable, __file__, "--walk", path], stdout=subprocess.PIPE, check=True, text=True)
    print(f"  peak memory of a process that only walks: {alone.stdout.strip()} MB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--walk"]:
        births(Path(sys.argv[2]))
        # ru_maxrss would be that of the process that forked this one
        status = Path("/proc/self/status").read_text().split()
        print(int(status[status.index("VmHWM:") + 1]) // 1024)
    else:
        main()
