"""The service is killed while requests of one post get its decision: each gets it once."""

from collections import Counter
from pathlib import Path

import pytest
import sqlalchemy as sa

from app.core.communities import communities
from app.core.history.reason import Reason
from app.core.models import Action, Decision, Event, Note, Request
from app.core.notes import verdicts
from app.core.permissions import SYSTEM, Actor
from app.core.requests import following, submitting
from app.core.vocabulary import EventName, RequestStatus
from app.jobs.engine import Engine
from app.jobs.scoring import Scorer
from app.settings import Settings
from app.wiring import Wiring, wire
from tests.factories import REVIEWED
from tests.faults.service import Service, free_port
from tests.faults.waiting import eventually

FLAGS = following.BATCH * 2 + 5


def _prepare(wiring: Wiring) -> None:
    """A post under review with many requests, of which some have not run their jobs, and then its decision."""
    with wiring.database.writing() as session:
        home = communities.open_community(session, SYSTEM, "forum", "harbour")
    key = Actor(kind="key", name="Adapter", communities=frozenset({home.id}), staff=True)
    ids = []
    for number in range(FLAGS + 1):
        submission = submitting.Submission(f"post-{number}", "ann", REVIEWED, platform_message_id="m-1")
        with wiring.database.writing() as session:
            ids.append(submitting.submit(session, key, home.id, submission).request.id)
    scorer = Scorer(wiring)
    for request_id in ids[: -FLAGS // 10]:
        scorer.score(request_id)
    with wiring.database.writing() as session:
        action = session.scalars(sa.select(Action)).one()
        verdicts.dismiss(session, key, session.get_one(Note, action.note_id), reason=Reason("Not a breach"))


@pytest.mark.parametrize("database_url", ["sqlite", "postgresql"], indirect=True)
def test_kills_while_a_decision_reaches_the_requests_of_a_post_lose_none_and_repeat_none(
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
    _prepare(wiring)

    def decided() -> int:
        with wiring.database.reading() as session:
            return session.scalar(sa.select(sa.func.count()).select_from(Decision)) or 0

    service = Service(settings, tmp_path / "serve.log")
    seen = []
    try:
        for least in (1, following.BATCH + 1):
            service.start()
            eventually(lambda least=least: decided() > least, "some are decided")
            service.kill()
            seen.append(decided())
        service.start()
        eventually(lambda: decided() == FLAGS + 1, "all are decided")
    finally:
        service.end()
        engine.stop()
    assert 1 < seen[0] < FLAGS
    with wiring.database.reading() as session:
        sent = session.scalars(sa.select(Event.payload).where(Event.name == EventName.DECISION)).all()
        told = Counter((payload["request_id"], payload["decision"]) for payload in sent)
        assert told == {(f"post-{number}", "none"): 1 for number in range(FLAGS + 1)}
        assert set(session.scalars(sa.select(Request.status))) == {RequestStatus.COMPLETED}
        assert session.scalar(sa.select(sa.func.count()).select_from(Action)) == 1
    wiring.database.dispose()
