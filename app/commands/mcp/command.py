"""``mcp``: serves ``calls`` over standard input and output, or over HTTP. The SDK is imported when it runs."""

import ipaddress
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click
import sqlalchemy as sa

from app import __version__
from app.commands.opening import opened_wiring
from app.core.errors import Forbidden, Refused
from app.process import logs
from app.wiring import Wiring

if TYPE_CHECKING:
    from mcp.server import Server
    from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = "127.0.0.1"
BODY_MAX = 64 * 1024
"""Bytes of a request over HTTP."""
CALLS_AT_ONCE = 4
CONNECTIONS = 64
WAIT_SECONDS = 30
"""How long a call waits for others to end."""


class Address(click.ParamType[tuple[str, int]]):
    """``[HOST:]PORT``; the host is an IP address, by default this machine alone."""

    name = "[HOST:]PORT"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        host, _, port = value.rpartition(":")
        host = host.removeprefix("[").removesuffix("]") or LOOPBACK
        host = LOOPBACK if host == "localhost" else host
        try:
            ipaddress.ip_address(host)
        except ValueError:
            self.fail(f"{host!r} is no IP address", param, ctx)
        if not (port.isascii() and port.isdigit() and len(port) <= 5 and 0 < int(port) < 65_536):
            self.fail("the port must be from 1 to 65535", param, ctx)
        return host, int(port)


@click.command("mcp")
@click.option("--http", "address", type=Address(), help="Serve streamable HTTP there, at /mcp, instead.")
def mcp(address: tuple[str, int] | None) -> None:
    """Let an assistant read for a moderator, by the Model Context Protocol: over standard input and output.

    The key is one of the template Assistants: in BRIDGENOTE_MCP_KEY, or over HTTP a Bearer token of each request.
    """
    try:
        import mcp as _sdk  # noqa: F401
    except ImportError as error:
        raise click.ClickException(
            "This installation cannot serve assistants: it needs the package mcp, which the extra [mcp] installs"
        ) from error
    from app.commands.mcp import calls

    with opened_wiring() as wiring:
        settings = wiring.settings
        logs.configure(settings.log_level, as_json=settings.logs_as_json)
        if address is not None:
            _serve_http(wiring, *address)
            return
        token = settings.mcp_key.get_secret_value()
        if not token:
            raise click.UsageError("BRIDGENOTE_MCP_KEY must hold a key of the template Assistants")
        try:
            calls.identify(wiring, token)
        except Refused as refused:
            raise click.UsageError(f"BRIDGENOTE_MCP_KEY: {refused.detail}") from refused
        _serve_stdio(server(wiring, lambda _request: token))


def server(wiring: Wiring, token_of: Callable[[Any], str]) -> "Server[Any]":
    """The server of our tools. ``token_of`` gives the text of the key, from the HTTP request if there is one."""
    import anyio
    from mcp import types
    from mcp.server import Server

    from app.commands.mcp import calls

    limiter = anyio.CapacityLimiter(CALLS_AT_ONCE)
    tools = [
        types.Tool(
            name=name,
            description=tool.read.__doc__,
            input_schema=tool.arguments.model_json_schema(),
            annotations=types.ToolAnnotations(
                read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
            ),
        )
        for name, tool in calls.TOOLS.items()
    ]

    async def list_tools(
        _context: Any, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        given = (wiring, token_of(context.request), params.name, params.arguments or {})
        answer = calls.Answer(
            f"503: {CALLS_AT_ONCE} calls at once are the most. Try again later.", is_error=True
        )
        with anyio.move_on_after(WAIT_SECONDS):  # it ends the waiting; a call that began is answered
            answer = await anyio.to_thread.run_sync(calls.answer, *given, limiter=limiter)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)], is_error=answer.is_error
        )

    return Server(
        "bridgenote",
        version=__version__,
        instructions=calls.INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _serve_stdio(served: "Server[Any]") -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    async def serve() -> None:
        async with stdio_server() as (incoming, outgoing):
            await served.run(incoming, outgoing, served.create_initialization_options())

    anyio.run(serve)


def _serve_http(wiring: Wiring, host: str, port: int) -> None:
    import uvicorn

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        config = uvicorn.Config(
            application(wiring, host, port),
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=CONNECTIONS,
            timeout_graceful_shutdown=5,
        )
        click.echo(f"Assistants connect to http://{_named(host, port)}/mcp", err=True)
        uvicorn.Server(config).run(sockets=[listening])


def _named(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def application(wiring: Wiring, host: str, port: int) -> "ASGIApp":
    """The ASGI application. A request may name this machine, the address it listens on, or our hosts."""
    from mcp.server.transport_security import TransportSecuritySettings

    public = urlsplit(wiring.settings.public_url)
    hosts = [_named(host, port), f"{LOOPBACK}:{port}", f"localhost:{port}", f"[::1]:{port}"]
    origins = [f"http://{one}" for one in hosts]
    if public.netloc:
        hosts, origins = [*hosts, public.netloc], [*origins, f"{public.scheme}://{public.netloc}"]
    served = server(wiring, lambda request: _bearer(request.headers.get("authorization")))
    return Guard(
        served.streamable_http_app(
            # No session to keep: each request brings its key, and is answered at once.
            stateless_http=True,
            json_response=True,
            max_request_body_size=BODY_MAX,
            transport_security=TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins),
            host=host,
        ),
        wiring,
    )


def _bearer(header: str | None) -> str:
    scheme, _, token = (header or "").strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


class Guard:
    """Lets only requests with an assistant's key through to ``app``."""

    def __init__(self, app: "ASGIApp", wiring: Wiring) -> None:
        self._app = app
        self._wiring = wiring

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        import anyio
        from starlette.requests import Request
        from starlette.responses import JSONResponse

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        token = _bearer(Request(scope).headers.get("authorization"))
        client_ip = (scope.get("client") or (None,))[0]
        refusal = await anyio.to_thread.run_sync(self._refusal, token, client_ip)
        if refusal is None and scope["method"] != "POST":
            refusal = 405, "Only POST: nothing is sent without being asked for"
        if refusal is None:
            await self._app(scope, receive, send)
            return
        status, detail = refusal
        headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
        await JSONResponse({"detail": detail}, status, headers)(scope, receive, send)

    def _refusal(self, token: str, client_ip: str | None) -> tuple[int, str] | None:
        from app.commands.mcp import calls

        try:
            calls.identify(self._wiring, token, client_ip)
        except Forbidden as refused:
            return 403, refused.detail
        except Refused as refused:
            return 401, refused.detail
        except (sa.exc.DBAPIError, sa.exc.TimeoutError):
            return 503, "The service cannot answer now"
        return None
