"""The whole service is killed, all of it at once and in the middle of a storm, again and again.

What a client was told stands; every decision is made once and told; nothing is told under two ids.
"""

import math
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.communities import communities
from app.core.db import Database
from app.core.outbound import AllowList
from app.core.people import keys
from app.core.permissions import SYSTEM
from app.core.sealing import Sealer
from app.core.vocabulary import KeyTemplate
from app.core.webhooks import registrations as webhooks
from app.jobs.engine import Engine
from app.settings import Settings
from tests.faults import figures, storm
from tests.faults.dispatcher_receiver import SECRET, Receiver
from tests.faults.service import Service, free_port
from tests.faults.waiting import eventually

KILLS = int(os.environ.get("FAULTS_KILLS", "2"))
"""`make faults` sets more."""


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
    sealer = Sealer.from_secret(settings.encryption_key.get_secret_value())
    with database.writing() as session:
        community = communities.open_community(session, SYSTEM, "storm", "sea")
        key = keys.mint(session, SYSTEM, "storm", KeyTemplate.ADAPTER, [community.id]).text
        webhooks.register(
            session, SYSTEM, sealer, AllowList.parse("127.0.0.1"), community, receiver.url, SECRET
        )
    service = Service(settings, tmp_path / "serve.log")
    raging = storm.Storm(port, key, str(community.id), receiver, plenty=15 if KILLS < 10 else math.inf)
    try:
        service.start()
        raging.begin()
        for _ in range(KILLS):
            eventually(raging.goes_on(submissions=9, ratings=3), "it rages", 240)
            service.kill()
            service.start()
        eventually(raging.goes_on(submissions=9, ratings=3, acknowledgements=3), "it rages on", 240)
        raging.end()
        hurry = KILLS < 10
        eventually(lambda: storm.is_settled(database, receiver, hurry=hurry), "everything is settled", 360)
        found = storm.check(database, receiver, raging)
        left = engine.counts()
        assert left["dead"] == 0
        kind = database.engine.dialect.name
        figures.note(f"Storm with {KILLS} kills, {kind}", found | {"jobs stranded": left["dead"]})
    finally:
        raging.end()
        service.end()
        engine.stop()
        database.dispose()
