"""The use case explain: settled read, then why each chosen observation stays or goes. Writes nothing, takes no lock."""

from __future__ import annotations

from typing import NamedTuple

from memttl.core.explain import ExplainOutcome, Explanation, explain_file
from memttl.core.judge import make_judge
from memttl.core.memory import read_lines
from memttl.core.selection import text_matcher
from memttl.errors import UnknownEntity
from memttl.files.snapshot import read_settled
from memttl.settings import Settings


class Question(NamedTuple):
    """Which observations are meant: ENTITY an exact name, else a glob; TEXT a substring, `exact`, or a `pattern`."""

    entity: str | None = None
    text: str | None = None
    exact: bool = False
    pattern: bool = False


def explain(settings: Settings, question: Question) -> ExplainOutcome:
    """Explain the verdicts on the observations that `question` names.

    Raises:
        UnknownEntity: nothing matches.
        Foreign: it is no file of the memory server.
    """
    judge = make_judge(settings.policy, settings.now)
    matches = text_matcher(question.text, exact=question.exact, pattern=question.pattern)

    def look(data: bytes) -> tuple[Explanation | UnknownEntity, bool]:
        try:
            found = explain_file(data, judge, entity=question.entity, text=matches)
        except UnknownEntity as e:  # of half of a file, it proves nothing
            return e, any(line.kind == "malformed" for line in read_lines(data))
        return found, found.is_damaged

    _, explanation = read_settled(settings.memory, look)
    if isinstance(explanation, UnknownEntity):
        raise explanation
    warnings = (*settings.warnings, *explanation.warnings)
    return ExplainOutcome(settings.named, settings.now_here, explanation, warnings)
