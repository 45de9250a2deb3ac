"""What an observed service would have changed, what a new version changes, and how classifiers do."""

import uuid
from dataclasses import replace

import sqlalchemy as sa

from app.core.classify import COMMUNITY_MODEL
from app.core.models import Action, Score
from app.core.permissions import SYSTEM
from app.core.services import comparing, figures, reading, services
from app.core.services.comparing import Comparison
from app.core.services.services import Registry
from app.core.services.settings import ServiceSettings
from app.core.thresholds import threshold_sets
from app.core.thresholds.outcomes import Outcome
from app.core.thresholds.routing import CategoryRule, Scored
from app.core.vocabulary import ServiceMode
from tests.stub_services import WORD, status
from tests.unit.services.conftest import Stage

INSULT = "You are an idiot and everybody here knows it"


def compared(stage: Stage, number: int = 1) -> Comparison:
    with stage.wiring.database.reading() as session:
        posts = comparing.recent_posts(session, SYSTEM, stage.cast.community_id)
        rules = threshold_sets.category_rules(threshold_sets.current(session, stage.cast.community_id))
    return comparing.with_and_without(posts, rules, "service.own", number)


def test_an_observed_service_is_compared_with_what_happened(stage: Stage) -> None:
    stage.add(mode=ServiceMode.OBSERVE)
    stage.score(f"One {WORD}", 1)
    stage.score("Nothing at all", 2)
    stage.score(INSULT, 3)
    found = compared(stage)
    assert (found.posts, found.differing, found.complete) == (3, 1, True)
    assert found.moved == {(None, ("toxicity", 2)): 1}
    assert (found.routed_before, found.routed_after) == (1, 2)
    assert [sample.post.content for sample in found.samples] == [f"One {WORD}"]
    assert compared(stage, 2).posts == 0


def test_a_counted_service_is_compared_with_the_posts_it_decided(stage: Stage) -> None:
    stage.add()
    stage.score()
    found = compared(stage)
    assert found.moved == {(None, ("toxicity", 2)): 1}


def test_known_outcomes_say_whether_the_difference_is_right(stage: Stage) -> None:
    rules = [CategoryRule("toxicity", 0.5)]
    stage.add(mode=ServiceMode.OBSERVE)
    stage.score()
    with stage.wiring.database.reading() as session:
        (post,) = comparing.recent_posts(session, SYSTEM, stage.cast.community_id)
    posts = [replace(post, outcome=outcome) for outcome in (*Outcome, None)]
    found = comparing.with_and_without(posts, rules, "service.own", 1)
    assert (found.posts, found.right, found.wrong) == (7, 1, 2)


def test_the_communitys_own_model_is_left_out_because_it_blended_what_is_compared(stage: Stage) -> None:
    rules = [CategoryRule("toxicity", 0.5)]
    stage.add(mode=ServiceMode.OBSERVE)
    stage.score()
    with stage.wiring.database.reading() as session:
        (post,) = comparing.recent_posts(session, SYSTEM, stage.cast.community_id)
    own = comparing.StoredScore(COMMUNITY_MODEL, "toxicity 1", "toxicity", Scored(0.9), is_observed=False)
    post = replace(post, scores=[*post.scores, own])
    found = comparing.with_and_without([post], rules, "service.own", 1)
    assert found.moved == {(None, ("toxicity", 2)): 1}


def trial(stage: Stage, service_id: uuid.UUID, number: int) -> Comparison:
    with stage.wiring.database.reading() as session:
        service = reading.find(session, SYSTEM, service_id)
        version = reading.numbered(session, service, number)
        posts = comparing.recent_posts(session, SYSTEM, stage.cast.community_id, comparing.TRIED_POSTS)
        rules = threshold_sets.category_rules(threshold_sets.current(session, stage.cast.community_id))
        classifier = stage.wiring.services.connected(service, version)
    return comparing.try_version(posts, rules, classifier, stage.cast.community_id)


def test_a_new_version_is_tried_on_recent_posts_before_it_is_in_force(stage: Stage) -> None:
    service_id = stage.add()
    for number in range(3):
        stage.score(f"{WORD} {number}", number)
    registry = Registry(stage.wiring.services.kinds, stage.wiring.sealer, stage.wiring.services.allow)
    other_map = ServiceSettings(stage.stub.url("/score"), categories={"toxicity": None, "sarcasm": "spam"})
    with stage.wiring.database.writing() as session:
        services.change(session, SYSTEM, service_id, registry, other_map, "Another map")
    scores = _count(stage)
    found = trial(stage, service_id, 2)
    assert found.moved == {(("toxicity", 2), None): 3}
    assert (found.posts, found.failed, _count(stage)) == (3, 0, scores)
    stage.stub.fail(status(400))
    # The answers of the first trial are kept for a day; those of the version in use are not asked for again either.
    assert trial(stage, service_id, 2).failed == 0
    with stage.wiring.database.writing() as session:
        services.change(session, SYSTEM, service_id, registry, replace(other_map, price=1.0), "Priced")
    assert trial(stage, service_id, 3).failed == 3


def _count(stage: Stage) -> int:
    with stage.wiring.database.reading() as session:
        return session.scalar(sa.select(sa.func.count()).select_from(Score)) or 0


def test_records_name_the_share_of_actions_that_people_upheld(stage: Stage) -> None:
    stage.add()
    for number in range(3):
        stage.score(f"{WORD} {number}", number)
    with stage.wiring.database.writing() as session:
        # Straight in the table: how actions are confirmed is tested elsewhere.
        ids = list(session.scalars(sa.select(Action.id).order_by(Action.id)))
        for action_id, state in zip(ids, ("confirmed", "dismissed", "under_review"), strict=True):
            session.execute(sa.update(Action).where(Action.id == action_id).values(action_state=state))
    with stage.wiring.database.reading() as session:
        found = figures.records(session, SYSTEM, stage.cast.community_id)
    assert (found["service.own"].decided, found["service.own"].upheld) == (2, 1)
    assert found["service.own"].p95 is not None
    assert found["builtin.rules"].decided == 0
