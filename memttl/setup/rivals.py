"""What is amiss between memory files and the clients that use them: facts of all files together into sentences.

`discover.py` calls it once, with all files that it has found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from memttl.setup.found import Found, Pointer, Trouble


def with_rivals(found: Iterable[Found]) -> list[Found]:
    """Give the files, each with what is amiss between them: one client's memories, or servers of one."""
    files = list(found)
    using = [{p.client for p in f.pointers if p.project is None and not p.idle} for f in files]
    memories = Counter(client for clients in using for client in clients)
    return [
        file._replace(troubles=(*file.troubles, *_twice(file), *_rivals(clients, memories)))
        for file, clients in zip(files, using, strict=True)
    ]


def _rivals(clients: set[str], memories: Counter[str]) -> Iterator[Trouble]:
    """Yield what is amiss with a file that `clients` use; `memories` counts the files that each client uses."""
    twice = sorted(client for client in clients if memories[client] > 1)
    if twice:
        yield Trouble(
            "two-of-one-client",
            f"{' and '.join(twice)} has more than one memory: what it keeps in one it does not find in the other",
            "Keep one entry in the config, or give each a task of its own.",
        )
    rest = sorted(memories.keys() - clients) if clients else []
    if rest:
        yield Trouble(
            "two-memories",
            f"{' and '.join(rest)} {'has' if len(rest) == 1 else 'have'} another memory: what is kept here is not "
            "known there",
            "To share one, let all configs name the same file.",
        )


def _twice(file: Found) -> Iterator[Trouble]:
    """Yield what is amiss where one config starts several servers on one file, as memttl's beside the stock one."""
    named: dict[tuple[str, Path], list[Pointer]] = {}
    for pointer in file.pointers:
        if pointer.project is None and not pointer.idle:
            named.setdefault((pointer.client, pointer.config), []).append(pointer)
    for (client, config), pointers in named.items():
        names = [f'"{pointer.keys[-1]}"' for pointer in pointers]
        if len(names) > 1 and any(pointer.is_memttl for pointer in pointers):
            yield Trouble(
                "servers-of-one-client",
                f"{client} starts {len(names)} memory servers on it ({' and '.join(names)}), so that its assistant has "
                f"every tool {'twice' if len(names) == 2 else 'several times'}",
                f"Only one of them should be on: take the others out of {config}.",
            )
