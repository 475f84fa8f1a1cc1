"""The use case `backups restore`: settled read, compare, show and ask, lock, back up what is there, put the whole back.

`commands/backups.py` calls it for each memory file, which may be missing, damaged or none of the memory server's. A dry
run ends with the comparison.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from memttl import trace
from memttl.core.backups_outcome import RestoreOutcome
from memttl.core.differences import differences
from memttl.files.archive_mark import refuse_archive
from memttl.files.backups import PACKED, read_backup
from memttl.files.kept_backups import backup_named, kept_backups
from memttl.files.leftovers import unfinished
from memttl.files.pace import DEFAULT_PACE, Pace
from memttl.files.rewriting import read_as_it_is
from memttl.files.snapshot import Snapshot, read_only_warning, refuse_hard_links, refuse_read_only
from memttl.files.state import State, state_of
from memttl.settings import Settings

if TYPE_CHECKING:
    from memttl.files.rewriting import Rewriting

Step = Callable[[str], None]


class RestoreRequest(NamedTuple):
    """What the user asked: `backup` is a run, a file name, a path, or `latest`; `pace` is for tests and hammers."""

    backup: str
    dry_run: bool = False
    break_hard_links: bool = False
    pace: Pace = DEFAULT_PACE


def restore(
    settings: Settings,
    request: RestoreRequest,
    *,
    ask: Callable[[RestoreOutcome], bool] | None = None,
    step: Step = trace.step,
) -> RestoreOutcome:
    """Put a backup of one memory file back as a whole and, unless it is a dry run, if `ask` approves.

    `ask` is shown the outcome as planned (None: it is approved beforehand); `step` is called with the name of each
    step of the write. What a server writes between the plan and the write lies in the backup that this makes.

    Raises:
        UnknownBackup: there is none of that name, or several.
        MemttlError: one of SPEC's exit codes says what was not done.
    """
    state = state_of(settings.memory, settings.state_elsewhere)
    refuse_archive(state)
    warnings = [*settings.warnings]
    kept = backup_named(kept_backups(state, warnings.append).backups, request.backup)
    data = read_backup(kept.path)
    snapshot = read_as_it_is(state)
    warnings += unfinished(state) if request.dry_run else ()
    found = differences(snapshot.data, data)
    planned = RestoreOutcome(
        settings.named, settings.now_here, kept.source, found, request.dry_run, warnings=tuple(warnings)
    )
    if found.are_equal:
        return planned
    _refuse(snapshot, state, request)
    if request.dry_run:
        return planned._replace(warnings=(*planned.warnings, *read_only_warning(snapshot)))
    refuse_read_only(snapshot)
    if ask is not None and not ask(planned):
        return planned._replace(declined=True)
    name = kept.path.name.removesuffix(PACKED)  # as it was written, as the log names backups everywhere
    return _write(_rewriting(settings, request, state, name, data, step), snapshot, data, planned)


def _refuse(snapshot: Snapshot, state: State, request: RestoreRequest) -> None:
    if not request.break_hard_links and os.path.lexists(state.memory):
        refuse_hard_links(snapshot, state.beside)


def _rewriting(
    settings: Settings, request: RestoreRequest, state: State, name: str, data: bytes, step: Step
) -> Rewriting:
    from memttl.core.restore_records import restore_events
    from memttl.files.looking import Moment
    from memttl.files.rewriting import Rewrite, Rewriting
    from memttl.files.writing import Options

    with_text = settings.policy.audit_text

    def make(snapshot: Snapshot) -> Rewrite | None:
        before = snapshot.data
        if before == data:
            return None
        return Rewrite(
            data,
            lambda run: restore_events(before, data, differences(before, data), run, backup=name, with_text=with_text),
            snapshot.digest,
            {"restores": name},
        )

    return Rewriting(
        state,
        "restore",
        settings.policy,
        Moment(settings.now, settings.clock),
        make,
        Options(pace=request.pace, step=step),
        settings.progress,
        request.break_hard_links,
    )


def _write(rewriting: Rewriting, snapshot: Snapshot, data: bytes, planned: RestoreOutcome) -> RestoreOutcome:
    from memttl.files.rewriting import rewrite

    done = rewrite(rewriting, snapshot.stat)
    warnings = dict.fromkeys((*planned.warnings, *done.warnings))
    if done.run is None:  # somebody else put the same bytes there meanwhile
        return planned._replace(found=differences(data, data), warnings=tuple(warnings))
    if done.before != snapshot.data:
        warnings[
            f"the memory file was written after it was compared; what came then lies in {done.backup}, and "
            f"`memttl backups diff {done.run}` shows it"
        ] = None
        planned = planned._replace(found=differences(done.before, data))
    return planned._replace(applied=True, run=done.run, backup=str(done.backup), warnings=tuple(warnings))
