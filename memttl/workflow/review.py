"""The use case review: settled read, what is due one by one, then settings and drops as they were decided, or nothing.

`commands/review.py` calls it for each memory file. No lock is held while somebody thinks; a dry run ends with the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from memttl import trace
from memttl.core.change_plan import plan_patches
from memttl.core.changes import Before, Changes
from memttl.core.clock import sighting_stamp
from memttl.core.judge import make_judge
from memttl.core.listing import Window, window_of
from memttl.core.memory import entity_heads
from memttl.core.model import Verdict
from memttl.core.plan import Approval, Plan
from memttl.core.review import Dialogue, begin, reopened
from memttl.core.review_deck import Deck, Key, make_deck
from memttl.core.review_outcome import ReviewOutcome
from memttl.core.review_plan import Drops, decided, drop_planner, gone_words, held_words, still_to_drop
from memttl.core.selection import Filters, make_filters
from memttl.core.wish import Patch
from memttl.core.wording import plural
from memttl.errors import Interrupted, MemttlError, NoPermission
from memttl.files.archive_mark import refuse_archive
from memttl.files.knowledge import Knowledge, knowledge_of
from memttl.files.ladder import WritePath
from memttl.files.leftovers import unfinished
from memttl.files.pace import DEFAULT_PACE, Pace
from memttl.files.snapshot import Snapshot, read_settled, refuse_hard_links, refuse_read_only
from memttl.files.state import State, state_of
from memttl.settings import Settings

if TYPE_CHECKING:  # SQLite and the write path are imported where something is recorded or written
    from memttl.files.pruning import Pruning

Step = Callable[[str], None]
Answer = Literal["yes", "no", "back"]


class Request(NamedTuple):
    """What the user asked of a review: what counts as due, what it is narrowed to.

    `write_path` and `pace` are for tests.
    """

    within: str | None = None
    expire_before: str | None = None
    entities: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()
    dry_run: bool = False
    write_path: WritePath = "auto"
    pace: Pace = DEFAULT_PACE


class _Review(NamedTuple):
    """One review of one file: what was read and listed, once."""

    settings: Settings
    request: Request
    state: State
    snapshot: Snapshot
    deck: Deck


def review(
    settings: Settings,
    request: Request,
    *,
    talk: Callable[[Deck, Dialogue], Dialogue],
    ask: Callable[[ReviewOutcome], Answer],
    step: Step = trace.step,
) -> ReviewOutcome:
    """Go through what is due in one memory file and, unless it is a dry run, apply what was decided once `ask` agrees.

    `talk` leads the dialogue to its end; `ask` is shown the outcome as planned; `step` is called with the name of each
    step of recording and writing.

    Raises:
        MemttlError: one of SPEC's exit codes says what was not done.
    """
    state = state_of(settings.memory, settings.state_elsewhere)
    refuse_archive(state)
    window = window_of(request.within, request.expire_before, settings.policy, settings.now)
    with knowledge_of(state, must_know=True) as knowledge:
        sighting_stamp(settings.now, settings.clock, knowledge.newest)
        snapshot, (deck, vanished) = _look(settings, request, window, knowledge)
    one = _Review(settings, request, state, snapshot, deck)
    dialogue = begin(len(deck.items), list(settings.policy.tiers), _no_drops(snapshot, state))
    told = (*settings.warnings, *unfinished(state), *knowledge.warnings, *deck.warnings)
    archive = str(settings.archive) if settings.archive else None
    outcome = ReviewOutcome(
        settings.named, settings.now_here, dialogue, dry_run=request.dry_run, archive=archive, warnings=told
    )
    if vanished:
        return outcome._replace(refusals=(vanished,))
    if not deck.items:
        return outcome
    while True:
        dialogue = talk(deck, dialogue)
        planned = _planned(one, outcome._replace(dialogue=dialogue))
        if planned.refusals or planned.does_nothing or request.dry_run:
            return planned
        said = ask(planned)
        if said != "back":
            return _applied(one, planned, step) if said == "yes" else planned._replace(declined=True)
        dialogue = reopened(dialogue)


def _look(
    settings: Settings, request: Request, window: Window, knowledge: Knowledge
) -> tuple[Snapshot, tuple[Deck, str]]:
    """Read the file settled and list what is due; give with it the sentence that refuses a vanished memory."""
    judge = make_judge(settings.policy, settings.now, baseline=knowledge.baseline)

    def look(data: bytes) -> tuple[tuple[Deck, str], bool]:
        with knowledge.steady():
            deck = make_deck(
                data,
                judge,
                window,
                known_of=knowledge.known_of,
                filters=lambda: _filters(data, settings, request),
                progress=settings.progress,
            )
            return (deck, _vanished(settings, knowledge, data)), False

    return read_settled(settings.memory, look)


def _vanished(settings: Settings, knowledge: Knowledge, data: bytes) -> str:
    return knowledge.vanished(data, settings.policy.max_vanished_fraction, progress=settings.progress)


def _filters(data: bytes, settings: Settings, request: Request) -> Filters:
    return make_filters(
        request.entities,
        request.types,
        request.tiers,
        heads=lambda: entity_heads(data),
        known_tiers=list(settings.policy.tiers),
    )


def _no_drops(snapshot: Snapshot, state: State) -> str:
    """Say why this file may not be written, before anybody decides to drop something."""
    try:
        _refuse(snapshot, state)
    except NoPermission as e:
        return e.message
    return ""


def _refuse(snapshot: Snapshot, state: State) -> None:
    refuse_hard_links(snapshot, state.beside)
    refuse_read_only(snapshot)


def _planned(one: _Review, outcome: ReviewOutcome) -> ReviewOutcome:
    """Plan what was decided on the bytes that were shown, by what is known now."""
    patches, drops = decided(one.deck, outcome.dialogue)
    changes, plan, words = Changes(), None, tuple[str, ...]()
    with knowledge_of(one.state, must_know=True) as knowledge:
        if patches:
            changes = _changes(one, patches, knowledge)
        if drops:
            _check_archive(one)
            going, planner = _planner(one, drops, knowledge)
            plan = planner(one.snapshot.data, None)
            words = (*plan.warnings, *held_words(len(going.held)))
    planned = outcome._replace(changes=changes, plan=plan, refusals=plan.refusals if plan else ())
    return _told(planned, (*changes.warnings, *words))


def _check_archive(one: _Review) -> None:
    if one.settings.archive is not None:
        from memttl.files.archive_file import check_archive  # here: most policies name none

        check_archive(one.settings.archive, one.state, one.settings.policy)


def _changes(one: _Review, patches: Mapping[Key, Patch], knowledge: Knowledge) -> Changes:
    settings = one.settings
    judge = make_judge(settings.policy, settings.now, baseline=knowledge.baseline)
    stamp = sighting_stamp(settings.now, settings.clock, knowledge.newest)
    before = Before(knowledge.settings, knowledge.entity_pins, knowledge.known_of)
    with knowledge.steady():
        return plan_patches(one.snapshot.data, patches, before, judge, stamp, progress=settings.progress)


def _planner(
    one: _Review, drops: Sequence[Verdict], knowledge: Knowledge
) -> tuple[Drops, Callable[[bytes, Approval | None], Plan]]:
    """Give what still goes by what is known now, and what plans it on any bytes."""
    settings = one.settings
    judge = make_judge(settings.policy, settings.now, baseline=knowledge.baseline)
    with knowledge.steady():
        going = still_to_drop(one.deck, drops, knowledge.known_of)
    planner = drop_planner(
        going,
        judge,
        knowledge.known_of,
        lambda data: _vanished(settings, knowledge, data),
        progress=settings.progress,
    )

    def plan(data: bytes, approval: Approval | None) -> Plan:
        with knowledge.steady():
            return planner(data, approval)

    return going, plan


def _applied(one: _Review, planned: ReviewOutcome, step: Step) -> ReviewOutcome:
    """First the settings, then the drops: what is set holds also where nothing can be written."""
    outcome = planned if planned.changes.are_none else _recorded(one, planned, step)
    if not planned.removals:
        return outcome
    try:
        return _written(one, outcome, step)
    except KeyboardInterrupt:
        raise _after_settings(Interrupted("Interrupted; nothing was dropped."), outcome) from None
    except MemttlError as e:
        raise _after_settings(e, outcome) from None


def _recorded(one: _Review, planned: ReviewOutcome, step: Step) -> ReviewOutcome:
    from memttl.files.looking import Moment
    from memttl.files.recording import record_changes

    done = record_changes(
        one.state,
        one.snapshot,
        planned.changes,
        command="review",
        policy=one.settings.policy,
        moment=Moment(one.settings.now, one.settings.clock),
        step=step,
        progress=one.settings.progress,
    )
    return _told(planned._replace(changes=done.changes, settings_run=done.run), done.warnings)


def _written(one: _Review, outcome: ReviewOutcome, step: Step) -> ReviewOutcome:
    from memttl.files.pruning import write_plan

    assert outcome.plan is not None
    held: list[Verdict] = []
    done = write_plan(_pruning(one, outcome, held, step), one.snapshot, outcome.plan)
    missing = len(outcome.removals) - len(done.plan.removals) - len(held)
    outcome = outcome._replace(plan=done.plan, refusals=done.plan.refusals, run=done.run, backup=done.backup)
    return _told(outcome, (*held_words(len(held)), *gone_words(missing), *done.warnings))


def _pruning(one: _Review, outcome: ReviewOutcome, held: list[Verdict], step: Step) -> Pruning:
    """Say how the drops are written; `held` gathers what was pinned or set while the question waited."""
    from memttl.files.looking import Moment
    from memttl.files.pruning import Pruning
    from memttl.files.writing import Options

    def plan_with(knowledge: Knowledge) -> Callable[[bytes, Approval | None], Plan]:
        going, planner = _planner(one, outcome.removals, knowledge)
        held[:] = going.held
        return planner

    return Pruning(
        state=one.state,
        command="review",
        policy=one.settings.policy,
        moment=Moment(one.settings.now, one.settings.clock),
        plan_with=plan_with,
        check=lambda snapshot: _refuse(snapshot, one.state),
        archive=one.settings.archive,
        options=Options(one.request.write_path, one.request.pace, step),
        progress=one.settings.progress,
    )


def _told(outcome: ReviewOutcome, warnings: Sequence[str]) -> ReviewOutcome:
    return outcome._replace(warnings=tuple(dict.fromkeys((*outcome.warnings, *warnings))))


def _after_settings(error: MemttlError, outcome: ReviewOutcome) -> MemttlError:
    """Make it the error of a review whose settings were recorded before."""
    if outcome.settings_run is not None:
        error.message = error.message.replace("nothing was done", "nothing was dropped")
        nouns = plural(len(outcome.changes.observations), "observation")
        error.message += f" What was set for {nouns} had been recorded before that, and holds."
    return error
