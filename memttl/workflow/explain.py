"""The use case explain: settled read, then why each chosen observation stays or goes. Writes nothing, takes no lock."""

from __future__ import annotations

from memttl.core.clock import clock_warning
from memttl.core.explain import ExplainOutcome, Explanation, explain_file
from memttl.core.judge import make_judge
from memttl.core.selection import Choice
from memttl.files.archive_mark import archive_words
from memttl.files.knowledge import Knowledge, knowledge_of
from memttl.files.leftovers import unfinished
from memttl.files.snapshot import read_with_damage
from memttl.files.state import state_of
from memttl.settings import Settings


def explain(settings: Settings, choice: Choice) -> ExplainOutcome:
    """Explain the verdicts on the observations that `choice` names.

    Raises:
        UnknownEntity: nothing matches.
        Foreign: it is no file of the memory server.
    """
    state = state_of(settings.memory, settings.state_elsewhere)
    with knowledge_of(state, must_know=False) as knowledge:
        outcome = _explain(settings, choice, knowledge)
    return outcome._replace(warnings=(*archive_words(state), *outcome.warnings, *unfinished(state)))


def _explain(settings: Settings, choice: Choice, knowledge: Knowledge) -> ExplainOutcome:
    judge = make_judge(settings.policy, settings.now, baseline=knowledge.baseline)
    matches = choice.matcher()

    def look(data: bytes) -> Explanation:
        with knowledge.steady():
            return explain_file(
                data,
                judge,
                entity=choice.entity,
                text=matches,
                known_of=knowledge.known_of,
                progress=settings.progress,
            )

    explanation = read_with_damage(settings.memory, look, is_damaged=lambda found: found.is_damaged)
    behind = clock_warning(settings.now, knowledge.newest)
    warnings = (*settings.warnings, *knowledge.warnings, *behind, *explanation.warnings)
    return ExplainOutcome(settings.named, settings.now_here, explanation, warnings)
