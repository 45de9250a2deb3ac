"""A community's ratings as arrays: the same numbers from either database (docs/develop/performance.md)."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.helpfulness import rating_snapshots
from app.core.models import Note, Rating
from app.core.scoring import VALUES, Camps, Regime
from app.wiring import Wiring
from tests.camps import populate
from tests.cast import Cast

pytestmark = pytest.mark.both_databases


def test_a_snapshot_has_the_ratings_that_count_and_says_which_were_in_time(
    wiring: Wiring, cast: Cast
) -> None:
    made = populate(wiring.database, cast.community_id, raters=6, notes=5, ratings=24)
    with wiring.database.writing() as session:
        by_note = {
            note: session.scalars(sa.select(Rating).where(Rating.note_id == note).order_by(Rating.id)).all()
            for note in made.notes
        }
        for note in made.notes:
            created_at = session.get_one(Note, note).created_at
            for rating in by_note[note]:
                rating.created_at = created_at + rating_snapshots.PROMPT
        just_before, excluded, old = (by_note[note][0] for note in made.notes[:3])
        just_before.created_at -= timedelta(microseconds=1)
        excluded.exclusion_reason = "late"
        old.note_version = 7
        session.get_one(Note, made.notes[4]).deleted_at = just_before.created_at
        expected = {
            (rating.note_id, rating.rater_id): (VALUES[rating.helpfulness_level], rating is just_before)
            for ratings in by_note.values()
            for rating in ratings
            if rating not in (excluded, old) and rating.note_id != made.notes[4]
        }
    with wiring.database.reading() as session:
        read = rating_snapshots.take(session, cast.community_id, Regime.COLD, Camps())
    with wiring.database.reading() as session:
        none = rating_snapshots.take(session, cast.other_community_id, Regime.COLD, Camps())
    assert read.facts.valid is not None
    numbers = zip(read.note_numbers.tolist(), read.rater_numbers.tolist(), strict=True)
    assert {
        (read.notes[note].id, read.raters[rater]): (value, prompt)
        for (note, rater), value, prompt in zip(numbers, read.values, read.facts.valid, strict=True)
    } == expected
    assert len(read.values) == len(expected), "no rating twice"
    assert list(read.raters) == sorted(read.raters)
    assert (len(none.note_numbers), list(none.raters)) == (0, [])


def test_a_community_whose_notes_nobody_rated_in_this_version_has_no_ratings(
    wiring: Wiring, cast: Cast
) -> None:
    made = populate(wiring.database, cast.community_id, raters=3, notes=2, ratings=4)
    with wiring.database.writing() as session:
        for note in made.notes:
            session.get_one(Note, note).version = 2
    with wiring.database.reading() as session:
        read = rating_snapshots.take(session, cast.community_id, Regime.COLD, Camps())
    assert (read.note_numbers.tolist(), read.values.tolist(), list(read.raters)) == ([], [], [])
