"""Moderators choose another action than configured, tell the author, escalate, and write about an author."""

import uuid
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.errors import Conflict, Forbidden, Invalid
from app.core.history import notices
from app.core.history.reason import Reason
from app.core.models import Action, AuthorNote, Decision, Event, HistoryEntry, Request
from app.core.paging import Slice
from app.core.permissions import SYSTEM
from app.core.review import assignments, authors, claims, holds
from app.core.upkeep import erasure, traces
from app.core.vocabulary import ActionState, ActionType, ActionVerb, ReviewGroup
from app.wiring import Wiring
from tests import factories
from tests.cast import COMMUNITY, PLATFORM, Cast
from tests.factories import actor_of
from tests.inline_engine import InlineEngine
from tests.unit.test_claims import claim

pytestmark = pytest.mark.both_databases


def written_by(action: Action) -> tuple[uuid.UUID, str | None]:
    return action.community_id, action.platform_author_id


def decide(
    wiring: Wiring, cast: Cast, jobs: InlineEngine, action_id: uuid.UUID, verb: ActionVerb, **choice: Any
) -> None:
    who = actor_of(wiring, cast.moderator)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        holds.hold(session, who, verb, action=action, reason=Reason("Over the line"), seconds=0, **choice)
    jobs.run_all()


@pytest.mark.parametrize(
    ("chosen", "decision", "text"),
    [
        (ActionType.WARN, "notify", "Please stay kind."),
        (ActionType.SILENCE, "silence", "Please stay kind."),
        (ActionType.DELETE, "delete", None),
        (None, "hide", None),
    ],
)
def test_the_platform_does_what_the_moderator_chose_and_hears_of_it_once(
    wiring: Wiring, cast: Cast, jobs: InlineEngine, chosen: ActionType | None, decision: str, text: str | None
) -> None:
    action_id = factories.scored_action(wiring, cast)
    decide(wiring, cast, jobs, action_id, ActionVerb.FORCE_PUBLISH, act_as=chosen, author_text=text)
    with wiring.database.reading() as session:
        action = session.get_one(Action, action_id)
        assert action.action_state is ActionState.PROPOSED
        assert (action.action_type, action.reason) == (chosen or ActionType.HIDE, text)
        assert session.scalars(sa.select(Decision.decision)).all() == [decision]
        told = [event.payload for event in session.scalars(sa.select(Event).order_by(Event.id))]
        types = [
            one["data"]["action_type"] for one in told if one.get("event") == "moderation_action.created"
        ]
        assert types == [action.action_type.value]
        assert [one["decision"] for one in told if "decision" in one] == [decision]
        recorded = session.scalars(sa.select(HistoryEntry).where(HistoryEntry.what == "action.chosen")).all()
        assert [entry.after for entry in recorded] == ([{"action_type": chosen.value}] if chosen else [])


@pytest.mark.parametrize(
    ("verb", "choice"),
    [
        (ActionVerb.DISMISS, {"act_as": ActionType.WARN}),
        (ActionVerb.FORCE_PUBLISH, {"act_as": ActionType.UNHIDE}),
        (ActionVerb.FORCE_PUBLISH, {"act_as": ActionType.WARN, "author_text": "x" * 5_000}),
        # Only a warning or a silence carries a text: with anything else it would be lost.
        (ActionVerb.DISMISS, {"author_text": "Please stay kind."}),
        (ActionVerb.FORCE_PUBLISH, {"author_text": "Please stay kind."}),
        (ActionVerb.FORCE_PUBLISH, {"act_as": ActionType.DELETE, "author_text": "Please stay kind."}),
    ],
)
def test_what_nobody_can_choose_is_refused(
    wiring: Wiring, cast: Cast, jobs: InlineEngine, verb: ActionVerb, choice: dict[str, Any]
) -> None:
    action_id = factories.scored_action(wiring, cast)
    with pytest.raises(Invalid):
        decide(wiring, cast, jobs, action_id, verb, **choice)


def test_escalating_sends_an_item_to_staff_and_tells_the_operators(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    max_, olga = actor_of(wiring, cast.moderator), actor_of(wiring, cast.operator)
    claim(wiring, max_, action_id)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        with pytest.raises(Invalid):
            assignments.escalate(session, max_, action, reason=Reason(""))
        with pytest.raises(Conflict, match="Claimed by Moderator"):
            assignments.escalate(session, olga, action, reason=Reason("Legal?"))
        assignments.escalate(session, max_, action, reason=Reason("Legal?"))
        assert (action.review_group, action.claimed_by_id) == (ReviewGroup.STAFF, None)
        assert claims.held_by_other(session, olga, action) is None
        with pytest.raises(Conflict):
            assignments.escalate(session, max_, action, reason=Reason("Again"))
        (told,) = notices.list_for(session, olga, Slice(size=5)).rows
        assert (told.entry.what, told.text.reason) == ("action.escalated", "Legal?")
        assert notices.unread(session, max_) == 0


def posted_by_mallory(wiring: Wiring, *action_ids: uuid.UUID) -> None:
    with wiring.database.writing() as session:
        for action in (session.get_one(Action, action_id) for action_id in action_ids):
            action.platform_author_id = "mallory"
            session.get_one(Request, action.request_id).platform_author_id = "mallory"


def test_a_note_about_an_author_is_seen_with_each_post_keeps_its_history_and_is_erased_with_the_author(
    wiring: Wiring, cast: Cast
) -> None:
    first = factories.scored_action(wiring, cast)
    second = factories.scored_action(wiring, cast, request_id="post-2")
    posted_by_mallory(wiring, first, second)
    max_, rita, author = actor_of(wiring, cast.moderator), actor_of(wiring, cast.rater), "mallory"
    with wiring.database.writing() as session:
        actions = [session.get_one(Action, one) for one in (first, second)]
        authors.write_note(session, max_, *written_by(actions[0]), "Quotes abuse to report it")
        authors.write_note(session, max_, *written_by(actions[1]), "Quotes abuse to report it")
        authors.write_note(session, max_, *written_by(actions[1]), "")
        found = authors.note_versions(session, max_, cast.community_id, author)
        assert [note.text for note in found] == ["", "Quotes abuse to report it"]
        with pytest.raises(Forbidden):
            authors.write_note(session, rita, *written_by(actions[0]), "Hello")
        with pytest.raises(Forbidden):
            authors.note_versions(session, rita, cast.community_id, author)
    with wiring.database.writing() as session:
        erased = erasure.erase_identity(session, SYSTEM, PLATFORM, author, COMMUNITY)
        assert erased.gone["notes about authors"] == 2
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(AuthorNote)).all() == []
        assert author not in set(session.scalars(sa.select(Action.platform_author_id)))


def test_a_note_keeps_its_text_without_the_name_of_an_erased_moderator(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    posted_by_mallory(wiring, action_id)
    max_ = actor_of(wiring, cast.moderator)
    with wiring.database.writing() as session:
        authors.write_note(session, max_, *written_by(session.get_one(Action, action_id)), "New here")
        erasure.erase_account(session, max_, cast.moderator.account_id)
    with wiring.database.reading() as session:
        (note,) = session.scalars(sa.select(AuthorNote))
        assert (note.text, note.account_name) == ("New here", traces.NAMELESS)
