"""Every move from every state: what the table allows happens, what it does not is refused."""

import uuid
from enum import StrEnum

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.actions.moves import begin, make_move, moves_open_to
from app.core.errors import Forbidden, IllegalMove
from app.core.history.reason import Reason
from app.core.ids import new_id
from app.core.models import Action, Event, HistoryEntry, Request
from app.core.permissions import SYSTEM, Actor
from app.core.review import holds, verbs
from app.core.review.verbs import Details
from app.core.states import ACTION, MACHINES, NOTE, Machine, When, Who
from app.core.vocabulary import (
    HELD_VERBS,
    ActionState,
    ActionTier,
    ActionType,
    ActionVerb,
    RequestStatus,
    Role,
)
from app.wiring import Wiring
from tests.cast import Cast

PAIRS = [(source, target) for source in ActionState for target in ActionState]


def _actor(who: Who, cast: Cast) -> Actor:
    here = frozenset({cast.community_id})
    if who is Who.SERVICE:
        return SYSTEM
    if who in (Who.INTEGRATION, Who.REPORTER):
        return Actor(kind="key", name="adapter", key_id=uuid.uuid4(), communities=here)
    role = Role(who.value)
    return Actor(
        kind="account",
        name=role.value,
        account_id=uuid.uuid4(),
        communities=here,
        roles={cast.community_id: role},
    )


def _action(wiring: Wiring, cast: Cast, state: ActionState, once_proposed: bool = True) -> uuid.UUID:
    with wiring.database.writing() as session:
        request = Request(
            id=new_id(),
            community_id=cast.community_id,
            request_id=f"r-{uuid.uuid4()}",
            requested_by="u",
            status=RequestStatus.COMPLETED,
            content="x",
            content_sha256="0" * 64,
        )
        session.add(request)
        session.flush()
        action = Action(
            id=new_id(),
            community_id=cast.community_id,
            request_id=request.id,
            action_type=ActionType.WARN,
            action_tier=ActionTier.CONSENSUS,
            action_state=state,
            decided_verb="notify",
            proposed_at=clock.now() if once_proposed else None,
        )
        session.add(action)
        session.flush()
        return action.id


@pytest.mark.parametrize("who", list(Who))
def test_every_pair_of_action_states_for_each_kind_of_actor(wiring: Wiring, cast: Cast, who: Who) -> None:
    actor = _actor(who, cast)
    # Whoever may report by the API is an integration.
    who = Who.INTEGRATION if who is Who.REPORTER else who
    for source, target in PAIRS:
        row = ACTION.find(source, target)
        action_id = _action(wiring, cast, source)
        allowed = row is not None and (who in row.who or (who is Who.MODERATOR and Who.RATER in row.who))
        if who is Who.OPERATOR:  # an operator is a moderator and a rater too
            allowed = row is not None and bool({Who.MODERATOR, Who.RATER} & row.who)
        with wiring.database.writing() as session:
            action = session.get_one(Action, action_id)
            offered = {move.target for move in moves_open_to(actor, action)}
            assert (target in offered) == allowed, (source, target)
            if allowed:
                make_move(session, actor, action, target, reason=Reason("because"))
                assert action.action_state is target
            else:
                with pytest.raises((IllegalMove, Forbidden)):
                    make_move(session, actor, action, target)
                assert action.action_state is source
    with wiring.database.reading() as session:
        told = session.scalar(sa.select(sa.func.count()).where(HistoryEntry.object_type == "action"))
        assert told == sum(1 for s, t in PAIRS if _allowed(s, t, who))


def _allowed(source: ActionState, target: ActionState, who: Who) -> bool:
    row = ACTION.find(source, target)
    if row is None:
        return False
    as_well = {Who.MODERATOR: {Who.RATER, Who.MODERATOR}, Who.OPERATOR: {Who.RATER, Who.MODERATOR}}
    return bool(row.who & as_well.get(who, {who}))


def test_a_dismissal_that_was_never_proposed_cannot_become_applied(wiring: Wiring, cast: Cast) -> None:
    action_id = _action(wiring, cast, ActionState.DISMISSED, once_proposed=False)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        with pytest.raises(IllegalMove, match="cannot move from dismissed to applied"):
            make_move(session, _actor(Who.INTEGRATION, cast), action, ActionState.APPLIED)


def test_whoever_moves_second_is_refused_and_sees_the_new_state(wiring: Wiring, cast: Cast) -> None:
    action_id = _action(wiring, cast, ActionState.UNDER_REVIEW)
    moderator = _actor(Who.MODERATOR, cast)
    with wiring.database.reading() as other:
        stale = other.get_one(Action, action_id)
        other.expunge(stale)
    with wiring.database.writing() as session:
        make_move(
            session,
            moderator,
            session.get_one(Action, action_id),
            ActionState.PROPOSED,
            reason=Reason("spam"),
        )
    with wiring.database.writing() as session:
        session.add(stale)
        with pytest.raises(IllegalMove):
            make_move(session, moderator, stale, ActionState.DISMISSED, reason=Reason("fine"))
        assert stale.action_state is ActionState.PROPOSED


def test_each_move_tells_its_events_once(wiring: Wiring, cast: Cast) -> None:
    action_id = _action(wiring, cast, ActionState.UNDER_REVIEW)
    with wiring.database.writing() as session:
        make_move(session, SYSTEM, session.get_one(Action, action_id), ActionState.PROPOSED)
    with wiring.database.reading() as session:
        event = session.scalars(sa.select(Event)).one()
        assert event.name == "moderation_action.created"
        assert event.payload["data"]["action_state"] == "proposed"
        assert event.payload["event_id"] == str(event.id)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_a_table_names_each_pair_once_and_only_its_own_states(machine: Machine) -> None:
    pairs = [(move.source, move.target, move.when is When.REOPENS) for move in machine.moves]
    assert len(pairs) == len(set(pairs))
    words: set[StrEnum] = set(machine.states)
    assert {move.target for move in machine.moves} <= words
    assert all(move.who for move in machine.moves)
    assert all(move.why for move in machine.moves)
    assert all(move.when is None or move.when in When for move in machine.moves)


@pytest.mark.parametrize("target", [ActionState.PROPOSED, ActionState.UNDER_REVIEW])
@pytest.mark.parametrize("who", list(Who))
def test_moderators_and_for_review_the_service_begin_an_action_that_reopens_a_dismissal(
    wiring: Wiring, cast: Cast, who: Who, target: ActionState
) -> None:
    dismissed_id = _action(wiring, cast, ActionState.DISMISSED)
    actor = _actor(who, cast)
    with wiring.database.writing() as session:
        dismissed = session.get_one(Action, dismissed_id)
        again = Action(
            id=new_id(),
            community_id=cast.community_id,
            request_id=dismissed.request_id,
            action_type=ActionType.WARN,
            action_tier=ActionTier.CONSENSUS,
            action_state=target,
            decided_verb="notify",
            reopens_id=dismissed.id,
        )
        # The service does so for reports of both sides, and never acts at once.
        is_service = who is Who.SERVICE and target is ActionState.UNDER_REVIEW
        if is_service or who in (Who.MODERATOR, Who.OPERATOR):
            entry = begin(session, actor, again, reason=Reason("It was no joke"))
            assert entry is not None
            assert entry.after == {"action_state": target.value, "reopens": str(dismissed_id)}
        else:
            with pytest.raises((IllegalMove, Forbidden)):
                begin(session, actor, again)


def test_each_row_of_an_action_names_its_verb_and_each_state_is_reached_by_one() -> None:
    assert all(move.verb is not None for move in ACTION.moves)
    for state in ActionState:
        leading = {move.verb for move in ACTION.moves if move.source is not None and move.target is state}
        assert leading == {ACTION.verb_to(state)}, state
    for verb in ActionVerb:
        targets = {move.target for move in ACTION.by_verb(verb) if move.source is not None}
        assert targets == {ACTION.target_of(verb)} - {None}, verb


def test_every_verb_that_somebody_asks_for_has_its_function() -> None:
    asked = {
        move.verb
        for move in ACTION.moves
        if move.who != {Who.SERVICE} and (move.source is not None or move.when is When.REOPENS)
    }
    assert set(verbs.FUNCTIONS) == asked
    assert set(HELD_VERBS) <= asked
    about_notes = {verb for verb, does in verbs.FUNCTIONS.items() if does.to_note is not None}
    assert about_notes == {move.verb for move in NOTE.moves if move.verb is not None}


def test_a_row_that_leads_through_a_state_is_two_moves_of_the_table() -> None:
    through = [move for move in ACTION.moves if move.through is not None]
    assert through
    for move in through:
        assert move.through is not None
        steps = ACTION.find(move.source, move.through), ACTION.find(move.through, move.target)
        assert all(step is not None and move.who <= step.who for step in steps)
        assert ACTION.find(move.source, move.target) is None, "it is no move of its own"


@pytest.mark.parametrize("verb", [verb for verb in HELD_VERBS if verb is not ActionVerb.REOPEN])
def test_every_decision_from_every_state_follows_the_table(
    wiring: Wiring, cast: Cast, verb: ActionVerb
) -> None:
    moderator = _actor(Who.MODERATOR, cast)
    for state in ActionState:
        action_id = _action(wiring, cast, state)
        with wiring.database.writing() as session:
            action = session.get_one(Action, action_id)
            offered = verb in holds.verbs_open_to(moderator, action)
            row = ACTION.find(state, ACTION.target_of(verb) or state)
            assert offered == (row is not None), (verb, state)
            if verb is ActionVerb.FORCE_PUBLISH:  # it publishes a rationale, and this action has none
                continue
            if offered or state is ACTION.target_of(verb):
                verbs.decide(session, moderator, action, verb, Details(Reason("because")))
                assert action.action_state is ACTION.target_of(verb)
            else:
                with pytest.raises(IllegalMove):
                    verbs.decide(session, moderator, action, verb, Details(Reason("because")))
                assert action.action_state is state
