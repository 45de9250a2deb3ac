"""The whole service is killed, all of it at once and in the middle of a storm, again and again.

What a client was told stands; every decision is made once and told; nothing is told under two ids.
"""

import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlalchemy as sa

from app.core import communities, history, keys, webhooks
from app.core.db import Database
from app.core.models import Action, Decision, Event, Request
from app.core.permissions import SYSTEM
from app.core.sealing import Sealer
from app.core.sending import AllowList
from app.core.vocabulary import ActionState, EventName, KeyTemplate, RequestStatus
from app.jobs.engine import Engine
from app.settings import Settings
from tests.faults.dispatcher_receiver import SECRET, Receiver
from tests.faults.service import Service, free_port
from tests.faults.waiting import eventually

KILLS = 4
SPAM = "Double your Bitcoin today, guaranteed profits! Send 0.1 BTC, get 0.2 back. Telegram: @btc_doubler"
REVIEWED = "You are such an idiot, nobody wants to read this."
CLEAN = "The council meets on Tuesday at seven to discuss the new bike lanes."


@dataclass
class Client:
    """Submits until told to stop; keeps what it was told. An unanswered submission is sent again."""

    port: int
    key: str
    community: str
    name: str
    told: dict[str, str] = field(default_factory=dict)
    odd: list[tuple[int, bytes]] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        number = 0
        while not self.ended.is_set():
            request_id = f"{self.name}-{number}"
            text = (SPAM, REVIEWED, CLEAN)[number % 3]
            if self._submit(request_id, f"{text} [{request_id}]"):
                number += 1
                time.sleep(0.02)
            else:
                time.sleep(0.1)

    def _submit(self, request_id: str, text: str) -> bool:
        attributes = {
            "request_id": request_id,
            "requested_by": "ann",
            "community_server_id": self.community,
            "original_message_content": text,
        }
        body = json.dumps({"data": {"type": "requests", "attributes": attributes}})
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("POST", "/api/public/v1/requests", body, headers)
            response = connection.getresponse()
            said = response.read()
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()
        if response.status in {200, 201}:
            self.told[request_id] = json.loads(said)["data"]["id"]
            return True
        self.odd.append((response.status, said))
        return False


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


def test_killing_everything_again_and_again_loses_nothing_and_says_nothing_twice(
    database_url: str, tmp_path: Path, receiver: Receiver
) -> None:
    port = free_port()
    settings = Settings(
        _env_file=None, environment="test", data_dir=tmp_path / "var", database_url=database_url, port=port
    ).ready()
    database = Database(database_url)
    engine = Engine(database.engine, executor_id="test")
    engine.prepare()
    engine.stop()
    sealer = Sealer.from_secret(settings.encryption_key.get_secret_value())
    with database.writing() as session:
        community = communities.open_community(session, SYSTEM, "storm", "sea")
        key = keys.mint(session, SYSTEM, "storm", KeyTemplate.ADAPTER, [community.id]).text
        webhooks.register(
            session, SYSTEM, sealer, AllowList.parse("127.0.0.1"), community, receiver.url, SECRET
        )
    service = Service(settings, tmp_path / "serve.log")
    clients = [Client(port, key, str(community.id), name) for name in ("a", "b", "c")]
    threads = [threading.Thread(target=client.run) for client in clients]
    try:
        service.start()
        for thread in threads:
            thread.start()
        for _ in range(KILLS):
            time.sleep(1.2)
            service.kill()
            service.start()
        time.sleep(1)
        for client in clients:
            client.ended.set()
        for thread in threads:
            thread.join()
        told = {name: identity for client in clients for name, identity in client.told.items()}
        assert [client.odd for client in clients] == [[], [], []]
        assert len(told) > 30
        eventually(lambda: _is_settled(database, receiver, len(told)), "everything is settled", 90)
        _check(database, receiver, told)
    finally:
        for client in clients:
            client.ended.set()
        service.end()
        database.dispose()


def _is_settled(database: Database, receiver: Receiver, submitted: int) -> bool:
    with database.reading() as session:
        pending = session.scalar(sa.select(sa.func.count()).where(Request.status == RequestStatus.PENDING))
        unscored = session.scalar(
            sa.select(sa.func.count()).where(
                Request.status == RequestStatus.IN_PROGRESS,
                Request.id.not_in(sa.select(Action.request_id)),
            )
        )
        told = {str(one) for one in session.scalars(sa.select(Event.id))}
    arrived = {arrival.event_id for arrival in list(receiver.arrivals)}
    return not pending and not unscored and told <= arrived and submitted > 0


def _check(database: Database, receiver: Receiver, told: dict[str, str]) -> None:
    with database.reading() as session:
        stored = {r.request_id: str(r.id) for r in session.scalars(sa.select(Request))}
        assert told.items() <= stored.items(), "a request that a client was told of is gone"
        states = Counter(session.scalars(sa.select(Request.status)))
        assert RequestStatus.FAILED not in states
        spam = [name for name in told if int(name.split("-")[1]) % 3 == 0]
        decided = dict(
            session.execute(
                sa.select(Request.request_id, Decision.decision).join(
                    Decision, Decision.request_id == Request.id
                )
            ).all()
        )
        assert {name for name in spam if decided.get(name) != "hide"} == set()
        live = session.scalars(sa.select(Action.request_id)).all()
        assert len(live) == len(set(live)), "a request was acted on twice"
        reviewed = [name for name in told if int(name.split("-")[1]) % 3 == 1]
        waiting = session.scalar(
            sa.select(sa.func.count()).where(Action.action_state == ActionState.UNDER_REVIEW)
        )
        assert waiting is not None
        assert waiting >= len(reviewed)
        community_id = session.scalars(sa.select(Request.community_id).limit(1)).one()
        assert history.verify(session, community_id)[1] is None
    assert all(arrival.payload is not None for arrival in receiver.arrivals), "a signature does not verify"
    ids: dict[str, set[str]] = {}
    for arrival in receiver.arrivals:
        assert arrival.payload is not None
        if arrival.payload.get("event_type") == EventName.DECISION:
            ids.setdefault(arrival.payload["request_id"], set()).add(arrival.event_id)
    assert {name: found for name, found in ids.items() if len(found) > 1} == {}
    assert set(decided) == set(ids)
