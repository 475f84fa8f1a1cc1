"""The use case search: settled read, then what the query finds. Writes nothing, takes no lock."""

from __future__ import annotations

from memttl.core.clock import clock_warning
from memttl.core.judge import make_judge
from memttl.core.search import Found, Query, SearchOutcome, search_file
from memttl.files.archive_mark import archive_of
from memttl.files.knowledge import Knowledge, knowledge_of
from memttl.files.leftovers import unfinished
from memttl.files.snapshot import read_with_damage
from memttl.files.state import state_of
from memttl.settings import Settings


def search(settings: Settings, query: Query) -> SearchOutcome:
    """Search one memory file.

    Raises:
        UnknownEntity: no entity is of a type that the query names.
        UsageError: the policy has no tier that the query names.
        Foreign: it is no file of the memory server.
    """
    state = state_of(settings.memory, settings.state_elsewhere)
    if query.expired == "exclude" and archive_of(state):
        query = query._replace(expired="include")  # all that an archive holds has expired once
    with knowledge_of(state, must_know=False) as knowledge:
        outcome = _search(settings, query, knowledge)
    return outcome._replace(warnings=(*outcome.warnings, *unfinished(state)))


def _search(settings: Settings, query: Query, knowledge: Knowledge) -> SearchOutcome:
    judge = make_judge(settings.policy, settings.now, baseline=knowledge.baseline)

    def look(data: bytes) -> Found:
        with knowledge.steady():
            return search_file(data, query, judge, known_of=knowledge.known_of, progress=settings.progress)

    found = read_with_damage(settings.memory, look, is_damaged=lambda found: found.is_damaged)
    behind = clock_warning(settings.now, knowledge.newest)
    warnings = (*settings.warnings, *knowledge.warnings, *behind, *found.warnings)
    return SearchOutcome(settings.named, settings.now_here, query, found, warnings)
