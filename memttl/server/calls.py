"""Each call of a tool into its answer: arguments checked, edits handed to the writer; `reads.py` answers what reads."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any

from memttl.core.graph import Relation
from memttl.core.graph_edits import (
    Addition,
    AddObservations,
    Answer,
    CreateEntities,
    CreateRelations,
    DeleteEntities,
    DeleteObservations,
    DeleteRelations,
    Deletion,
    NewEntity,
)
from memttl.core.wish import Patch, patch_of
from memttl.errors import MemttlError, of_system
from memttl.server.answers import failed, succeeded
from memttl.server.lifecycle_tools import LIFECYCLE_TOOLS
from memttl.server.reads import Reads
from memttl.server.shapes import complaints
from memttl.server.tool import LIFE
from memttl.server.tools import TOOLS
from memttl.server.writer import Writer
from memttl.settings import Settings
from memttl.workflow.serving import Serving

if TYPE_CHECKING:
    from memttl.server.lifecycle import Lifecycle

Arguments = dict[str, Any]
_BY_NAME = {tool.name: tool for tool in TOOLS}


class Calls:
    """Answers the calls of one client. `changed` is called after each call that may have changed the graph."""

    def __init__(self, serving: Serving, writer: Writer, changed: Callable[[], Awaitable[None]]) -> None:
        self._serving, self._writer, self._changed = serving, writer, changed
        self.reads = Reads(serving)
        self._lifecycle: Lifecycle | None = None

    async def call(self, name: str, arguments: Arguments) -> dict[str, Any]:
        """Answer one call; what is wrong with it is an answer, too."""
        tool = _BY_NAME.get(name)
        if tool is None:
            return failed(f"MCP error -32602: Tool {name} not found")
        wrong = "\n".join(complaints(tool.takes, arguments))
        if wrong:
            invalid = f"Input validation error: Invalid arguments for tool {name}: {wrong}"
            return failed(f"MCP error -32602: {invalid}")
        try:
            work = self._of_lifecycle(name) or getattr(self.reads, name, None) or getattr(self, f"_{name}")
            return await work(arguments)
        except (MemttlError, OSError) as e:
            return failed(told(e))

    def _of_lifecycle(self, name: str) -> Callable[[Arguments], Awaitable[dict[str, Any]]] | None:
        if all(tool.name != name for tool in LIFECYCLE_TOOLS):
            return None
        if self._lifecycle is None:
            from memttl.server.lifecycle import Lifecycle  # here: a server starts faster without prune and undo

            self._lifecycle = Lifecycle(self._serving, self._writer, self._changed)
        return self._lifecycle.handlers[name]

    async def _create_entities(self, given: Arguments) -> dict[str, Any]:
        patch = functools.partial(_patch, self._serving.resolve(), "entities")
        entities = [
            NewEntity(e["name"], e["entityType"], tuple(e["observations"]), patch(at, e))
            for at, e in enumerate(given["entities"])
        ]
        answer = await self._writer.submit(CreateEntities(tuple(entities)))
        await self._changed()
        made = [_entity(e.name, e.entity_type, e.observations) for e in answer.entities]
        return succeeded({"entities": made}, made, answer.notes)

    async def _create_relations(self, given: Arguments) -> dict[str, Any]:
        answer = await self._writer.submit(CreateRelations(_relations(given["relations"])))
        await self._changed()
        made = [{"from": r.start, "to": r.end, "relationType": r.relation_type} for r in answer.relations]
        return succeeded({"relations": made}, made, answer.notes)

    async def _add_observations(self, given: Arguments) -> dict[str, Any]:
        patch = functools.partial(_patch, self._serving.resolve(), "observations")
        additions = [
            Addition(o["entityName"], tuple(o["contents"]), patch(at, o)) for at, o in enumerate(given["observations"])
        ]
        answer = await self._writer.submit(AddObservations(tuple(additions)))
        if answer.refusal:
            return failed(answer.refusal, answer.notes)
        await self._changed()
        results = [{"entityName": name, "addedObservations": list(texts)} for name, texts in answer.added]
        return succeeded({"results": results}, results, answer.notes)

    async def _delete_entities(self, given: Arguments) -> dict[str, Any]:
        answer = await self._writer.submit(DeleteEntities(tuple(given["entityNames"])))
        return await self._done("Entities deleted successfully", answer)

    async def _delete_observations(self, given: Arguments) -> dict[str, Any]:
        deletions = [Deletion(d["entityName"], tuple(d["observations"])) for d in given["deletions"]]
        answer = await self._writer.submit(DeleteObservations(tuple(deletions)))
        if answer.refusal:
            return failed(answer.refusal, answer.notes)
        return await self._done("Observations deleted successfully", answer)

    async def _delete_relations(self, given: Arguments) -> dict[str, Any]:
        answer = await self._writer.submit(DeleteRelations(_relations(given["relations"])))
        return await self._done("Relations deleted successfully", answer)

    async def _done(self, message: str, answer: Answer) -> dict[str, Any]:
        await self._changed()
        return succeeded({"success": True, "message": message}, message, answer.notes)


def told(error: MemttlError | OSError) -> str:
    """Give what a client is told of an error."""
    if isinstance(error, OSError):
        error = of_system(error)
    return f"{error.message}\n{error.hint}" if error.hint else error.message


def _patch(settings: Settings, items: str, at: int, given: Arguments) -> Patch:
    """Read what an item says of the life of its texts; `items` and `at` say which it is."""
    life = {name: given.get(name) for name in LIFE}
    return patch_of(settings.policy, settings.now, **life, names={name: f"{items}[{at}].{name}" for name in LIFE})


def _entity(name: str, entity_type: str, observations: Iterable[str]) -> dict[str, Any]:
    return {"name": name, "entityType": entity_type, "observations": list(observations)}


def _relations(given: Iterable[dict[str, str]]) -> tuple[Relation, ...]:
    return tuple(Relation(r["from"], r["to"], r["relationType"]) for r in given)
