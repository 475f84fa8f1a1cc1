"""How far `tokens_estimated` is off: the estimate beside what real tokenizers counted, as the table of tokens.md.

    python benchmarks/tokens.py

The counts are those of fixtures/tokens/measured.json; `benchmarks/tokens.mjs` makes them anew. Prints as well what the
estimate itself costs on 100,000 observations.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from statistics import median
from typing import Any

from memttl.core.memory import read_lines
from memttl.core.tokens import (
    tokens_of,
    weight_of_entity_frame,
    weight_of_graph_frame,
    weight_of_observation,
    weight_of_relation,
)

FIXTURES = Path(__file__).parent.parent / "fixtures"
TEXT = "Decision: 2026-01-05: keep the cache of the order service small, since staging has a latency budget of 120 ms"


def main() -> None:
    """Print the table, a line about the memory files of fixtures/, and the cost."""
    document = json.loads((FIXTURES / "tokens/measured.json").read_text(encoding="utf-8"))
    names = list(document["tokenizers"])
    print("| text | estimate | median | estimate / median | " + " | ".join(names) + " |")
    print("|---|---|---|---|" + "---|" * len(names))
    files = []
    for row in document["rows"]:
        estimate, middle = _estimate(_records(row)), median(row["tokens"].values())
        if "file" in row:
            files.append(estimate / middle)
            continue
        counts = " | ".join(str(row["tokens"][name]) for name in names)
        print(f"| {row['kind']} | {estimate} | {middle} | {estimate / middle:.2f} | {counts} |")
    print()
    low, high = min(files), max(files)
    print(f"{len(files)} files of fixtures/memory: {low:.2f} to {high:.2f}, median {median(files):.2f}")
    compact = [row["compact"] / median(row["tokens"].values()) for row in document["rows"] if _is_english(row)]
    print(f"compact JSON instead of pretty, English: {min(compact):.2f} to {max(compact):.2f} of the tokens")
    print(f"100,000 observations of {len(TEXT)} characters: {1000 * _seconds():.0f} ms CPU")


def _records(row: dict[str, Any]) -> list[dict[str, Any]]:
    if "records" in row:
        return row["records"]
    return [line.record for line in read_lines((FIXTURES / row["file"]).read_bytes()) if line.record is not None]


def _estimate(records: list[dict[str, Any]]) -> int:
    entities = [r for r in records if r.get("type") == "entity"]
    relations = [r for r in records if r.get("type") == "relation"]
    observations = [o for r in entities for o in r["observations"]]
    weights = [weight_of_graph_frame(has_entities=bool(entities), has_relations=bool(relations))]
    weights += [*map(weight_of_entity_frame, entities), *map(weight_of_relation, relations)]
    return tokens_of(sum(w.cents for w in [*weights, *map(weight_of_observation, observations)]))


def _is_english(row: dict[str, Any]) -> bool:
    return row.get("kind", "").startswith("English")


def _seconds() -> float:
    best = []
    for _ in range(5):
        start = time.process_time()
        for _ in range(100_000):
            weight_of_observation(TEXT)
        best.append(time.process_time() - start)
    return min(best)


if __name__ == "__main__":
    main()
