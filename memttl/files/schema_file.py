"""The file that `memttl policy schema -o` writes: an older schema may be replaced by it, and no other file."""

from __future__ import annotations

import json
import os

from memttl.errors import UsageError

_LARGEST = 1 << 20  # bytes; a schema has some kB


def refuse_other_file(target: str) -> None:
    """Refuse to write a schema over a file that holds something else, such as the policy itself or a memory file.

    Raises:
        UsageError: it does.
    """
    if os.path.isfile(target) and os.path.getsize(target) and not _is_schema(target):
        raise UsageError(
            f"{target} is there and is no JSON Schema; nothing was done.",
            hint="Name another file, such as memttl.schema.json.",
        )


def _is_schema(path: str) -> bool:
    try:
        with open(path, "rb") as f:
            found = json.loads(f.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "$schema" in found
