"""Undo before anything is sent (docs/integrate/api.md)."""

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.errors import Conflict, Forbidden, Invalid
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import Account, Action, Community, Event, HistoryEntry, HistoryText, Hold
from app.core.people import accounts, members
from app.core.permissions import SYSTEM, Actor
from app.core.review import holds, verbs
from app.core.upkeep import erasure
from app.core.vocabulary import ActionState, ActionVerb, Role
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.clocks import advance
from tests.factories import actor_of
from tests.inline_engine import InlineEngine


def _hold(
    wiring: Wiring, actor: Actor, action_id: object, verb: ActionVerb = ActionVerb.FORCE_PUBLISH
) -> Hold:
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        return holds.hold(
            session, actor, verb, action=action, reason=Reason("plain abuse"), version=action.version
        )


def test_a_held_decision_changes_nothing_until_it_is_due(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    action_id = factories.scored_action(wiring, cast)
    _hold(wiring, actor_of(wiring, cast.moderator), action_id)
    jobs.run_all()
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).action_state is ActionState.UNDER_REVIEW
        assert session.scalars(sa.select(Event)).all() == []
    factories.rate(wiring, cast, action_id, "NNNNN")  # kept, but they settle nothing
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).action_state is ActionState.UNDER_REVIEW
    advance(11)
    jobs.run_all()
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).action_state is ActionState.PROPOSED
        assert session.scalars(sa.select(Hold)).all() == []
        reasons = session.scalars(
            sa.select(HistoryText.reason)
            .join(HistoryEntry, HistoryEntry.id == HistoryText.entry_id)
            .where(HistoryEntry.what == "action.proposed")
        )
        assert list(reasons) == ["plain abuse"]


def test_undo_lets_the_ratings_count_and_history_keeps_both(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    action_id = factories.scored_action(wiring, cast)
    moderator = actor_of(wiring, cast.moderator)
    held = _hold(wiring, moderator, action_id)
    factories.rate(wiring, cast, action_id, "NNNNN")
    with wiring.database.writing() as session:
        holds.undo(session, moderator, held.id)
    jobs.run_all()
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).action_state is ActionState.DISMISSED
        assert session.scalars(sa.select(Hold)).all() == []
        traces = session.execute(
            sa.select(HistoryEntry.what, HistoryEntry.after, HistoryText.actor_name, HistoryText.reason)
            .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
            .where(HistoryEntry.object_id == action_id, HistoryEntry.what.startswith("decision."))
            .order_by(HistoryEntry.number)
        )
        assert [tuple(one) for one in traces] == [
            ("decision.held", {"verb": "force_publish"}, "Moderator", "plain abuse"),
            ("decision.undone", {"verb": "force_publish"}, "Moderator", "plain abuse"),
        ]
        assert history.verify(session, cast.community_id)[1] is None


def test_what_the_service_undoes_for_somebody_who_is_erased_repeats_none_of_their_words(
    wiring: Wiring, cast: Cast
) -> None:
    action_id = factories.scored_action(wiring, cast)
    _hold(wiring, actor_of(wiring, cast.moderator), action_id)
    with wiring.database.writing() as session:
        erasure.erase_account(session, SYSTEM, cast.moderator.account_id)
    with wiring.database.reading() as session:
        texts = session.execute(
            sa.select(HistoryText.actor_name, HistoryText.reason)
            .join(HistoryEntry, HistoryEntry.id == HistoryText.entry_id)
            .where(HistoryEntry.object_id == action_id, HistoryEntry.what.startswith("decision."))
            .order_by(HistoryEntry.number)
        )
        assert [tuple(one) for one in texts] == [("", ""), (SYSTEM.name, "")]
        assert history.verify(session, cast.community_id)[1] is None


def test_after_it_was_carried_out_undo_is_too_late(wiring: Wiring, cast: Cast, jobs: InlineEngine) -> None:
    action_id = factories.scored_action(wiring, cast)
    moderator = actor_of(wiring, cast.moderator)
    held = _hold(wiring, moderator, action_id)
    advance(11)
    jobs.run_all()
    with wiring.database.writing() as session, pytest.raises(Conflict, match="Too late"):
        holds.undo(session, moderator, held.id)
    with wiring.database.writing() as session:
        holds.carry_out(session, held.id)  # a second run of the job does nothing
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).action_state is ActionState.PROPOSED


def test_a_second_decision_meanwhile_names_the_holder(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    _hold(wiring, actor_of(wiring, cast.moderator), action_id)
    with pytest.raises(Conflict, match="Moderator is deciding"):
        _hold(wiring, actor_of(wiring, cast.operator), action_id, ActionVerb.DISMISS)


def test_a_stale_page_is_told_who_decided(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        seen = action.version
        verbs.change_action(
            session, actor_of(wiring, cast.operator), action, ActionState.DISMISSED, reason=Reason("banter")
        )
    with wiring.database.writing() as session, pytest.raises(Conflict, match="Already decided by Operator"):
        holds.hold(
            session,
            actor_of(wiring, cast.moderator),
            ActionVerb.FORCE_PUBLISH,
            action=session.get_one(Action, action_id),
            reason=Reason("abuse"),
            version=seen,
        )


def test_a_hold_of_somebody_who_lost_the_role_lapses_and_says_so(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    action_id = factories.scored_action(wiring, cast)
    _hold(wiring, actor_of(wiring, cast.moderator), action_id)
    with wiring.database.writing() as session:
        account = session.get_one(Account, cast.moderator.account_id)
        accounts.give_role(session, actor_of(wiring, cast.admin), account, cast.community_id, Role.RATER)
    advance(11)
    jobs.run_all()
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).action_state is ActionState.UNDER_REVIEW
        assert "hold.lapsed" in set(session.scalars(sa.select(HistoryEntry.what)))


def test_a_hold_of_a_disabled_account_lapses_and_the_ratings_meanwhile_count(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    action_id, other_id = (factories.scored_action(wiring, cast, request_id=name) for name in ("a", "b"))
    for one in (action_id, other_id):
        _hold(wiring, actor_of(wiring, cast.moderator), one)
    factories.rate(wiring, cast, action_id, "NNNNN")
    with wiring.database.writing() as session:
        members.set_disabled(session, SYSTEM, cast.moderator.account_id, True, "The account was stolen")
    advance(11)
    jobs.run_all()
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).action_state is ActionState.DISMISSED
        assert session.get_one(Action, other_id).action_state is ActionState.UNDER_REVIEW
        assert session.scalars(sa.select(Hold)).all() == []
        causes = sa.select(HistoryEntry.cause, HistoryText.actor_name).join(
            HistoryEntry, HistoryEntry.id == HistoryText.entry_id
        )
        lapsed = session.execute(causes.where(HistoryEntry.what == "hold.lapsed")).all()
        assert [tuple(one) for one in lapsed] == [("the account was disabled", "Moderator")] * 2


def test_a_hold_of_an_archived_community_lapses(wiring: Wiring, cast: Cast, jobs: InlineEngine) -> None:
    action_id = factories.scored_action(wiring, cast)
    _hold(wiring, actor_of(wiring, cast.moderator), action_id)
    factories.rate(wiring, cast, action_id, "NNNNN")
    with wiring.database.writing() as session:
        # Archiving carries out what is held; a decision that waited for the lock meanwhile is held afterwards.
        session.get_one(Community, cast.community_id).archived_at = clock.now()
    advance(11)
    jobs.run_all()
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).action_state is ActionState.UNDER_REVIEW
        assert "hold.lapsed" in set(session.scalars(sa.select(HistoryEntry.what)))


def test_raters_and_empty_reasons_are_refused(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    with pytest.raises(Forbidden):
        _hold(wiring, actor_of(wiring, cast.rater), action_id)
    with wiring.database.writing() as session, pytest.raises(Invalid, match="reason"):
        holds.hold(
            session,
            actor_of(wiring, cast.moderator),
            ActionVerb.DISMISS,
            action=session.get_one(Action, action_id),
            reason=Reason("   "),
        )
