"""The MCP server itself, made with the official SDK: tools, the resource with its subscriptions, and the way down.

`commands/serve.py` calls `serve`, which returns when the client closes standard input, or a signal says so; what came
before that is done and answered.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from memttl import __version__
from memttl.errors import MemttlError
from memttl.server.calls import Calls, told
from memttl.server.requests import refusal, url_of
from memttl.server.signals import ended_by_signals
from memttl.server.tools import TOOLS
from memttl.server.transport import wire
from memttl.server.writer import Writer
from memttl.settings import Settings
from memttl.workflow.serving import Serving

Beside = Callable[[], Coroutine[Any, Any, None]]
_PATIENCE_S = 3.0  # a client that has closed the wire soon ends what does not go by itself
URI = "memory://knowledge-graph"
_RESOURCE = {
    "uri": URI,
    "name": "knowledge-graph",
    "title": "Knowledge Graph",
    "description": "The whole knowledge graph, without the observations that have expired",
    "mimeType": "application/json",
}


class How(NamedTuple):
    """How one file is served: `prune_every_s` seconds between two clean-ups, None for none; `say` takes log lines."""

    prune_every_s: float | None
    say: Callable[[str], None]


def serve(resolve: Callable[[], Settings], how: How) -> None:
    """Serve one memory file over standard input and output until the client is gone, or a signal ends it.

    Raises:
        MemttlError: the file cannot be served.
    """
    anyio.run(_serve, Serving(resolve, tell=how.say), how)


async def _serve(serving: Serving, how: How) -> None:
    writer = Writer(serving.apply, serving.rest, tell=how.say)
    session = _Session(serving, writer)
    stopped = anyio.Event()

    def stop() -> None:
        session.listening.close()
        stopped.set()

    writer.start()
    try:
        with ended_by_signals(stop):
            await _serve_one(session, stopped, _cleaning(serving, writer, session, how))
    finally:
        if not writer.stop(within_s=_PATIENCE_S):
            how.say("something is still being written; the next run of memttl settles it")


async def _serve_one(session: _Session, stopped: anyio.Event, beside: Beside | None) -> None:
    async with wire(stopped=stopped) as (incoming, outgoing), anyio.create_task_group() as tasks:
        if beside is not None:
            tasks.start_soon(beside)
        options = session.server.create_initialization_options(
            NotificationOptions(resources_changed=True, tools_changed=True)
        )
        await session.server.run(incoming, outgoing, options)
        tasks.cancel_scope.cancel()


def _cleaning(serving: Serving, writer: Writer, session: _Session, how: How) -> Beside | None:
    if how.prune_every_s is None:
        return None
    from memttl.server.cleaning import clean_up  # here: most servers leave it to a timer

    return functools.partial(clean_up, serving, writer, how.prune_every_s, changed=session.changed, say=how.say)


def _for(ctx: Any, result: dict[str, Any], **further: Any) -> dict[str, Any]:
    """Give a result with what protocol 2026-07-28 wants in each; older clients would see unknown keys."""
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return result
    return {**result, "resultType": "complete", **further}


class _Session:
    """The handlers of one connection."""

    def __init__(self, serving: Serving, writer: Writer) -> None:
        self.calls = Calls(serving, writer, self.changed)
        self._subscribed: dict[str, Any] = {}  # the session to be told, by URI: up to protocol 2025-11-25
        self._bus = InMemorySubscriptionBus()  # as of protocol 2026-07-28
        self.listening = ListenHandler(self._bus)
        self.server: Server[Any] = Server(
            "memttl",
            version=__version__,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self.listening,
        )
        self.server.middleware += [self._refuse, self._answer_raw]

    async def _refuse(self, ctx: Any, call_next: Any) -> Any:
        """Refuse what the stock server would, before the SDK checks the parameters of methods that nobody serves."""
        if ctx.request_id is None:  # a notification, which is never answered
            return await call_next(ctx)
        if ctx.method != "initialize" and self.server.get_request_handler(ctx.method) is None:
            raise MCPError(code=types.METHOD_NOT_FOUND, message="Method not found")
        if wrong := refusal(ctx.method, ctx.params):
            raise MCPError(code=types.INTERNAL_ERROR, message=wrong)
        return await call_next(ctx)

    async def _answer_raw(self, ctx: Any, call_next: Any) -> Any:
        """Answer a tool's call past the SDK, which would copy and check each value of a graph once more."""
        if ctx.method != "tools/call" or ctx.request_id is None:
            return await call_next(ctx)
        answer = await self.calls.call(ctx.params["name"], ctx.params.get("arguments", {}))
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return answer
        meta = {**answer.get("_meta", {}), types.SERVER_INFO_META_KEY: self.server.server_info_stamp}
        return _for(ctx, {**answer, "_meta": meta})

    async def _list_tools(self, _ctx: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult.model_validate({"tools": [tool.listed() for tool in TOOLS]})

    async def _call_tool(self, _ctx: Any, _params: Any) -> Any:
        raise AssertionError("_answer_raw answers first; the SDK wants a handler to say that there are tools")

    async def _list_resources(self, _ctx: Any, _params: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult.model_validate({"resources": [_RESOURCE]})

    async def _list_templates(self, _ctx: Any, _params: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[])

    async def _read_resource(self, ctx: Any, params: types.ReadResourceRequestParams) -> Any:
        uri = url_of(str(params.uri))
        if not uri:
            raise MCPError(code=types.INTERNAL_ERROR, message="Invalid URL")
        if uri != URI:
            raise MCPError(code=types.INVALID_PARAMS, message=f"MCP error -32602: Resource {uri} not found")
        try:
            text = await self.calls.reads.text()
        except (MemttlError, OSError) as e:
            raise MCPError(code=types.INTERNAL_ERROR, message=told(e)) from None
        content = {"uri": URI, "mimeType": "application/json", "text": text}
        return _for(ctx, {"contents": [content]}, ttlMs=0, cacheScope="private")

    async def _subscribe(self, ctx: Any, params: types.SubscribeRequestParams) -> types.EmptyResult:
        self._subscribed[str(params.uri)] = ctx.session
        return types.EmptyResult()

    async def _unsubscribe(self, _ctx: Any, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        self._subscribed.pop(str(params.uri), None)
        return types.EmptyResult()

    async def changed(self) -> None:
        """Tell the client that the graph is another one, if it wants to know."""
        session = self._subscribed.get(URI)
        if session is not None:
            await session.send_resource_updated(URI)
        await self._bus.publish(ResourceUpdated(uri=URI))
