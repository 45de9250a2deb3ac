"""What a person answered and skipped, day by day, and what of it decided something (``raters.answers``)."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.history.reason import Reason
from app.core.models import Note, Rating
from app.core.notes import verdicts
from app.core.paging import Slice
from app.core.periods import Period
from app.core.raters import answers, notes_needed
from app.core.raters.answers import Given, What
from app.core.raters.impact import RatingOutcome
from app.core.vocabulary import HelpfulnessLevel, NoteStatus
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.unit.test_impact import listed, rate, rater, settled

pytestmark = pytest.mark.both_databases
H, N = HelpfulnessLevel.HELPFUL, HelpfulnessLevel.NOT_HELPFUL


def _days(before: int = 0) -> Period:
    today = clock.now().date()
    return Period(today - timedelta(days=before), today, ZoneInfo("UTC"), by=1)


def test_days_count_answers_and_those_that_the_ratings_decided_with_them(wiring: Wiring, cast: Cast) -> None:
    agreed, opposed, by_staff, earlier, skipped = (
        settled(wiring, cast, number, helpful=None) for number in range(5)
    )
    for note_id, level in ((agreed, H), (opposed, N), (by_staff, H), (earlier, H)):
        rate(wiring, cast, note_id, level)
    with wiring.database.writing() as session:
        for note_id in (agreed, opposed):
            session.get_one(Note, note_id).status = NoteStatus.CURRENTLY_RATED_HELPFUL
        staff = factories.integration(cast)
        verdicts.force_publish(session, staff, session.get_one(Note, by_staff), reason=Reason("Known"))
        session.execute(
            sa.update(Rating)
            .where(Rating.note_id == earlier)
            .values(created_at=clock.now() - timedelta(days=2))
        )
        assert cast.rater.profile_id is not None
        note = session.get_one(Note, skipped)
        notes_needed.skip(session, rater(cast), note, cast.rater.profile_id)
    with wiring.database.reading() as session:
        me, community_id = rater(cast), cast.community_id
        given = answers.by_day(session, me, community_id, _days(before=2))
        assert given == [Given(1, 0), Given(0, 0), Given(3, 1)]
        decided = answers.page(session, me, community_id, _days(), Slice(), became=RatingOutcome.DECIDED)
        assert [what for _, _, what in decided.rows] == [What.NOTE]
        (row,) = listed(session, cast, became=RatingOutcome.DECIDED).rows
        assert row.rating.id == decided.rows[0].id
        assert row.note.id == agreed
        assert answers.page(session, me, community_id, _days(), Slice(), notes=True).count == 3
        assert answers.page(session, me, community_id, _days(), Slice(), categories=["spam"]).count == 0
        skips = answers.page(session, me, community_id, _days(), Slice(), skips=True)
        assert [(one.id, one.what) for one in skips.rows] == [(skipped, What.SKIPPED_NOTE)]
