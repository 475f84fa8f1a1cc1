"""Hammer one memory file with several `memttl serve` at once, each with overlapping calls, and a loop of prunes beside.

Each client adds observations that must stay and ones that have expired, and deletes what it added earlier; all that was
acknowledged is compared with the file. Prints one JSON object; exits 1 when an update was lost or a call failed.

  python tests/hammer_serve.py --clients 8 --seconds 60 [--pipeline 4] [--stock-pause 0.05]
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from process import memttl
from serving import Client, added, serve, stock

ENTITIES = [f"e{number}" for number in range(8)]
STAYS, EXPIRED = "must stay", "has expired [expires 2020-01-02]"
PRUNE = ("prune", "--yes", "--force", "--quiet")
Texts = set[tuple[str, str]]


class Blow(NamedTuple):
    """One call of a client: what it adds, or deletes."""

    entity: str
    text: str
    deletes: bool = False

    def call(self) -> tuple[str, Any]:
        """Give it as tool and arguments."""
        if not self.deletes:
            return added(self.entity, self.text)
        return "delete_observations", {"deletions": [{"entityName": self.entity, "observations": [self.text]}]}


class Hitter(threading.Thread):
    """One client, which knows what must be in the file by what was acknowledged to it."""

    def __init__(self, client: Client, name: str, until: float, *, pipeline: int, pause_s: float = 0.0) -> None:
        super().__init__(daemon=True)
        self._client, self._name, self._until, self._pipeline, self._pause_s = client, name, until, pipeline, pause_s
        self._chance, self._number = random.Random(name), 0
        self.stay: Texts = set()
        self.gone: Texts = set()
        self.expired: Texts = set()
        self.errors: Counter[str] = Counter()
        self.acknowledged = 0

    def run(self) -> None:
        """Make calls, some at once, until the time is over."""
        try:
            while time.monotonic() < self._until:
                blows = [self._blow(number) for number in range(self._pipeline)]
                for blow, reply in zip(blows, self._client.pipeline(b.call() for b in blows), strict=True):
                    self._note(blow, reply)
                time.sleep(self._pause_s)
        except AssertionError as e:
            self.errors[str(e)[:500]] += 1

    def _blow(self, place: int) -> Blow:
        self._number += 1
        entity, text = self._chance.choice(ENTITIES), f"{self._name} {self._number:06d} "
        old = sorted(self.stay)[:1] if place == 0 and self._number % 3 == 0 else []
        if old:
            return Blow(*old[0], deletes=True)
        return Blow(entity, text + (EXPIRED if self._chance.random() < 0.4 else STAYS))

    def _note(self, blow: Blow, reply: dict[str, Any]) -> None:
        if "error" in reply or reply["result"].get("isError"):
            self.errors[json.dumps(reply)[:500]] += 1
            return
        self.acknowledged += 1
        pair = blow.entity, blow.text
        if blow.deletes:
            self.stay.discard(pair)
            self.gone.add(pair)
        else:
            (self.expired if blow.text.endswith(EXPIRED) else self.stay).add(pair)


def hammer(
    folder: Path, *, clients: int, pipeline: int, seconds: float, stock_pause_s: float | None = None
) -> dict[str, Any]:
    """Hammer a new file in a folder; give what came of it.

    `stock_pause_s`: a stock server beside them, with so long a pause between its calls. It gets one call at a time,
    since those that overlap lose each other.
    """
    path = folder / "memory.jsonl"
    path.write_text("\n".join(_entity_line(name) for name in ENTITIES))
    with ThreadPoolExecutor(clients) as threads:
        servers = list(threads.map(lambda _: serve(path), range(clients)))
    until = time.monotonic() + seconds
    hitters = [Hitter(server, f"c{at}", until, pipeline=pipeline) for at, server in enumerate(servers)]
    if stock_pause_s is not None:
        servers.append(stock(path))
        hitters.append(Hitter(servers[-1], "stock", until, pipeline=1, pause_s=stock_pause_s))
    codes: Counter[int] = Counter()
    for hitter in hitters:
        hitter.start()
    while any(hitter.is_alive() for hitter in hitters):
        codes[memttl(*PRUNE, "--file", path).returncode] += 1
    meanwhile = _found(path)
    codes_after = memttl(*PRUNE, "--file", path).returncode
    for server in servers:
        server.__exit__(None, None, None)
    return {**_counted(hitters, meanwhile, _found(path)), "prunes": dict(codes), "last_prune": codes_after}


def _counted(hitters: list[Hitter], meanwhile: Texts, found: Texts) -> dict[str, Any]:
    stay, gone, expired = (set().union(*(getattr(h, kind) for h in hitters)) for kind in ("stay", "gone", "expired"))
    lost = stay - found
    return {
        "acknowledged": sum(h.acknowledged for h in hitters),
        "each": [h.acknowledged for h in hitters],
        "errors": dict(sum((h.errors for h in hitters), Counter())),
        "lost": len(lost),
        "examples": sorted(lost)[:5],
        "deletions_undone": len(gone & found),
        "expired_added": len(expired),
        "expired_pruned_meanwhile": len(expired - meanwhile),
        "expired_left": len(expired & found),
    }


def _entity_line(name: str) -> str:
    record = {"type": "entity", "name": name, "entityType": "t", "observations": [f"{name} was here before"]}
    return json.dumps(record, separators=(",", ":"))


def _found(path: Path) -> Texts:
    records = [json.loads(line) for line in path.read_text().split("\n") if line]
    return {(record["name"], text) for record in records for text in record["observations"]}


def main() -> int:
    """Hammer by the command line's numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--pipeline", type=int, default=4, help="overlapping calls of each client")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--stock-pause", type=float, metavar="SECONDS", help="a stock server beside them, as busy")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = hammer(
            Path(folder),
            clients=given.clients,
            pipeline=given.pipeline,
            seconds=given.seconds,
            stock_pause_s=given.stock_pause,
        )
    print(json.dumps(result, indent=2))
    return 1 if result["lost"] or result["errors"] or result["deletions_undone"] or result["expired_left"] else 0


if __name__ == "__main__":
    sys.exit(main())
