"""Content that a community no longer keeps goes, and nothing that was decided goes with it."""

from concurrent.futures import ThreadPoolExecutor, wait
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from app.adapters.builtin_notes import BuiltinWriter
from app.core import clock
from app.core.actions import exemptions
from app.core.history import chain as history
from app.core.history import marks
from app.core.models import (
    Action,
    Attempt,
    Community,
    Decision,
    Delivery,
    Event,
    HistoryEntry,
    NoteDraft,
    Request,
    RetentionMark,
    Score,
    Webhook,
)
from app.core.notes import ai_notes
from app.core.permissions import SYSTEM, Actor
from app.core.requests import submitting
from app.core.upkeep import erasure, pruning
from app.core.vocabulary import DeliveryState, EventName, Role
from app.jobs import upkeep
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast

PEAR = "A pear tree grows by the pond."


@pytest.fixture
def later() -> object:
    """The clock, put 31 days ahead for what follows."""
    yield lambda: clock.set_source(lambda: clock._system() + timedelta(days=31))
    clock.set_source(None)


def _settings(wiring: Wiring, cast: Cast, days: object) -> None:
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {"content_retention_days": days}


def test_decided_content_goes_after_its_days_and_the_decision_stays(
    wiring: Wiring, cast: Cast, client: FlaskClient, later: object
) -> None:
    spam = factories.submit(wiring, cast, factories.SPAM, "spam")
    clean = factories.submit(wiring, cast, PEAR, "clean")
    review = factories.submit(wiring, cast, factories.REVIEWED, "review")
    wiring.jobs.run_all()  # type: ignore[union-attr]
    waiting = factories.submit(wiring, cast, request_id="waiting")
    with wiring.database.writing() as session:
        action = session.scalars(sa.select(Action).where(Action.request_id == spam)).one()
        action.action_state = "applied"  # as the platform says
        decided = session.scalars(sa.select(Decision)).all()
    later()  # type: ignore[operator]
    _settings(wiring, cast, None)
    upkeep.remove_content(wiring)
    _settings(wiring, cast, 30)
    fresh = factories.submit(wiring, cast, "A fresh word", "fresh")
    wiring.jobs.run_all()  # type: ignore[union-attr]
    for _ in range(2):
        upkeep.remove_content(wiring)
    with wiring.database.reading() as session:
        texts = {one.id: one.content for one in session.scalars(sa.select(Request))}
        assert texts == {
            spam: "Removed after 30 days",
            clean: "Removed after 30 days",
            review: factories.REVIEWED,
            waiting: factories.REVIEWED,
            fresh: "A fresh word",
        }
        request = session.get_one(Request, spam)
        assert request.platform_author_id is None
        assert request.content_sha256 == exemptions.digest(factories.SPAM)
        action = session.scalars(sa.select(Action).where(Action.request_id == spam)).one()
        assert action.evidence is not None
        matches = action.evidence["details"]["matches"]
        assert matches
        assert [one for one in matches if "start" in one or "end" in one] == []
        for score in session.scalars(sa.select(Score).where(Score.request_id == spam)):
            assert not any("start" in match for match in score.matches)
        assert len(session.scalars(sa.select(Decision)).all()) >= len(decided)
        told = session.scalars(sa.select(HistoryEntry).where(HistoryEntry.what == "content.removed")).all()
        assert [one.after["days"] for one in told] == [30]
        assert history.verify(session, cast.community_id)[1] is None
    answer = client.get(f"/api/public/v1/requests/{spam}", headers=cast.headers).get_json()
    attributes = answer["data"]["attributes"]
    assert attributes["content"] is None
    assert attributes["decision"] == "hide"
    with wiring.database.writing() as session:
        again = submitting.Submission("spam", "author-1", factories.SPAM)
        receipt = submitting.submit(session, factories.integration(cast), cast.community_id, again)
        assert (receipt.new, receipt.content_differs) == (False, False)


def test_a_moderators_draft_goes_with_the_content_and_with_the_account(
    wiring: Wiring, cast: Cast, later: object
) -> None:
    requests = [factories.submit(wiring, cast, PEAR, f"post-{number}") for number in (1, 2)]
    wiring.jobs.run_all()  # type: ignore[union-attr]

    def drafts() -> list[object]:
        with wiring.database.reading() as session:
            return list(session.scalars(sa.select(NoteDraft.request_id)))

    moderator = Actor(
        "account",
        "Mo",
        account_id=cast.moderator.account_id,
        roles={cast.community_id: Role.MODERATOR},
        communities=frozenset({cast.community_id}),
    )
    with wiring.database.writing() as session:
        for request_id in requests:
            request = session.get_one(Request, request_id)
            post, item = ai_notes.prepare_draft(session, moderator, request)
            ai_notes.keep_draft(session, moderator, request, BuiltinWriter().write(post, item), item)
        session.get_one(Request, requests[1]).requested_at += timedelta(days=60)
    assert len(drafts()) == 2
    later()  # type: ignore[operator]
    _settings(wiring, cast, 30)
    upkeep.remove_content(wiring)
    assert drafts() == [requests[1]]
    with wiring.database.writing() as session:
        erasure.erase_account(session, SYSTEM, cast.moderator.account_id)
    assert drafts() == []


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_delivery_that_is_being_sent_again_is_not_removed(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        hook = Webhook(community_id=cast.community_id, url="https://forum.example.org/", secret=b"sealed")
        event = Event(community_id=cast.community_id, name=EventName.DECISION, payload={})
        session.add_all([hook, event])
        session.flush()
        dead = Delivery(
            event_id=event.id,
            webhook_id=hook.id,
            community_id=cast.community_id,
            state=DeliveryState.DEAD,
            due_at=None,
        )
        session.add(dead)
        session.flush()
        session.add(Attempt(delivery_id=dead.id, at=clock.now(), status=500, milliseconds=3))
    later = clock.now() + timedelta(days=1)
    with wiring.database.engine.begin() as operator:
        operator.execute(sa.update(Delivery).where(Delivery.id == dead.id).values(state=DeliveryState.DUE))
        with wiring.database.writing() as session:
            session.execute(sa.text("SET LOCAL lock_timeout = '2s'"))
            assert pruning.prune_deliveries(session, cast.community_id, later) == 0
    with wiring.database.writing() as session:
        assert pruning.prune_deliveries(session, cast.community_id, later) == 0
        assert session.scalars(sa.select(Attempt.delivery_id)).all() == [dead.id]
        session.execute(sa.update(Delivery).values(state=DeliveryState.DEAD))
        assert pruning.prune_deliveries(session, cast.community_id, later) == 1


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_two_processes_may_note_something_of_a_history_for_the_first_time(wiring: Wiring, cast: Cast) -> None:
    def note() -> int:
        with wiring.database.writing() as session:
            return marks.mark(session, cast.community_id).verified_number

    first = {"community_id": cast.community_id, "history_hash": "a" * 64, "verified_hash": "b" * 64}
    with ThreadPoolExecutor(1) as pool:
        with wiring.database.engine.begin() as other:
            row = first | {"history_number": 0, "verified_number": 7}
            other.execute(sa.insert(RetentionMark), [row])
            noted = pool.submit(note)
            assert not wait([noted], 0.1).done, "it waits for the other"
        assert noted.result(5) == 7
