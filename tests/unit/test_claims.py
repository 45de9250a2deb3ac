"""A claim holds others off, and a colleague who takes it over has to say so (docs/moderate/moderator.md)."""

import uuid
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.errors import Conflict, Forbidden
from app.core.history import notices
from app.core.history.reason import Reason
from app.core.models import Action, HistoryEntry, Hold, OverturnItem
from app.core.paging import Slice
from app.core.permissions import Actor
from app.core.review import claims, holds, overturns, queue, verbs
from app.core.review.overturn_search import Criteria
from app.core.review.queue_filters import QueueFilter
from app.core.vocabulary import ActionState, ActionVerb
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.clocks import advance
from tests.factories import actor_of
from tests.inline_engine import InlineEngine

pytestmark = pytest.mark.both_databases


def claim(wiring: Wiring, who: Actor, action_id: uuid.UUID) -> None:
    with wiring.database.writing() as session:
        claims.claim(session, who, session.get_one(Action, action_id))


def hold(wiring: Wiring, who: Actor, action_id: uuid.UUID, verb: ActionVerb = ActionVerb.DISMISS) -> Hold:
    with wiring.database.writing() as session:
        return holds.hold(
            session, who, verb, action=session.get_one(Action, action_id), reason=Reason("Banter")
        )


def test_somebody_elses_claim_refuses_a_decision_and_names_them(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    sam, max_ = actor_of(wiring, cast.operator), actor_of(wiring, cast.moderator)
    claim(wiring, sam, action_id)
    with pytest.raises(Conflict, match="Claimed by Operator, for 10 min at most"):
        hold(wiring, max_, action_id)
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Hold)).all() == []
    assert hold(wiring, sam, action_id).account_id == sam.account_id


@pytest.mark.parametrize("how", ["released", "over"])
def test_a_claim_that_has_ended_refuses_nothing(wiring: Wiring, cast: Cast, how: str) -> None:
    action_id = factories.scored_action(wiring, cast)
    sam = actor_of(wiring, cast.operator)
    claim(wiring, sam, action_id)
    if how == "over":
        advance(10 * 60 + 1)
    else:
        with wiring.database.writing() as session:
            claims.release(session, sam, session.get_one(Action, action_id))
    assert hold(wiring, actor_of(wiring, cast.moderator), action_id).verb is ActionVerb.DISMISS


def test_neither_the_api_nor_the_ratings_of_members_wait_for_a_claim(wiring: Wiring, cast: Cast) -> None:
    by_key, by_members = (
        factories.scored_action(wiring, cast),
        factories.scored_action(wiring, cast, request_id="post-2"),
    )
    for one in (by_key, by_members):
        claim(wiring, actor_of(wiring, cast.operator), one)
    with wiring.database.writing() as session:
        action = session.get_one(Action, by_key)
        verbs.change_action(
            session, factories.integration(cast), action, ActionState.DISMISSED, reason=Reason("Banter")
        )
    factories.rate(wiring, cast, by_members, "NNNNN")
    with wiring.database.reading() as session:
        states = {session.get_one(Action, one).action_state for one in (by_key, by_members)}
    assert states == {ActionState.DISMISSED}


def test_taking_over_moves_the_claim_and_tells_who_lost_it(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    sam, max_ = actor_of(wiring, cast.operator), actor_of(wiring, cast.moderator)
    claim(wiring, sam, action_id)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        assert claims.take_over(session, max_, action) == "Operator"
        assert action.claimed_by_id == max_.account_id
        lost = claims.lost(session, sam, action)
        assert lost is not None
        assert lost.text.actor_name == "Moderator"
        assert claims.lost(session, max_, action) is None
    with wiring.database.reading() as session:
        (told,) = notices.list_for(session, sam, Slice(size=5)).rows
        assert (told.entry.what, told.notice.action_id) == ("claim.taken_over", action_id)
        assert notices.unread(session, max_) == 0
    with pytest.raises(Conflict, match="Claimed by Moderator"):
        hold(wiring, sam, action_id)
    hold(wiring, max_, action_id)


def test_taking_over_what_nobody_holds_is_a_claim(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    max_, rater = actor_of(wiring, cast.moderator), actor_of(wiring, cast.rater)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        assert claims.take_over(session, max_, action) is None
        assert action.claimed_by_id == max_.account_id
        with pytest.raises(Forbidden):
            claims.take_over(session, rater, action)
    with wiring.database.reading() as session:
        assert "claim.taken_over" not in set(session.scalars(sa.select(HistoryEntry.what)))


def test_overturning_in_bulk_leaves_out_what_a_colleague_has_claimed_and_says_so(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    free = factories.scored_action(wiring, cast, factories.SPAM)
    taken = factories.scored_action(wiring, cast, f"{factories.SPAM} 2", "post-2")
    claim(wiring, actor_of(wiring, cast.moderator), taken)
    operator = actor_of(wiring, cast.operator)
    with wiring.database.writing() as session:
        since = session.get_one(Action, free).created_at
        begun = overturns.begin(
            session, operator, cast.community_id, Criteria(since=since, category="spam"), "A bad rule"
        )
    jobs.run_all()
    with wiring.database.reading() as session:
        assert session.get_one(Action, free).action_state is ActionState.DISMISSED
        assert session.get_one(Action, taken).action_state is ActionState.PROPOSED
        why = session.scalars(sa.select(OverturnItem.why).where(OverturnItem.action_id == taken)).one()
        assert "Claimed by Moderator" in why
        assert overturns.get(session, operator, begun.id).failed == 1


def test_a_search_for_a_whole_id_never_leads_to_another_post(wiring: Wiring, cast: Cast) -> None:
    named = factories.scored_action(wiring, cast, request_id="post-1")
    factories.scored_action(wiring, cast, f"{factories.REVIEWED} Like post-1.", "post-2")
    max_, wanted = actor_of(wiring, cast.moderator), QueueFilter(search="post-1")
    with wiring.database.writing() as session:
        action = session.get_one(Action, named)
        assert [one.id for one in claims.free(session, max_, cast.community_id, wanted, limit=9)] == [named]
        assert queue.neighbours(session, max_, action, wanted) == (None, None)
        assert (
            queue.newer_than(session, max_, cast.community_id, action.created_at - timedelta(days=1), wanted)
            == 1
        )
        assert claims.claim_next(session, max_, cast.community_id, wanted, after=action) is None
        first = claims.claim_next(session, max_, cast.community_id, wanted)
        assert first is not None
        assert first.id == named
