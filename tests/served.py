"""A memory file served in this process, and the edits that its clients want."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pruning import AT_ONCE, NOW, settings_of
from viewing import shown

from memttl import trace
from memttl.core.graph import Relation
from memttl.core.graph_edits import (
    NO_PATCH,
    Addition,
    AddObservations,
    Answer,
    CreateEntities,
    CreateRelations,
    DeleteEntities,
    DeleteObservations,
    DeleteRelations,
    Deletion,
    Edit,
    NewEntity,
)
from memttl.core.serving_view import Reading
from memttl.core.wish import Patch
from memttl.files.ladder import WritePath
from memttl.files.writing import Options
from memttl.settings import Settings
from memttl.workflow.serving import Serving


class Served(Serving):
    """A memory file that is served at the instant `now`, by a policy's text; `told` is what the user was told."""

    def __init__(
        self,
        path: Path,
        *,
        policy: str = "",
        now: str = NOW,
        step: Callable[[str], None] = trace.step,
        write_path: WritePath = "auto",
        **pace: Any,
    ) -> None:
        self.path, self.now, self.policy, self.told = path, now, policy, list[str]()
        options = Options(write_path, AT_ONCE._replace(**{"quiet_s": 0, "watch_s": 0.01} | pace), step)
        super().__init__(self._settings, tell=self.told.append, options=options)

    def _settings(self) -> Settings:
        return settings_of(self.path, policy=self.policy, now=self.now)

    def answers(self, *edits: Edit) -> list[Answer]:
        """The answers to edits that go into one write; raises the first error among them."""
        found = []
        for answer in self.apply(edits):
            if not isinstance(answer, Answer):
                raise answer
            found.append(answer)
        return found

    def answer(self, edit: Edit) -> Answer:
        """The answer to one edit."""
        return self.answers(edit)[0]

    def shown(self) -> dict[str, list[str]]:
        """What reads show, by entity."""
        seen = self.view()
        return shown(seen.view.read(Reading(), seen.settings.now))


def make(name: str, *texts: str, patch: Patch = NO_PATCH) -> Edit:
    """An entity made."""
    return CreateEntities((NewEntity(name, "note", texts, patch),))


def add(name: str, *texts: str, patch: Patch = NO_PATCH) -> Edit:
    """Observations added to an entity."""
    return AddObservations((Addition(name, texts, patch),))


def take(name: str, *texts: str) -> Edit:
    """Observations taken out of an entity."""
    return DeleteObservations((Deletion(name, texts),))


def drop(*names: str) -> Edit:
    """Entities taken out."""
    return DeleteEntities(names)


def relate(start: str, end: str) -> Edit:
    """A relation made."""
    return CreateRelations((Relation(start, end, "knows"),))


def part(start: str, end: str) -> Edit:
    """A relation taken out."""
    return DeleteRelations((Relation(start, end, "knows"),))
