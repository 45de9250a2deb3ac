"""The service is killed while it overturns in bulk: it goes on, and overturns nothing twice."""

from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.actions import acknowledgements
from app.core.communities import communities
from app.core.models import Action, Event, HistoryEntry, Overturn
from app.core.people import accounts
from app.core.permissions import SYSTEM, Actor
from app.core.requests import submitting
from app.core.review import overturns
from app.core.review.overturn_search import Criteria
from app.core.vocabulary import EventName, OverturnState, Role
from app.jobs.engine import Engine
from app.jobs.scoring import Scorer
from app.settings import Settings
from app.wiring import Wiring, wire
from tests.factories import SPAM
from tests.faults.service import Service, free_port
from tests.faults.waiting import eventually

ACTIONS = overturns.BATCH * 2 + 5


def _prepare(wiring: Wiring) -> Overturn:
    """Actions that were carried out, and the order to overturn them all: its job waits for a service."""
    with wiring.database.writing() as session:
        home = communities.open_community(session, SYSTEM, "forum", "harbour")
        account = accounts.create(session, "olga@example.org", "correct horse battery", confirmed=True)
        accounts.give_role(session, SYSTEM, account, home.id, Role.OPERATOR)
    key = Actor(kind="key", name="Adapter", communities=frozenset({home.id}), staff=True)
    for number in range(ACTIONS):
        submission = submitting.Submission(f"post-{number}", "ann", SPAM)
        with wiring.database.writing() as session:
            request_id = submitting.submit(session, key, home.id, submission).request.id
        Scorer(wiring).score(request_id)
        with wiring.database.writing() as session:
            action = session.scalars(sa.select(Action).where(Action.request_id == request_id)).one()
            acknowledgements.acknowledge(session, key, action)
    with wiring.database.writing() as session:
        operator = accounts.actor_for(accounts.get(session, account.id))
        criteria = Criteria(clock.now() - timedelta(days=1), category="spam")
        return overturns.begin(session, operator, home.id, criteria, "The rule went wild")


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_kill_in_the_middle_of_overturning_in_bulk_loses_nothing_and_repeats_nothing(
    database_url: str, tmp_path: Path
) -> None:
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
    begun = _prepare(wiring)

    def progress() -> Overturn:
        with wiring.database.reading() as session:
            return session.get_one(Overturn, begun.id)

    service = Service(settings, tmp_path / "serve.log")
    try:
        service.start()
        eventually(lambda: progress().done > 0, "the first batch")
        service.kill()
        killed_at = progress()
        service.start()
        eventually(lambda: progress().state is OverturnState.FINISHED, "the end")
    finally:
        service.end()
        engine.stop()
    assert 0 < killed_at.done < ACTIONS
    assert killed_at.done % overturns.BATCH == 0
    assert (progress().done, progress().failed) == (ACTIONS, 0)
    with wiring.database.reading() as session:
        told = sa.select(HistoryEntry.object_id).where(HistoryEntry.what == "action.overturned")
        sent = sa.select(Event.id).where(Event.name == EventName.ACTION_OVERTURNED)
        objects = session.scalars(told).all()
        assert len(objects) == len(set(objects)) == len(session.scalars(sent).all()) == ACTIONS
    wiring.database.dispose()
