"""Looks at an item, in the rows of sessions: of the others, newest only, and only for a while."""

import uuid

import pytest
import sqlalchemy as sa

from app.core.errors import Forbidden, NotFound
from app.core.models import Account, Action, SignIn
from app.core.people import sessions
from app.core.permissions import Actor
from app.core.review import looking
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast, Person
from tests.clocks import advance
from tests.factories import actor_of

pytestmark = pytest.mark.both_databases


def look(wiring: Wiring, person: Person, action_id: uuid.UUID) -> uuid.UUID:
    """Look at the item in a new browser; return its session's id."""
    with wiring.database.writing() as session:
        sessions.begin(session, session.get_one(Account, person.account_id), "A browser")
        sign_in = session.scalars(
            sa.select(SignIn).where(SignIn.account_id == person.account_id).order_by(SignIn.id.desc())
        ).first()
        assert sign_in is not None
        looking.mark(session, sign_in, action_id)
        return sign_in.id


def names(wiring: Wiring, who: Actor, action_id: uuid.UUID) -> list[str]:
    with wiring.database.reading() as session:
        return list(looking.names(session, who, session.get_one(Action, action_id)))


def test_each_colleague_is_named_once_by_name_and_for_half_a_minute(wiring: Wiring, cast: Cast) -> None:
    action_id, max_ = factories.scored_action(wiring, cast), actor_of(wiring, cast.moderator)
    for person in (cast.operator, cast.operator, cast.admin, cast.moderator):
        look(wiring, person, action_id)
    assert names(wiring, max_, action_id) == ["Admin", "Operator"]
    assert names(wiring, actor_of(wiring, cast.admin), action_id) == ["Moderator", "Operator"]
    advance(31)
    assert names(wiring, max_, action_id) == []


def test_an_ended_session_looks_at_nothing(wiring: Wiring, cast: Cast) -> None:
    action_id, max_ = factories.scored_action(wiring, cast), actor_of(wiring, cast.moderator)
    assert cast.operator.account_id is not None
    sign_in_id = look(wiring, cast.operator, action_id)
    with wiring.database.writing() as session:
        sessions.end_one(session, cast.operator.account_id, sign_in_id)
    assert names(wiring, max_, action_id) == []


def test_raters_and_people_of_other_communities_are_refused(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    with pytest.raises(Forbidden):
        names(wiring, actor_of(wiring, cast.rater), action_id)
    with pytest.raises(NotFound):
        names(wiring, actor_of(wiring, cast.outsider), action_id)
