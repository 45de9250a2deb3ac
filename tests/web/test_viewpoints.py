"""The viewpoint strip: shown of what is decided, in words and as a drawing, and never before."""

import uuid

import pytest
import sqlalchemy as sa

from app.core.history.reason import Reason
from app.core.models import Note, Profile
from app.core.notes import verdicts
from app.core.permissions import SYSTEM
from app.core.scoring import Model, Regime
from app.core.vocabulary import HelpfulnessLevel
from app.wiring import Wiring
from tests import camps
from tests.cast import Cast
from tests.web.conftest import Stage, Visitor

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
H, N = HelpfulnessLevel.HELPFUL, HelpfulnessLevel.NOT_HELPFUL
CAMPS = Model(Regime.WARM, 0.4, 2.0, 1.0, axis=True, low_factor=-1.0, high_factor=1.0)
SENTENCE = "One side mostly said yes, the other was divided."
COUNTS = "One side: 6 yes, fewer than 3 no. The other side: 4 yes, 3 no."


def fitted(wiring: Wiring, cast: Cast) -> None:
    """Let members 0 to 6 be of one side, and the others of the other one. Jobs that run later fit anew."""
    with wiring.database.reading() as session:
        members = {
            profile.platform_user_id: profile.id
            for profile in session.scalars(
                sa.select(Profile).where(Profile.platform_user_id.like("member-%"))
            )
        }
    sides = {members[f"member-{number}"]: -0.8 if number < 7 else 0.6 for number in range(14)}
    camps.put_in_force(wiring, cast.community_id, CAMPS, sides)


def decided(stage: Stage, rater: Visitor) -> uuid.UUID:
    action_id = stage.post("Buy my watches")
    rater.post(f"/review/{action_id}/answer", answer="yes")
    stage.rate(action_id, *[H] * 6, N, *[H] * 4, *[N] * 3)
    return action_id


def test_a_strip_is_shown_of_what_is_decided_and_never_before(
    rater: Visitor, moderator: Visitor, wiring: Wiring, cast: Cast, stage: Stage
) -> None:
    action_id = decided(stage, rater)
    open_to_all = stage.post("Still open")
    stage.rate(open_to_all, *[H] * 4, N)
    fitted(wiring, cast)
    before = moderator.get(f"/review/{open_to_all}").text
    assert "Why this status" in before
    assert "side mostly" not in before
    assert "One side:" not in before
    assert "of known viewpoint" not in before, "nor that there is nothing to draw"
    with wiring.database.writing() as session:
        note = session.get_one(Note, stage.rationale(action_id).id)
        verdicts.force_publish(session, SYSTEM, note, reason=Reason("Known spam"))
    for who, path in ((rater, f"/review/{action_id}"), (moderator, f"/review/{action_id}"), (rater, "/me")):
        page = who.get(path).text
        assert SENTENCE in page, path
        assert COUNTS in page, path
    assert "Where your answer lies is not shown" in page


def test_where_there_are_no_camps_the_page_says_so(rater: Visitor, stage: Stage) -> None:
    action_id = stage.post("Buy my watches")
    rater.post(f"/review/{action_id}/answer", answer="yes")
    stage.rate(action_id, *[H] * 6)
    assert "yet to tell viewpoints apart" in rater.get(f"/review/{action_id}").text
    assert "raters here form no camps, or there are too few ratings" in rater.get("/me").text
