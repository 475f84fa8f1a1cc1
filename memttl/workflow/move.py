"""The use case move: look at both places, show and ask, then carry memory file, state, policy and archive over.

`commands/move.py` calls it for each memory file. A dry run ends with what was looked at: nothing is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from memttl.core.memory import read_lines
from memttl.core.move_outcome import MoveOutcome, PolicyStep
from memttl.core.synced import synced_by
from memttl.files.archive_mark import refuse_archive
from memttl.files.before_run import settled
from memttl.files.checkup import Place, rung_of
from memttl.files.ladder import Rung, WritePath
from memttl.files.moving_archive import archive_step, carry_archive
from memttl.files.moving_carry import Carried, Carrying, bring_back, carry, resume
from memttl.files.moving_late import remove_old_link
from memttl.files.moving_links import dangling_words, links_of
from memttl.files.moving_places import Places, places_of_move, reader_of, refuse_state
from memttl.files.moving_policy import carry_policy, drop_policy, policy_step
from memttl.files.moving_state import drop_state
from memttl.files.pace import DEFAULT_PACE, Pace
from memttl.files.snapshot import Snapshot
from memttl.files.state import State, state_of
from memttl.files.writing import Options, Session
from memttl.settings import Given, Settings, policy_beside, resolve_at
from memttl.setup.moved import note_away
from memttl.setup.naming import clients_naming, schedules_naming, variables_naming

Ask = Callable[[MoveOutcome], bool | None]
Step = Callable[[str], None]


class Request(NamedTuple):
    """What the user asked. `new` is the new place as written; `link` None where nobody has chosen: no link is left.

    `given` and `environ` are what the settings of the new place are resolved from; `pace` is for tests.
    """

    new: str
    given: Given = Given()
    environ: Mapping[str, str] = {}  # never changed
    link: bool | None = None
    dry_run: bool = False
    write_path: WritePath = "auto"
    pace: Pace = DEFAULT_PACE


def move(settings: Settings, request: Request, *, ask: Ask | None = None, step: Step = lambda _: None) -> MoveOutcome:
    """Move one memory file, and all that belongs to it, to another place, unless it is a dry run.

    `ask` is shown the outcome as planned, and gives whether a link is left, or None for no (None: it is approved
    beforehand); `step` is called with the name of each step.

    Raises:
        MemttlError: nothing was moved; or, with `applied`, the same move again finishes it.
    """
    places = places_of_move(settings.named, settings.memory, request.new, link=request.link)
    options = Options(request.write_path, request.pace, step)
    if places.kind == "nothing":
        nothing = _outcome(settings, request, places, PolicyStep(), None, (settings.memory, settings.memory))
        return nothing._replace(warnings=settings.warnings)
    old = state_of(places.old, settings.state_elsewhere)
    told = [w for w in settings.warnings if places.kind != "finish"]
    if places.kind == "move":
        refuse_archive(old)
        told += settled(old, lambda: options, writes=not request.dry_run)
    policy, target = _policy(settings, request, places)
    new = state_of(places.new, target.state_elsewhere)
    archive = places.earlier.archive if places.earlier is not None and places.kind == "finish" else None
    if places.kind == "move":
        archive = archive_step(old, settings.archive, target.archive, policy_goes=policy.kind == "taken")
    planned = _outcome(settings, request, places, policy, archive, (old.kept, new.kept))
    if places.kind in ("move", "bring in"):
        planned = _measured(planned, reader_of(places.old)())
    if places.kind == "move" and places.earlier is None:
        refuse_state(new)
    planned = planned._replace(warnings=(*told, *planned.warnings, *_warnings(places.new, target, policy)))
    if request.dry_run:
        return planned
    if ask is not None:
        answer = ask(planned)
        if answer is None:
            return planned._replace(declined=True)
        planned = planned._replace(link=answer)
    planned = planned._replace(link=bool(planned.link))
    if places.kind == "remove link":
        remove_old_link(places.old, places.new)
        return planned._replace(applied=True)
    links = links_of(places.old, Path(settings.named))
    done = _carry(places, planned, old, new, options)
    note_away(done.move, request.environ)
    return _done(planned, done, links, places.new)


def _policy(settings: Settings, request: Request, places: Places) -> tuple[PolicyStep, Settings]:
    """Plan the policy's way, and give the settings of the new place."""
    source, is_used, is_beside = policy_beside(settings, places.old)
    target = places.new.parent / source.name
    archives = {settings.archive.name} if settings.archive and settings.archive.parent == source.parent else set()
    step = policy_step(source, target, but={places.old.name, *archives})
    if places.kind == "bring in":
        step = PolicyStep()
    carried = None
    if step.kind in ("taken", "copied") and is_used:
        carried = settings.policy._replace(where=str(target))
    elif not is_beside:
        carried = settings.policy if step.kind != "stays" or request.given.policy else None
    return step, resolve_at(places.new, request.given, request.environ, settings.clock, carried)


def _outcome(
    settings: Settings,
    request: Request,
    places: Places,
    policy: PolicyStep,
    archive: tuple[str, str] | None,
    kept: tuple[Path, Path],
) -> MoveOutcome:
    earlier = places.earlier
    link = earlier.link if earlier is not None and places.kind == "finish" else request.link
    missing = [str(f) for f in places.new.parents if not os.path.lexists(f)]
    clients = clients_naming(places.old, places.new, request.environ)
    return MoveOutcome(
        file=settings.named,
        now=settings.now_here,
        source=str(places.old),
        target=str(places.new),
        kind=places.kind,
        link=link,
        dry_run=request.dry_run,
        state=(str(kept[0]), str(kept[1])),
        policy=policy,
        archive=archive,
        folders=tuple(reversed(missing)),
        clients=clients.steps,
        environment=variables_naming(places.old, request.environ),
        schedules=schedules_naming(places.old, request.environ),
        warnings=clients.unread,
    )


def _measured(planned: MoveOutcome, snapshot: Snapshot) -> MoveOutcome:
    records = [line.record for line in read_lines(snapshot.data) if line.is_judged and line.record is not None]
    observations = sum(len(record["observations"]) for record in records)
    return planned._replace(entities=len(records), observations=observations)


def _warnings(new: Path, target: Settings, policy: PolicyStep) -> list[str]:
    found = []
    folder = next((f for f in new.parents if os.path.lexists(f)), new.parent)
    service = synced_by(str(new))
    if service:
        found.append(
            f"the new place lies in a folder that {service} syncs: two machines mean two ledgers, and no lock or lease "
            "of one holds the other"
        )
    rung = rung_of(Place(str(new), folder / new.name, state_of(new), None))
    if rung is not Rung.LEASES:
        found.append(
            "at the new place memttl cannot hold the file still while it writes, so it waits until nobody has written "
            "it for 2 s; for certainty stop the server while memttl writes"
        )
    if policy.differs:
        found.append(
            f"the policy {policy.target} holds from then on, and is another than {policy.source}, which stays: "
            f"`memttl prune --dry-run --policy {policy.target}` shows by today's file what it would remove"
        )
    elif policy.kind == "stays" and not policy.source:
        found.append(f"the policy {policy.target} lies at the new place and holds from then on")
    return found + [w for w in target.policy.warnings if policy.differs]


def _carry(places: Places, planned: MoveOutcome, old: State, new: State, options: Options) -> Carried:
    if places.kind == "move" and places.earlier is not None and not os.path.lexists(new.memory):
        drop_state(new)  # of our own move, killed before the file had come there
    carrying = Carrying(
        old=old,
        new=new,
        link=bool(planned.link),
        read=reader_of(places.old),
        options=options,
        archive=planned.archive,
        before_the_end=lambda session: _carry_the_rest(planned, old, new, options, session),
        again=places.kind == "bring in",
    )
    if places.kind == "bring in":
        assert places.earlier is not None
        return bring_back(carrying, places.earlier)
    if places.kind == "finish":
        assert places.earlier is not None
        kept = Path(places.earlier.kept) if places.earlier.kept else old.kept
        return resume(carrying._replace(old=old._replace(kept=kept)), places.earlier)
    return carry(carrying)


def _carry_the_rest(planned: MoveOutcome, old: State, new: State, options: Options, session: Session) -> None:
    """Carry policy and archive, and let the archive know the new place; each part may be done already."""
    carry_policy(planned.policy)
    drop_policy(planned.policy)  # before its archive goes: a policy whose archive is a link to elsewhere is none
    if planned.archive is not None:
        carry_archive(planned.archive, old, new, options, session, link=bool(planned.link))


def _done(planned: MoveOutcome, done: Carried, links: tuple[Path, ...], new: Path) -> MoveOutcome:
    return planned._replace(
        applied=True,
        link=done.move.link,
        run=done.move.run,
        backup=str(done.backup) if done.backup else None,
        merged=done.merged,
        returned=done.returned,
        warnings=tuple(dict.fromkeys((*planned.warnings, *done.warnings, *dangling_words(links, new)))),
    )
