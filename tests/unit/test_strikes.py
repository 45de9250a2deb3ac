"""Strikes: given when an action is applied, taken back when it is overturned; what their points lead to, once."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock, limits
from app.core.actions import acknowledgements, actions, strike_steps, strikes
from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.history.reason import Reason
from app.core.models import Action, Community, Decision, HistoryEntry, Hold, Request, Strike
from app.core.people.profiles import Identity
from app.core.permissions import SYSTEM
from app.core.requests import submitting
from app.core.review import holds, queue
from app.core.review.queue_filters import QueueFilter
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import draft_of
from app.core.upkeep import erasure
from app.core.vocabulary import (
    ActionState,
    ActionType,
    ActionVerb,
    RequestStatus,
    ReviewGroup,
    Role,
    StrikeStep,
)
from app.wiring import Wiring
from tests import clocks, factories
from tests.cast import PLATFORM, Cast
from tests.inline_engine import InlineEngine
from tests.unit.test_other_verbs import decide

pytestmark = pytest.mark.both_databases
AUTHOR = "gull"


def give_points(wiring: Wiring, cast: Cast, points: int, category: str = "spam", days: int = 90) -> None:
    with wiring.database.writing() as session:
        known = threshold_sets.current(session, cast.community_id).categories
        draft = next(draft_of(one) for one in known if one.name == category)
        draft = replace(draft, strike_points=points, strike_days=days)
        threshold_sets.set_category(session, SYSTEM, cast.community_id, draft, "Points")


def settle(wiring: Wiring, cast: Cast, **settings: Any) -> None:
    with wiring.database.writing() as session:
        community = session.get_one(Community, cast.community_id)
        community.settings = {**community.settings, **settings}


def propose(wiring: Wiring, cast: Cast, request_id: str) -> uuid.UUID:
    """A post that its score alone acts on; return its action."""
    action_id = factories.scored_action(wiring, cast, factories.SPAM, request_id, author=AUTHOR)
    assert factories.state_of(wiring, action_id) is ActionState.PROPOSED
    return action_id


def apply(wiring: Wiring, cast: Cast, action_id: uuid.UUID) -> None:
    with wiring.database.writing() as session:
        acknowledgements.acknowledge(session, factories.integration(cast), session.get_one(Action, action_id))


def overturn(wiring: Wiring, cast: Cast, action_id: uuid.UUID) -> None:
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        actions.overturn(session, factories.moderator(cast), action, reason=Reason("A quotation"))


def acted(wiring: Wiring, cast: Cast, count: int) -> list[uuid.UUID]:
    made = [propose(wiring, cast, f"post-{number}") for number in range(count)]
    for action_id in made:
        apply(wiring, cast, action_id)
    return made


def points(wiring: Wiring, cast: Cast) -> int:
    with wiring.database.reading() as session:
        return strikes.points_of(session, cast.community_id, AUTHOR)


def steps(wiring: Wiring) -> list[tuple[StrikeStep | None, ActionState]]:
    with wiring.database.reading() as session:
        found = session.scalars(
            sa.select(Action).where(Action.strike_step.is_not(None)).order_by(Action.created_at, Action.id)
        )
        return [(action.strike_step, action.action_state) for action in found]


def open_step(wiring: Wiring, cast: Cast) -> Action:
    with wiring.database.reading() as session:
        found = strike_steps.find_open(session, cast.community_id, AUTHOR)
        assert found is not None
        return found


def test_a_strike_is_given_once_when_the_platform_acted_and_taken_back_once(
    wiring: Wiring, cast: Cast
) -> None:
    give_points(wiring, cast, 2)
    action_id = propose(wiring, cast, "post-1")
    assert points(wiring, cast) == 0
    apply(wiring, cast, action_id)
    apply(wiring, cast, action_id)
    assert points(wiring, cast) == 2
    overturn(wiring, cast, action_id)
    assert points(wiring, cast) == 0
    with wiring.database.writing() as session:
        strikes.take_back(session, session.get_one(Action, action_id))
        what = sa.select(HistoryEntry.what).where(HistoryEntry.what.like("action.strike%"))
        assert session.scalars(what.order_by(HistoryEntry.number)).all() == [
            "action.strike_added",
            "action.strike_lifted",
        ]


def test_a_strike_ends_after_the_days_of_its_category(wiring: Wiring, cast: Cast) -> None:
    give_points(wiring, cast, 2, days=30)
    acted(wiring, cast, 1)
    clocks.advance(days=29)
    assert points(wiring, cast) == 2
    clocks.advance(days=1)
    assert points(wiring, cast) == 0


def test_categories_give_nothing_unless_they_are_told_to(wiring: Wiring, cast: Cast) -> None:
    acted(wiring, cast, 3)
    assert points(wiring, cast) == 0
    assert steps(wiring) == []


def test_a_step_is_an_item_for_staff_that_decides_no_request(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    give_points(wiring, cast, 3)
    first, second = acted(wiring, cast, 2)
    assert steps(wiring) == [
        (StrikeStep.WARN, ActionState.DISMISSED),
        (StrikeStep.SILENCE_1, ActionState.UNDER_REVIEW),
    ]
    step = open_step(wiring, cast)
    assert (step.review_group, step.note_id, step.action_type) == (
        ReviewGroup.STAFF,
        None,
        ActionType.SILENCE,
    )
    with wiring.database.reading() as session:
        listed = queue.queue(session, factories.moderator(cast), cast.community_id, QueueFilter(), size=10)
        assert [item.action.id for item in listed.items] == [step.id]
        decisions = session.scalars(sa.select(Decision.action_id)).all()
        live = actions.live_for(session, step.request_id)
    assert set(decisions) == {first, second}
    assert live is not None
    assert live.id == second, "the post's own action"
    decide(wiring, cast, jobs, step.id, ActionVerb.FORCE_PUBLISH)
    with wiring.database.reading() as session:
        silence = session.get_one(Action, step.id)
        assert session.scalar(sa.select(sa.func.count()).select_from(Decision)) == 2
    assert silence.action_state is ActionState.PROPOSED
    assert silence.until is not None
    assert abs(silence.until - clock.now() - timedelta(days=1)) < timedelta(minutes=1)
    apply(wiring, cast, step.id)
    assert points(wiring, cast) == 6, "a step gives no strike"


def test_a_step_on_a_post_that_is_not_decided_leaves_its_review_alone(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    under_review = factories.scored_action(wiring, cast, request_id="asked", author=AUTHOR)
    moderator = factories.moderator(cast)
    with wiring.database.writing() as session:
        strikes.add(session, moderator, cast.community_id, AUTHOR, 3, reason=Reason("Insults by mail"))
    step = open_step(wiring, cast)
    decide(wiring, cast, jobs, step.id, ActionVerb.FORCE_PUBLISH)
    with wiring.database.reading() as session:
        warning = session.get_one(Action, step.id)
        assert (warning.action_type, warning.action_state) == (ActionType.WARN, ActionState.PROPOSED)
        assert warning.author_text is not None
        assert session.scalars(sa.select(Decision)).all() == []
        assert session.get_one(Action, under_review).action_state is ActionState.UNDER_REVIEW


def test_an_overturn_withdraws_the_open_step_and_the_decision_held_on_it(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    give_points(wiring, cast, 3)
    (action_id,) = acted(wiring, cast, 1)
    step = open_step(wiring, cast)
    with wiring.database.writing() as session:
        action = session.get_one(Action, step.id)
        who = factories.actor_of(wiring, cast.moderator)
        holds.hold(session, who, ActionVerb.FORCE_PUBLISH, action=action, reason=Reason("Yes"), seconds=0)
    overturn(wiring, cast, action_id)
    assert steps(wiring) == [(StrikeStep.WARN, ActionState.DISMISSED)]
    jobs.run_all()
    assert steps(wiring) == [(StrikeStep.WARN, ActionState.DISMISSED)]
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Hold)).all() == []


def test_undoing_a_decision_on_a_step_leaves_it_open(wiring: Wiring, cast: Cast) -> None:
    give_points(wiring, cast, 3)
    acted(wiring, cast, 1)
    step, who = open_step(wiring, cast), factories.actor_of(wiring, cast.moderator)
    with wiring.database.writing() as session:
        action = session.get_one(Action, step.id)
        held = holds.hold(session, who, ActionVerb.DISMISS, action=action, reason=Reason("No"), seconds=10)
    with wiring.database.writing() as session:
        holds.undo(session, who, held.id)
    assert open_step(wiring, cast).id == step.id


def test_a_step_is_proposed_again_when_its_points_are_reached_again(wiring: Wiring, cast: Cast) -> None:
    give_points(wiring, cast, 3)
    (first,) = acted(wiring, cast, 1)
    overturn(wiring, cast, first)
    apply(wiring, cast, propose(wiring, cast, "another"))
    assert steps(wiring) == [
        (StrikeStep.WARN, ActionState.DISMISSED),
        (StrikeStep.WARN, ActionState.UNDER_REVIEW),
    ]


def test_observed_steps_are_only_in_the_history(wiring: Wiring, cast: Cast) -> None:
    settle(wiring, cast, strikes_act="observe")
    give_points(wiring, cast, 6)
    acted(wiring, cast, 1)
    assert steps(wiring) == []
    with wiring.database.reading() as session:
        entry = session.scalars(
            sa.select(HistoryEntry).where(HistoryEntry.what == "action.strike_step_observed")
        ).one()
    assert entry.after == {"step": "silence_1", "points": 6}


def test_a_community_that_acts_silences_at_once_unless_it_is_paused(wiring: Wiring, cast: Cast) -> None:
    settle(wiring, cast, strikes_act="act")
    give_points(wiring, cast, 6)
    acted(wiring, cast, 1)
    assert steps(wiring) == [(StrikeStep.SILENCE_1, ActionState.PROPOSED)]
    another = propose(wiring, cast, "another")
    with wiring.database.writing() as session:
        until = session.scalars(sa.select(Action.until).where(Action.strike_step.is_not(None))).one()
        session.get_one(Community, cast.community_id).paused_at = clock.now()
    assert until is not None
    apply(wiring, cast, another)
    assert steps(wiring)[-1] == (StrikeStep.SILENCE_30, ActionState.UNDER_REVIEW)


def test_a_step_that_the_community_does_without_is_passed_over(wiring: Wiring, cast: Cast) -> None:
    settle(wiring, cast, strikes_warn=None, strikes_silence_1=None)
    give_points(wiring, cast, 6)
    acted(wiring, cast, 1)
    assert steps(wiring) == []


def test_a_strike_by_hand_needs_a_reason_and_is_lifted_with_one(wiring: Wiring, cast: Cast) -> None:
    factories.submit(wiring, cast, author=AUTHOR)
    moderator = factories.moderator(cast)

    def add(who: Any = moderator, number: int = 2, why: str = "By mail", **more: Any) -> uuid.UUID:
        with wiring.database.writing() as session:
            reason = Reason(why)
            return strikes.add(session, who, cast.community_id, AUTHOR, number, reason=reason, **more).id

    for number, why, category in ((0, "x", None), (11, "x", None), (1, "", None), (1, "x", "nonsense")):
        with pytest.raises(Invalid):
            add(number=number, why=why, category=category)
    with pytest.raises(Forbidden):
        add(factories.integration(cast))
    with pytest.raises(Forbidden):
        add(factories.member(cast, Role.RATER))
    strike_id = add()
    assert points(wiring, cast) == 2
    with pytest.raises(Invalid), wiring.database.writing() as session:
        strikes.lift(session, moderator, session.get_one(Strike, strike_id), reason=Reason(""))
    with wiring.database.writing() as session:
        strikes.lift(session, moderator, session.get_one(Strike, strike_id), reason=Reason("A mistake"))
    assert points(wiring, cast) == 0
    with pytest.raises(Conflict), wiring.database.writing() as session:
        strikes.lift(session, moderator, session.get_one(Strike, strike_id), reason=Reason("Again"))
    with pytest.raises(Invalid, match="no post"), wiring.database.writing() as session:
        strikes.add(session, moderator, cast.community_id, "unknown", 1, reason=Reason("Why"))


def test_strikes_by_hand_are_countable(wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    factories.submit(wiring, cast, author=AUTHOR)
    monkeypatch.setattr(limits, "STRIKES", limits.STRIKES._replace(number=1))
    moderator = factories.moderator(cast)
    with wiring.database.writing() as session:
        strikes.add(session, moderator, cast.community_id, AUTHOR, 1, reason=Reason("One"))
    with pytest.raises(Invalid), wiring.database.writing() as session:
        strikes.add(session, moderator, cast.community_id, AUTHOR, 1, reason=Reason("Two"))


def test_moderators_who_add_strikes_at_once_open_one_step(wiring: Wiring, cast: Cast) -> None:
    factories.submit(wiring, cast, author=AUTHOR)
    moderator = factories.moderator(cast)

    def add(_number: int) -> None:
        with wiring.database.writing() as session:
            strikes.add(session, moderator, cast.community_id, AUTHOR, 1, reason=Reason("At once"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(4)))
    assert points(wiring, cast) == 4
    assert steps(wiring) == [(StrikeStep.WARN, ActionState.UNDER_REVIEW)]


def test_withdrawing_the_post_withdraws_the_step(wiring: Wiring, cast: Cast) -> None:
    give_points(wiring, cast, 3)
    acted(wiring, cast, 1)
    with wiring.database.writing() as session:
        request = session.get_one(Request, open_step(wiring, cast).request_id)
        submitting.withdraw(session, factories.integration(cast), request)
    assert steps(wiring) == [(StrikeStep.WARN, ActionState.DISMISSED)]


def test_strikes_leave_with_the_erased_author(wiring: Wiring, cast: Cast) -> None:
    give_points(wiring, cast, 3)
    acted(wiring, cast, 2)
    erased = erasure.erase(wiring.database, SYSTEM, Identity(PLATFORM, AUTHOR, "forum-1"))
    assert erased.gone["strikes"] == 2
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Strike)).all() == []
        named = sa.select(Action.id).where(Action.platform_author_id == AUTHOR)
        assert session.scalars(named).all() == []


def test_nobody_of_another_community_adds_a_strike(wiring: Wiring, cast: Cast) -> None:
    factories.submit(wiring, cast, author=AUTHOR)
    with pytest.raises(NotFound), wiring.database.writing() as session:
        strikes.add(
            session, factories.moderator(cast), cast.other_community_id, AUTHOR, 1, reason=Reason("Elsewhere")
        )


def test_an_edit_of_the_post_of_an_open_step_is_judged_by_itself(
    wiring: Wiring, jobs: InlineEngine, cast: Cast
) -> None:
    give_points(wiring, cast, 3)
    settle(wiring, cast, strikes_warn=2)

    def send(name: str, text: str) -> None:
        with wiring.database.writing() as session:
            submission = submitting.Submission(
                name, AUTHOR, text, platform_message_id="m-1", platform_author_id=AUTHOR
            )
            submitting.submit(session, factories.integration(cast), cast.community_id, submission)
        jobs.run_all()

    send("p-1", factories.SPAM)
    with wiring.database.reading() as session:
        action_id = session.scalars(sa.select(Action.id)).one()
    apply(wiring, cast, action_id)
    assert steps(wiring) == [(StrikeStep.WARN, ActionState.UNDER_REVIEW)]
    send("p-2", "The ferry leaves at nine tomorrow, from the pier beside the market")
    send("p-3", factories.REVIEWED)
    with wiring.database.reading() as session:
        rows = session.execute(
            sa.select(Request.request_id, Request.status, Action.action_state)
            .outerjoin(Action, sa.and_(Action.request_id == Request.id, Action.strike_step.is_(None)))
            .order_by(Request.request_id)
        ).all()
    assert [tuple(row) for row in rows] == [
        ("p-1", RequestStatus.COMPLETED, ActionState.APPLIED),
        ("p-2", RequestStatus.COMPLETED, None),
        ("p-3", RequestStatus.IN_PROGRESS, ActionState.UNDER_REVIEW),
    ]
    assert open_step(wiring, cast).newest_request_id is None, "its item shows the post that it is about"


def test_a_step_on_a_repeated_submission_does_not_keep_its_decision_from_it(
    wiring: Wiring, jobs: InlineEngine, cast: Cast
) -> None:
    settle(wiring, cast, strikes_warn=2)
    for name in ("p-1", "p-2"):
        with wiring.database.writing() as session:
            submission = submitting.Submission(
                name, AUTHOR, factories.REVIEWED, platform_message_id="m-1", platform_author_id=AUTHOR
            )
            submitting.submit(session, factories.integration(cast), cast.community_id, submission)
        jobs.run_all()
    with wiring.database.writing() as session:
        strikes.add(
            session, factories.moderator(cast), cast.community_id, AUTHOR, 3, reason=Reason("Rude by mail")
        )
    step = open_step(wiring, cast)
    with wiring.database.writing() as session:
        repeated = session.get_one(Request, step.request_id)
        assert repeated.request_id == "p-2", "the author's newest post"
        review = session.scalars(
            sa.select(Action).where(Action.strike_step.is_(None), Action.request_id == repeated.duplicate_of)
        ).one()
        actions.decide_none(session, SYSTEM, review, confidence=1.0, reason=Reason(cause="Banter"))
    jobs.run_all()
    with wiring.database.reading() as session:
        statuses = session.scalars(sa.select(Request.status)).all()
        assert statuses == [RequestStatus.COMPLETED, RequestStatus.COMPLETED]
        assert len(session.scalars(sa.select(Decision)).all()) == 2
    assert factories.state_of(wiring, step.id) is ActionState.UNDER_REVIEW
