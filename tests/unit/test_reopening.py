"""A dismissal is taken up again: a new action on the same request, and never a second decision."""

import uuid
from datetime import timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import acknowledgements, actions
from app.core.errors import Conflict, Forbidden, Invalid
from app.core.history import chain as history
from app.core.history import notices
from app.core.history.reason import Reason
from app.core.models import Action, Decision, Event, HistoryEntry, Hold, Note, Notice, Request
from app.core.paging import Slice
from app.core.permissions import SYSTEM, Actor
from app.core.raters import run
from app.core.requests import reading, submitting
from app.core.review import holds, reopening, verbs
from app.core.thresholds import outcomes
from app.core.thresholds.outcomes import Outcome
from app.core.vocabulary import (
    ActionState,
    ActionTier,
    ActionVerb,
    EventName,
    NoteStatus,
    ReopenTo,
    RequestStatus,
    ReviewGroup,
    Role,
)
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast, Person
from tests.clocks import advance
from tests.factories import state_of
from tests.inline_engine import InlineEngine


def person(cast: Cast, who: Person, role: Role = Role.MODERATOR, name: str = "Mo") -> Actor:
    return Actor(
        kind="account",
        name=name,
        account_id=who.account_id,
        profile_id=who.profile_id,
        roles={cast.community_id: role},
        communities=frozenset({cast.community_id}),
    )


def dismissed(
    wiring: Wiring, cast: Cast, content: str = factories.REVIEWED, request_id: str = "post-1"
) -> uuid.UUID:
    """A post that a moderator dismissed; its action's id."""
    action_id = factories.scored_action(wiring, cast, content, request_id)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        moderator = person(cast, cast.moderator)
        verbs.change_action(session, moderator, action, ActionState.DISMISSED, reason=Reason("Banter"))
    return action_id


def reopened(wiring: Wiring, cast: Cast, action_id: uuid.UUID, to: ReopenTo) -> uuid.UUID:
    """Reopened by another moderator; the new action's id."""
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        return reopening.reopen(
            session, person(cast, cast.operator), action, to, reason=Reason("It was a threat")
        ).id


def names(wiring: Wiring) -> list[EventName]:
    with wiring.database.reading() as session:
        return list(session.scalars(sa.select(Event.name).order_by(Event.id)))


def refused(wiring: Wiring, cast: Cast, action_id: uuid.UUID) -> str:
    """Why nobody can reopen it; the verb and the button say the same."""
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        said = reopening.refusal(session, action, session.get_one(Request, action.request_id))
        with pytest.raises(Conflict) as told:
            reopening.reopen(
                session, person(cast, cast.operator), action, ReopenTo.ACT, reason=Reason("Because")
            )
    assert told.value.detail == said
    return told.value.detail


def test_acting_at_once_proposes_a_new_action_and_decides_nothing_twice(wiring: Wiring, cast: Cast) -> None:
    first = dismissed(wiring, cast)
    second = reopened(wiring, cast, first, ReopenTo.ACT)
    with wiring.database.reading() as session:
        old, new = session.get_one(Action, first), session.get_one(Action, second)
        assert (old.action_state, new.action_state) == (ActionState.DISMISSED, ActionState.PROPOSED)
        assert new.request_id == old.request_id
        assert new.action_tier is ActionTier.CONSENSUS
        assert (new.category, new.score, new.action_type) == (old.category, old.score, old.action_type)
        assert session.scalars(sa.select(Decision.decision)).all() == ["none"]
        assert session.scalars(sa.select(Request.status)).one() is RequestStatus.COMPLETED
        rationale = session.get_one(Note, new.note_id)
        assert (rationale.locked, rationale.force_published) == (True, True)
        assert session.get_one(Note, old.note_id).status is NoteStatus.CURRENTLY_RATED_NOT_HELPFUL
        proposed = session.scalars(actions.matching(SYSTEM, states=(ActionState.PROPOSED,))).all()
        assert [one.id for one in proposed] == [second], "an integration that polls finds it"
        told = session.scalars(sa.select(Event).where(Event.name == EventName.ACTION_CREATED)).one()
        assert told.payload["data"]["id"] == str(second)
        entry = session.scalars(sa.select(HistoryEntry).where(HistoryEntry.object_id == second)).one()
        assert entry.after == {"action_state": "proposed", "reopens": str(first)}
        assert history.verify(session, cast.community_id)[1] is None
    assert names(wiring).count(EventName.DECISION) == 1
    with wiring.database.writing() as session:
        acknowledgements.acknowledge(session, factories.integration(cast), session.get_one(Action, second))
    with wiring.database.writing() as session:
        action = session.get_one(Action, second)
        unhide = actions.overturn(
            session, person(cast, cast.operator), action, reason=Reason("A quotation after all")
        )
        assert unhide is not None
        acknowledgements.acknowledge(session, factories.integration(cast), unhide)
    assert state_of(wiring, second) is ActionState.SCAN_EXEMPT
    assert state_of(wiring, first) is ActionState.DISMISSED
    assert names(wiring).count(EventName.DECISION) == 1


def test_the_poll_for_decisions_presents_no_second_one(wiring: Wiring, cast: Cast) -> None:
    first = dismissed(wiring, cast)

    def polled() -> list[tuple[object, ...]]:
        with wiring.database.reading() as session:
            wanted = reading.matching(factories.integration(cast))
            since = clock.now() - timedelta(days=1)
            page = reading.decided(session, wanted, since, Slice(size=10))
            return [(row.decided_at, row.decision, row.action_id, row.note_status) for row in page.rows]

    before = polled()
    assert [(row[1], row[2]) for row in before] == [("none", first)]
    second = reopened(wiring, cast, first, ReopenTo.COMMUNITY)
    assert polled() == before
    factories.rate(wiring, cast, second, "HHHHH")
    assert state_of(wiring, second) is ActionState.PROPOSED
    assert polled() == before


def test_members_rate_it_again_whoever_rated_it_before(wiring: Wiring, cast: Cast) -> None:
    first = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, first, "NNNNN")
    assert state_of(wiring, first) is ActionState.DISMISSED
    second = reopened(wiring, cast, first, ReopenTo.COMMUNITY)
    with wiring.database.reading() as session:
        waiting = run.next_cards(session, SYSTEM, cast.community_id, cast.rater.profile_id, limit=20)
        assert [one.id for one in waiting] == [second]
        new = session.get_one(Action, second)
        assert (new.action_state, new.review_group) == (ActionState.UNDER_REVIEW, ReviewGroup.COMMUNITY)
        assert session.get_one(Note, new.note_id).ratings_count == 0, "former ratings do not count for it"
    factories.rate(wiring, cast, second, "HHHH")
    assert state_of(wiring, second) is ActionState.UNDER_REVIEW
    factories.rate(wiring, cast, second, "H", first=4)
    assert state_of(wiring, second) is ActionState.PROPOSED
    assert names(wiring).count(EventName.DECISION) == 1
    assert names(wiring).count(EventName.ACTION_CREATED) == 1
    with wiring.database.reading() as session:
        request_id = session.get_one(Action, first).request_id
        code = session.scalar(sa.select(outcomes.code_of_request(request_id)))
        assert outcomes.from_code(code) is Outcome.UPHELD, "what people made of it in the end"


def test_staff_review_is_not_offered_to_members(wiring: Wiring, cast: Cast) -> None:
    second = reopened(wiring, cast, dismissed(wiring, cast), ReopenTo.STAFF)
    with wiring.database.reading() as session:
        assert session.get_one(Action, second).review_group is ReviewGroup.STAFF
        assert run.next_cards(session, SYSTEM, cast.community_id, cast.rater.profile_id, limit=20) == []


def test_it_is_held_like_any_other_decision_and_undone_without_a_new_action(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    first = dismissed(wiring, cast)
    operator = person(cast, cast.operator, Role.OPERATOR)

    def held() -> Hold:
        with wiring.database.writing() as session:
            return holds.hold(
                session,
                operator,
                ActionVerb.REOPEN,
                action=session.get_one(Action, first),
                reason=Reason("It was a threat"),
                category="threat",
                reopen_to=ReopenTo.STAFF,
            )

    taken_back = held()
    with wiring.database.writing() as session:
        holds.undo(session, operator, taken_back.id)
    advance(11)
    jobs.run_all()
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Action.id)).all() == [first]
    held()
    advance(11)
    jobs.run_all()
    jobs.run_all(delayed=True)
    with wiring.database.reading() as session:
        made = session.scalars(sa.select(Action).where(Action.reopens_id == first)).one()
        assert (made.action_state, made.review_group) == (ActionState.UNDER_REVIEW, ReviewGroup.STAFF)
        assert made.decided_category == "threat"
        assert session.get_one(Action, first).decided_category is None, "the dismissal stays as it was"
        traces = session.scalars(
            sa.select(HistoryEntry).where(HistoryEntry.what == "decision.held").order_by(HistoryEntry.number)
        )
        assert [one.after for one in traces] == [{"verb": "reopen", "to": "staff"}] * 2


def test_whoever_dismissed_it_is_told(wiring: Wiring, cast: Cast) -> None:
    second = reopened(wiring, cast, dismissed(wiring, cast), ReopenTo.ACT)
    with wiring.database.reading() as session:
        (told,) = notices.list_for(session, person(cast, cast.moderator), Slice(size=5)).rows
        assert told.notice.action_id == second
        assert told.decided is not None
        assert told.decided.what == "action.dismissed"
        assert told.text.reason == "It was a threat"
        assert session.scalars(sa.select(Notice.account_id)).all() == [cast.moderator.account_id]


def test_once_and_then_what_came_of_it(wiring: Wiring, cast: Cast) -> None:
    first = dismissed(wiring, cast)
    second = reopened(wiring, cast, first, ReopenTo.COMMUNITY)
    assert refused(wiring, cast, first) == "This was reopened already"
    factories.rate(wiring, cast, second, "NNNNN")
    assert state_of(wiring, second) is ActionState.DISMISSED
    assert refused(wiring, cast, first) == "This was reopened already"
    third = reopened(wiring, cast, second, ReopenTo.ACT)
    assert state_of(wiring, third) is ActionState.PROPOSED
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Decision.decision)).all() == ["none"]


def test_two_moderators_at_once_make_one_action(wiring: Wiring, cast: Cast) -> None:
    first = dismissed(wiring, cast)
    with wiring.database.reading() as session:
        stale = session.get_one(Action, first)
        session.expunge(stale)
    reopened(wiring, cast, first, ReopenTo.STAFF)
    with wiring.database.writing() as session:
        session.add(stale)
        with pytest.raises(Conflict, match="reopened already"):
            reopening.reopen(
                session, person(cast, cast.moderator), stale, ReopenTo.ACT, reason=Reason("Me too")
            )


def test_for_thirty_days(wiring: Wiring, cast: Cast) -> None:
    first, second = dismissed(wiring, cast), dismissed(wiring, cast, request_id="post-2")
    advance(timedelta(days=29, hours=23).total_seconds())
    reopened(wiring, cast, first, ReopenTo.STAFF)
    advance(timedelta(hours=2).total_seconds())
    assert "30 days" in refused(wiring, cast, second)


def test_not_when_nothing_is_left_to_look_at(wiring: Wiring, cast: Cast) -> None:
    withdrawn, blanked = dismissed(wiring, cast), dismissed(wiring, cast, request_id="post-2")
    adapter = factories.integration(cast)
    with wiring.database.writing() as session:
        submitting.withdraw(
            session, adapter, session.get_one(Request, session.get_one(Action, withdrawn).request_id)
        )
        gone = session.get_one(Request, session.get_one(Action, blanked).request_id)
        gone.content, gone.content_removed_at = "", clock.now()
    assert "withdrawn" in refused(wiring, cast, withdrawn)
    assert "no longer kept" in refused(wiring, cast, blanked)


def test_not_what_people_had_restored_elsewhere(wiring: Wiring, cast: Cast) -> None:
    first = dismissed(wiring, cast)
    second = factories.scored_action(wiring, cast, factories.REVIEWED, "post-2")
    adapter = factories.integration(cast)
    with wiring.database.writing() as session:
        action = session.get_one(Action, second)
        verbs.change_action(session, adapter, action, ActionState.PROPOSED, reason=Reason("abuse"))
        acknowledgements.acknowledge(session, adapter, action)
        unhide = actions.overturn(session, adapter, action, reason=Reason("A quotation"))
        assert unhide is not None
        acknowledgements.acknowledge(session, adapter, unhide)
    assert "exempt from rescans" in refused(wiring, cast, first)


def test_only_by_moderators_with_a_reason_and_a_direction(wiring: Wiring, cast: Cast) -> None:
    first = dismissed(wiring, cast)
    with wiring.database.writing() as session:
        action = session.get_one(Action, first)
        with pytest.raises(Forbidden):
            reopening.reopen(
                session,
                person(cast, cast.rater, Role.RATER),
                action,
                ReopenTo.ACT,
                reason=Reason("I want it"),
            )
        moderator = person(cast, cast.operator)
        with pytest.raises(Invalid, match="reason"):
            reopening.reopen(session, moderator, action, ReopenTo.ACT, reason=Reason(" "))
        with pytest.raises(Invalid, match="where it goes"):
            holds.hold(session, moderator, ActionVerb.REOPEN, action=action, reason=Reason("Because"))
        live = session.get_one(Action, restoration(session, action))
        with pytest.raises(Conflict, match="Only a dismissed post"):
            reopening.reopen(session, moderator, live, ReopenTo.ACT, reason=Reason("Because"))


def restoration(session: Session, like: Action) -> uuid.UUID:
    """The ``unhide`` of nothing: a restoration is nothing to reopen."""
    made = Action(
        id=uuid.uuid4(),
        community_id=like.community_id,
        request_id=like.request_id,
        action_type=like.action_type,
        action_state=ActionState.DISMISSED,
        decided_verb="unhide",
        restores_id=like.id,
        dismissed_at=clock.now(),
    )
    session.add(made)
    session.flush()
    return made.id


def test_a_platform_that_acted_before_it_heard_of_the_dismissal_shows_nothing_that_is_wanted_hidden_again(
    wiring: Wiring, cast: Cast
) -> None:
    adapter = factories.integration(cast)
    found = []
    for number, to in enumerate((ReopenTo.ACT, ReopenTo.STAFF)):
        first = factories.scored_action(wiring, cast, f"{factories.SPAM} {number}", f"post-{number}")
        with wiring.database.writing() as session:
            action = session.get_one(Action, first)
            verbs.change_action(session, adapter, action, ActionState.DISMISSED, reason=Reason("a mistake"))
        second = reopened(wiring, cast, first, to)
        with wiring.database.writing() as session:
            acknowledgements.acknowledge(session, adapter, session.get_one(Action, first))
        with wiring.database.reading() as session:
            restored = session.scalars(sa.select(Action.id).where(Action.restores_id == first)).all()
            found.append((state_of(wiring, first), state_of(wiring, second), len(restored)))
    assert found == [
        (ActionState.OVERTURNED, ActionState.PROPOSED, 0),
        (ActionState.OVERTURNED, ActionState.UNDER_REVIEW, 1),
    ]
