"""The use case `backups prune`: which backups the policy lets go, show and ask, lock, remove those, and log it.

`commands/backups.py` calls it for each memory file, which need not be there. A dry run writes nothing at all.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from memttl.core.backups_outcome import Outdated, ThinOutcome
from memttl.files import audit
from memttl.files.after_run import outdated_backups
from memttl.files.backups import remove_backups
from memttl.files.kept_backups import Kept, kept_backups
from memttl.files.state import State, state_of
from memttl.settings import Settings


def thin(settings: Settings, *, dry_run: bool = False, ask: Callable[[ThinOutcome], bool] | None = None) -> ThinOutcome:
    """Remove the backups of one memory file that its policy lets go and, unless it is a dry run, if `ask` approves.

    `ask` is shown the outcome as planned (None: it is approved beforehand). What becomes outdated after that stays.

    Raises:
        MemttlError: one of SPEC's exit codes says what was not done.
    """
    state = state_of(settings.memory, settings.state_elsewhere)
    warnings = [*settings.warnings]
    kept = kept_backups(state, warnings.append).backups
    gone = set(outdated_backups(state, settings.policy, settings.now))
    going = [backup for backup in kept if backup.path in gone]
    planned = ThinOutcome(
        settings.named,
        settings.now_here,
        tuple(_outdated(backup) for backup in going),
        len(kept) - len(going),
        dry_run,
        warnings=tuple(warnings),
    )
    if not going or dry_run:
        return planned
    if ask is not None and not ask(planned):
        return planned._replace(declined=True)
    return _apply(settings, state, going, planned)


def _outdated(kept: Kept) -> Outdated:
    return Outdated(kept.source, kept.path.lstat().st_size)


def _apply(settings: Settings, state: State, going: list[Kept], planned: ThinOutcome) -> ThinOutcome:
    """Remove what was approved and is outdated still, under the lock; the log says so first."""
    from memttl.files.commit import timestamp
    from memttl.files.compressing import compress_backups
    from memttl.files.lock import locked
    from memttl.files.rewriting import stat_of_missing
    from memttl.files.state import prepare

    like = settings.memory.stat() if os.path.lexists(settings.memory) else stat_of_missing(state)
    run = os.urandom(4).hex()
    prepare(state, like)
    with locked(state, like):
        before = _stored_bytes(state.backups)
        still = set(outdated_backups(state, settings.policy, settings.now))
        paths = [kept.path for kept in going if kept.path in still]
        if paths:
            names = [path.name for path in paths]
            event = {"event": "thinned", "run": run, "time": timestamp(), "command": "backups", "names": names}
            audit.append(state.audit, [event], like)
        gone = set(remove_backups(paths))
        compressed = compress_backups(state.backups, but=None)
        freed = before - _stored_bytes(state.backups)
    return planned._replace(
        backups=tuple(_of for _of, kept in zip(planned.backups, going, strict=True) if kept.path in gone),
        staying=planned.staying + len(going) - len(gone),
        applied=bool(gone),
        run=run if gone else None,
        compressed=compressed,
        freed_bytes=freed,
    )


def _stored_bytes(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.iterdir() if path.is_file())
