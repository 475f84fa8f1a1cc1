"""The MCP server itself, made with the official SDK: tools, the resource with its subscriptions, and the way down.

`commands/serve.py` calls `serve`, which returns when the client closes standard input.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from memttl import __version__
from memttl.errors import MemttlError
from memttl.server.calls import Calls, told
from memttl.server.requests import refusal
from memttl.server.tools import TOOLS
from memttl.server.transport import wire
from memttl.server.writer import Writer
from memttl.settings import Settings
from memttl.workflow.serving import Serving

URI = "memory://knowledge-graph"
_RESOURCE = {
    "uri": URI,
    "name": "knowledge-graph",
    "title": "Knowledge Graph",
    "description": "The whole knowledge graph, without the observations that have expired",
    "mimeType": "application/json",
}


def serve(resolve: Callable[[], Settings]) -> None:
    """Serve one memory file over standard input and output until the client is gone.

    Raises:
        MemttlError: the file cannot be served.
    """
    anyio.run(_serve, Serving(resolve, tell=_tell))


async def _serve(serving: Serving) -> None:
    writer = Writer(serving.apply, serving.rest, tell=_tell)
    session = _Session(serving, writer)
    writer.start()
    try:
        async with wire() as (incoming, outgoing):
            server = session.server
            options = server.create_initialization_options(
                NotificationOptions(resources_changed=True, tools_changed=True)
            )
            await server.run(incoming, outgoing, options)
    finally:
        writer.stop()


def _tell(text: str) -> None:
    print(f"memttl: {text}", file=sys.stderr, flush=True)


def _for(ctx: Any, result: dict[str, Any], **further: Any) -> dict[str, Any]:
    """Give a result with what protocol 2026-07-28 wants in each; older clients would see unknown keys."""
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return result
    return {**result, "resultType": "complete", **further}


class _Session:
    """The handlers of one connection."""

    def __init__(self, serving: Serving, writer: Writer) -> None:
        self.calls = Calls(serving, writer, self._changed)
        self._subscribed: set[str] = set()
        self._session: Any = None
        self._bus = InMemorySubscriptionBus()  # the subscriptions of protocol 2026-07-28
        self.server: Server[Any] = Server(
            "memory-server",
            version=__version__,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=ListenHandler(self._bus),
        )
        self.server.middleware += [self._refuse, self._answer_raw]

    async def _refuse(self, ctx: Any, call_next: Any) -> Any:
        """Refuse what the stock server would, before the SDK checks the parameters of methods that nobody serves."""
        is_known = ctx.method == "initialize" or self.server.get_request_handler(ctx.method) is not None
        if not is_known and not ctx.method.startswith("notifications/"):
            raise MCPError(code=types.METHOD_NOT_FOUND, message="Method not found")
        if wrong := refusal(ctx.method, ctx.params):
            raise MCPError(code=types.INTERNAL_ERROR, message=wrong)
        return await call_next(ctx)

    async def _answer_raw(self, ctx: Any, call_next: Any) -> Any:
        """Answer a tool's call past the SDK, which would copy and check each value of a graph once more."""
        if ctx.method != "tools/call":
            return await call_next(ctx)
        self._session = ctx.session
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
        scheme, colon, rest = str(params.uri).partition(":")
        if not (colon and re.fullmatch("[A-Za-z][A-Za-z0-9+.-]*", scheme)):
            raise MCPError(code=types.INTERNAL_ERROR, message="Invalid URL")
        if f"{scheme.lower()}:{rest}" != URI:
            raise MCPError(code=types.INVALID_PARAMS, message=f"MCP error -32602: Resource {params.uri} not found")
        try:
            text = await self.calls.reads.text()
        except MemttlError as e:
            raise MCPError(code=types.INTERNAL_ERROR, message=told(e)) from None
        content = {"uri": URI, "mimeType": "application/json", "text": text}
        return _for(ctx, {"contents": [content]}, ttlMs=0, cacheScope="private")

    async def _subscribe(self, ctx: Any, params: types.SubscribeRequestParams) -> types.EmptyResult:
        self._session = ctx.session
        self._subscribed.add(str(params.uri))
        return types.EmptyResult()

    async def _unsubscribe(self, _ctx: Any, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        self._subscribed.discard(str(params.uri))
        return types.EmptyResult()

    async def _changed(self) -> None:
        await self._bus.publish(ResourceUpdated(URI))
        if URI in self._subscribed and self._session is not None:
            await self._session.send_resource_updated(URI)
