"""`mcp` as a process of its own: over standard input and output, and over HTTP."""

import contextlib
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog
from click.testing import CliRunner, Result
from mcp import Client, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from app.commands.main import cli
from app.core.models import ApiKey
from app.core.people import keys
from app.core.permissions import SYSTEM
from app.core.vocabulary import KeyTemplate
from app.wiring import Wiring
from tests import factories
from tests.asynchronous import awaited
from tests.cast import Cast
from tests.faults.service import free_port
from tests.faults.waiting import eventually
from tests.warm import Process

ROOT = Path(__file__).parents[2]


@pytest.fixture
def key(wiring: Wiring, cast: Cast) -> str:
    factories.scored_action(wiring, cast)
    with wiring.database.writing() as session:
        return keys.mint(session, SYSTEM, "Helper", KeyTemplate.ASSISTANTS, [cast.community_id]).text


def environment(wiring: Wiring, **more: str) -> dict[str, str]:
    settings = wiring.settings
    return {
        **os.environ,
        "BRIDGENOTE_DATA_DIR": str(settings.data_dir),
        "BRIDGENOTE_DATABASE_URL": settings.database_url,
        "BRIDGENOTE_LOG_FORMAT": "json",
        "BRIDGENOTE_PUBLIC_URL": "https://moderation.example.org",
        **more,
    }


async def _queue(client: Client) -> dict[str, Any]:
    result = await client.call_tool("review_queue", {})
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    assert not result.is_error, block.text
    found: dict[str, Any] = json.loads(block.text)
    return found


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_an_assistant_reads_over_standard_input_and_output(wiring: Wiring, key: str, tmp_path: Path) -> None:
    served = StdioServerParameters(
        command=sys.executable,
        args=["-m", "app", "mcp"],
        env=environment(wiring, BRIDGENOTE_MCP_KEY=key),
        cwd=ROOT,
    )

    async def ask() -> dict[str, Any]:
        async with Client(stdio_client(served, log)) as client:
            return await _queue(client)

    with (tmp_path / "log").open("w") as log:
        found = awaited(ask)
    assert found["count"] == 1
    assert factories.REVIEWED in found["items"][0]["post"]
    written = (tmp_path / "log").read_text()
    assert '"review_queue"' in written
    assert key not in written
    assert factories.REVIEWED not in written


@pytest.fixture
def run(wiring: Wiring) -> Iterator[Callable[..., Result]]:
    """Runs the command in this process, with these settings, until it ends."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield lambda *options, **more: CliRunner().invoke(cli, ["mcp", *options], env=environment(wiring, **more))
    root.handlers, root.level = before, level
    structlog.reset_defaults()


def test_it_does_not_start_without_a_key_of_the_template(run: Callable[..., Result], cast: Cast) -> None:
    for given in ("", "bnk_nonsense", cast.adapter_key, cast.metrics_key):
        ended = run(BRIDGENOTE_MCP_KEY=given)
        assert ended.exit_code == 2
        assert "BRIDGENOTE_MCP_KEY" in ended.stderr
        assert not given or given not in ended.output


@pytest.mark.parametrize("address", ["", "x", "0", "65536", "host.example.org:80", "127.0.0.1:", "1.2.3:80"])
def test_an_address_that_is_none_is_wrong_usage(run: Callable[..., Result], address: str) -> None:
    ended = run("--http", address)
    assert ended.exit_code == 2
    assert "--http" in ended.stderr


def test_an_address_that_is_taken_is_an_error(run: Callable[..., Result]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = run("--http", str(taken.getsockname()[1]))
    assert ended.exit_code == 1
    assert "Address already in use" in ended.stderr


def test_without_the_extra_it_says_what_is_missing(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    ended = run()
    assert ended.exit_code == 1
    assert "the extra [mcp] installs" in ended.stderr


@contextlib.contextmanager
def serving(wiring: Wiring, log: Path) -> Iterator[str]:
    """The address of a process that serves HTTP."""
    port = free_port()
    with log.open("w") as stream:
        process = Process("app", "mcp", "--http", port, env=environment(wiring), cwd=ROOT, stderr=stream)
    address = f"http://127.0.0.1:{port}/mcp"
    try:

        def answers() -> bool:
            assert process.poll() is None, log.read_text()
            with contextlib.suppress(httpx.TransportError):
                return httpx.post(address).status_code == 401
            return False

        eventually(answers, "it answers")
        yield address
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) in (0, -signal.SIGTERM)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_an_assistant_reads_over_http_with_a_key_in_each_request(
    wiring: Wiring, cast: Cast, key: str, tmp_path: Path, warm_processes: None
) -> None:
    async def ask(address: str, token: str) -> dict[str, Any]:
        async with (
            create_mcp_http_client(headers={"Authorization": f"Bearer {token}"}) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            return await _queue(client)

    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    usual = {
        "Authorization": f"Bearer {key}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2025-06-18",
    }
    log = tmp_path / "log"
    with serving(wiring, log) as address:

        def status(changed: dict[str, str] | None = None, **given: Any) -> int:
            headers = {**usual, **(changed or {})}
            return httpx.post(address, headers=headers, **({"json": message} | given)).status_code

        assert awaited(ask, address, key)["count"] == 1
        assert status() == 200
        assert status({"Authorization": ""}) == 401
        assert status({"Authorization": "Bearer bnk_wrong"}) == 401
        assert status({"Authorization": f"Basic {key}"}) == 401
        assert status({"Authorization": f"Bearer {cast.adapter_key}"}) == 403
        assert status({"Host": "evil.example.org"}) == 421
        assert status({"Origin": "https://evil.example.org"}) == 403
        assert status({"Host": "moderation.example.org", "Origin": "https://moderation.example.org"}) == 200
        assert status(json=None, content=b"{" * 100_000) == 413
        assert status(json=None, content=b"[" * 60_000) == 400
        assert httpx.get(address, headers=usual).status_code == 405
        with wiring.database.writing() as session:
            found = keys.authenticate(session, key)
            assert found is not None
            session.get_one(ApiKey, found.id).revoked_at = found.last_used_at
        assert status() == 401
    text = log.read_text()
    assert '"review_queue"' in text
    assert key not in text
    assert factories.REVIEWED not in text
