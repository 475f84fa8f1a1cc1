"""JSON as the memory server writes it, with JSON.stringify: no spaces, all characters raw but for lone surrogates.

Whatever writes a new line of a memory file, or of an archive, writes it so.
"""

from __future__ import annotations

import json
import re
from typing import Any

_LONE = re.compile("[\ud800-\udfff]")


def as_json(value: Any) -> str:
    """Write a value as JSON.stringify does."""
    return escape_lone(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def escape_lone(text: str) -> str:
    """Spell lone surrogates as escapes: UTF-8 has no bytes for them."""
    return _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
