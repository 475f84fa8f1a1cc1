"""The use cases behind `memttl log` and `memttl log verify`: what the audit log tells, and whether it is whole.

Neither needs a memory file, takes a lock or writes anything.
"""

from __future__ import annotations

from typing import NamedTuple

from memttl.core.chain import Break, Checked, check, event_of, lines_of
from memttl.core.dates import DateReader
from memttl.core.log_outcome import LogOutcome, VerifyOutcome
from memttl.core.timeline import Wanted, narrowed, read_bound, timeline_of
from memttl.errors import LedgerLost, UsageError
from memttl.files import audit
from memttl.files.audit_head import head_path
from memttl.files.leftovers import unfinished
from memttl.files.state import State, had_ledger, refuse_another_folder, state_of
from memttl.settings import Settings


class Asked(NamedTuple):
    """What the user asked of a log, as written."""

    run: str | None = None
    entities: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None


def logged(settings: Settings, asked: Asked) -> LogOutcome:
    """Give the part of a memory file's audit log that is asked for.

    Raises:
        UsageError: no such run or entity; an unreadable time.
        MemttlError: the log cannot be read.
    """
    wanted = _wanted(settings, asked)
    state = state_of(settings.memory, settings.state_elsewhere)
    warnings = [*settings.warnings, *_lost(state), *unfinished(state)]
    log = audit.read_log(state.audit)
    lines = lines_of(log.data)
    events = [event_of(line) for line in lines]
    torn = [number for number, event in enumerate(events, start=1) if event is None]
    warnings += _torn_words(torn, len(lines), log.data)
    entries = timeline_of([event for event in events if event is not None])
    found = narrowed(entries, wanted)
    return LogOutcome(settings.named, settings.now_here, tuple(found), len(entries), tuple(warnings))


def _wanted(settings: Settings, asked: Asked) -> Wanted:
    reader = DateReader((), settings.policy.zone)
    since = read_bound("--since", asked.since, settings.now, reader) if asked.since is not None else None
    until = read_bound("--until", asked.until, settings.now, reader) if asked.until is not None else None
    if since is not None and until is not None and since >= until:
        raise UsageError("--since lies after --until; nothing was done.")
    return Wanted(asked.run, asked.entities, since, until)


def _lost(state: State) -> list[str]:
    """Warn where the log is looked for in another folder than the one that was used; raises where it is another's."""
    try:
        refuse_another_folder(state)
    except LedgerLost as e:
        return [e.message]
    return []


def _torn_words(torn: list[int], count: int, data: bytes) -> list[str]:
    words = []
    if data and (not data.endswith(b"\n") or torn[-1:] == [count]):
        words.append(
            "the last line of the audit log is torn (a kill, a full disk), or being written this moment; the next run "
            "that writes settles it"
        )
        torn = [number for number in torn if number != count]
    if torn:
        shown = ", ".join(map(str, torn[:5])) + (", …" if len(torn) > 5 else "")
        words.append(f"what cannot be read of the audit log was passed over: line {shown}; see `memttl log verify`")
    return words


def verified(settings: Settings) -> VerifyOutcome:
    """Follow the chain of a memory file's audit log from the first line to the noted last one.

    Raises:
        MemttlError: the log cannot be read.
    """
    state = state_of(settings.memory, settings.state_elsewhere)
    warnings = (*settings.warnings, *_lost(state))
    log = audit.read_log(state.audit)
    found = check(log.data)
    hint = (
        "Put a copy of the log back if you have one; or `memttl doctor --repair` sets it aside and begins a new one "
        "with all that can be relied on."
    )
    if found.broken is None:
        found = _with_end(state, log, found)
        hint = (
            f"If you put an older log back yourself, remove {head_path(state.audit)}: then its end counts as it is. "
            "Else `memttl doctor --repair` begins a new log with all that is left."
            if found.broken
            else ""
        )
    return VerifyOutcome(settings.named, settings.now_here, str(state.audit), found, hint, warnings)


def _with_end(state: State, log: audit.Log, found: Checked) -> Checked:
    """Add what the noted end of the log says, which the chain does not."""
    is_gone = not log.data and had_ledger(state) and not state.audit.exists()
    if log.is_held and not is_gone:
        return found
    if not log.data:
        return found._replace(broken=Break(0, "cut", "it is gone or empty, and memttl has written one"))
    what = "it ends before the line that was added last, or what followed was written over it"
    return found._replace(broken=Break(found.lines, "cut", what))
