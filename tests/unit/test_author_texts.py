"""What authors are told with a warning. A post about self-harm is answered with the support text, not reprimanded."""

import uuid

import pytest
import sqlalchemy as sa

from app.core.classify import Result
from app.core.communities.settings import SUPPORT_TEXT
from app.core.errors import Invalid
from app.core.models import Action, Community
from app.core.permissions import SYSTEM
from app.core.requests import scoring
from app.core.requests.scorings import Scoring
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import CategoryDraft
from app.core.vocabulary import ActionState, ActionType, ActionVerb, ReopenTo, Verb
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.unit.test_other_verbs import decide

OWN = "Our chaplain is in the harbour office every day: 555-0101."


def scored(wiring: Wiring, cast: Cast, category: str, score: float, request_id: str = "post-1") -> uuid.UUID:
    """Score a post with this alone; return the action that was opened."""
    post_id = factories.submit(wiring, cast, request_id=request_id)
    with wiring.database.writing() as session:
        assert scoring.start(session, post_id)
        by = Scoring("first", "1", frozenset({category}), Result(scores={category: score}), 0)
        scoring.record_scores(session, post_id, [by])
        return session.scalars(sa.select(Action.id).where(Action.request_id == post_id)).one()


def configure(wiring: Wiring, cast: Cast, tier1: float | None) -> None:
    """Let the categories that the tests use notify the author, above these thresholds."""
    drafts = [
        CategoryDraft(name, 0.5, tier1, tier1_action=Verb.NOTIFY, tier2_action=Verb.NOTIFY)
        for name in ("self_harm", "toxicity")
    ]
    with wiring.database.writing() as session:
        threshold_sets.revise(session, SYSTEM, cast.community_id, drafts, "Notices")


def reason(wiring: Wiring, action_id: uuid.UUID) -> str | None:
    with wiring.database.reading() as session:
        action = session.get_one(Action, action_id)
        assert action.action_state is ActionState.PROPOSED
        assert action.action_type is ActionType.WARN
        assert action.author_text == action.reason
        return action.reason


@pytest.mark.parametrize(
    ("chosen", "text"),
    [({}, SUPPORT_TEXT), ({"support_text": OWN}, OWN), ({"support_text": ""}, None)],
)
def test_a_notice_carries_the_communitys_support_text(
    wiring: Wiring, cast: Cast, jobs: InlineEngine, chosen: dict[str, str], text: str | None
) -> None:
    configure(wiring, cast, tier1=None)
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = chosen
    action_id = scored(wiring, cast, "self_harm", 0.7)
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).reason is None, "nothing is said before it is decided"
    decide(wiring, cast, jobs, action_id, ActionVerb.FORCE_PUBLISH)
    assert reason(wiring, action_id) == text


def test_a_notice_without_review_carries_it_too(wiring: Wiring, cast: Cast) -> None:
    configure(wiring, cast, tier1=0.6)
    assert reason(wiring, scored(wiring, cast, "self_harm", 0.7)) == SUPPORT_TEXT


def test_members_who_decide_send_it_too(wiring: Wiring, cast: Cast) -> None:
    configure(wiring, cast, tier1=None)
    action_id = scored(wiring, cast, "self_harm", 0.7)
    factories.rate(wiring, cast, action_id, "HHHHHH")
    assert reason(wiring, action_id) == SUPPORT_TEXT


def test_a_moderators_own_text_wins(wiring: Wiring, cast: Cast, jobs: InlineEngine) -> None:
    configure(wiring, cast, tier1=None)
    action_id = scored(wiring, cast, "self_harm", 0.7)
    decide(wiring, cast, jobs, action_id, ActionVerb.FORCE_PUBLISH, author_text="Write to me any time.")
    assert reason(wiring, action_id) == "Write to me any time."


@pytest.mark.both_databases
def test_a_category_has_the_communitys_text_or_a_shipped_one(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    configure(wiring, cast, tier1=None)
    shipped = scored(wiring, cast, "toxicity", 0.7)
    decide(wiring, cast, jobs, shipped, ActionVerb.FORCE_PUBLISH)
    assert "insult" in (reason(wiring, shipped) or "")
    for category in ("toxicity", "self_harm"):
        draft = CategoryDraft(category, 0.5, 0.6, tier1_action=Verb.NOTIFY, author_text=OWN)
        with wiring.database.writing() as session:
            threshold_sets.set_category(session, SYSTEM, cast.community_id, draft, "In our words")
        assert reason(wiring, scored(wiring, cast, category, 0.7, request_id=category)) == OWN


def test_a_category_of_the_communitys_own_gets_a_general_text_that_accuses_nobody(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    with wiring.database.writing() as session:
        draft = CategoryDraft("off_topic", 0.5, tier2_action=Verb.NOTIFY)
        threshold_sets.set_category(session, SYSTEM, cast.community_id, draft, "Off topic")
    action_id = scored(wiring, cast, "off_topic", 0.7)
    decide(wiring, cast, jobs, action_id, ActionVerb.FORCE_PUBLISH)
    assert "may not follow the guidelines" in (reason(wiring, action_id) or "")


def test_the_category_that_a_moderator_chose_gives_the_text(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    configure(wiring, cast, tier1=None)
    action_id = scored(wiring, cast, "toxicity", 0.7)
    decide(wiring, cast, jobs, action_id, ActionVerb.FORCE_PUBLISH, category="self_harm")
    assert reason(wiring, action_id) == SUPPORT_TEXT


def test_a_dismissal_that_is_reopened_to_act_at_once_says_what_for(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    configure(wiring, cast, tier1=None)
    action_id = scored(wiring, cast, "toxicity", 0.7)
    decide(wiring, cast, jobs, action_id, ActionVerb.DISMISS)
    decide(wiring, cast, jobs, action_id, ActionVerb.REOPEN, reopen_to=ReopenTo.ACT)
    with wiring.database.reading() as session:
        reopened = session.scalars(sa.select(Action.id).where(Action.reopens_id == action_id)).one()
    assert "insult" in (reason(wiring, reopened) or "")


def test_a_silence_says_only_what_the_moderator_wrote(wiring: Wiring, cast: Cast, jobs: InlineEngine) -> None:
    configure(wiring, cast, tier1=None)
    action_id = scored(wiring, cast, "toxicity", 0.7)
    decide(wiring, cast, jobs, action_id, ActionVerb.FORCE_PUBLISH, act_as=ActionType.SILENCE)
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).author_text is None


@pytest.mark.parametrize("text", [" ", "x" * 2_001, "a\x00b"])
def test_a_text_that_cannot_be_sent_is_refused(wiring: Wiring, cast: Cast, text: str) -> None:
    draft = CategoryDraft("toxicity", 0.5, author_text=text)
    with wiring.database.writing() as session, pytest.raises(Invalid) as refused:
        threshold_sets.set_category(session, SYSTEM, cast.community_id, draft, "In our words")
    assert refused.value.problems[0].loc == ("author_text",)
