"""`memttl serve` against the stock memory server (release 2026.8.31): start-up, reads and writes, call by call in turn.

    python benchmarks/serve.py [--calls 200] [--observations 10000]

Needs the extra `mcp`, node and `npm ci --prefix fixtures/server`. Prints the start-up CPU against the SDK's own minimal
server (the aim is at most 2), then the median of each tool on copies of one seeded file, called A B A B …: ours and the
stock server's, and the median ratio of the pairs. Reads, also each behind a write, aim at most at 1. Writes are durable
before they are answered, which the stock server's are not: they aim at most at the stock server's time, that of their
own syncs, which a server that counts them tells, and of settling. The aims hold for 10,000 observations: with fewer
there is no verdict.
"""

from __future__ import annotations

import argparse
import compileall
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from side_by_side import describe
from startup import memory_file

from memttl.files.served import PACE

HERE = Path(__file__).parent
STOCK = HERE.parent / "fixtures/server/node_modules/server-2026-8-31/dist/index.js"
OURS = [sys.executable, "-m", "memttl", "serve"]
AIMED_AT = 10_000
COUNTING = """
import os, sys, time

sync, told = os.fsync, open(sys.argv.pop(1), "w", buffering=1)


def counted(descriptor):
    begun = time.perf_counter()
    sync(descriptor)
    told.write(f"{time.perf_counter() - begun}\\n")


os.fsync = counted
from memttl.__main__ import main

main()
"""
MINIMAL = """
from mcp.server import MCPServer

server = MCPServer("minimal")


@server.tool()
def hello(name: str) -> str:
    return name


server.run()
"""
CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "0"}}
Arguments = Callable[[int], dict[str, Any]]
READS: dict[str, tuple[str, dict[str, Any]]] = {
    "read_graph": ("read_graph", {}),
    "open_nodes": ("open_nodes", {"names": ["m3", "m500"]}),
    "search_nodes, few hits": ("search_nodes", {"query": "config/77.toml"}),
    "search_nodes, all hits": ("search_nodes", {"query": "module"}),
}
WRITES: dict[str, tuple[str, Arguments]] = {
    "add_observations": (
        "add_observations",
        lambda n: {"observations": [{"entityName": f"m{n}", "contents": [f"added by call {n}"]}]},
    ),
    "create_entities": (
        "create_entities",
        lambda n: {"entities": [{"name": f"new {n}", "entityType": "module", "observations": ["made"]}]},
    ),
    "delete_observations": (
        "delete_observations",
        lambda n: {"deletions": [{"entityName": f"m{n}", "observations": [f"added by call {n}"]}]},
    ),
}


class Server:
    """One running server on one memory file."""

    def __init__(self, command: list[str], memory: Path) -> None:
        env = {**os.environ, "MEMORY_FILE_PATH": str(memory), "HOME": str(memory.parent)}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
        )
        self._ids = itertools.count(1)
        self.ask("initialize", CLIENT)
        self._send({"method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> bytes:
        """Make a request; give the line that answers it."""
        assert self._process.stdout is not None
        self._send({"id": next(self._ids), "method": method, "params": params})
        return self._process.stdout.readline()

    def call(self, tool: str, arguments: dict[str, Any]) -> float:
        """Call a tool; give how many seconds the answer took."""
        begun = time.perf_counter()
        line = self.ask("tools/call", {"name": tool, "arguments": arguments})
        took_s = time.perf_counter() - begun
        if b'"isError":true' in line or b'"result"' not in line:
            raise SystemExit(f"{tool} failed: {line[:500]!r}")
        return took_s

    def end(self) -> float:
        """Close its input and wait; give the CPU seconds that it took."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_utime + usage.ru_stime

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()


def startup(folder: Path, runs: int) -> None:
    """Compare the CPU from start to `tools/list` and the end, on a file of one observation."""
    path = folder / "small.jsonl"
    path.write_text('{"type":"entity","name":"a","entityType":"t","observations":["one"]}\n', encoding="utf-8")

    def cpu_of(command: list[str]) -> float:
        server = Server(command, path)
        server.ask("tools/list", {})
        return server.end()

    minimal = [sys.executable, "-c", MINIMAL]
    cpu_of(OURS), cpu_of(minimal)
    pairs = [(cpu_of(OURS), cpu_of(minimal)) for _ in range(runs)]
    _print("start-up to tools/list, CPU", pairs, 2.0, "aim: below 2")


def reads(ours: Server, stock: Server, calls: int, most: float | None) -> None:
    """Compare each read, in turn."""
    for name, (tool, arguments) in READS.items():
        ours.call(tool, arguments), stock.call(tool, arguments)
        pairs = [(ours.call(tool, arguments), stock.call(tool, arguments)) for _ in range(calls)]
        _print(name, pairs, most, "aim: at most 1")


def writes(ours: Server, stock: Server, calls: int, syncs: dict[str, list[list[float]]], *, judged: bool) -> None:
    """Compare each write, in turn, with the stock server's and what being durable takes."""
    for name, (tool, arguments) in WRITES.items():
        pairs = [(ours.call(tool, arguments(n)), stock.call(tool, arguments(n))) for n in range(calls)]
        a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
        synced = statistics.median(map(sum, syncs[name]))
        allowed = b + synced + PACE.settle_s
        count = statistics.median(map(len, syncs[name]))
        durable = f"{count:.0f} syncs {1000 * synced:.1f} + settling {1000 * PACE.settle_s:.1f}"
        verdict = _verdict(a <= allowed) if judged else ""
        print(f"{name}: {1000 * a:.1f} ms; the other {1000 * b:.1f} + {durable} = {1000 * allowed:.1f} ms{verdict}")


def syncs_of_writes(folder: Path, memory: Path, calls: int) -> dict[str, list[list[float]]]:
    """Let a server of its own make the writes; give for each how many seconds each sync of each call took."""
    told = folder / "syncs"
    server = Server([sys.executable, "-c", COUNTING, str(told), "serve"], memory)
    found: dict[str, list[list[float]]] = {}
    for name, (tool, arguments) in WRITES.items():
        for n in range(calls):
            before = len(told.read_text().split())
            server.call(tool, arguments(n))
            found.setdefault(name, []).append([float(word) for word in told.read_text().split()[before:]])
    server.end()
    return found


def reads_between_writes(ours: Server, stock: Server, calls: int, most: float | None) -> None:
    """Compare each read, the call before which was a write."""
    numbers = itertools.count(1000)
    for name, (tool, arguments) in READS.items():
        pairs = []
        for _ in range(calls):
            number = next(numbers)
            added = {"entityName": f"m{number % 500}", "contents": [f"added by call {number}"]}
            for server in (ours, stock):
                server.call("add_observations", {"observations": [added]})
            pairs.append((ours.call(tool, arguments), stock.call(tool, arguments)))
        _print(f"{name}, behind a write", pairs, most, "aim: at most 1")


def _print(name: str, pairs: list[tuple[float, float]], most: float | None, aim: str) -> None:
    """Print medians and their ratio; it is judged unless `most` is None."""
    a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(x / y for x, y in pairs)
    verdict = "" if most is None else _verdict(ratio <= most)
    of = f"ratio of {len(pairs)} pairs: {ratio:.2f}"
    print(f"{name}: {1000 * a:.1f} ms, the other {1000 * b:.1f} ms; {of} ({aim}){verdict}")


def _verdict(is_met: bool) -> str:
    return ": ok" if is_met else ": over"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--observations", type=int, default=10_000)
    parser.add_argument("--starts", type=int, default=7)
    asked = parser.parse_args()
    compileall.compile_dir(HERE.parent / "memttl", quiet=1)  # as pip leaves an installed package
    os.environ["PYTHONPATH"] = str(HERE.parent)
    node = subprocess.run(["node", "--version"], capture_output=True, encoding="utf-8", check=True).stdout.strip()
    print(f"{describe()}, mcp {version('mcp')}, node {node}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        startup(folder, asked.starts)
        for copy in ("ours.jsonl", "stock.jsonl", "counted.jsonl"):
            memory_file(folder / copy, asked.observations)
            os.utime(folder / copy, (1_700_000_000, 1_700_000_000))
        data = (folder / "ours.jsonl").read_bytes()
        print(f"{asked.observations:,} observations in {len(data):,} bytes")
        ours, stock = Server(OURS, folder / "ours.jsonl"), Server(["node", str(STOCK)], folder / "stock.jsonl")
        judged = asked.observations >= AIMED_AT
        if not judged:
            print(f"the aims hold for {AIMED_AT:,} observations: no verdict on calls")
        most = 1.0 if judged else None
        reads(ours, stock, asked.calls, most)
        reads_between_writes(ours, stock, asked.calls, most)
        syncs = syncs_of_writes(folder, folder / "counted.jsonl", asked.calls)
        writes(ours, stock, asked.calls, syncs, judged=judged)
        ours.end(), stock.end()
    print(f"load average at the end: {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
