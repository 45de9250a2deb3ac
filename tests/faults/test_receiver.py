"""The guide's receiver, a process of its own, through what happens to receivers (docs/integrate/api.md)."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.core import clock
from tests.factories import SPAM
from tests.faults.service import free_port
from tests.faults.test_outages import Place
from tests.faults.waiting import eventually

RECEIVER = Path(__file__).parents[2] / "docs" / "receiver.py"
OLD, NEW = "the secret of this year", "the secret of next year"


class Receiver:
    """The receiver and what it printed. Its inbox outlives its processes."""

    def __init__(self, place: Place, folder: Path) -> None:
        self.place, self.port = place, free_port()
        self.url = f"http://127.0.0.1:{self.port}/hook"
        self.inbox, self._log = folder / "inbox.db", folder / "receiver.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, secret: str) -> None:
        settings = {
            "BASE": f"http://127.0.0.1:{self.place.settings.port}",
            "KEY": self.place.key,
            "SECRET": secret,
            "INBOX": str(self.inbox),
        }
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, RECEIVER, str(self.port)],
                env=os.environ | settings,
                stdout=log.fileno(),
                stderr=log.fileno(),
            )

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def lines(self, start: str) -> list[str]:
        """What it printed that begins so."""
        return [line for line in self._log.read_text().splitlines() if line.startswith(start)]

    def done(self) -> list[str]:
        """The ids of the events that it has worked on."""
        with closing(sqlite3.connect(self.inbox)) as inbox:
            return [event_id for (event_id,) in inbox.execute("SELECT event_id FROM events WHERE is_done")]

    def has_acknowledged(self, name: str) -> bool:
        return f"acknowledged: {name} applied" in self.lines("acknowledged")


@pytest.fixture
def place(sqlite_template: Path, tmp_path: Path) -> Iterator[Place]:
    path = tmp_path / "place.db"
    path.write_bytes(sqlite_template.read_bytes())
    place = Place(f"sqlite:///{path}", tmp_path)
    place.service.environment = {"BRIDGENOTE_WEBHOOK_RETRY_DELAYS": "0.1,0.1"}
    place.service.start()
    yield place
    place.close()


@pytest.fixture
def receiver(place: Place, tmp_path: Path) -> Iterator[Receiver]:
    receiver = Receiver(place, tmp_path)
    yield receiver
    receiver.kill()


def told(place: Place, method: str, path: str, body: object = None) -> Any:
    """The document that the service answers with."""
    status, _, answer = place.ask(method, path, body)
    assert status < 300, answer
    return json.loads(answer)


def submit(place: Place, name: str) -> None:
    attributes = {
        "request_id": name,
        "requested_by": "ann",
        "community_server_id": "sea",
        "original_message_content": f"{SPAM} {name}",
    }
    told(place, "POST", "/api/public/v1/requests", {"data": {"type": "requests", "attributes": attributes}})


def test_the_receiver_works_on_every_event_once_through_a_rotation_an_outage_and_a_replay(
    place: Place, receiver: Receiver
) -> None:
    receiver.start(OLD)
    registered = {"url": receiver.url, "secret": OLD, "platform_community_server_id": "sea"}
    hook = f"/webhooks/{told(place, 'POST', '/webhooks/register', registered)['id']}"

    def deliveries(state: str) -> list[Any]:
        rows: list[Any] = told(place, "GET", f"{hook}/deliveries?filter[state]={state}&page[size]=100")[
            "data"
        ]
        return rows

    submit(place, "before")
    eventually(lambda: receiver.has_acknowledged("before"), "an event arrives")

    rotated = told(place, "PATCH", hook, {"secret": NEW})
    assert "any one signature" in rotated["meta"]["rotation"]
    submit(place, "with-the-old-secret")
    eventually(lambda: receiver.has_acknowledged("with-the-old-secret"), "the old secret verifies")
    receiver.kill()
    receiver.start(NEW)
    submit(place, "with-the-new-secret")
    eventually(lambda: receiver.has_acknowledged("with-the-new-secret"), "the new secret verifies")
    told(place, "PATCH", hook, {"previous_secret_until": None})
    submit(place, "after")
    eventually(lambda: receiver.has_acknowledged("after"), "the new secret alone verifies")
    assert receiver.lines("refused") == []

    eventually(lambda: not deliveries("due"), "everything has arrived")
    since = clock.iso(clock.now())
    receiver.kill()
    submit(place, "missed")
    eventually(lambda: len(deliveries("dead")) == 2 and not deliveries("due"), "the decision is given up on")
    missed = {row["attributes"]["event_id"] for row in deliveries("dead")}
    receiver.start(NEW)
    assert told(place, "POST", f"{hook}/replay", {"since": since})["data"]["attributes"]["total"] == 2
    eventually(lambda: receiver.has_acknowledged("missed"), "the replay brings what was missed")
    eventually(lambda: not deliveries("due"), "everything has arrived")
    assert deliveries("dead") == []

    count = len(deliveries("delivered"))
    again = told(place, "POST", f"{hook}/replay", {"states": ["delivered"]})["data"]["attributes"]
    assert again["total"] == count
    eventually(lambda: not deliveries("due"), "everything has arrived a second time")
    eventually(lambda: len(receiver.done()) == count, "it has worked on everything")
    assert missed <= set(receiver.done())
    assert len(receiver.lines("event:")) == count
    assert len(receiver.lines("platform:")) == len(receiver.lines("acknowledged:")) == 5

    actions = "/api/public/v1/moderation-actions"
    taken = {"action_type": "delete", "request_id": "after", "community_server_id": "sea"}
    deleted = f"{actions}/{told(place, 'POST', actions, taken)['data']['id']}"
    told(place, "PATCH", deleted, {"action_state": "overturned"})
    eventually(
        lambda: told(place, "GET", deleted)["data"]["attributes"]["undo_state"] == "done",
        "it undoes a deletion",
    )
