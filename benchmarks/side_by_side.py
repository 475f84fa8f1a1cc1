"""Times whole processes in turn (A B A B …) and gives the CPU of each and the ratio pair by pair.

CPU is user + system of the child, as the kernel accounts it: these machines are shared, so wall time says little.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Sequence


def cpu_of(command: Sequence[str], environ: dict[str, str]) -> float:
    """Run a command once, its output thrown away, and give its CPU seconds (the best of nothing: one run)."""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environ
    ) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended {child.returncode}")
    return usage.ru_utime + usage.ru_stime


def compare(a: Sequence[str], b: Sequence[str], runs: int) -> tuple[float, float, float]:
    """Run both in turn, after one warm-up; give the medians of A and B in CPU seconds, and of the ratio A/B."""
    environ = {**os.environ, "PYTHONHASHSEED": "0"}
    for command in (a, b):
        cpu_of(command, environ)
    pairs = [(cpu_of(a, environ), cpu_of(b, environ)) for _ in range(runs)]
    return (
        statistics.median(x for x, _ in pairs),
        statistics.median(y for _, y in pairs),
        statistics.median(x / y for x, y in pairs),
    )


def describe() -> str:
    """Say what the numbers were measured on."""
    import typer

    load = os.getloadavg()[0]
    return f"Python {sys.version.split()[0]}, Typer {typer.__version__}, load average {load:.2f}, {os.cpu_count()} CPUs"
