"""Stubs: the lines of the audit log that stand for what is gone, and carry the chain of digests over it. Pure.

`erased` stands in place of one line (`forget`), `summary` of an old run, and `segment` before all of them: it says how
many bytes thinning took out. A `summary` without a run is that of arrivals.
`chain.py` follows them; `thinning.py` and `forget` make them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

# kind -> the keys that it may hold besides v, event and prev: none that could carry a text
_COUNTS = ("removed", "restored", "quarantined")
STUBS: dict[str, frozenset[str]] = {
    "erased": frozenset({"was", "own", "run", "time", "of"}),
    "summary": frozenset(
        {"was", "own", "run", "command", "time", "now", "applied", "undoes", "partial", "thinned", "arrived", *_COUNTS}
    ),
    "segment": frozenset({"was", "own", "time", "bytes", "until"}),
}
_ALWAYS = frozenset({"v", "event", "prev"})
_HEX = re.compile(r"[0-9a-f]{64}")
_RUN = re.compile(r"[0-9a-f]{1,32}")
_TIME = re.compile(r"[0-9T:.+Z-]{1,40}")
_WORD = re.compile(r"[a-z_]{1,32}")


def _is_run(value: object) -> bool:
    return isinstance(value, str) and _RUN.fullmatch(value) is not None


def _is_time(value: object) -> bool:
    return value is None or (isinstance(value, str) and _TIME.fullmatch(value) is not None)


def _is_word(value: object) -> bool:
    return isinstance(value, str) and _WORD.fullmatch(value) is not None


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and _HEX.fullmatch(value) is not None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_flag(value: object) -> bool:
    return value is None or isinstance(value, bool)


FORMS: dict[str, Callable[[object], bool]] = {
    **dict.fromkeys(("run", "undoes"), _is_run),
    **dict.fromkeys(("time", "now", "thinned"), _is_time),
    **dict.fromkeys(("command", "of"), _is_word),
    **dict.fromkeys(("was", "own"), _is_digest),
    **dict.fromkeys((*_COUNTS, "arrived", "bytes", "until"), _is_count),
    **dict.fromkeys(("applied", "partial"), _is_flag),
}


def carried(event: Mapping[str, Any]) -> str:
    """Give the digest that a stub carries on, "" for an ordinary line (a summary that is not its gap's last is one)."""
    was = event.get("was")
    return str(was) if str(event.get("event")) in STUBS and _is_digest(was) else ""


def stub(event: Mapping[str, Any], *, prev: str, was: str | None) -> dict[str, Any]:
    """Make a stub: `prev` is the digest of what stands before it, `was` the one that the line behind it carries.

    None for a summary that other summaries of the same gap follow: the next one carries its own digest.
    """
    made = {"v": 1, **event, "prev": prev}
    if was is None:
        return made
    return {**made, "was": was, "own": _own(made | {"was": was})}


def _own(event: Mapping[str, Any]) -> str:
    """Give the digest of a stub's own words: the chain runs past them, so that an edit of them shows by this alone."""
    bare = {key: value for key, value in event.items() if key != "own"}
    return hashlib.sha256(json.dumps(bare, separators=(",", ":"), sort_keys=True).encode()).hexdigest()


def erased(event: Mapping[str, Any], was: str) -> dict[str, Any]:
    """Make the stub that stands for one erased line; `was` is that line's digest."""
    kept = {"run": event.get("run"), "time": event.get("time"), "of": event.get("event")}
    told = {key: value for key, value in kept.items() if value is not None and FORMS[key](value)}
    return stub({"event": "erased", **told}, prev=str(event.get("prev")), was=was)


def stub_problem(event: Mapping[str, Any], *, is_first: bool) -> str:
    """Say why a stub is none that memttl made, "" for a sound one; `is_first`: it is the log's first line."""
    kind = str(event["event"])
    if kind == "segment" and not is_first:
        return "it may only be the first line (segment)"
    unknown = [key for key in event if key not in STUBS[kind] | _ALWAYS]
    if unknown:
        return f"in place of what was taken out ({kind}) it holds more than may stand there"
    if any(not form(event[key]) for key, form in FORMS.items() if key in event):
        return f"in place of what was taken out ({kind}) it holds what memttl does not write there"
    if "was" not in event and kind != "summary":
        return f"it does not say what it stands for ({kind})"
    if kind != "erased" and ("was" in event) != ("own" in event):
        return f"it lacks the digest of its own words ({kind})"
    if "own" in event and event["own"] != _own(event):
        return f"it was edited after something was taken out here ({kind})"
    return ""
