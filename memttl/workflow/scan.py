"""The use case scan: record which observations are there, and nothing else. Cheap enough for every five minutes."""

from __future__ import annotations

import os
import time
from pathlib import Path

from memttl.core.classify import day_reader
from memttl.core.clock import check_clock, check_stamp
from memttl.core.look import NO_LINES, Comparison, KnownLines, Look
from memttl.core.oddities import BOM_WORDS, too_deep_words
from memttl.core.scan_outcome import ScanOutcome
from memttl.files import audit
from memttl.files.archive_mark import refuse_archive
from memttl.files.commit import timestamp
from memttl.files.knowledge import ledger_of
from memttl.files.ledger_open import ledger_errors
from memttl.files.leftovers import server_leftovers, unfinished
from memttl.files.lock import locked
from memttl.files.looking import Moment, keep_look, look_in_passing, vanished_words
from memttl.files.snapshot import identity, open_memory
from memttl.files.state import prepare, state_of
from memttl.settings import Settings


def scan(settings: Settings, *, accept_vanished: bool = False) -> ScanOutcome:
    """Record the sightings of one memory file. `accept_vanished`: also where most of it is gone since the last look.

    Raises:
        MemttlError: one of SPEC's exit codes says what was not done.
    """
    state = state_of(settings.memory, settings.state_elsewhere)
    refuse_archive(state)
    # what is no memory file is refused before a folder is made beside it
    check_stamp(min(settings.now, settings.clock))
    days_of = day_reader(settings.policy, settings.now)

    def look_from(known: KnownLines) -> tuple[Look, os.stat_result]:
        return look_in_passing(settings.memory, known, days_of, progress=settings.progress)

    first = None if os.path.isdir(state.beside) else look_from(NO_LINES)
    like = first[1] if first else _stat(settings.memory)
    warnings = [*settings.warnings, *server_leftovers(settings.memory, now=time.time()), *unfinished(state)]
    prepare(state, like)
    with (
        locked(state, like),
        ledger_of(state, like, warnings.append) as ledger,
        ledger_errors(state.ledger),
    ):
        check_clock(settings.now, ledger.newest)
        known = ledger.known_lines(with_days=days_of is not None)
        # the first look will do where it was at these very bytes and there is nothing to compare it with
        reused = first and known.are_none and identity(first[1]) == identity(_stat(settings.memory))
        look = first[0] if first and reused else look_from(known)[0]
        log_seen = ledger.log_seen  # before the look is recorded, which moves it

        def refuse(met: Comparison) -> str:
            words = vanished_words(state, met, settings.policy.max_vanished_fraction, log_seen=log_seen)
            if words and accept_vanished:
                event = {"event": "accepted", "time": timestamp(), "gone": met.gone, "observations": met.observations}
                audit.append(state.audit, [event], like)
                return ""
            return words

        moment = Moment(settings.now, settings.clock)
        settings.progress("recording", 0, None)
        found, refusal = keep_look(ledger, state, like, (look, known), moment, refuse=refuse)
        baseline = ledger.baseline
    warnings += [BOM_WORDS] if look.has_bom else []
    warnings += [too_deep_words(look.too_deep)] if look.too_deep else []
    return ScanOutcome(
        file=settings.named,
        now=settings.now_here,
        found=found,
        baseline=baseline,
        refusals=(refusal,) if refusal else (),
        warnings=tuple(warnings),
    )


def _stat(memory: Path) -> os.stat_result:
    """Give the memory file's stat; what cannot be opened is refused in the words of a reading."""
    os.close(open_memory(memory))
    return memory.stat()
