"""The author of a post about self-harm is answered with the community's support text, not reprimanded."""

import uuid

import pytest
import sqlalchemy as sa

from app.core.classify import Result
from app.core.communities.settings import SUPPORT_TEXT
from app.core.models import Action, Community
from app.core.permissions import SYSTEM
from app.core.requests import scoring
from app.core.requests.scorings import Scoring
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import CategoryDraft
from app.core.vocabulary import ActionState, ActionType, ActionVerb, Verb
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.unit.test_other_verbs import decide

OWN = "Our chaplain is in the harbour office every day: 555-0101."


def scored(wiring: Wiring, cast: Cast, category: str, score: float) -> uuid.UUID:
    """Score a post with this alone; return the action that was opened."""
    request_id = factories.submit(wiring, cast)
    with wiring.database.writing() as session:
        assert scoring.start(session, request_id)
        by = Scoring("first", "1", frozenset({category}), Result(scores={category: score}), 0)
        scoring.record_scores(session, request_id, [by])
        return session.scalars(sa.select(Action.id).where(Action.request_id == request_id)).one()


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


def test_other_categories_get_no_text(wiring: Wiring, cast: Cast, jobs: InlineEngine) -> None:
    configure(wiring, cast, tier1=None)
    action_id = scored(wiring, cast, "toxicity", 0.7)
    decide(wiring, cast, jobs, action_id, ActionVerb.FORCE_PUBLISH)
    assert reason(wiring, action_id) is None
