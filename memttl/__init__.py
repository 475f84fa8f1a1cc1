"""memttl: lifecycle for the knowledge graph that AI assistants keep through the MCP memory server.

The names in `__all__` are the public face; everything else may change between releases. They are imported when
they are first used, so that `memttl --version` costs no more than Python itself.
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "MemttlError": "memttl.errors",
    "Plan": "memttl.core.plan",
    "Policy": "memttl.core.policy",
    "Verdict": "memttl.core.model",
    "apply_plan": "memttl.core.apply",
    "judge_entity": "memttl.core.classify",
    "load_policy": "memttl.core.policy_load",
    "make_judge": "memttl.core.judge",
    "make_plan": "memttl.core.plan",
    "read_lines": "memttl.core.memory",
}
__all__ = [*_PUBLIC, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PUBLIC[name]), name)
