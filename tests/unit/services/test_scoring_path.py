"""Posts are scored with connected services: their scores count, are only observed, or are missing."""

import threading
from typing import Any

import pytest

from app.core.models import Action, HistoryEntry, Request, Score
from app.core.permissions import SYSTEM
from app.core.requests.scoring import Unfinished
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import CategoryDraft
from app.core.vocabulary import ActionTier, RequestStatus, ServiceMode
from app.jobs import registry
from app.jobs import scoring as scoring_jobs
from tests.stub_services import HIGH, WORD, answering, dripping, status
from tests.unit.services.conftest import Stage


def test_a_counted_service_leads_to_an_action_that_names_it_and_its_model(stage: Stage) -> None:
    stage.add()
    stage.score()
    (action,) = stage.rows(Action)
    assert (action.category, action.score, action.action_tier) == ("toxicity", HIGH, ActionTier.CONSENSUS)
    (used,) = [item for item in action.evidence["details"]["classifiers"] if item["name"] == "service.own"]
    assert (used["version"], used["model"]) == ("1+model-1", "model-1")
    rows = {row.category: row for row in stage.rows(Score) if row.classifier == "service.own"}
    assert rows["toxicity"].is_highest
    assert not rows["toxicity"].is_observed
    assert rows["vendor:sarcasm"].score == 0.4
    assert not rows["vendor:sarcasm"].is_highest


def test_an_observed_service_changes_nothing_and_is_asked_after_the_verdict(stage: Stage) -> None:
    stage.add(mode=ServiceMode.OBSERVE)
    request_id = stage.score()
    assert stage.rows(Action) == []
    assert stage.status(request_id) is RequestStatus.COMPLETED
    rows = [row for row in stage.rows(Score) if row.classifier == "service.own"]
    assert {row.category for row in rows} == {"toxicity", "vendor:sarcasm"}
    assert all(row.is_observed and not row.is_highest and not row.tier1_capable for row in rows)
    scoring_jobs.observe(stage.wiring, request_id)
    assert len([row for row in stage.rows(Score) if row.is_observed]) == 2


def test_a_service_that_is_off_is_not_asked(stage: Stage) -> None:
    stage.add(mode=ServiceMode.OFF)
    stage.score()
    assert stage.stub.seen == []


def test_another_communitys_posts_are_not_sent(stage: Stage) -> None:
    stage.add()
    with stage.wiring.database.reading() as session:
        names = [item.name for item in stage.wiring.classifiers_for(session, stage.cast.other_community_id)]
    assert "service.own" not in names


def test_scores_act_alone_only_where_an_operator_allows_it_and_the_service_is_calibrated(
    stage: Stage,
) -> None:
    with stage.wiring.database.writing() as session:
        draft = CategoryDraft("toxicity", 0.55, tier1=0.9)
        threshold_sets.set_category(session, SYSTEM, stage.cast.community_id, draft, "Act")
    stage.add("first", may_act=True)
    stage.score(number=1)
    (action,) = stage.rows(Action)
    assert action.action_tier is ActionTier.CONSENSUS  # the stub does not say that it is calibrated
    calibrated = {"model": "m", "calibrated": True, "results": [{"scores": {"toxicity": 0.95}}]}
    stage.stub._own = lambda _body: calibrated  # type: ignore[method-assign]
    stage.score(f"Another {WORD}", 2)
    assert {row.action_tier for row in stage.rows(Action)} == {ActionTier.CONSENSUS, ActionTier.IMMEDIATE}


def test_a_failing_service_that_nobody_requires_is_named_and_the_others_decide(stage: Stage) -> None:
    stage.add()
    stage.stub.fail(status(500))
    request_id = stage.score()
    assert stage.status(request_id) is RequestStatus.COMPLETED
    causes = [entry.cause for entry in stage.rows(HistoryEntry) if entry.object_id == request_id]
    assert "nothing above a threshold; no answer from service.own" in causes


def test_a_failing_service_that_is_required_sends_the_post_to_staff(stage: Stage) -> None:
    stage.add()
    stage.require("review")
    stage.stub.fail(status(500))
    request_id = stage.score()
    (action,) = stage.rows(Action)
    assert (action.category, action.review_group.value) == ("unfinished", "staff")
    (failed,) = [item for item in action.evidence["details"]["classifiers"] if item.get("error")]
    assert (failed["name"], failed["error"]) == ("service.own", "it failed (500)")
    assert stage.status(request_id) is RequestStatus.IN_PROGRESS
    # Another post of the same kind in another category's name is not silently let through either.
    stage.require(None)
    other = stage.score("Something else", 2)
    assert stage.status(other) is RequestStatus.COMPLETED


def test_with_retry_scoring_is_tried_again_and_then_fails_where_people_see_it(stage: Stage) -> None:
    stage.add()
    stage.require("retry")
    stage.stub.fail(status(500))
    request_id = stage.submit()
    with pytest.raises(Unfinished) as unfinished:
        stage.jobs.run_all()
    assert stage.rows(Score) == []
    assert stage.status(request_id) is RequestStatus.IN_PROGRESS
    registry.give_up(stage.wiring, "score_request", {"request_id": str(request_id)}, unfinished.value)
    assert stage.status(request_id) is RequestStatus.FAILED
    with stage.wiring.database.reading() as session:
        failure = session.get_one(Request, request_id).failure
    assert failure == "Unfinished: service.own: it failed (500)"


def test_with_retry_a_later_attempt_succeeds(stage: Stage) -> None:
    stage.add()
    stage.require("retry")
    stage.stub.fail(status(500), times=3)
    request_id = stage.submit()
    with pytest.raises(Unfinished):
        stage.jobs.run_all()
    stage.jobs.run_all()
    (action,) = stage.rows(Action)
    assert (action.request_id, action.category) == (request_id, "toxicity")


def test_what_other_classifiers_found_stands_when_a_required_service_fails(stage: Stage) -> None:
    stage.add()
    stage.require("retry")
    stage.stub.fail(status(500))
    stage.score("You are an idiot and everybody here knows it")
    (action,) = stage.rows(Action)
    assert action.category == "toxicity"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_services_are_asked_at_the_same_time(stage: Stage) -> None:
    for name in ("first", "second", "third"):
        stage.add(name, deadline=25.0)
    together = threading.Barrier(3)

    def answer_once_all_have_asked(handler: Any) -> None:
        # Asked one after the other, the first would never be answered.
        together.wait(120)
        answering(stage.stub.answer(stage.stub.seen[-1]))(handler)

    stage.stub.fail(answer_once_all_have_asked)
    stage.score()
    assert not together.broken
    assert len(stage.stub.seen) == 3
    (action,) = stage.rows(Action)
    assert (action.category, action.score) == ("toxicity", HIGH)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_hanging_service_ends_at_its_deadline(stage: Stage) -> None:
    stage.add(deadline=0.3)
    stage.require("review")
    cut = threading.Event()
    stage.stub.fail(dripping(0.05, cut))
    stage.score()
    assert cut.wait(120), "it hung up while the body was still coming"
    (action,) = stage.rows(Action)
    assert action.category == "unfinished"
    (error,) = [used["error"] for used in action.evidence["details"]["classifiers"] if "error" in used]
    assert error == "no answer within 0.3 s"
