"""Items are given to a colleague or put aside; nobody else is sent to them meanwhile."""

import uuid
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.errors import Conflict, Invalid
from app.core.history import notices
from app.core.history.reason import NO_REASON, Reason
from app.core.models import Action, Membership
from app.core.paging import Slice
from app.core.people import members
from app.core.permissions import SYSTEM, Actor
from app.core.review import assignments, claims, conditions, desk, queue
from app.core.review.queue_filters import QueueFilter
from app.core.vocabulary import Role
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.clocks import advance
from tests.factories import actor_of
from tests.unit.test_claims import claim, hold

pytestmark = pytest.mark.both_databases


def found(wiring: Wiring, who: Actor, community_id: uuid.UUID, filters: QueueFilter) -> list[uuid.UUID]:
    with wiring.database.reading() as session:
        return [item.action.id for item in queue.queue(session, who, community_id, filters, size=9).items]


def test_an_assigned_item_waits_for_its_assignee_who_is_told(wiring: Wiring, cast: Cast) -> None:
    one, other = factories.scored_action(wiring, cast), factories.scored_action(wiring, cast, request_id="p2")
    max_, olga = actor_of(wiring, cast.moderator), actor_of(wiring, cast.operator)
    claim(wiring, max_, one)
    with wiring.database.writing() as session:
        action = session.get_one(Action, one)
        with pytest.raises(Invalid):
            assignments.assign(session, max_, action, cast.rater.account_id, reason=NO_REASON)
        name = assignments.assign(session, max_, action, olga.account_id, reason=Reason("You know the law"))
        assert (name, action.claimed_by_id) == ("Operator", None)
        (told,) = notices.list_for(session, olga, Slice(size=5)).rows
        assert (told.entry.what, told.text.reason) == (assignments.ASSIGNED, "You know the law")
        (row,) = queue.items(session, max_, cast.community_id, [one])
        assert row.assignee == "Operator"
    with wiring.database.writing() as session:
        following = claims.claim_next(session, max_, cast.community_id, QueueFilter())
        assert following is not None
        assert following.id == other
        assert claims.claim_next(session, max_, cast.community_id, QueueFilter(), after=following) is None
        theirs = claims.claim_next(session, olga, cast.community_id, QueueFilter())
        assert theirs is not None
        assert theirs.id == one
    mine = QueueFilter(claimed_by="me")
    assert found(wiring, olga, cast.community_id, mine) == [one]
    assert found(wiring, max_, cast.community_id, QueueFilter(claimed_by=str(olga.account_id))) == [one]
    assert found(wiring, max_, cast.community_id, QueueFilter(claimed_by="nobody")) == []


def _leave(wiring: Wiring, cast: Cast, how: str) -> None:
    with wiring.database.writing() as session:
        membership_id = session.scalars(
            sa.select(Membership.id).where(Membership.account_id == cast.moderator.account_id)
        ).one()
        if how == "removed":
            members.remove(session, SYSTEM, membership_id, "Left the team")
        elif how == "demoted":
            members.change_role(session, SYSTEM, membership_id, Role.RATER, "Left the team")
        elif how == "promoted":
            members.change_role(session, SYSTEM, membership_id, Role.OPERATOR, "More to do")
        else:
            members.set_disabled(session, SYSTEM, cast.moderator.account_id, True, "Left the team")


def _next(wiring: Wiring, cast: Cast) -> set[uuid.UUID]:
    """The ids of two items that "Review next" gives to the operator; fewer when there are fewer."""
    olga, found = actor_of(wiring, cast.operator), set()
    with wiring.database.writing() as session:
        first = claims.claim_next(session, olga, cast.community_id, QueueFilter())
        second = claims.claim_next(session, olga, cast.community_id, QueueFilter(), after=first)
        found |= {action.id for action in (first, second) if action is not None}
    return found


@pytest.mark.parametrize("how", ["removed", "demoted", "disabled"])
def test_who_leaves_lets_go_of_what_they_hold_and_are_to_decide(wiring: Wiring, cast: Cast, how: str) -> None:
    held, assigned = (factories.scored_action(wiring, cast, request_id=name) for name in ("p1", "p2"))
    max_ = actor_of(wiring, cast.moderator)
    claim(wiring, max_, held)
    with wiring.database.writing() as session:
        assignments.assign(
            session, max_, session.get_one(Action, assigned), max_.account_id, reason=NO_REASON
        )
    version = _version(wiring, assigned)
    _leave(wiring, cast, how)
    assert _next(wiring, cast) == {held, assigned}
    assert _version(wiring, assigned) == version, "a form of a colleague's page is still taken"


def test_who_gets_more_rights_keeps_what_they_hold_and_are_to_decide(wiring: Wiring, cast: Cast) -> None:
    held, assigned = (factories.scored_action(wiring, cast, request_id=name) for name in ("p1", "p2"))
    max_ = actor_of(wiring, cast.moderator)
    claim(wiring, max_, held)
    with wiring.database.writing() as session:
        assignments.assign(
            session, max_, session.get_one(Action, assigned), max_.account_id, reason=NO_REASON
        )
    _leave(wiring, cast, "promoted")
    assert _next(wiring, cast) == set()


def _version(wiring: Wiring, action_id: uuid.UUID) -> int:
    with wiring.database.reading() as session:
        return session.get_one(Action, action_id).version


def test_an_item_that_is_put_aside_returns_by_itself(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    max_ = actor_of(wiring, cast.moderator)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        with pytest.raises(Invalid):
            assignments.snooze(session, max_, action, timedelta(days=300))
        assignments.snooze(session, max_, action, timedelta(hours=1))
    everything, asleep = QueueFilter(), QueueFilter(snoozed=True)
    assert found(wiring, max_, cast.community_id, everything) == []
    assert found(wiring, max_, cast.community_id, asleep) == [action_id]
    with wiring.database.reading() as session:
        assert conditions.open_counts(session, max_, cast.community_id).review == 0
    advance(3601)
    assert found(wiring, max_, cast.community_id, everything) == [action_id]
    assert found(wiring, max_, cast.community_id, asleep) == []


def test_what_a_colleague_holds_is_neither_assigned_nor_put_aside(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    max_, olga = actor_of(wiring, cast.moderator), actor_of(wiring, cast.operator)
    claim(wiring, olga, action_id)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        with pytest.raises(Conflict):
            assignments.assign(session, max_, action, max_.account_id, reason=NO_REASON)
        with pytest.raises(Conflict):
            assignments.snooze(session, max_, action, timedelta(hours=1))


def test_what_is_being_decided_or_changed_is_not_given_away_put_aside_or_escalated(
    wiring: Wiring, cast: Cast
) -> None:
    max_, olga = actor_of(wiring, cast.moderator), actor_of(wiring, cast.operator)
    changed, decided = (
        factories.scored_action(wiring, cast),
        factories.scored_action(wiring, cast, request_id="p2"),
    )
    hold(wiring, olga, decided)
    for action_id, version, why in ((changed, 0, "Changed"), (decided, 1, "Operator is deciding this")):
        with wiring.database.writing() as session:
            action = session.get_one(Action, action_id)
            with pytest.raises(Conflict, match=why):
                assignments.assign(session, max_, action, olga.account_id, reason=NO_REASON, version=version)
            with pytest.raises(Conflict, match=why):
                assignments.snooze(session, max_, action, timedelta(hours=1), version=version)
            with pytest.raises(Conflict, match=why):
                assignments.escalate(session, max_, action, reason=Reason("Legal?"), version=version)
            assert (action.assigned_to_id, action.snoozed_until) == (None, None)


def test_stopping_for_today_releases_all_claims_and_the_desk_counts_what_is_left(
    wiring: Wiring, cast: Cast
) -> None:
    ids = [factories.scored_action(wiring, cast, request_id=f"post-{number}") for number in range(3)]
    max_, olga = actor_of(wiring, cast.moderator), actor_of(wiring, cast.operator)
    for action_id in ids[:2]:
        claim(wiring, max_, action_id)
    claim(wiring, olga, ids[2])
    with wiring.database.reading() as session:
        mine = desk.read(session, max_, cast.community_id)
    assert (mine.mine, mine.unclaimed, mine.overdue, mine.overturned) == (2, 0, 0, 0)
    assert {item.action.id for item in mine.my_items} == set(ids[:2])
    with wiring.database.writing() as session:
        assert claims.release_all(session, max_) == 2
        assert claims.release_all(session, max_) == 0
        late = session.get_one(Action, ids[0])
        late.due_at = late.created_at
    advance(60)
    with wiring.database.reading() as session:
        mine = desk.read(session, max_, cast.community_id)
    assert (mine.mine, mine.unclaimed, mine.overdue) == (0, 2, 1)
    assert [item.action.id for item in mine.overdue_items] == [ids[0]]
