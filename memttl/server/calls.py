"""Each call of a tool into its answer: arguments checked, edits handed to the writer, reads taken from the view."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from typing import Any

import anyio

from memttl.core.dates import DateReader, read_instant
from memttl.core.graph import Relation
from memttl.core.graph_edits import (
    Addition,
    AddObservations,
    CreateEntities,
    CreateRelations,
    DeleteEntities,
    DeleteObservations,
    DeleteRelations,
    Deletion,
    NewEntity,
)
from memttl.core.serving_view import Reading, Shown, document
from memttl.core.wish import Patch, patch_of
from memttl.core.wording import instant_text, when_text
from memttl.errors import MemttlError, UsageError
from memttl.server.answers import failed, succeeded
from memttl.server.shapes import complaints
from memttl.server.tools import TOOLS
from memttl.server.writer import Writer
from memttl.settings import Settings
from memttl.workflow.serving import Serving

Arguments = dict[str, Any]
_BY_NAME = {tool.name: tool for tool in TOOLS}


class Calls:
    """Answers the calls of one client. `changed` is called after each call that may have changed the graph."""

    def __init__(self, serving: Serving, writer: Writer, changed: Callable[[], Awaitable[None]]) -> None:
        self._serving, self._writer, self._changed = serving, writer, changed
        self._one_reader = anyio.CapacityLimiter(1)

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
            return await getattr(self, f"_{name}")(arguments)  # type: ignore[no-any-return]
        except MemttlError as e:
            return failed(f"{e.message}\n{e.hint}" if e.hint else e.message)

    async def _create_entities(self, given: Arguments) -> dict[str, Any]:
        patch = functools.partial(_patch, self._serving.resolve())
        entities = [
            NewEntity(e["name"], e["entityType"], tuple(e["observations"]), patch(e)) for e in given["entities"]
        ]
        answer = await self._writer.submit(CreateEntities(tuple(entities)))
        await self._changed()
        made = [_entity(e.name, e.entity_type, e.observations) for e in answer.entities]
        return succeeded({"entities": made}, made, answer.notes)

    async def _create_relations(self, given: Arguments) -> dict[str, Any]:
        answer = await self._writer.submit(CreateRelations(_relations(given["relations"])))
        await self._changed()
        made = document([], list(answer.relations))["relations"]
        return succeeded({"relations": made}, made)

    async def _add_observations(self, given: Arguments) -> dict[str, Any]:
        patch = functools.partial(_patch, self._serving.resolve())
        additions = [Addition(o["entityName"], tuple(o["contents"]), patch(o)) for o in given["observations"]]
        answer = await self._writer.submit(AddObservations(tuple(additions)))
        if answer.refusal:
            return failed(answer.refusal)
        await self._changed()
        results = [{"entityName": name, "addedObservations": list(texts)} for name, texts in answer.added]
        return succeeded({"results": results}, results, answer.notes)

    async def _delete_entities(self, given: Arguments) -> dict[str, Any]:
        await self._writer.submit(DeleteEntities(tuple(given["entityNames"])))
        return await self._done("Entities deleted successfully")

    async def _delete_observations(self, given: Arguments) -> dict[str, Any]:
        deletions = [Deletion(d["entityName"], tuple(d["observations"])) for d in given["deletions"]]
        answer = await self._writer.submit(DeleteObservations(tuple(deletions)))
        if answer.refusal:
            return failed(answer.refusal)
        return await self._done("Observations deleted successfully")

    async def _delete_relations(self, given: Arguments) -> dict[str, Any]:
        await self._writer.submit(DeleteRelations(_relations(given["relations"])))
        return await self._done("Relations deleted successfully")

    async def _done(self, message: str) -> dict[str, Any]:
        await self._changed()
        return succeeded({"success": True, "message": message}, message)

    async def _read_graph(self, given: Arguments) -> dict[str, Any]:
        return await self._read(given, lambda _: True, every_relation=True)

    async def _search_nodes(self, given: Arguments) -> dict[str, Any]:
        query = given["query"].lower()
        return await self._read(given, lambda shown: _matches(shown, query))

    async def _open_nodes(self, given: Arguments) -> dict[str, Any]:
        names = set(given["names"])
        return await self._read(given, lambda shown: shown.name in names)

    async def _read(
        self, given: Arguments, matches: Callable[[Shown], bool], *, every_relation: bool = False
    ) -> dict[str, Any]:
        return await anyio.to_thread.run_sync(
            functools.partial(self._read_now, given, matches, every_relation=every_relation), limiter=self._one_reader
        )

    def _read_now(self, given: Arguments, matches: Callable[[Shown], bool], *, every_relation: bool) -> dict[str, Any]:
        settings = self._serving.resolve()
        view, reading = self._serving.view(), _reading(settings, given)
        entities = [shown for shown in view.entities(reading, settings.now) if matches(shown)]
        names = {shown.name for shown in entities}
        relations = [r for r in view.relations if every_relation or r.start in names or r.end in names]
        notes = [f"Line {number} of the memory file was left out: {why}." for number, why in view.graph.odd]
        result = succeeded(document(entities, relations), notes=notes)
        if given.get("include_metadata"):
            result["_meta"] = {"memttl/metadata": _metadata(entities)}
        return result


def _metadata(entities: Iterable[Shown]) -> list[dict[str, Any]]:
    return [
        {
            "name": shown.name,
            "observations": [
                {
                    "created_at": when_text(v.created_at) if v else None,
                    "expires_at": instant_text(v.expires_at) if v and v.expires_at else None,
                    "tier": v.tier if v else None,
                }
                for v in shown.verdicts
            ],
        }
        for shown in entities
    ]


def _matches(shown: Shown, query: str) -> bool:
    return (
        query in shown.name.lower()
        or query in shown.entity_type.lower()
        or any(query in text.lower() for text in shown.texts)
    )


def _reading(settings: Settings, given: Arguments) -> Reading:
    before: datetime | None = None
    if given.get("expire_before") is not None:
        before = read_instant(given["expire_before"], DateReader(settings.policy.formats, settings.policy.zone))
        if before is None:
            raise UsageError(
                f"expire_before {given['expire_before']!r} cannot be read; nothing was read.",
                hint="Write it as 2026-06-01 or 2026-06-01T12:00:00Z.",
            )
    return Reading(given.get("exclude_expired") is not False, before)


def _patch(settings: Settings, given: Arguments) -> Patch:
    words = {name: given.get(name) for name in ("ttl", "decay", "expires", "review_by", "pin")}
    return patch_of(settings.policy, settings.now, **words)


def _entity(name: str, entity_type: str, observations: Iterable[str]) -> dict[str, Any]:
    return {"name": name, "entityType": entity_type, "observations": list(observations)}


def _relations(given: Iterable[dict[str, str]]) -> tuple[Relation, ...]:
    return tuple(Relation(r["from"], r["to"], r["relationType"]) for r in given)
