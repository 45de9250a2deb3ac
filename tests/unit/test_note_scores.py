"""Each note's sums, followed rating by rating, say what all its ratings together say (docs/develop/consensus.md)."""

import random

import pytest
import sqlalchemy as sa

from app.core.helpfulness import note_scores, refits
from app.core.models import HistoryEntry, Note, RaterParameters, Rating, ScoringModel
from app.core.notes import notes, ratings
from app.core.people import profiles
from app.core.permissions import Actor
from app.core.scoring import Regime, Sums
from app.core.vocabulary import HelpfulnessLevel, NoteStatus
from app.jobs import rescoring
from app.wiring import Wiring
from tests import factories
from tests.camps import ask, assert_scored_as_from_scratch, camps, rate, refit, state
from tests.cast import PLATFORM, Cast

pytestmark = pytest.mark.both_databases

LEVELS = list(HelpfulnessLevel)
HELPFUL, NOT_HELPFUL = HelpfulnessLevel.HELPFUL, HelpfulnessLevel.NOT_HELPFUL


def test_a_refit_finds_the_camps_and_says_of_every_note_what_scoring_all_ratings_says(
    wiring: Wiring, cast: Cast
) -> None:
    made = camps(wiring, cast)
    assert rescoring.refit(wiring.database, cast.community_id)
    with wiring.database.writing() as session:
        snapshot_of = state(wiring, cast)
        fit = note_scores.in_force(session, cast.community_id)
        assert (fit.version, fit.model.regime, fit.model.axis) == (
            snapshot_of.model_version,
            Regime.WARM,
            True,
        )
        assert (snapshot_of.ratings_since, snapshot_of.refit_due_at, snapshot_of.lease_owner) == (
            0,
            None,
            None,
        )
        assert snapshot_of.ratings_fitted == made.ratings
    with wiring.database.reading() as session:
        statuses = {note.id: note.status for note in session.scalars(sa.select(Note))}
        ends = session.scalars(sa.select(HistoryEntry.cause).where(HistoryEntry.object_type == "note")).all()
    assert {statuses[one] for one in made.notes[0::4]} == {NoteStatus.CURRENTLY_RATED_HELPFUL}
    assert NoteStatus.CURRENTLY_RATED_HELPFUL not in {statuses[one] for one in made.notes[1::4]}
    assert {statuses[one] for one in made.notes[3::4]} == {NoteStatus.CURRENTLY_RATED_NOT_HELPFUL}
    assert set(ends) == {f"refit {fit.version}"}
    assert_scored_as_from_scratch(wiring, made.notes)


def test_a_note_that_is_rated_changed_withdrawn_and_edited_keeps_the_sums_that_its_ratings_have(
    wiring: Wiring, cast: Cast
) -> None:
    made = camps(wiring, cast)
    rescoring.refit(wiring.database, cast.community_id)
    chance = random.Random(7)  # noqa: S311 - the same changes each time
    with wiring.database.writing() as session:
        strangers = [profiles.ensure(session, PLATFORM, f"stranger-{n}").id for n in range(4)]
    for _ in range(60):
        note_id = chance.choice(made.notes[:4])
        rater_id = chance.choice(made.raters[:12] + strangers)
        what = chance.random()
        if what < 0.75:
            rate(wiring, cast, note_id, rater_id, chance.choice(LEVELS))
            continue
        with wiring.database.writing() as session:
            rating = ratings.by_rater(session, note_id, rater_id)
            if rating is not None:
                who = factories.integration(cast, staff=False, profile_id=rater_id)
                ratings.withdraw(session, who, rating)
    assert_scored_as_from_scratch(wiring, made.notes[:4])
    with wiring.database.reading() as session:
        for note_id in made.notes[:4]:
            note = session.get_one(Note, note_id)
            assert note.ratings_count == ratings.stats(session, note).total


def test_an_edited_note_starts_with_no_ratings_and_takes_up_those_of_its_new_text(
    wiring: Wiring, cast: Cast
) -> None:
    made = camps(wiring, cast)
    rescoring.refit(wiring.database, cast.community_id)
    with wiring.database.writing() as session:
        note = session.get_one(Note, made.notes[0])
        notes.edit(session, factories.integration(cast), note, "Another text")
    with wiring.database.writing() as session:
        note = session.get_one(Note, made.notes[0])
        assert note_scores.current(session, note).sums == Sums.zero()
    for rater_id in made.raters[:6]:
        rate(wiring, cast, made.notes[0], rater_id, HELPFUL)
    assert_scored_as_from_scratch(wiring, made.notes[:1])
    with wiring.database.reading() as session:
        assert session.get_one(Note, made.notes[0]).status is NoteStatus.CURRENTLY_RATED_HELPFUL


def test_a_community_too_small_to_tell_camps_apart_keeps_no_parameters(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, action_id, "HHHH")
    assert refit(wiring, cast)
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(ScoringModel)).all() == []
        assert session.scalars(sa.select(RaterParameters)).all() == []
        note = session.scalars(sa.select(Note).where(Note.rationale)).one()
        assert (note.status, note.status_rule) == (NoteStatus.NEEDS_MORE_RATINGS, "cold:few-ratings")
    assert state(wiring, cast).refit_due_at is None


def test_ratings_that_do_not_count_stay_out_of_sums_and_fits(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, action_id, "HH")
    with wiring.database.writing() as session:
        note = session.scalars(sa.select(Note).where(Note.rationale)).one()
        submitter = profiles.ensure(session, PLATFORM, "author-1")
        who: Actor = factories.integration(cast, staff=False, profile_id=submitter.id)
        rating, *_ = ratings.rate(session, who, note, submitter, HELPFUL)
        assert rating.exclusion_reason == "submitter"
        assert note_scores.current(session, note).sums.counts.total == 2
        assert note.ratings_count == 3
    ask(wiring, cast)
    with wiring.database.writing() as session:
        lease = refits.take(session, cast.community_id)
        assert lease is not None
    with wiring.database.reading() as session:
        assert len(refits.read(session, lease).values) == 2
        assert session.scalar(sa.select(sa.func.count()).select_from(Rating)) == 3
