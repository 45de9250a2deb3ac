"""The guide's commands as a reader types them, and its receiver, against a live server."""

import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.message import Message
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

from app.core.webhooks import catalogue, signing
from tests.warm import Process

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SECRET = "a-secret-of-mine"
EVENT_ID = "019a8f00-5f0c-7f10-85b7-d3c2b1a09f84"

# A step of the guide that fails ends the script; the guide's own text stays as it is.
PREAMBLE = """\
set -euo pipefail
trap 'kill $(jobs -p) 2> /dev/null || true' EXIT
curl() { command curl --fail-with-body --max-time 20 "$@"; echo; }
"""


# A reader looks until it is there; deliveries come in any order, and a busy machine takes its time.
HEARD = """\
for _ in {1..300}; do
    grep -q "event: moderation.decision" receiver.log && grep -q "event: moderation_action.applied" receiver.log \\
        && grep -q "acknowledged: first-post" receiver.log && break
    sleep 0.1
done
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


@dataclass
class Live:
    """A server as ``make run`` starts it, in a folder of its own."""

    url: str
    folder: Path
    receiver_port: int
    process: Process


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory, warm_processes: None) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("guide")
    (folder / "docs").symlink_to(DOCS)
    port, receiver_port = free_port(), free_port()
    settings = {
        "BRIDGENOTE_DATA_DIR": str(folder / "var"),
        "BRIDGENOTE_WEB_PROCESSES": "1",
        "BRIDGENOTE_WEBHOOK_ALLOW_HOSTS": f"127.0.0.1:{receiver_port}",
    }
    with (folder / "server.log").open("w+") as log:
        process = Process(
            "app",
            *("serve", "--demo", "--port", port),
            cwd=ROOT,
            env=os.environ | settings,
            stdout=log.fileno(),
            stderr=log.fileno(),
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _await_answer(url, process, folder / "server.log")
            yield Live(url, folder, receiver_port, process)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=360)


def _await_answer(url: str, process: Process, log: Path) -> None:
    end = time.monotonic() + 360  # it migrates and seeds first
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        try:
            if httpx.get(f"{url}/api/public/v1/openapi.json", timeout=60).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise AssertionError(log.read_text())


PAGES = ("first-decision.md", "api.md", "changes.md", "notes.md", "reviews.md", "reports.md", "going-live.md")
"""The pages of the guide with commands, in the order in which a reader takes them."""


def blocks(page: Path, kind: str) -> list[str]:
    """The blocks of this kind on a page, in order."""
    return re.findall(rf"```{kind}\n(.*?)```", page.read_text(), re.DOTALL)


def steps() -> list[str]:
    """The commands of the guide, in order: those of a page may use what the pages before it set."""
    return [block for page in PAGES for block in blocks(DOCS / "integrate" / page, "sh")]


def shown_log() -> list[str]:
    """What the guide says that the receiver prints."""
    (block,) = blocks(DOCS / "integrate" / "first-decision.md", "text")
    return without_ids(block.splitlines())


def without_ids(lines: list[str]) -> list[str]:
    return [re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", line) for line in lines]


def test_the_guides_commands_lead_from_a_key_to_an_acknowledged_decision(live: Live) -> None:
    text = PREAMBLE + "\n".join(steps()).replace("sleep 5\n", HEARD)
    assert HEARD in text
    text = text.replace("http://127.0.0.1:8000", live.url).replace("8999", str(live.receiver_port))
    ran = subprocess.run(
        ["bash", "-c", text], cwd=live.folder, capture_output=True, text=True, timeout=360, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr

    heard = (live.folder / "receiver.log").read_text().splitlines()
    assert shown_log()
    assert set(shown_log()) <= set(without_ids(heard))
    assert '"force_published":true' in ran.stdout
    assert not [line for line in heard if line.startswith("refused")]

    key = re.search(r'"api_key": "(bnk_[^"]+)"', (live.folder / "var/demo.json").read_text())
    assert key is not None
    headers = {"Authorization": f"Bearer {key.group(1)}"}
    read = httpx.get(f"{live.url}/api/public/v1/requests/first-post", headers=headers).json()["data"]
    assert (read["attributes"]["status"], read["attributes"]["tier"]) == ("COMPLETED", 1)
    action_id = read["attributes"]["action_id"]
    action = httpx.get(f"{live.url}/api/public/v1/moderation-actions/{action_id}", headers=headers).json()[
        "data"
    ]
    assert action["attributes"]["action_state"] == "applied"
    assert action["attributes"]["platform_action_id"] == f"done-{action_id}", "the receiver was first"


def test_the_bodies_that_the_guide_shows_are_taken(live: Live) -> None:
    key = json.loads((live.folder / "var/demo.json").read_text())["api_key"]
    call = partial(httpx.request, timeout=60)
    (thread,) = [b for b in map(json.loads, blocks(DOCS / "integrate" / "api.md", "json")) if "thread" in b]
    (picture,) = map(json.loads, blocks(DOCS / "integrate" / "attachments.md", "json"))
    post = {
        "request_id": "post-with-context",
        "requested_by": "ann",
        "community_server_id": "harbour",
        "original_message_content": "Mine is the blue one",
        "metadata": thread,
        "attachments": [picture],
    }
    sent = call(
        "POST",
        f"{live.url}/api/public/v1/requests",
        headers={"Authorization": f"Bearer {key}"},
        json={"data": {"type": "requests", "attributes": post}},
    )
    assert sent.status_code == 201, sent.text
    assert sent.json()["data"]["attributes"]["metadata"] == thread

    answers = []
    for block in blocks(DOCS / "integrate" / "api.md", "http"):
        head, body = block.split("\n\n")
        line, *named = head.splitlines()
        headers = {name: value for name, _, value in (one.partition(": ") for one in named)}
        headers |= {
            "Authorization": f"Bearer {key}",
            "X-Adapter-Platform": "demo",
            "X-Adapter-Scope": "harbour",
        }
        method, path, _ = line.split()
        answers.append(call(method, live.url + path, headers=headers, content=body))
    linked, replayed = answers
    assert (linked.status_code, linked.json()["detail"][0]["type"]) == (422, "invalid_code")
    assert replayed.status_code == 404, "its body is right, its webhook is an example"


def test_every_command_of_the_guide_is_run() -> None:
    with_commands = {page.name for page in (DOCS / "integrate").glob("*.md") if blocks(page, "sh")}
    assert with_commands == set(PAGES)


def test_the_events_that_the_guide_shows_have_the_members_of_real_ones() -> None:
    shown = []
    for page in sorted((DOCS / "integrate").glob("*.md")):
        for text in blocks(page, "json"):
            event = json.loads(text)
            name = event.get("event_type") or event.get("event")
            if name is None:
                continue
            shown.append(name)
            on_discourse = name == "moderation_action.proposed"
            kind = "moderation_action.created" if on_discourse else name
            known = catalogue.signed(catalogue.sample(kind, "discourse" if on_discourse else ""))
            assert set(event) <= set(known), (page.name, name)
            if "…" not in event.get("data", {}):
                assert set(event.get("data", {})) <= set(known.get("data", {})), (page.name, name)
    assert {"moderation.decision", "moderation_action.created"} <= set(shown)


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """The receiver's module, started with this secret."""

    def start(secret: str) -> ModuleType:
        for name, value in {"BASE": "http://127.0.0.1", "KEY": "bnk", "SECRET": secret}.items():
            monkeypatch.setenv(name, value)
        spec = importlib.util.spec_from_file_location("receiver", DOCS / "receiver.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return start


def delivery(secret: str = SECRET, at: int | None = None, **members: Any) -> tuple[bytes, Message]:
    """Body and headers of one attempt, as the dispatcher makes them."""
    timestamp = int(time.time()) if at is None else at
    payload = {"event": "moderation_action.created", "event_id": EVENT_ID, "data": {}} | members
    body = signing.sign_body(payload, secret, timestamp)
    headers = Message()
    for name, value in signing.headers_for(body, EVENT_ID, "x", [secret], timestamp).items():
        headers[name] = value
    return body, headers


@pytest.mark.parametrize("secret", [SECRET, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "gehört-mir-allein"])
def test_the_receiver_believes_what_the_service_signs(
    receiver: Callable[[str], ModuleType], secret: str
) -> None:
    body, headers = delivery(secret, request_id="größe-😀", confidence=1, score=0.0001)
    assert receiver(secret).verified(body, headers)["event_id"] == EVENT_ID


@pytest.mark.parametrize("secret", ["newer-secret", SECRET, "former-secret"])
def test_the_receiver_believes_any_one_signature_during_a_rotation(
    receiver: Callable[[str], ModuleType], secret: str
) -> None:
    body, headers = delivery("newer-secret")
    secrets = ["newer-secret", SECRET, "former-secret"]
    every = signing.headers_for(body, EVENT_ID, "x", secrets, int(headers["webhook-timestamp"]))
    headers.replace_header("webhook-signature", every["webhook-signature"])
    assert receiver(secret).verified(body, headers)["event_id"] == EVENT_ID
    with pytest.raises(ValueError, match="no signature holds"):
        receiver("somebody-elses-secret").verified(body, headers)


@pytest.mark.parametrize("seconds", [-360, 360])
def test_the_receiver_refuses_a_timestamp_that_is_far_from_now(
    receiver: Callable[[str], ModuleType], seconds: int
) -> None:
    body, headers = delivery(at=int(time.time()) + seconds)
    with pytest.raises(ValueError, match="old"):
        receiver(SECRET).verified(body, headers)


def test_the_receiver_refuses_a_body_that_was_changed(receiver: Callable[[str], ModuleType]) -> None:
    body, headers = delivery(decision="none")
    with pytest.raises(ValueError, match="no signature holds"):
        receiver(SECRET).verified(body.replace(b'"none"', b'"hide"'), headers)


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_the_receiver_refuses_headers_that_were_changed(
    receiver: Callable[[str], ModuleType], name: str
) -> None:
    body, headers = delivery()
    headers.replace_header(name, "1" + headers[name][1:] + "0")
    with pytest.raises(ValueError, match="no signature holds"):
        receiver(SECRET).verified(body, headers)


def test_the_receiver_refuses_another_secrets_signatures(receiver: Callable[[str], ModuleType]) -> None:
    body, headers = delivery("somebody-elses-secret")
    with pytest.raises(ValueError, match="no signature holds"):
        receiver(SECRET).verified(body, headers)


def test_the_receiver_keeps_a_repeated_event_once_and_a_stale_one_never(
    receiver: Callable[[str], ModuleType],
) -> None:
    module = receiver(SECRET)
    server = module.ThreadingHTTPServer(("127.0.0.1", 0), module.Hook)
    body, headers = delivery()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}/hook"
        answers = [httpx.post(url, content=body, headers=dict(headers.items())).status_code for _ in range(2)]
        forged = httpx.post(url, content=b"{}", headers=dict(headers.items())).status_code
        body, headers = delivery(at=int(time.time()) - 360, event_id=EVENT_ID.replace("0", "1"))
        stale = httpx.post(url, content=body, headers=dict(headers.items())).status_code
    finally:
        server.shutdown()
        server.server_close()
    assert (answers, forged, stale) == ([204, 204], 401, 401)
    assert module.inbox.execute("SELECT event_id, is_done FROM events").fetchall() == [(EVENT_ID, 0)]
