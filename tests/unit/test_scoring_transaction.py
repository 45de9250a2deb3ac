"""A post is scored in one short transaction, and what happens meanwhile counts (decision 0004)."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.history import chain as history
from app.core.models import Action, Decision, HistoryEntry, Request, Score
from app.core.people import accounts
from app.core.requests import submitting
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import CategoryDraft
from app.core.upkeep import community_revisions
from app.core.vocabulary import ActionState, RequestStatus
from app.jobs.scoring import Scorer
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast

pytestmark = pytest.mark.both_databases


@contextmanager
def counted(wiring: Wiring) -> Iterator[list[str]]:
    """The statements that are sent meanwhile."""
    statements: list[str] = []

    def on_statement(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        statements.append(statement)

    sa.event.listen(wiring.database.engine, "before_cursor_execute", on_statement)
    try:
        yield statements
    finally:
        sa.event.remove(wiring.database.engine, "before_cursor_execute", on_statement)


@pytest.mark.parametrize(
    ("text", "status", "most"),
    [
        (factories.SPAM, RequestStatus.COMPLETED, 21),
        (factories.REVIEWED, RequestStatus.IN_PROGRESS, 17),
        ("The tide tables are on the board", RequestStatus.COMPLETED, 15),
    ],
)
def test_a_post_is_scored_with_few_statements_and_one_lock(
    wiring: Wiring, cast: Cast, text: str, status: RequestStatus, most: int
) -> None:
    Scorer(wiring).score(factories.submit(wiring, cast, text, "first"))
    request_id = factories.submit(wiring, cast, text, "second")
    with counted(wiring) as statements:
        Scorer(wiring).score(request_id)
    assert len(statements) <= most, "\n".join(statements)
    assert sum("pg_advisory" in one for one in statements) <= 1
    with wiring.database.reading() as session:
        request = session.get_one(Request, request_id)
        assert request.status is status
        assert request.scored_at is not None
        entries = session.scalars(
            sa.select(HistoryEntry.what)
            .where(HistoryEntry.object_id == request_id)
            .order_by(HistoryEntry.number)
        ).all()
        expected = [f"request.{status.value.lower()}"]
        assert entries == expected + (["request.decided"] if text == factories.SPAM else [])
        assert history.verify(session, cast.community_id)[1] is None


@contextmanager
def changed_meanwhile(wiring: Wiring, score: Callable[[], None]) -> Iterator[Session]:
    """A transaction that changes something of the community while ``score`` waits for its lock in a thread."""
    thread = threading.Thread(target=score)
    with wiring.database.writing() as session:
        yield session
        thread.start()
        _wait_until_somebody_waits(wiring)
    thread.join(120)
    assert not thread.is_alive()


def _wait_until_somebody_waits(wiring: Wiring) -> None:
    waiting = sa.text("SELECT count(*) FROM pg_locks WHERE NOT granted")
    end = time.monotonic() + 120
    while time.monotonic() < end:
        with wiring.database.reading() as session:
            if session.get_bind().dialect.name == "sqlite":
                return  # a waiting writer cannot be seen; what it reads is as new either way
            if session.scalar(waiting):
                return
        time.sleep(0.01)
    raise AssertionError("nobody waits for the community")


def test_a_pause_and_new_thresholds_count_for_posts_that_wait_for_the_lock(
    wiring: Wiring, cast: Cast
) -> None:
    with wiring.database.reading() as session:
        operator = accounts.actor_for(
            accounts.get(session, cast.operator.account_id), cast.operator.profile_id
        )
    paused = factories.submit(wiring, cast, factories.SPAM, "paused")
    with changed_meanwhile(wiring, partial(Scorer(wiring).score, paused)) as session:
        community_revisions.pause(session, operator, cast.community_id, "A rule went wild")
    with wiring.database.writing() as session:
        community_revisions.resume(session, operator, cast.community_id, "Mended")
    raised = factories.submit(wiring, cast, factories.REVIEWED, "raised")
    with changed_meanwhile(wiring, partial(Scorer(wiring).score, raised)) as session:
        threshold_sets.set_category(
            session, operator, cast.community_id, CategoryDraft("toxicity", 0.99), "Less"
        )
    with wiring.database.reading() as session:
        (action,) = session.scalars(sa.select(Action)).all()
        assert (action.request_id, action.action_state) == (paused, ActionState.UNDER_REVIEW)
        assert session.get_one(Request, raised).status is RequestStatus.COMPLETED
        assert session.scalars(sa.select(Decision)).all() == []
        assert history.verify(session, cast.community_id)[1] is None


def test_a_post_that_is_scored_twice_at_once_or_withdrawn_meanwhile_is_acted_on_once_or_never(
    wiring: Wiring, cast: Cast
) -> None:
    twice = factories.submit(wiring, cast, factories.SPAM, "twice")
    threads = [threading.Thread(target=Scorer(wiring).score, args=(twice,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    gone = factories.submit(wiring, cast, factories.SPAM, "gone")
    with changed_meanwhile(wiring, partial(Scorer(wiring).score, gone)) as session:
        submitting.withdraw(session, factories.integration(cast), session.get_one(Request, gone))
    with wiring.database.reading() as session:
        (action,) = session.scalars(sa.select(Action)).all()
        (decision,) = session.scalars(sa.select(Decision)).all()
        assert {action.request_id, decision.request_id} == {twice}
        assert session.scalar(sa.select(sa.func.count()).where(Score.request_id == gone)) == 0
        assert history.verify(session, cast.community_id)[1] is None
