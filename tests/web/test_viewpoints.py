"""The viewpoint strip: shown of what is decided, in words and as a drawing, and never before."""

import re
import uuid
from collections.abc import Mapping

import pytest
import sqlalchemy as sa

from app.core.history.reason import Reason
from app.core.models import Note, Profile, Rating
from app.core.notes import verdicts
from app.core.permissions import SYSTEM
from app.core.scoring import Model, Regime
from app.core.vocabulary import HelpfulnessLevel, NoteStatus
from app.wiring import Wiring
from tests import camps
from tests.cast import Cast
from tests.web.conftest import Stage, Visitor
from tests.web.test_notes import _rating_fields

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
H, N = HelpfulnessLevel.HELPFUL, HelpfulnessLevel.NOT_HELPFUL
CAMPS = Model(Regime.WARM, 0.4, 2.0, 1.0, axis=True, low_factor=-1.0, high_factor=1.0)
SENTENCE = "One side mostly said yes, the other was divided."
COUNTS = "One side: 6 yes, fewer than 3 no. The other side: 4 yes, 3 no."


def fitted(wiring: Wiring, cast: Cast, also: Mapping[uuid.UUID, float] | None = None) -> None:
    """Let members 0 to 6 be of one side, and the others of the other one. Jobs that run later fit anew."""
    with wiring.database.reading() as session:
        members = {
            profile.platform_user_id: profile.id
            for profile in session.scalars(
                sa.select(Profile).where(Profile.platform_user_id.like("member-%"))
            )
        }
    sides = {members[f"member-{number}"]: -0.8 if number < 7 else 0.6 for number in range(14)}
    camps.put_in_force(wiring, cast.community_id, CAMPS, sides | dict(also or {}))


def decided(stage: Stage, rater: Visitor) -> uuid.UUID:
    action_id = stage.post("Buy my watches")
    rater.post(f"/review/{action_id}/answer", answer="yes")
    stage.rate(action_id, *[H] * 6, N, *[H] * 4, *[N] * 3)
    answered_before_the_outcome(stage.wiring)
    return action_id


def answered_before_the_outcome(wiring: Wiring) -> None:
    """Let all answers have been given before the status that the first of them bring about."""
    with wiring.database.writing() as session:
        session.execute(sa.update(Rating).values(blind_level=Rating.helpfulness_level))


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


def test_a_strip_does_not_move_with_an_answer_and_so_tells_nobody_their_side(
    rater: Visitor, wiring: Wiring, cast: Cast, stage: Stage
) -> None:
    note_id = stage.note(stage.post())
    rater.post(f"/notes/{note_id}/rating", **_rating_fields(note_id, level="HELPFUL", good=["clear"]))
    stage.rate_note(note_id, *[H] * 4, *[N] * 3, *[H] * 7)
    answered_before_the_outcome(wiring)
    assert cast.rater.profile_id is not None
    fitted(wiring, cast, also={cast.rater.profile_id: 0.7})

    def strip() -> list[str]:
        with wiring.database.writing() as session:
            note = session.get_one(Note, note_id)
            note.status = NoteStatus.CURRENTLY_RATED_HELPFUL
        page = rater.get(f"/notes/{note_id}").text
        return re.findall(r"One side:[^<]*", page) + re.findall(r"<circle[^>]*>", page)

    before = strip()
    assert len(before) > 2
    rater.post(f"/notes/{note_id}/rating", **_rating_fields(note_id, level="NOT_HELPFUL", bad=["unclear"]))
    assert strip() == before
    stage.rate_note(note_id, *[H] * 4, *[N] * 3, *[H] * 8)  # one person more
    assert strip() == before
