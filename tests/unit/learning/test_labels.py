"""Which decisions become labels, made with the service's own verbs."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.classify import COMMUNITY_MODEL
from app.core.history.reason import Reason
from app.core.learning import labels
from app.core.models import Action, Community, Request, Score
from app.core.permissions import SYSTEM, Actor
from app.core.requests import submitting
from app.core.review import expiry, verbs
from app.core.review.verbs import Details
from app.core.vocabulary import ActionState, ActionVerb, Role
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast

pytestmark = pytest.mark.both_databases

ABUSE, SPAM = factories.REVIEWED, factories.SPAM
TOXICITY = "toxicity"


def moderator(cast: Cast) -> Actor:
    return factories.member(
        cast,
        Role.MODERATOR,
        "Moderator",
        account_id=cast.moderator.account_id,
        profile_id=cast.moderator.profile_id,
    )


def decide(wiring: Wiring, cast: Cast, action_id: uuid.UUID, verb: ActionVerb) -> None:
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        verbs.decide(session, moderator(cast), action, verb, Details(Reason("We looked at it")))


def acknowledge(wiring: Wiring, cast: Cast, action_id: uuid.UUID) -> None:
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        verbs.change_action(session, factories.integration(cast), action, ActionState.APPLIED)


def found(wiring: Wiring, cast: Cast, category: str = TOXICITY) -> list[bool]:
    """Whether the community acted, for each label of a category."""
    with wiring.database.reading() as session:
        read = labels.read(session, cast.community_id, category)
        counted = labels.counts(session, cast.community_id).get(category)
    assert (counted[0] if counted else 0) >= len(read)
    return [label.acted for label in read]


def set_in(wiring: Wiring, cast: Cast, **settings: Any) -> None:
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = settings


def test_consensus_and_moderators_decisions_are_labels(wiring: Wiring, cast: Cast) -> None:
    raised, let_go, forced, dropped = (
        factories.scored_action(wiring, cast, f"{ABUSE} {n}", f"p-{n}") for n in range(4)
    )
    assert found(wiring, cast) == [], "open reviews say nothing"
    factories.rate(wiring, cast, raised, "HHHHH")
    factories.rate(wiring, cast, let_go, "NNNNN")
    decide(wiring, cast, forced, ActionVerb.FORCE_PUBLISH)
    decide(wiring, cast, dropped, ActionVerb.DISMISS)
    assert found(wiring, cast) == [True, False, True, False], "in the order of the decisions"
    with wiring.database.reading() as session:
        first = labels.read(session, cast.community_id, TOXICITY)[0]
        stored = session.scalar(
            sa.select(sa.func.max(Score.score)).where(Score.category == TOXICITY, Score.score > 0)
        )
    assert (first.content, first.author, first.rules) == (
        f"{ABUSE} 0",
        "post " + str(_request(wiring, raised)),
        0.0,
    )
    assert first.base == stored > 0.5


def test_what_is_only_observed_is_no_part_of_what_the_others_said(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    decide(wiring, cast, action_id, ActionVerb.FORCE_PUBLISH)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        session.add(
            Score(
                community_id=cast.community_id,
                request_id=action.request_id,
                category=TOXICITY,
                classifier="service.own",
                classifier_version="1",
                score=1.0,
                is_observed=True,
            )
        )
    with wiring.database.reading() as session:
        (label,) = labels.read(session, cast.community_id, TOXICITY)
    assert 0.5 < label.base < 1.0


def _request(wiring: Wiring, action_id: uuid.UUID) -> uuid.UUID:
    with wiring.database.reading() as session:
        return session.get_one(Action, action_id).request_id


def test_what_a_score_did_alone_is_no_label_until_people_looked(wiring: Wiring, cast: Cast) -> None:
    kept, undone, unseen = (factories.scored_action(wiring, cast, f"{SPAM} {n}", f"s-{n}") for n in range(3))
    for action_id in (kept, undone, unseen):
        acknowledge(wiring, cast, action_id)
    assert found(wiring, cast, "spam") == []
    decide(wiring, cast, kept, ActionVerb.CONFIRM)
    decide(wiring, cast, undone, ActionVerb.OVERTURN)
    assert found(wiring, cast, "spam") == [True, False]


def test_a_lone_rating_is_no_label_even_where_it_decides(wiring: Wiring, cast: Cast) -> None:
    set_in(wiring, cast, min_ratings=1, helpful_at=0.0)
    lone = factories.scored_action(wiring, cast, ABUSE, "lone")
    factories.rate(wiring, cast, lone, "H")
    with wiring.database.reading() as session:
        assert session.get_one(Action, lone).action_state is ActionState.PROPOSED
    assert found(wiring, cast) == []
    applied = factories.scored_action(wiring, cast, SPAM, "applied")
    acknowledge(wiring, cast, applied)
    set_in(wiring, cast)
    factories.rate(wiring, cast, applied, "N", first=50)
    with wiring.database.reading() as session:
        assert session.get_one(Action, applied).action_state is ActionState.RETRO_REVIEW
    assert found(wiring, cast, "spam") == []
    decide(wiring, cast, applied, ActionVerb.CONFIRM)
    assert found(wiring, cast, "spam") == [True], "a moderator looked too"


def test_tests_withdrawn_posts_and_erased_ones_are_no_labels(wiring: Wiring, cast: Cast) -> None:
    made = [factories.scored_action(wiring, cast, f"{ABUSE} {n}", f"p-{n}") for n in range(5)]
    for action_id in made:
        decide(wiring, cast, action_id, ActionVerb.DISMISS)
    assert found(wiring, cast) == [False] * 5
    changes: list[dict[str, Any]] = [
        {"is_test": True},
        {"withdrawn_at": clock.now()},
        {"content_removed_at": clock.now()},
        {"platform_author_id": f"erased-{uuid.uuid4()}"},
        {"platform_author_id": None, "requested_by": f"erased-{uuid.uuid4()}"},
    ]
    for number, change in enumerate(changes, start=1):
        with wiring.database.writing() as session:
            for name, value in change.items():
                setattr(
                    session.get_one(Request, session.get_one(Action, made[number - 1]).request_id),
                    name,
                    value,
                )
        assert found(wiring, cast) == [False] * (5 - number)


def test_a_test_post_is_marked_from_its_submission_on(wiring: Wiring, cast: Cast) -> None:
    submission = submitting.Submission("t-1", "tester", ABUSE, extra={submitting.TEST_MARK: True})
    with wiring.database.writing() as session:
        request_id = submitting.submit(session, SYSTEM, cast.community_id, submission).request.id
    wiring.jobs.run_all()  # type: ignore[union-attr]
    with wiring.database.reading() as session:
        action_id = session.scalars(sa.select(Action.id).where(Action.request_id == request_id)).one()
    decide(wiring, cast, action_id, ActionVerb.FORCE_PUBLISH)
    assert found(wiring, cast) == []


def test_reviews_that_ran_out_of_time_and_reports_of_the_platform_are_no_labels(
    wiring: Wiring, cast: Cast
) -> None:
    lapsed = factories.scored_action(wiring, cast, ABUSE, "lapsed")
    with wiring.database.writing() as session:
        expiry.expire(session, clock.now() + timedelta(days=1))
        assert session.get_one(Action, lapsed).action_state is ActionState.DISMISSED
    taken = factories.scored_action(wiring, cast, f"{ABUSE} again", "taken")
    acknowledge(wiring, cast, taken)
    with wiring.database.reading() as session:
        assert session.get_one(Action, taken).action_state is ActionState.APPLIED
    assert found(wiring, cast) == []


def test_the_category_is_the_one_that_people_decided_on(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast, ABUSE, "other")
    decide(wiring, cast, action_id, ActionVerb.FORCE_PUBLISH)
    with wiring.database.writing() as session:
        session.get_one(Action, action_id).decided_category = "hate"
    assert found(wiring, cast) == []
    assert found(wiring, cast, "hate") == [True]


def test_ordinary_posts_are_those_that_nothing_was_opened_for(wiring: Wiring, cast: Cast) -> None:
    factories.scored_action(wiring, cast, ABUSE, "raised")
    factories.submit(wiring, cast, "A pear tree grows by the pond.", "calm")
    wiring.jobs.run_all()  # type: ignore[union-attr]
    with wiring.database.reading() as session:
        (calm,) = labels.ordinary(session, cast.community_id)
        assert labels.ordinary(session, cast.other_community_id) == []
    assert calm.content == "A pear tree grows by the pond."
    assert calm.base[TOXICITY] < 0.55


def test_where_the_platform_names_no_author_the_one_who_asked_counts_as_author(
    wiring: Wiring, cast: Cast
) -> None:
    """Unless one account asks for most posts: that is the platform, and caps would leave nothing to learn."""

    def decided(who: str, number: int) -> None:
        action_id = factories.scored_action(wiring, cast, f"{ABUSE} {who} {number}", f"{who}-{number}")
        with wiring.database.writing() as session:
            request = session.get_one(Request, session.get_one(Action, action_id).request_id)
            request.platform_author_id, request.requested_by = None, who
        decide(wiring, cast, action_id, ActionVerb.DISMISS)

    def authors() -> list[str]:
        with wiring.database.reading() as session:
            return [label.author for label in labels.read(session, cast.community_id, TOXICITY)]

    for number in range(2):
        decided("ann", number)
        decided("ben", number)
    assert authors() == ["asked by ann", "asked by ben"] * 2
    for number in range(5):
        decided("forum", number)
    found = authors()
    assert found[:4] == ["asked by ann", "asked by ben"] * 2
    assert len({author for author in found[4:] if author.startswith("post ")}) == 5


def test_what_the_model_raised_counts_as_ordinary_until_people_act_on_it(wiring: Wiring, cast: Cast) -> None:
    """Otherwise each version could raise as many posts more as the one before it."""
    waiting, kept, acted, raised_by_others = (
        factories.scored_action(wiring, cast, f"{ABUSE} {n}", f"p-{n}") for n in range(4)
    )
    for action_id in (waiting, kept, acted):
        _raised_by_model(wiring, action_id)
    decide(wiring, cast, kept, ActionVerb.DISMISS)
    decide(wiring, cast, acted, ActionVerb.FORCE_PUBLISH)
    decide(wiring, cast, raised_by_others, ActionVerb.DISMISS)
    with wiring.database.reading() as session:
        ordinary = {post.content for post in labels.ordinary(session, cast.community_id)}
    assert ordinary == {f"{ABUSE} 0", f"{ABUSE} 1"}


def _raised_by_model(wiring: Wiring, action_id: uuid.UUID) -> None:
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        session.execute(
            sa.update(Score)
            .where(Score.request_id == action.request_id, Score.is_highest)
            .values(is_highest=False)
        )
        session.add(
            Score(
                community_id=action.community_id,
                request_id=action.request_id,
                category=action.category,
                classifier=COMMUNITY_MODEL,
                classifier_version="toxicity 1",
                score=0.7,
                is_highest=True,
            )
        )
