"""The service is killed while it makes a file of own data: the file is made after the restart, and mailed once."""

import uuid
from pathlib import Path

import pytest
import sqlalchemy as sa

from app.core import bulk
from app.core.communities import communities
from app.core.models import OwnDataFile, SavedFilter
from app.core.people import accounts, own_data_files
from app.core.permissions import SYSTEM
from app.core.vocabulary import Role
from app.jobs.engine import Engine
from app.settings import Settings
from app.wiring import Wiring, wire
from tests.faults.service import Service, free_port
from tests.faults.waiting import eventually

ROWS = 60_000


def _prepare(wiring: Wiring) -> uuid.UUID:
    """A person of whom much is kept, and the order to make a file of it: its job waits for a service."""
    with wiring.database.writing() as session:
        home = communities.open_community(session, SYSTEM, "forum", "harbour")
        account = accounts.create(session, "rita@example.org", "correct horse battery", confirmed=True)
        accounts.give_role(session, SYSTEM, account, home.id, Role.RATER)
        table = SavedFilter.__table__
        assert isinstance(table, sa.Table)
        mine = {"community_id": home.id, "account_id": account.id, "query": {}, "shared": False}
        rows = [{"id": uuid.uuid4(), "name": uuid.uuid4().hex, **mine} for _number in range(ROWS)]
        bulk.insert(session.connection(), table, rows)
        return own_data_files.ask(session, accounts.actor_for(accounts.get(session, account.id))).id


@pytest.mark.both_databases
def test_a_kill_while_a_file_is_made_only_delays_it(database_url: str, tmp_path: Path) -> None:
    settings = Settings(
        _env_file=None,
        environment="test",
        data_dir=tmp_path / "var",
        database_url=database_url,
        port=free_port(),
    ).ready()
    wiring = wire(settings)
    engine = Engine(wiring.database.engine, executor_id="test")
    engine.prepare()
    wiring.attach(engine)
    file_id = _prepare(wiring)
    job = f"{own_data_files.MAKE_JOB}:{file_id}"

    def is_running() -> bool:
        return any(job in held for held in engine.stored.held().values())

    def file() -> OwnDataFile:
        with wiring.database.reading() as session:
            return session.get_one(OwnDataFile, file_id)

    service = Service(settings, tmp_path / "serve.log")
    try:
        service.start()
        eventually(is_running, "a worker has taken the job")
        service.kill()
        assert file().made_at is None
        assert is_running()
        service.start()
        eventually(lambda: file().made_at, "the file")
        assert file().counts["saved_filters"] == ROWS
        eventually(lambda: list((settings.data_dir / "mail").glob("*.eml")), "the mail")
    finally:
        service.end()
        engine.stop()
        wiring.database.dispose()
    assert len(list((settings.data_dir / "mail").glob("*.eml"))) == 1
