"""From ratings to decisions, and what can never happen twice (docs/develop/consensus.md; docs/integrate/api.md)."""

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import acknowledgements, actions
from app.core.errors import Forbidden, IllegalMove, NotFound
from app.core.history.reason import Reason
from app.core.models import Action, Decision, Event, HistoryEntry, Note, Rating, Request
from app.core.notes import notes, ratings, verdicts
from app.core.people import profiles
from app.core.permissions import SYSTEM
from app.core.raters import run
from app.core.requests import scoring, submitting
from app.core.review import expiry, verbs
from app.core.thresholds import outcomes
from app.core.thresholds.outcomes import Outcome
from app.core.vocabulary import (
    ActionState,
    ActionType,
    Classification,
    EventName,
    HelpfulnessLevel,
    NoteStatus,
    RequestStatus,
)
from app.jobs.scoring import Scorer
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.clocks import advance
from tests.factories import state_of

pytestmark = pytest.mark.both_databases


def _decisions(wiring: Wiring) -> list[str]:
    with wiring.database.reading() as session:
        return list(session.scalars(sa.select(Decision.decision)))


@pytest.mark.parametrize(
    ("levels", "state", "decided"),
    [
        ("HHHH", ActionState.UNDER_REVIEW, []),
        ("HHHHH", ActionState.PROPOSED, ["hide"]),
        ("NNNNN", ActionState.DISMISSED, ["none"]),
        ("HHHHN", ActionState.UNDER_REVIEW, []),  # four of five do not publish
        ("SSSSS", ActionState.UNDER_REVIEW, []),
        ("HNHNHN", ActionState.UNDER_REVIEW, []),
        ("HHHHHNNN", ActionState.PROPOSED, ["hide"]),  # late votes do not re-decide
    ],
)
def test_what_raters_say_becomes_the_decision(
    wiring: Wiring, cast: Cast, levels: str, state: ActionState, decided: list[str]
) -> None:
    action_id = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, action_id, levels)
    assert state_of(wiring, action_id) is state
    assert _decisions(wiring) == decided


def test_a_review_without_action_sends_the_decision_none_and_completes_the_request(
    wiring: Wiring, cast: Cast
) -> None:
    action_id = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, action_id, "NNNNN")
    with wiring.database.reading() as session:
        event = session.scalars(sa.select(Event).where(Event.name == EventName.DECISION)).one()
        assert event.payload["decision"] == "none"
        assert event.payload["tier"] == 2
        assert session.scalars(sa.select(Request.status)).one() is RequestStatus.COMPLETED


def test_content_above_tier_1_is_acted_on_at_once(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast, factories.SPAM)
    with wiring.database.reading() as session:
        action = session.get_one(Action, action_id)
        assert action.action_state is ActionState.PROPOSED
        assert action.action_type is ActionType.HIDE
        decision = session.scalars(sa.select(Decision)).one()
        assert (decision.tier, decision.decision) == (1, "hide")
        assert decision.confidence == round(action.score or 0, 4)
        names = list(session.scalars(sa.select(Event.name)))
        assert sorted(names) == [EventName.DECISION, EventName.ACTION_CREATED]


def test_harmless_content_is_completed_without_an_action(wiring: Wiring, cast: Cast) -> None:
    factories.submit(wiring, cast, "The tide tables for Tuesday are on the notice board.")
    wiring.jobs.run_all()  # type: ignore[union-attr]
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Request.status)).one() is RequestStatus.COMPLETED
        assert session.scalars(sa.select(Action)).first() is None


def test_ratings_of_the_submitter_do_not_count(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, action_id, "HHHH")
    with wiring.database.writing() as session:
        author = profiles.ensure(session, "discourse", "author-1")
        note = session.get_one(Note, session.get_one(Action, action_id).note_id)
        who = factories.integration(cast, staff=False, profile_id=author.id)
        ratings.rate(session, who, note, author, HelpfulnessLevel.HELPFUL)
    assert state_of(wiring, action_id) is ActionState.UNDER_REVIEW


def test_one_rater_has_one_vote_however_often_they_change_it(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    for level in "HNHHHHH":
        factories.rate(wiring, cast, action_id, level)
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Rating.helpfulness_level)).one() is HelpfulnessLevel.HELPFUL
    assert state_of(wiring, action_id) is ActionState.UNDER_REVIEW


def test_nobody_rates_their_own_note_or_a_locked_one(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    with wiring.database.writing() as session:
        author = profiles.ensure(session, "discourse", "writer")
        request = session.scalars(sa.select(Request)).one()
        who = factories.integration(cast, profile_id=author.id)
        note = notes.write(
            session,
            who,
            cast.community_id,
            author,
            "It is a joke.",
            Classification.NOT_MISLEADING,
            request=request,
        )
        with pytest.raises(Forbidden, match="own note"):
            ratings.rate(session, who, note, author, HelpfulnessLevel.HELPFUL)
        verdicts.dismiss(session, who, note, reason=Reason("off topic"))
        other = profiles.ensure(session, "discourse", "reader")
        reader = factories.integration(cast, staff=False, profile_id=other.id)
        with pytest.raises(Forbidden, match="locked"):
            ratings.rate(session, reader, note, other, HelpfulnessLevel.HELPFUL)
    assert state_of(wiring, action_id) is ActionState.UNDER_REVIEW


def test_twenty_simultaneous_raters_make_one_decision(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    start, failures = threading.Barrier(10), []

    def vote(number: int) -> None:
        start.wait()
        try:
            factories.rate(wiring, cast, action_id, "HH", first=number * 2)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=vote, args=(n,)) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with wiring.database.reading() as session:
        names = list(session.scalars(sa.select(Event.name)))
        assert names.count(EventName.DECISION) == 1
        assert names.count(EventName.ACTION_CREATED) == 1
        assert session.scalar(sa.select(sa.func.count()).select_from(Rating)) == 20
    assert _decisions(wiring) == ["hide"]


def test_the_first_rating_of_an_applied_tier_1_action_opens_a_second_look_and_no_consensus_overturns_it(
    wiring: Wiring, cast: Cast
) -> None:
    action_id = factories.scored_action(wiring, cast, factories.SPAM)
    with wiring.database.writing() as session:
        acknowledgements.acknowledge(
            session, factories.integration(cast), session.get_one(Action, action_id), "p-1"
        )
    factories.rate(wiring, cast, action_id, "N")
    assert state_of(wiring, action_id) is ActionState.RETRO_REVIEW
    factories.rate(wiring, cast, action_id, "NNNN", first=1)
    with wiring.database.reading() as session:
        action = session.get_one(Action, action_id)
        assert action.action_state is ActionState.OVERTURNED
        unhide = session.scalars(sa.select(Action).where(Action.restores_id == action_id)).one()
        assert (unhide.action_type, unhide.action_state) == (ActionType.UNHIDE, ActionState.PROPOSED)
    assert _decisions(wiring) == ["hide"]


def test_an_acknowledged_unhide_exempts_the_content_from_rescans(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast, factories.SPAM)
    adapter = factories.integration(cast)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        acknowledgements.acknowledge(session, adapter, action)
        unhide = actions.overturn(session, adapter, action, reason=Reason("It was an art project"))
        assert unhide is not None
        acknowledgements.acknowledge(session, adapter, unhide)
    assert state_of(wiring, action_id) is ActionState.SCAN_EXEMPT
    again = factories.submit(wiring, cast, factories.SPAM, "post-2")
    edited = factories.submit(wiring, cast, "An entirely different text by somebody else", "post-3")
    wiring.jobs.run_all()  # type: ignore[union-attr]
    with wiring.database.reading() as session:
        for one in (again, edited):
            assert session.get_one(Request, one).status is RequestStatus.COMPLETED
            assert session.scalars(sa.select(Action).where(Action.request_id == one)).first() is None


def test_acknowledging_twenty_times_moves_once(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast, factories.SPAM)
    start = threading.Barrier(20)

    def acknowledge() -> None:
        start.wait()
        with wiring.database.writing() as session:
            action = session.get_one(Action, action_id)
            verbs.change_action(session, factories.integration(cast), action, ActionState.APPLIED)

    threads = [threading.Thread(target=acknowledge) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with wiring.database.reading() as session:
        names = list(session.scalars(sa.select(Event.name)))
        assert names.count(EventName.ACTION_APPLIED) == 1
    assert state_of(wiring, action_id) is ActionState.APPLIED


def test_forcing_the_rationale_acts_and_dismissing_it_does_not(wiring: Wiring, cast: Cast) -> None:
    forced = factories.scored_action(wiring, cast, request_id="a")
    dismissed = factories.scored_action(wiring, cast, request_id="b")
    adapter = factories.integration(cast)
    with wiring.database.writing() as session:
        note = session.get_one(Note, session.get_one(Action, forced).note_id)
        verdicts.force_publish(session, adapter, note, reason=Reason("plain abuse"))
        assert (note.status, note.locked, note.force_published) == (
            NoteStatus.CURRENTLY_RATED_HELPFUL,
            True,
            True,
        )
    with wiring.database.writing() as session:
        action = session.get_one(Action, dismissed)
        verbs.change_action(session, adapter, action, ActionState.DISMISSED, reason=Reason("banter"))
    assert state_of(wiring, forced) is ActionState.PROPOSED
    assert state_of(wiring, dismissed) is ActionState.DISMISSED
    assert sorted(_decisions(wiring)) == ["hide", "none"]


def test_a_platform_that_acted_before_it_heard_of_the_dismissal_gets_an_unhide(
    wiring: Wiring, cast: Cast
) -> None:
    action_id = factories.scored_action(wiring, cast, factories.SPAM)
    adapter = factories.integration(cast)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        verbs.change_action(session, adapter, action, ActionState.DISMISSED, reason=Reason("a mistake"))
    with wiring.database.writing() as session:
        acknowledgements.acknowledge(session, adapter, session.get_one(Action, action_id))
    assert state_of(wiring, action_id) is ActionState.OVERTURNED
    with wiring.database.reading() as session:
        assert (
            session.scalars(sa.select(Action.action_type).where(Action.restores_id == action_id)).one()
            == "unhide"
        )


def test_a_move_the_table_does_not_know_is_refused_by_name(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        with pytest.raises(IllegalMove, match="under_review to confirmed"):
            verbs.change_action(session, factories.integration(cast), action, ActionState.CONFIRMED)


def test_decisions_of_a_community_are_stamped_strictly_one_after_another(wiring: Wiring, cast: Cast) -> None:
    still = clock.now()
    clock.set_source(lambda: still)
    try:
        for number in range(5):
            factories.scored_action(wiring, cast, factories.SPAM + str(number), f"post-{number}")
    finally:
        clock.set_source(None)
    with wiring.database.reading() as session:
        stamps = list(session.scalars(sa.select(Decision.decided_at).order_by(Decision.id)))
    assert stamps == sorted(set(stamps))
    assert len(stamps) == 5


def test_reviews_without_consensus_end_after_their_days(wiring: Wiring, cast: Cast) -> None:
    queued = factories.scored_action(wiring, cast)
    looked_at = factories.scored_action(wiring, cast, factories.SPAM, "post-2")
    with wiring.database.writing() as session:
        action = session.get_one(Action, looked_at)
        acknowledgements.acknowledge(session, factories.integration(cast), action)
        actions.open_second_look(session, factories.integration(cast), action, reason=Reason("appeal"))
    with wiring.database.writing() as session:
        assert expiry.expire(session, clock.now() - timedelta(days=14)) == 0
        assert expiry.expire(session, clock.now() + timedelta(seconds=1)) == 2
    assert state_of(wiring, queued) is ActionState.DISMISSED
    assert state_of(wiring, looked_at) is ActionState.CONFIRMED


def test_a_proposal_that_is_returned_to_review_has_the_time_of_a_new_review(
    wiring: Wiring, cast: Cast
) -> None:
    action_id = factories.scored_action(wiring, cast, factories.SPAM)
    moderator = factories.moderator(cast)
    with wiring.database.reading() as session:
        action = session.get_one(Action, action_id)
        assert action.due_at is not None
        assert action.urgent_at is not None
        target, head_start = action.due_at - action.created_at, action.due_at - action.urgent_at
    advance(days=20)
    with wiring.database.writing() as session:
        actions.return_to_review(session, moderator, session.get_one(Action, action_id))

    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        assert action.review_opened_at == clock.now()
        assert action.due_at == clock.now() + target
        assert action.urgent_at == action.due_at - head_start
        assert expiry.expire(session, clock.now() - timedelta(days=14)) == 0
    advance(days=15)
    with wiring.database.writing() as session:
        assert expiry.expire(session, clock.now() - timedelta(days=14)) == 1
    assert state_of(wiring, action_id) is ActionState.DISMISSED


def test_what_ended_by_silence_is_known_to_nobody(wiring: Wiring, cast: Cast) -> None:
    lapsed = factories.scored_action(wiring, cast, factories.SPAM, "post-1")
    upheld = factories.scored_action(wiring, cast, factories.SPAM + " 2", "post-2")
    dropped = factories.scored_action(wiring, cast, factories.REVIEWED, "post-3")
    moderator = factories.moderator(cast)
    with wiring.database.writing() as session:
        for one in (lapsed, upheld):
            action = session.get_one(Action, one)
            acknowledgements.acknowledge(session, factories.integration(cast), action)
            actions.open_second_look(session, factories.integration(cast), action, reason=Reason("appeal"))
        actions.confirm(session, moderator, session.get_one(Action, upheld), reason=Reason("Spam indeed"))
    with wiring.database.writing() as session:
        assert expiry.expire(session, clock.now() + timedelta(seconds=1)) == 2

    def known() -> list[Outcome | None]:
        with wiring.database.reading() as session:
            found = dict(session.execute(sa.select(Action.id, outcomes.code())).all())
        return [outcomes.from_code(found[one]) for one in (lapsed, upheld, dropped)]

    assert known() == [Outcome.LAPSED, Outcome.UPHELD, Outcome.LAPSED]
    with wiring.database.reading() as session:
        found = outcomes.suggest(session, SYSTEM, cast.community_id, "spam", 0.9)
    assert (found.known, found.upheld) == (1, 1)


def test_what_the_platform_did_before_it_heard_of_a_lapse_was_not_called_wrong_by_anybody(
    wiring: Wiring, cast: Cast
) -> None:
    action_id = factories.scored_action(wiring, cast, factories.SPAM)
    moderator = factories.moderator(cast)
    with wiring.database.writing() as session:
        actions.return_to_review(session, moderator, session.get_one(Action, action_id))
        assert expiry.expire(session, clock.now() + timedelta(seconds=1)) == 1
        acknowledgements.acknowledge(session, factories.integration(cast), session.get_one(Action, action_id))
    assert state_of(wiring, action_id) is ActionState.OVERTURNED
    with wiring.database.reading() as session:
        code = session.scalar(sa.select(outcomes.code()).where(Action.id == action_id))
    assert outcomes.from_code(code) is Outcome.LAPSED


def test_a_withdrawn_submission_ends_its_review_and_frees_its_id(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    with wiring.database.writing() as session:
        request = session.scalars(sa.select(Request)).one()
        submitting.withdraw(session, factories.integration(cast), request)
    assert state_of(wiring, action_id) is ActionState.DISMISSED
    assert factories.submit(wiring, cast) != request.id


def test_a_withdrawn_submission_ends_its_second_look(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast, factories.SPAM)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        action.action_state, action.retro_review_at = ActionState.RETRO_REVIEW, clock.now()
    with wiring.database.writing() as session:
        request = session.scalars(sa.select(Request)).one()
        submitting.withdraw(session, factories.integration(cast), request)
    assert state_of(wiring, action_id) is ActionState.CONFIRMED


def test_a_submission_that_was_withdrawn_meanwhile_is_found_by_no_call_that_waited(
    wiring: Wiring, cast: Cast
) -> None:
    made = factories.submit(wiring, cast)
    integration = factories.integration(cast)
    with wiring.database.writing() as session:
        scoring.fail(session, made, "It failed")
    with wiring.database.reading() as session:
        read_before = session.get_one(Request, made)
    with wiring.database.writing() as session:
        submitting.withdraw(session, integration, session.get_one(Request, made))
    calls: list[Callable[[Session, Request], object]] = [
        lambda session, request: submitting.escalate(session, integration, request),
        lambda session, request: submitting.retry(session, integration, request),
        lambda session, request: submitting.link_note(session, integration, request, None),
        lambda session, request: submitting.withdraw(session, integration, request),
    ]
    for call in calls:
        with wiring.database.writing() as session, pytest.raises(NotFound, match="request not found"):
            call(session, session.merge(read_before, load=False))
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Action)).all() == []
        withdrawn = sa.select(sa.func.count()).where(HistoryEntry.what == "request.withdrawn")
        assert session.scalar(withdrawn) == 1


def test_escalating_opens_a_review_for_staff(wiring: Wiring, cast: Cast) -> None:
    made = factories.submit(wiring, cast, "The tide tables for Tuesday are on the notice board.")
    wiring.jobs.run_all()  # type: ignore[union-attr]
    with wiring.database.writing() as session:
        request = session.get_one(Request, made)
        action = submitting.escalate(session, factories.integration(cast), request)
        assert (action.action_state, action.review_group) == (ActionState.UNDER_REVIEW, "staff")
        assert request.status is RequestStatus.IN_PROGRESS
        assert run.next_cards(session, SYSTEM, cast.community_id, cast.rater.profile_id, limit=20) == []


def test_a_job_that_runs_twice_scores_once(wiring: Wiring, cast: Cast) -> None:
    made = factories.submit(wiring, cast)
    Scorer(wiring).score(made)
    Scorer(wiring).score(made)
    with wiring.database.reading() as session:
        assert len(session.scalars(sa.select(Action)).all()) == 1
