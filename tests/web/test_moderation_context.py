"""What a moderator decides with: the policy it falls under, the thread, the author's past, other windows."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.history.reason import Reason
from app.core.models import Action, HistoryEntry, Hold, Request
from app.core.permissions import SYSTEM
from app.core.review import verbs
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import CategoryDraft
from app.core.vocabulary import ActionState, Verb
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.web.conftest import HTMX, FixedClassifier, Stage, Visit, Visitor


def carry_out(jobs: InlineEngine) -> None:
    later = clock.now() + timedelta(seconds=11)
    clock.set_source(lambda: later)
    jobs.run_all()


def describe(wiring: Wiring, action_id: uuid.UUID, **columns: Any) -> None:
    """Set columns of the item's request, as its integration would have sent them."""
    with wiring.database.writing() as session:
        request = session.get_one(Request, session.get_one(Action, action_id).request_id)
        for name, value in columns.items():
            setattr(request, name, value)


def test_a_decision_under_another_policy_is_filed_and_told(
    moderator: Visitor, wiring: Wiring, stage: Stage, jobs: InlineEngine
) -> None:
    action_id = stage.post()
    moderator.post(
        f"/review/{action_id}/decide",
        verb="force_publish",
        reason="He means it",
        version="1",
        policy="threat",
    )
    carry_out(jobs)
    with wiring.database.reading() as session:
        action = session.get_one(Action, action_id)
        assert (action.category, action.decided_category) == ("toxicity", "threat")
        filed = session.scalars(sa.select(HistoryEntry).where(HistoryEntry.what == "action.filed")).one()
        assert (filed.before, filed.after) == ({"category": "toxicity"}, {"category": "threat"})
    assert "Filed under Threat instead of Toxicity" in moderator.get(f"/review/{action_id}").text
    assert "He means it" in moderator.get("/history?category=threat").text
    assert "He means it" not in moderator.get("/history?category=toxicity").text


@pytest.mark.parametrize("policy", ["toxicity", ""])
def test_the_items_own_policy_files_nothing(
    moderator: Visitor, wiring: Wiring, stage: Stage, jobs: InlineEngine, policy: str
) -> None:
    action_id = stage.post()
    moderator.post(f"/review/{action_id}/decide", verb="dismiss", reason="Banter", version="1", policy=policy)
    carry_out(jobs)
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).action_state is ActionState.DISMISSED
        assert session.scalars(sa.select(HistoryEntry).where(HistoryEntry.what == "action.filed")).all() == []


def test_a_policy_that_the_community_does_not_have_is_named(
    moderator: Visitor, wiring: Wiring, stage: Stage
) -> None:
    answer = moderator.post(
        f"/review/{stage.post()}/decide", verb="dismiss", reason="Kept words", version="1", policy="astrology"
    )
    assert answer.status_code == 422
    assert "File under must be one of this community&#39;s categories." in answer.text
    assert "Kept words" in answer.text


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_the_same_moderator_in_a_second_window_is_told_and_keeps_the_text(
    moderator: Visitor, wiring: Wiring, stage: Stage, headers: dict[str, str]
) -> None:
    action_id = stage.post()
    moderator.post(f"/review/{action_id}/decide", verb="dismiss", reason="First", version="1")
    answer = moderator.post(
        f"/review/{action_id}/decide", headers, verb="force_publish", reason="On second thoughts", version="1"
    )
    assert answer.status_code == 409
    assert "You have decided this already, in another window" in answer.text
    assert "On second thoughts" in answer.text
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Hold.reason)).all() == ["First"]


def test_a_message_after_the_decision_does_not_hide_who_decided(
    moderator: Visitor, operator: Visitor, admin: Visitor, wiring: Wiring, stage: Stage, jobs: InlineEngine
) -> None:
    action_id = stage.post()
    operator.post(f"/review/{action_id}/decide", verb="dismiss", reason="Banter", version="1")
    carry_out(jobs)
    admin.post(f"/review/{action_id}/message", message="Good call")
    answer = moderator.post(
        f"/review/{action_id}/decide", verb="force_publish", reason="Too late", version="1"
    )
    assert "Already decided by Operator" in answer.text


def test_the_thread_stands_beside_the_post_for_raters_too_escaped_and_without_scripts_in_links(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    describe(
        wiring,
        action_id,
        extra={
            "title": "Who moved <my> boat?",
            "url": "https://forum.example/t/12",
            "thread": [
                {"author": "ann", "text": "Where is <it>?", "timestamp": "2026-03-01T10:00:00Z"},
                {"author": "kai", "text": "At berth 12", "url": "https://forum.example/t/12/2"},
                {"text": "Nobody's link", "url": "javascript:alert(1)"},
            ],
        },
    )
    item = f"/review/{action_id}"
    for person, path in ((cast.rater, item), (cast.moderator, item), (cast.rater, "/help-needed")):
        page = visit(person).get(path).text
        assert "Who moved &lt;my&gt; boat?" in page
        assert "Where is &lt;it&gt;?" in page
        assert 'datetime="2026-03-01T10:00:00Z"' in page
        assert 'href="https://forum.example/t/12/2"' in page
        assert "Nobody&#39;s link" in page
        assert "javascript:alert" not in page


SHAPES: list[dict[str, Any]] = [
    {"thread": "text", "title": 5, "url": ["x"]},
    {"thread": {"author": "ann"}},
    {"thread": [None, 5, [], {"text": None}, {"text": "  "}, {"author": "ann"}]},
    {"thread": [{"text": "Shown", "author": 7, "timestamp": "yesterday", "url": "//evil.example"}]},
    {"thread": [{"text": "Shown", "timestamp": "0001-01-01T00:00:00+14:00"}]},
    {"thread": [{"text": "Shown", "timestamp": "9999-12-31T23:59:59-12:00", "url": "https://a b"}]},
    {"url": "https://" + "x" * 3_000},
    {"title": "x" * 5_000, "thread": [{"text": "y" * 9_000}] * 500},
]


def test_metadata_of_another_shape_is_as_if_it_were_not_there(
    rater: Visitor, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post("The post itself")
    for metadata in SHAPES:
        describe(wiring, action_id, extra=metadata)
        answer = rater.get(f"/review/{action_id}")
        assert answer.status_code == 200, metadata
        assert "evil.example" not in answer.text, metadata
        assert len(answer.text) < 120_000, metadata


@pytest.mark.both_databases
def test_moderators_see_what_the_author_posted_before_in_this_community_alone(
    moderator: Visitor, rater: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    hidden, open_, foreign = (
        stage.post("Hidden one"),
        stage.post("Open one"),
        stage.post("Far away", away=True),
    )
    here, later = stage.post("The present one"), stage.post("A later one")
    for action_id in (hidden, open_, foreign, here, later):
        describe(wiring, action_id, platform_author_id="kai")
        with wiring.database.writing() as session:
            session.get_one(Action, action_id).platform_author_id = "kai"
    staff = factories.integration(cast)
    for state in (ActionState.PROPOSED, ActionState.APPLIED):
        with wiring.database.writing() as session:
            verbs.change_action(
                session, staff, session.get_one(Action, hidden), state, reason=Reason("Known")
            )
    page = moderator.get(f"/review/{here}").text
    assert "4 posts in 1 day · 1 hidden · 3 open" in page
    assert "decide together" in page
    assert f'href="/review/{hidden}"' in page
    assert f'href="/review/{open_}"' in page
    assert "Far away" not in page
    assert "A later one" not in page
    assert "decide together" not in rater.get(f"/review/{here}").text


def test_a_moderators_own_answer_is_behind_a_disclosure_and_opens_when_it_has_an_error(
    moderator: Visitor, rater: Visitor, stage: Stage
) -> None:
    action_id = stage.post()
    assert "Answer as a member" in moderator.get(f"/review/{action_id}").text
    assert "Answer as a member" not in rater.get(f"/review/{action_id}").text
    assert '<details class="disclosure as-member" open>' in moderator.post(f"/review/{action_id}/answer").text


def test_moderators_read_what_a_category_that_only_observes_would_have_done_and_raters_do_not(
    moderator: Visitor, rater: Visitor, cast: Cast, wiring: Wiring
) -> None:
    drafts = [
        CategoryDraft("toxicity", 0.55),
        CategoryDraft("spam", 0.55, 0.8, tier1_action=Verb.DELETE, observe_only=True),
        CategoryDraft("hate", 0.55, observe_only=True),
    ]
    with wiring.database.writing() as session:
        threshold_sets.revise(session, SYSTEM, cast.community_id, drafts, "Watching spam")
    spam = FixedClassifier(
        category="spam", name="second", tier1_categories=frozenset({"spam"}), score_given=0.9
    )
    hate = FixedClassifier(category="hate", name="third", score_given=0.6)
    wiring.classifiers = [FixedClassifier(), spam, hate]
    action_id = factories.scored_action(wiring, cast)
    page = moderator.get(f"/review/{action_id}").text
    assert "Spam 0.90, above 0.8 (Tier 1): the post would have been deleted at once" in page
    assert (
        "Hate 0.60, above 0.55 (Tier 2): people would have been asked whether the post should be hidden"
        in page
    )
    blind = rater.get(f"/review/{action_id}")
    assert blind.status_code == 200
    assert "Observed only" not in blind.text
    assert "would have been" not in blind.text
