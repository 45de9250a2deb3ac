"""Fifty people rate one note at once: each rating is stored and counted once, and decides once."""

import uuid
from contextlib import suppress
from datetime import timedelta
from functools import partial

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.errors import Settled
from app.core.helpfulness import note_scores
from app.core.history import chain as history
from app.core.models import (
    Action,
    Decision,
    HistoryEntry,
    Note,
    NoteSums,
    Panel,
    Profile,
    RaterDay,
    Rating,
    ScoringState,
)
from app.core.vocabulary import ActionState, NoteStatus, PanelOutcome, ReviewGroup, SeatState
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.panels import answer, reviewed, seated, set_up, settle_in, state_of
from tests.racing import at_once

pytestmark = pytest.mark.both_databases
RATERS = 50


def check(wiring: Wiring, cast: Cast, action_id: uuid.UUID, raters: int) -> None:
    """What is kept of the ratings is what they say: counts, sums, days, the ratings since the last fit, history."""
    with wiring.database.reading() as session:
        note_id = session.get_one(Action, action_id).note_id
        note = session.get_one(Note, note_id)
        given = session.scalars(sa.select(Rating).where(Rating.note_id == note.id)).all()
        fit = note_scores.in_force(session, cast.community_id)
        (computed,) = note_scores.rows_from_ratings(session, fit, [note.id])
        kept = session.get_one(NoteSums, (cast.community_id, fit.version, note.id))
        assert len(given) == len({rating.rater_id for rating in given}) == raters
        assert (note.ratings_count, note.rating_changes) == (raters, raters)
        assert (kept.rating_changes, kept.sums) == (raters, computed["sums"])
        assert session.get_one(ScoringState, cast.community_id).ratings_since >= raters
        days = session.scalars(sa.select(RaterDay.rater_id)).all()
        assert {rating.rater_id for rating in given} <= set(days)
        entries = session.scalars(
            sa.select(HistoryEntry.object_id).where(HistoryEntry.what == "rating.given")
        )
        assert {rating.id for rating in given} <= set(entries)
        assert history.verify(session, cast.community_id)[1] is None


def decisions(wiring: Wiring, action_id: uuid.UUID) -> int:
    with wiring.database.reading() as session:
        return session.scalar(sa.select(sa.func.count()).where(Decision.action_id == action_id)) or 0


def test_fifty_who_agree_decide_a_review_once(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    at_once(*(partial(factories.rate, wiring, cast, action_id, "H", first=n) for n in range(RATERS)))
    check(wiring, cast, action_id, RATERS)
    assert state_of(wiring, action_id)[0] is ActionState.PROPOSED
    assert decisions(wiring, action_id) == 1
    with wiring.database.reading() as session:
        note = session.get_one(Note, session.get_one(Action, action_id).note_id)
        assert note.status is NoteStatus.CURRENTLY_RATED_HELPFUL


def test_fifty_new_raters_send_a_review_to_staff_once(wiring: Wiring, cast: Cast) -> None:
    earlier = factories.scored_action(wiring, cast, request_id="earlier")
    factories.rate(wiring, cast, earlier, "HN" * 10)
    with wiring.database.writing() as session:
        session.execute(sa.update(Profile).values(created_at=clock.now() - timedelta(days=30)))
    action_id = factories.scored_action(wiring, cast)
    at_once(*(partial(factories.rate, wiring, cast, action_id, "H", first=100 + n) for n in range(RATERS)))
    check(wiring, cast, action_id, RATERS)
    assert state_of(wiring, action_id) == (ActionState.UNDER_REVIEW, ReviewGroup.STAFF)
    assert decisions(wiring, action_id) == 0
    with wiring.database.reading() as session:
        escalated = HistoryEntry.what == "action.escalated"
        entries = session.scalars(
            sa.select(HistoryEntry).where(HistoryEntry.object_id == action_id, escalated)
        )
        assert len(entries.all()) == 1


def test_a_panel_counts_its_seats_alone_while_all_others_rate_too(wiring: Wiring, cast: Cast) -> None:
    people = settle_in(wiring, cast, RATERS)
    set_up(wiring, cast, who_decides="panel")
    action_id, note_id = reviewed(wiring, cast)
    drawn = seated(wiring, action_id)

    def rate(person: uuid.UUID) -> None:
        with suppress(Settled):  # those who come after the decision
            answer(wiring, cast, note_id, [person], "H" if person in drawn else "N")

    at_once(*(partial(rate, person) for person in people))
    assert state_of(wiring, action_id)[0] is ActionState.PROPOSED
    assert decisions(wiring, action_id) == 1
    with wiring.database.reading() as session:
        panel = session.scalars(sa.select(Panel).where(Panel.action_id == action_id)).one()
        assert (panel.outcome, panel.answered, panel.helpful) == (PanelOutcome.DECIDED, 7, 7)
        raters = session.scalar(sa.select(sa.func.count()).where(Rating.note_id == note_id)) or 0
    assert raters >= 7
    assert len(seated(wiring, action_id, SeatState.ANSWERED)) == 7
    assert len(seated(wiring, action_id, SeatState.CLOSED)) == 5
    check(wiring, cast, action_id, raters)
