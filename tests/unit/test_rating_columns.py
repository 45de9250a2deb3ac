"""A community's ratings as columns: the same numbers from either database (docs/develop/performance.md)."""

from datetime import timedelta

import numpy as np
import pytest
import sqlalchemy as sa

from app.core.helpfulness import rating_columns
from app.core.helpfulness.rating_columns import Counted
from app.core.ids import new_id
from app.core.models import Note, Rating
from app.core.scoring import VALUES
from app.wiring import Wiring
from tests.camps import populate
from tests.cast import Cast


@pytest.mark.both_databases
def test_the_columns_are_the_ratings_that_count(wiring: Wiring, cast: Cast) -> None:
    made = populate(wiring.database, cast.community_id, raters=6, notes=5, ratings=24)
    with wiring.database.writing() as session:
        by_note = {
            note: session.scalars(sa.select(Rating).where(Rating.note_id == note).order_by(Rating.id)).all()
            for note in made.notes
        }
        just_before, excluded, old = (by_note[note][0] for note in made.notes[:3])
        begin = just_before.created_at
        just_before.created_at = begin - timedelta(microseconds=1)
        excluded.exclusion_reason = "late"
        old.note_version = 7
        left_out = {excluded.id, old.id}
        expected = {
            (rating.note_id, rating.rater_id): (VALUES[rating.helpfulness_level], rating is just_before)
            for ratings in by_note.values()
            for rating in ratings
            if rating.id not in left_out and rating.note_id != made.notes[4]
        }
    notes = [Counted(note, 1, begin) for note in made.notes[:4]]
    with wiring.database.reading() as session:
        columns = rating_columns.read(session, cast.community_id, notes)
        none = rating_columns.read(session, cast.other_community_id, [])
    read = {
        (notes[note].id, columns.raters[rater]): (value, prompt)
        for note, rater, value, prompt in zip(
            columns.note.tolist(), columns.rater.tolist(), columns.value, columns.prompt, strict=True
        )
    }
    assert read == expected
    assert len(columns.note) == len(expected), "no rating twice"
    assert columns.raters == sorted(columns.raters)
    assert (len(none.note), none.raters) == (0, [])


@pytest.mark.both_databases
def test_a_community_whose_notes_nobody_rated_in_this_version_has_no_columns(
    wiring: Wiring, cast: Cast
) -> None:
    made = populate(wiring.database, cast.community_id, raters=3, notes=2, ratings=4)
    with wiring.database.writing() as session:
        begin = session.get_one(Note, made.notes[0]).created_at
    with wiring.database.reading() as session:
        columns = rating_columns.read(
            session, cast.community_id, [Counted(note, 2, begin) for note in (*made.notes, new_id())]
        )
    assert (columns.note.tolist(), columns.value.tolist(), columns.raters) == ([], [], [])


@pytest.mark.parametrize(("highs", "lows"), [(3, 2**60), (2**60, 3), (4, 4)])
def test_ids_that_share_a_half_are_told_apart(highs: int, lows: int) -> None:
    dice = np.random.default_rng(1)
    ids = np.column_stack([dice.integers(0, top, 200, dtype=np.uint64) for top in (highs, lows)])
    distinct, place = rating_columns.numbered(ids)
    assert np.array_equal(distinct[place], ids)
    assert np.array_equal(distinct, np.unique(ids, axis=0))
