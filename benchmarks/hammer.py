"""Hammer one memory file with the real memory server while memttl prunes beside it; say what was lost.

The server is driven strictly one call at a time, since it loses its own updates where calls overlap. It adds
observations that must stay and ones that have expired, and deletes old ones. Every second and at the end the file is
compared with what the server acknowledged. One thread watches that the path never vanishes. Prints one JSON object;
exits 1 where anything was lost.

    python benchmarks/hammer.py fixtures/server/node_modules/server-2026-8-31/dist/index.js --seconds 60
    python benchmarks/hammer.py fixtures/server/node_modules/server-2026-7-4/dist/index.js --in-process --seconds 60
"""

from __future__ import annotations

import argparse
import collections
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

EXPIRED, KEPT = "obs {n:08d} has expired [expires 2020-01-02]", "obs {n:08d} must stay"
ROOT = Path(__file__).parent.parent
Fact = tuple[str, str]


class Server:
    """The memory server as a child process, called once at a time."""

    def __init__(self, program: Path, memory: Path) -> None:
        self.process = subprocess.Popen(
            ["node", str(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "MEMORY_FILE_PATH": str(memory)},
        )
        self.acknowledged, self.errors, self.millis, self._id = 0, collections.Counter(), [], 0
        client = {"name": "hammer", "version": "1"}
        self._ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        while True:
            reply = json.loads(self.process.stdout.readline())
            if reply.get("id") == self._id:
                return reply

    def call(self, tool: str, **arguments: Any) -> bool:
        """Call a tool; say whether it was acknowledged."""
        begun = time.perf_counter()
        reply = self._ask("tools/call", {"name": tool, "arguments": arguments})
        self.millis.append(1000 * (time.perf_counter() - begun))
        problem = reply.get("error") or (reply["result"].get("isError") and reply["result"])
        if problem:
            self.errors[json.dumps(problem)[:160]] += 1
            return False
        self.acknowledged += 1
        return True

    def end(self) -> None:
        """Let it go."""
        self.process.stdin.close()
        self.process.wait(20)


def facts_in(memory: Path) -> tuple[set[Fact], int]:
    """Give what stands in the file that must stay, and how much has expired; reads again while it is half-written."""
    for _ in range(5000):
        try:
            rows = [json.loads(line) for line in memory.read_text(encoding="utf-8").split("\n") if line.strip()]
        except ValueError:
            rows = []
        facts = [(row["name"], text) for row in rows if row["type"] == "entity" for text in row["observations"]]
        if rows:
            return {fact for fact in facts if "must stay" in fact[1]}, sum("has expired" in text for _, text in facts)
        time.sleep(0.001)
    raise SystemExit("the memory was destroyed: the file stayed unreadable or empty")


class Hammer:
    """The server's side of one run, and the model of what it was promised."""

    def __init__(self, server: Server, memory: Path, facts: list[Fact]) -> None:
        self.server, self.memory = server, memory
        self.model, self.order = set(facts), collections.deque(facts)
        self.names = sorted({name for name, _ in facts})
        self.count, self.lost, self.came_back, self.examples = len(facts), 0, 0, []

    def run(self, seconds: float) -> None:
        """Call without pause, and compare every second."""
        end, compared = time.time() + seconds, time.time()
        turn = 0
        while time.time() < end:
            turn += 1
            self._call(turn)
            if time.time() - compared > 1:
                self.compare()
                compared = time.time()

    def _call(self, turn: int) -> None:
        name = random.choice(self.names)
        if turn % 2 == 0:
            self._add(name, EXPIRED)
        elif turn % 4 == 1 or not self.order:
            fact = name, self._add(name, KEPT)
            if fact[1]:
                self.model.add(fact)
                self.order.append(fact)
        else:
            name, text = self.order.popleft()
            if self.server.call("delete_observations", deletions=[{"entityName": name, "observations": [text]}]):
                self.model.discard((name, text))

    def _add(self, name: str, form: str) -> str:
        self.count += 1
        text = form.format(n=self.count)
        observations = [{"entityName": name, "contents": [text]}]
        return text if self.server.call("add_observations", observations=observations) else ""

    def compare(self) -> None:
        """Hold the file against what was acknowledged."""
        if facts_in(self.memory)[0] == self.model:
            return
        time.sleep(0.5)  # let a swap in flight finish
        found, _ = facts_in(self.memory)
        self.lost += len(self.model - found)
        self.came_back += len(found - self.model)
        self.examples += sorted(self.model - found)[:3]
        self.model, self.order = found, collections.deque(fact for fact in self.order if fact in found)


def write_start(memory: Path, observations: int) -> list[Fact]:
    """Write a file of so many observations that must stay."""
    names = [f"e{i}" for i in range(max(5, observations // 100))]
    facts = [(names[i % len(names)], KEPT.format(n=i)) for i in range(observations)]
    rows: dict[str, list[str]] = {name: [] for name in names}
    for name, text in facts:
        rows[name].append(text)
    lines = [
        json.dumps({"type": "entity", "name": n, "entityType": "t", "observations": o}, separators=(",", ":"))
        for n, o in rows.items()
    ]
    memory.write_text("\n".join(lines), encoding="utf-8")
    return facts


def prune_by_command(memory: Path) -> str:
    """Prune once with the command line; give its exit code."""
    command = [sys.executable, "-m", "memttl", "prune", "--yes", "--force", "--quiet", "--file", str(memory)]
    run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=ROOT)
    return str(run.returncode) if run.returncode in (0, 75) else f"{run.returncode}: {run.stderr.decode()[-300:]}"


def prune_in_process(memory: Path) -> str:
    """Prune once in this process, settling as short as may be, so that the windows are hit often."""
    sys.path.insert(0, str(ROOT))
    from memttl.errors import MemttlError
    from memttl.files.pace import Pace
    from memttl.settings import Given, resolve
    from memttl.workflow.prune import Request, prune

    settings = resolve(str(memory), Given(), {}, datetime.now(UTC))
    try:
        outcome = prune(settings, Request(force=True, pace=Pace(settle_s=0.005, keep_s=0.5)))
    except MemttlError as e:
        return str(int(e.exit_code))
    return "0" if outcome.applied else "nothing to do"


def loop(prune: Callable[[Path], str], memory: Path, stop: threading.Event, ends: collections.Counter) -> None:
    """Prune again and again."""
    while not stop.is_set():
        ends[prune(memory)] += 1


def loop_in_child(memory: Path, stop: Any, ends: collections.Counter) -> None:
    """Prune again and again in one child process, with no start-up between."""
    child = multiprocessing.get_context("spawn")
    queue, stop_child = child.Queue(), child.Event()
    process = child.Process(target=_child, args=(memory, stop_child, queue))
    process.start()
    stop.wait()
    stop_child.set()
    ends.update(queue.get(timeout=120))
    process.join()


def _child(memory: Path, stop: Any, queue: Any) -> None:
    ends: collections.Counter = collections.Counter()
    while not stop.is_set():
        ends[prune_in_process(memory)] += 1
    queue.put(ends)


def watch(memory: Path, stop: threading.Event, seen: collections.Counter) -> None:
    """Look in a tight loop whether the path is there."""
    while not stop.is_set():
        seen["looks"] += 1
        seen["vanished"] += not memory.exists()


def hammer(program: Path, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Run it all; give the counts."""
    memory = folder / "memory.jsonl"
    facts = write_start(memory, options.observations)
    stop, ends, seen = threading.Event(), collections.Counter(), collections.Counter()
    prune = prune_in_process if options.in_process else prune_by_command
    side = Hammer(Server(program, memory), memory, facts)
    threads = [threading.Thread(target=watch, args=(memory, stop, seen), daemon=True)] if options.watch else []
    for _ in range(options.loops):
        target = (loop_in_child, (memory, stop, ends)) if options.in_process else (loop, (prune, memory, stop, ends))
        threads.append(threading.Thread(target=target[0], args=target[1], daemon=True))
    for thread in threads:
        thread.start()
    side.run(options.seconds)
    stop.set()
    for thread in threads:
        thread.join(120)
    if options.loops:
        prune(memory)
    side.compare()
    side.server.end()
    millis = sorted(side.server.millis)
    return {
        "acknowledged": side.server.acknowledged,
        "lost": side.lost,
        "deletions_undone": side.came_back,
        "server_errors": dict(side.server.errors),
        "expired_left": facts_in(memory)[1] if options.loops else None,
        "prunes": dict(ends),
        "path": dict(seen),
        "call_ms_median": round(millis[len(millis) // 2], 2),
        "call_ms_max": round(millis[-1], 1),
        "beside": sorted(name for name in os.listdir(folder) if name != "memory.jsonl"),
        "examples": side.examples[:5],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server", type=Path, help="dist/index.js of one release")
    parser.add_argument("--observations", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--loops", type=int, default=1, help="prunes at once; 0 is a control run")
    parser.add_argument(
        "--in-process", action="store_true", help="one process for all prunes of a loop, and a short settle"
    )
    parser.add_argument("--watch", action=argparse.BooleanOptionalAction, default=True, help="watch the path")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hammer-") as folder:
        result = hammer(options.server.resolve(), Path(folder), options)
    print(json.dumps(result))
    bad = result["lost"] or result["deletions_undone"] or result["server_errors"] or result["path"].get("vanished")
    return int(bool(bad or (options.loops and not result["prunes"].get("0"))))


if __name__ == "__main__":
    sys.exit(main())
