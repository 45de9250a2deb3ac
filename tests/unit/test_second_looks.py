"""The whole life of a second look, from an automatic action to content not scanned again (docs/integrate/api.md)."""

import uuid
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.actions import acknowledgements, exemptions
from app.core.errors import Conflict, Forbidden
from app.core.history.reason import Reason
from app.core.models import Action, Community, Decision, Event, Hold, Note, Request
from app.core.notes import verdicts
from app.core.permissions import SYSTEM
from app.core.raters import run
from app.core.requests import submitting
from app.core.review import holds, second_looks, verbs
from app.core.review.second_looks import SecondLookFilter, SecondLookPage, Sort
from app.core.vocabulary import ActionState, ActionType, ActionVerb, NoteStatus, RequestStatus
from app.jobs import upkeep
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.factories import state_of
from tests.inline_engine import InlineEngine

pytestmark = pytest.mark.both_databases

SPAM = factories.SPAM


def applied(wiring: Wiring, cast: Cast, content: str = SPAM, request_id: str = "post-1") -> uuid.UUID:
    """A Tier 1 action that the platform has carried out."""
    action_id = factories.scored_action(wiring, cast, content, request_id)
    acknowledge(wiring, cast, action_id)
    return action_id


def acknowledge(wiring: Wiring, cast: Cast, action_id: uuid.UUID) -> None:
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        verbs.change_action(session, factories.integration(cast), action, ActionState.APPLIED)


def restored(wiring: Wiring, cast: Cast, action_id: uuid.UUID) -> None:
    """Raters overturn it, and the platform shows the post again."""
    factories.rate(wiring, cast, action_id, "NNNNN")
    with wiring.database.reading() as session:
        unhide = session.scalars(sa.select(Action).where(Action.restores_id == action_id)).one()
        assert (unhide.action_type, unhide.action_state) == (ActionType.UNHIDE, ActionState.PROPOSED)
    acknowledge(wiring, cast, unhide.id)


def submitted(wiring: Wiring, cast: Cast, text: str, request_id: str, message_id: str) -> bool:
    """Submit it, and have it scored: whether that led to an action."""
    submission = submitting.Submission(request_id, "author-1", text, platform_message_id=message_id)
    with wiring.database.writing() as session:
        adapter = factories.integration(cast)
        made = submitting.submit(session, adapter, cast.community_id, submission).request.id
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    with wiring.database.reading() as session:
        assert session.get_one(Request, made).status is RequestStatus.COMPLETED
        return session.scalars(sa.select(Action).where(Action.request_id == made)).first() is not None


def test_what_a_score_did_is_rated_overturned_restored_and_not_scanned_again(
    wiring: Wiring, cast: Cast
) -> None:
    action_id = applied(wiring, cast)
    with wiring.database.reading() as session:
        rationale = session.get_one(Note, session.get_one(Action, action_id).note_id)
        assert rationale.rationale
    factories.rate(wiring, cast, action_id, "N", first=50)
    assert state_of(wiring, action_id) is ActionState.RETRO_REVIEW
    restored(wiring, cast, action_id)
    assert state_of(wiring, action_id) is ActionState.SCAN_EXEMPT
    assert not submitted(wiring, cast, SPAM, "again", "another message"), "the same content"
    edited = SPAM.replace("today", "now")
    assert not submitted(wiring, cast, edited, "edited", "m-post-1"), "the same message, hardly changed"
    assert submitted(wiring, cast, edited, "copied", "another message"), "another message, changed"
    grown = f"{SPAM} Visit https://coin-doubler.example now, free giveaway, limited offer, click here!"
    assert submitted(wiring, cast, grown, "grown", "m-post-1"), "the same message, substantially changed"
    with wiring.database.reading() as session:
        made = sa.select(sa.func.count()).select_from(Decision).where(Decision.action_id == action_id)
        assert session.scalar(made) == 1, "overturning is no second decision"


def test_how_alike_an_edited_message_must_be_is_the_communitys_to_say(wiring: Wiring, cast: Cast) -> None:
    restored(wiring, cast, applied(wiring, cast))
    edited = SPAM.replace("today", "now")
    likeness = exemptions.similarity(SPAM, edited)
    assert 0.9 <= likeness < 1
    for number, (least, scored) in enumerate([(1.0, True), (likeness, False)]):
        with wiring.database.writing() as session:
            session.get_one(Community, cast.community_id).settings = {"exempt_similarity": least}
        assert submitted(wiring, cast, edited, f"edited-{number}", "m-post-1") is scored


def test_raters_agreement_confirms_it(wiring: Wiring, cast: Cast) -> None:
    action_id = applied(wiring, cast)
    factories.rate(wiring, cast, action_id, "HHHHH")
    assert state_of(wiring, action_id) is ActionState.CONFIRMED
    factories.rate(wiring, cast, action_id, "NNNNNNNNN", first=10)
    assert state_of(wiring, action_id) is ActionState.CONFIRMED, "later votes do not decide again"


def test_an_appeal_needs_a_reason_and_opens_it_for_raters(wiring: Wiring, cast: Cast) -> None:
    action_id = applied(wiring, cast)
    member = factories.integration(cast, staff=False, profile_id=cast.rater.profile_id)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        verbs.change_action(
            session, member, action, ActionState.RETRO_REVIEW, reason=Reason("It was a quotation")
        )
        assert second_looks.openings(session, [action]) == {action_id: "It was a quotation"}
        with pytest.raises(Forbidden):
            verbs.change_action(session, member, action, ActionState.OVERTURNED, reason=Reason("Mine"))


def test_one_that_was_rated_before_the_platform_acted_opens_when_it_acts(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast, SPAM)
    factories.rate(wiring, cast, action_id, "N")
    assert state_of(wiring, action_id) is ActionState.PROPOSED
    acknowledge(wiring, cast, action_id)
    assert state_of(wiring, action_id) is ActionState.APPLIED, "what the integration is told"
    assert isinstance(wiring.jobs, InlineEngine)
    wiring.jobs.run_all()
    assert state_of(wiring, action_id) is ActionState.RETRO_REVIEW


def test_without_consensus_it_is_confirmed_after_its_days_by_the_sweep(wiring: Wiring, cast: Cast) -> None:
    action_id = applied(wiring, cast)
    factories.rate(wiring, cast, action_id, "HN")
    now = clock.now()
    for days, state in ((13, ActionState.RETRO_REVIEW), (15, ActionState.CONFIRMED)):
        later = now + timedelta(days=days)
        clock.set_source(lambda later=later: later)  # type: ignore[misc]  # mypy does not infer defaults
        upkeep.sweep(wiring)
        assert state_of(wiring, action_id) is state


@pytest.mark.parametrize(
    ("verb", "state", "told"),
    [
        (ActionVerb.CONFIRM, ActionState.CONFIRMED, ["retro_review_started", "confirmed"]),
        (ActionVerb.OVERTURN, ActionState.OVERTURNED, ["overturned", "created"]),
    ],
)
def test_a_moderator_decides_at_once_what_nobody_looked_at_yet(
    wiring: Wiring, cast: Cast, verb: ActionVerb, state: ActionState, told: list[str]
) -> None:
    action_id = applied(wiring, cast)
    with wiring.database.writing() as session:
        before = set(session.scalars(sa.select(Event.id)))
        action = session.get_one(Action, action_id)
        held = holds.hold(
            session, factories.moderator(cast), verb, action=action, reason=Reason("Seen"), seconds=0
        )
        holds.carry_out(session, held.id)
        events = session.scalars(sa.select(Event).where(Event.id.not_in(before)).order_by(Event.id))
        assert [event.name.partition(".")[2] for event in events] == told
    assert state_of(wiring, action_id) is state


def test_a_restoration_is_nothing_to_overturn(wiring: Wiring, cast: Cast) -> None:
    restored(wiring, cast, applied(wiring, cast))
    with wiring.database.reading() as session:
        unhide = session.scalars(sa.select(Action).where(Action.restores_id.is_not(None))).one()
        assert unhide.action_state is ActionState.APPLIED
        assert holds.verbs_open_to(factories.moderator(cast), unhide) == []
        assert session.scalars(sa.select(Hold)).first() is None


def test_the_list_holds_what_a_score_did_and_what_is_reviewed_again(wiring: Wiring, cast: Cast) -> None:
    first, second = applied(wiring, cast), applied(wiring, cast, f"{SPAM} Really!", "post-2")
    by_raters = factories.scored_action(wiring, cast, request_id="post-3")
    factories.rate(wiring, cast, by_raters, "HHHHH")
    acknowledge(wiring, cast, by_raters)
    restored(wiring, cast, applied(wiring, cast, f"{SPAM} No, really!", "post-4"))
    factories.rate(wiring, cast, first, "N", first=90)
    with wiring.database.reading() as session:

        def listed(wanted: SecondLookFilter) -> list[uuid.UUID]:
            found = second_looks.waiting(session, SYSTEM, cast.community_id, wanted, limit=10)
            assert found.count == len(found.ids)
            return list(found.ids)

        assert listed(SecondLookFilter()) == [first, second], "what is reviewed again comes first"
        assert listed(SecondLookFilter(state=ActionState.APPLIED)) == [second]
        assert listed(SecondLookFilter(search="REALLY")) == [second]
        assert listed(SecondLookFilter(category="toxicity")) == []
        assert listed(SecondLookFilter(sort=Sort.NEWEST)) == [second, first]
        assert list(second_looks.categories(session, cast.community_id)) == ["spam"]
        assert all(sorted(listed(SecondLookFilter(sort=sort))) == sorted([first, second]) for sort in Sort)


def test_a_long_list_is_counted_in_part_and_searched_in_part(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [applied(wiring, cast, f"{SPAM} {number} times", f"post-{number}") for number in range(3)]
    with wiring.database.reading() as session:

        def page(limit: int = 2, offset: int = 0, search: str = "") -> SecondLookPage:
            wanted = SecondLookFilter(search=search)
            return second_looks.waiting(
                session, SYSTEM, cast.community_id, wanted, limit=limit, offset=offset
            )

        assert page() == SecondLookPage(ids[:2], 3)
        assert page(search="times") == SecondLookPage(ids[:2], 3)
        assert page(offset=2, search="times") == SecondLookPage(ids[2:], 3)
        monkeypatch.setattr(second_looks, "MOST_COUNTED", 2)
        monkeypatch.setattr(second_looks, "WALKED", 2)
        assert page() == SecondLookPage(ids[:2], 2, is_more=True)
        assert page(offset=2) == SecondLookPage(ids[2:], 2, is_more=True)
        assert page(search="2 times") == SecondLookPage([], 0, may_lack=True), "only in the first ones"


def forced(wiring: Wiring, cast: Cast) -> uuid.UUID:
    """A post that a moderator force-published, hidden by the platform, and that is looked at again."""
    action_id = factories.scored_action(wiring, cast)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        who = factories.moderator(cast)
        verbs.change_action(session, who, action, ActionState.PROPOSED, reason=Reason("Plain abuse"))
        verbs.change_action(session, factories.integration(cast), action, ActionState.APPLIED)
        second_looks.ask_members(session, who, action, reason=Reason("An appeal by mail"))
    return action_id


def rationale(wiring: Wiring, action_id: uuid.UUID) -> Note:
    with wiring.database.reading() as session:
        return session.get_one(Note, session.get_one(Action, action_id).note_id)


def test_members_answer_what_a_moderator_forced_and_its_status_stays_until_they_agree(
    wiring: Wiring, cast: Cast
) -> None:
    action_id = forced(wiring, cast)
    with wiring.database.reading() as session:
        waiting = run.next_cards(session, SYSTEM, cast.community_id, cast.rater.profile_id, limit=20)
        assert [one.id for one in waiting] == [action_id]
    factories.rate(wiring, cast, action_id, "HHHH")
    assert state_of(wiring, action_id) is ActionState.RETRO_REVIEW, (
        "its own status is no agreement of members"
    )
    factories.rate(wiring, cast, action_id, "H", first=4)
    assert state_of(wiring, action_id) is ActionState.CONFIRMED
    note = rationale(wiring, action_id)
    assert (note.status, note.locked, note.force_published) == (
        NoteStatus.CURRENTLY_RATED_HELPFUL,
        True,
        True,
    )
    with pytest.raises(Forbidden, match="locked"):
        factories.rate(wiring, cast, action_id, "N", first=9)


def test_members_who_disagree_with_what_a_moderator_forced_have_it_shown_again(
    wiring: Wiring, cast: Cast
) -> None:
    action_id = forced(wiring, cast)
    factories.rate(wiring, cast, action_id, "NNNN")
    note = rationale(wiring, action_id)
    assert (note.status, note.locked) == (NoteStatus.CURRENTLY_RATED_HELPFUL, True)
    factories.rate(wiring, cast, action_id, "N", first=4)
    assert state_of(wiring, action_id) is ActionState.OVERTURNED
    note = rationale(wiring, action_id)
    assert (note.status, note.locked, note.force_published) == (
        NoteStatus.CURRENTLY_RATED_NOT_HELPFUL,
        False,
        False,
    )
    with wiring.database.reading() as session:
        unhide = session.scalars(sa.select(Action).where(Action.restores_id == action_id)).one()
        assert unhide.action_state is ActionState.PROPOSED
        assert len(session.scalars(sa.select(Decision)).all()) == 1


def test_a_fit_of_the_whole_community_ends_it_too_when_the_answers_are_there(
    wiring: Wiring, cast: Cast
) -> None:
    action_id = forced(wiring, cast)
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {"min_ratings": 6}
    factories.rate(wiring, cast, action_id, "NNNNN")
    assert state_of(wiring, action_id) is ActionState.RETRO_REVIEW
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {}
        note = session.get_one(Note, session.get_one(Action, action_id).note_id)
        verdicts.settle(session, note, "a new fit")
    assert state_of(wiring, action_id) is ActionState.OVERTURNED


def test_a_second_look_that_no_member_could_answer_is_not_offered(wiring: Wiring, cast: Cast) -> None:
    adapter = factories.integration(cast)
    by_staff = factories.submit(wiring, cast, "The tide tables for Tuesday are on the notice board.")
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    with wiring.database.writing() as session:
        escalated = submitting.escalate(session, adapter, session.get_one(Request, by_staff))
        verbs.change_action(session, adapter, escalated, ActionState.PROPOSED, reason=Reason("abuse"))
        verbs.change_action(session, adapter, escalated, ActionState.APPLIED)
        request = session.get_one(Request, by_staff)
        recorded, _ = acknowledgements.record_taken(session, adapter, request, ActionType.WARN, "Ours")
        for action in (escalated, recorded):
            assert not second_looks.is_answerable(action, request)
            with pytest.raises(Conflict, match="no member could answer"):
                second_looks.ask_members(session, factories.moderator(cast), action, reason=Reason("Please"))
    ordinary = applied(wiring, cast, request_id="post-2")
    with wiring.database.writing() as session:
        action = session.get_one(Action, ordinary)
        request = session.get_one(Request, action.request_id)
        assert second_looks.is_answerable(action, request)
        request.content_removed_at = clock.now()
        assert not second_looks.is_answerable(action, request)
