"""The use case report: settled read, then one pass that counts, weighs and lists. Writes nothing, takes no lock."""

from __future__ import annotations

from memttl.core.clock import clock_warning
from memttl.core.judge import make_judge
from memttl.core.report import Query, Report, ReportOutcome
from memttl.core.survey import survey
from memttl.files.archive_mark import archive_words
from memttl.files.knowledge import Knowledge, knowledge_of
from memttl.files.leftovers import unfinished
from memttl.files.snapshot import read_with_damage
from memttl.files.state import state_of
from memttl.settings import Settings


def report(settings: Settings, query: Query) -> ReportOutcome:
    """Report on one memory file.

    Raises:
        UnknownEntity, UsageError: a filter or a window names nothing.
        Foreign: it is no file of the memory server.
    """
    state = state_of(settings.memory, settings.state_elsewhere)
    with knowledge_of(state, must_know=False) as knowledge:
        found = _report(settings, query, knowledge)
        behind = clock_warning(settings.now, knowledge.newest)
        told = (*settings.warnings, *archive_words(state))
        warnings = (*told, *knowledge.warnings, *behind, *found.warnings, *unfinished(state))
    return ReportOutcome(settings.named, settings.now_here, query, found, warnings)


def _report(settings: Settings, query: Query, knowledge: Knowledge) -> Report:
    judge = make_judge(settings.policy, settings.now, baseline=knowledge.baseline)

    def look(data: bytes) -> Report:
        with knowledge.steady():
            most = settings.policy.max_vanished_fraction
            vanished = knowledge.vanished(data, most, progress=settings.progress)
            known_of = knowledge.known_of
            return survey(data, judge, query, known_of=known_of, vanished=vanished, progress=settings.progress)

    return read_with_damage(settings.memory, look, is_damaged=lambda found: bool(found.damaged))
