"""What fits found of camps, in the database: it is remembered; five votes of one camp do not act."""

import random
import uuid

import pytest
import sqlalchemy as sa

from app.core import scoring
from app.core.helpfulness import note_scores
from app.core.models import Action, Note, RaterParameters, Rating, ScoringState
from app.core.notes import explanations
from app.core.scoring import BLIND_RATINGS, Camps, Regime
from app.core.vocabulary import ActionState, HelpfulnessLevel, NoteStatus
from app.wiring import Wiring
from tests import factories
from tests.camps import HELPFUL, NOT, assert_scored_as_from_scratch, populate, rate, refit, state
from tests.camps import Camps as Community
from tests.cast import Cast

pytestmark = pytest.mark.both_databases

ONE_CAMP = 5


def _community(wiring: Wiring, cast: Cast) -> Community:
    return populate(wiring.database, cast.community_id, raters=40, notes=120, ratings=1200)


def _forget_the_camps(wiring: Wiring, made: Community) -> None:
    """Every rating becomes what anybody might have said: nothing divides the raters any more."""
    chance = random.Random(11)  # noqa: S311 - the same ratings each time
    notes = {one: place for place, one in enumerate(made.notes)}
    raters = {one: place for place, one in enumerate(made.raters)}
    levels = [*[NOT] * 5, HelpfulnessLevel.SOMEWHAT_HELPFUL, *[HELPFUL] * 4]
    with wiring.database.writing() as session:
        given = session.execute(sa.select(Rating.id, Rating.note_id, Rating.rater_id)).all()
        given = sorted(given, key=lambda row: (notes[row.note_id], raters[row.rater_id]))
        session.connection().execute(
            sa.update(Rating.__table__)
            .where(Rating.__table__.c.id == sa.bindparam("one"))
            .values(helpfulness_level=sa.bindparam("level")),
            [{"one": row.id, "level": chance.choice(levels)} for row in given],
        )


def _rationale(wiring: Wiring, cast: Cast) -> tuple[uuid.UUID, uuid.UUID]:
    """An action under review, and its rationale."""
    action_id = factories.scored_action(wiring, cast)
    with wiring.database.reading() as session:
        action = session.get_one(Action, action_id)
        assert action.action_state is ActionState.UNDER_REVIEW
        assert action.note_id is not None
        return action_id, action.note_id


def _state_of(wiring: Wiring, action_id: uuid.UUID) -> ActionState:
    with wiring.database.reading() as session:
        return session.get_one(Action, action_id).action_state


def _camps_of(wiring: Wiring, cast: Cast) -> Camps:
    return Camps.from_json(state(wiring, cast).camps)


def _axis(wiring: Wiring, cast: Cast) -> bool:
    with wiring.database.reading() as session:
        return note_scores.in_force(session, cast.community_id).model.axis


def _would_be_shown(wiring: Wiring, note_id: uuid.UUID) -> NoteStatus:
    """What the same votes would make of a note that has nothing done to a post."""
    with wiring.database.reading() as session:
        note = session.get_one(Note, note_id)
        scored = note_scores.read(session, note)
        verdict = scoring.decide(
            scored.sums, scored.fit.model_of(note), was=NoteStatus.NEEDS_MORE_RATINGS, acting=False
        )
        assert verdict is not None
        return verdict.status


def test_five_votes_of_one_camp_do_not_act_right_after_a_fit_that_no_longer_sees_the_camps(
    wiring: Wiring, cast: Cast
) -> None:
    made = _community(wiring, cast)
    assert refit(wiring, cast)
    found = _camps_of(wiring, cast)
    assert found.found
    assert found.against < 0
    _forget_the_camps(wiring, made)
    assert refit(wiring, cast)
    assert _axis(wiring, cast), "camps that were found are remembered"
    assert _camps_of(wiring, cast).found
    action_id, note_id = _rationale(wiring, cast)
    for rater in made.first[:ONE_CAMP]:
        rate(wiring, cast, note_id, rater, HELPFUL)
    assert _state_of(wiring, action_id) is ActionState.UNDER_REVIEW
    assert refit(wiring, cast)
    assert _state_of(wiring, action_id) is ActionState.UNDER_REVIEW


def test_where_no_camps_are_found_five_votes_would_show_a_note_and_do_not_act(
    wiring: Wiring, cast: Cast
) -> None:
    made = _community(wiring, cast)
    _forget_the_camps(wiring, made)
    assert refit(wiring, cast)
    assert not _axis(wiring, cast), "a community that never had camps has none"
    assert not _camps_of(wiring, cast).found
    action_id, note_id = _rationale(wiring, cast)
    for rater in made.first[:ONE_CAMP]:
        rate(wiring, cast, note_id, rater, HELPFUL)
    assert _would_be_shown(wiring, note_id) is NoteStatus.CURRENTLY_RATED_HELPFUL
    assert _state_of(wiring, action_id) is ActionState.UNDER_REVIEW
    with wiring.database.reading() as session:
        why = explanations.explain(session, session.get_one(Note, note_id))
    assert "no camps" in why.rule
    assert f"needs {BLIND_RATINGS} ratings" in why.rule
    assert f"At least {BLIND_RATINGS} ratings, and a score of at least 80" in why.would_change
    assert "do not fall into camps" in why.regime
    for rater in made.raters[10:20]:
        rate(wiring, cast, note_id, rater, HELPFUL)
    assert _state_of(wiring, action_id) is not ActionState.UNDER_REVIEW, "ten more of anybody's do"


def test_the_memory_is_kept_where_no_fit_takes_over(wiring: Wiring, cast: Cast) -> None:
    _community(wiring, cast)
    with wiring.database.writing() as session:
        session.get_one(ScoringState, cast.community_id).camps = Camps(False, 0.5, 1100).to_json()
    with wiring.database.writing() as session:
        session.execute(sa.update(Rating).values(helpfulness_level=HelpfulnessLevel.HELPFUL))
    assert refit(wiring, cast)
    assert _camps_of(wiring, cast) == Camps(False, 0.5, 1200)


def test_in_a_large_community_a_vote_settles_a_rationale_as_the_refit_does(
    wiring: Wiring, cast: Cast
) -> None:
    made = populate(wiring.database, cast.community_id, raters=110, notes=210, ratings=8_000)
    assert refit(wiring, cast)
    action_id, note_id = _rationale(wiring, cast)
    with wiring.database.reading() as session:
        fit = note_scores.in_force(session, cast.community_id)
        known = session.scalars(
            sa.select(RaterParameters).where(RaterParameters.version == fit.version)
        ).all()
    assert fit.model.regime is Regime.FULL
    assert fit.model.acting is not None
    assert all(one.acting_intercept is not None and one.acting_factor is not None for one in known)
    for rater in made.first[:12]:
        rate(wiring, cast, note_id, rater, HELPFUL)
    assert _state_of(wiring, action_id) is ActionState.UNDER_REVIEW, "one camp alone"
    rate(wiring, cast, note_id, made.second[0], NOT)
    assert_scored_as_from_scratch(wiring, [note_id])
    before = _read(wiring, note_id)
    assert before[1].startswith("warm:")
    assert refit(wiring, cast)
    assert _read(wiring, note_id) == before
    assert_scored_as_from_scratch(wiring, [note_id])
    for rater in made.second[1:8]:
        rate(wiring, cast, note_id, rater, HELPFUL)
    assert _state_of(wiring, action_id) is not ActionState.UNDER_REVIEW, "both camps"


def _read(wiring: Wiring, note_id: uuid.UUID) -> tuple[NoteStatus, str]:
    with wiring.database.reading() as session:
        note = session.get_one(Note, note_id)
        assert note.status_rule is not None
        return note.status, note.status_rule
