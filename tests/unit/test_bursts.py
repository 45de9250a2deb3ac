"""A burst of new raters on one item is for moderators (docs/develop/consensus.md)."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.actions import acknowledgements, actions
from app.core.history.reason import NO_REASON
from app.core.models import Action, Community, Decision, HistoryEntry, Note, Profile, Rating
from app.core.panels import doubts
from app.core.permissions import SYSTEM
from app.core.vocabulary import ActionState, ReviewGroup
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.panels import state_of

KNOWN = 20
"""Raters that a community needs before a burst can be told: the default of ``burst_known``."""


def age(wiring: Wiring, **by: float) -> None:
    """Everybody who is known has been known for so much longer."""
    with wiring.database.writing() as session:
        for profile in session.scalars(sa.select(Profile)):
            profile.created_at -= timedelta(**by)
        for rating in session.scalars(sa.select(Rating)):
            rating.created_at -= timedelta(**by)


@pytest.fixture
def old_community(wiring: Wiring, cast: Cast) -> None:
    """Twenty raters, ``rater-0`` to ``rater-19``, who rated something long ago."""
    earlier = factories.scored_action(wiring, cast, request_id="earlier")
    factories.rate(wiring, cast, earlier, "HN" * (KNOWN // 2))
    age(wiring, days=30)


def burst_on(wiring: Wiring, action_id: uuid.UUID) -> doubts.Burst | None:
    with wiring.database.reading() as session:
        action = session.get_one(Action, action_id)
        return doubts.suspicious(session, action, session.get_one(Note, action.note_id))


def test_new_raters_who_would_decide_send_the_review_to_staff_instead(
    wiring: Wiring, cast: Cast, old_community: None
) -> None:
    action_id = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, action_id, "HHHHH", first=100)
    assert state_of(wiring, action_id) == (ActionState.UNDER_REVIEW, ReviewGroup.STAFF)
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Decision).where(Decision.action_id == action_id)).first() is None
        entry = session.scalars(
            sa.select(HistoryEntry).where(
                HistoryEntry.object_id == action_id, HistoryEntry.what == "action.escalated"
            )
        ).one()
    assert entry.actor_kind == "system"
    assert "5 of the 5 ratings of the last 60 minutes" in entry.cause
    # Staff decides it: neither more ratings nor the end of the burst do.
    age(wiring, days=2)
    factories.rate(wiring, cast, action_id, "HHHHH")
    assert state_of(wiring, action_id) == (ActionState.UNDER_REVIEW, ReviewGroup.STAFF)


def test_known_raters_decide_as_ever_even_with_some_new_ones_among_them(
    wiring: Wiring, cast: Cast, old_community: None
) -> None:
    action_id = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, action_id, "HH", first=100)
    factories.rate(wiring, cast, action_id, "HHH")
    assert state_of(wiring, action_id)[0] is ActionState.PROPOSED


def test_where_everybody_is_new_nothing_is_a_burst(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, action_id, "HHHHH")
    assert state_of(wiring, action_id)[0] is ActionState.PROPOSED


def test_a_second_look_is_not_ended_by_a_burst_either(
    wiring: Wiring, cast: Cast, old_community: None
) -> None:
    action_id = factories.scored_action(wiring, cast, factories.SPAM)
    with wiring.database.writing() as session:
        acknowledgements.acknowledge(session, factories.integration(cast), session.get_one(Action, action_id))
    factories.rate(wiring, cast, action_id, "NNNNNN", first=100)
    assert state_of(wiring, action_id) == (ActionState.RETRO_REVIEW, ReviewGroup.STAFF)


SETTINGS: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"burst_raters": 4}, False),  # three are no burst
    ({"burst_share": 1.0}, False),  # never
    ({"burst_known": KNOWN + 1}, False),  # too few are known for longer
    ({"burst_share": "many", "burst_raters": True}, True),  # what cannot be read is the default
]


def test_the_community_says_what_a_burst_is(wiring: Wiring, cast: Cast, old_community: None) -> None:
    action_id = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, action_id, "HHH", first=100)
    for said, is_burst in SETTINGS:
        with wiring.database.writing() as session:
            session.get_one(Community, cast.community_id).settings = said
        assert (burst_on(wiring, action_id) is not None) is is_burst, said


def test_only_the_last_minutes_and_the_new_raters_make_a_burst(
    wiring: Wiring, cast: Cast, old_community: None
) -> None:
    action_id = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, action_id, "HHH", first=100)
    found = burst_on(wiring, action_id)
    assert found is not None
    assert (found.newcomers, found.recent) == (3, 3)
    factories.rate(wiring, cast, action_id, "SSS")
    assert burst_on(wiring, action_id) is None, "half of them are not more than half"
    age(wiring, minutes=61)
    assert burst_on(wiring, action_id) is None, "an hour later"


def test_asking_costs_one_query_where_nothing_is_suspicious(
    wiring: Wiring, cast: Cast, old_community: None
) -> None:
    action_id = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, action_id, "HHHH")
    asked: list[str] = []
    with wiring.database.reading() as session:
        action = session.get_one(Action, action_id)
        note = session.get_one(Note, action.note_id)
        community = session.get_one(Community, cast.community_id)
        sa.event.listen(session.bind, "before_cursor_execute", lambda *args: asked.append(args[2]))
        assert doubts.suspicious(session, action, note) is None
        assert community in session
    assert len(asked) == 1


def test_what_is_staffs_already_is_never_decided_by_ratings(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    with wiring.database.writing() as session:
        actions.send_to_staff(session, SYSTEM, session.get_one(Action, action_id), reason=NO_REASON)
    factories.rate(wiring, cast, action_id, "HHHHH")
    assert state_of(wiring, action_id) == (ActionState.UNDER_REVIEW, ReviewGroup.STAFF)
