"""Why a note has its status: from the ratings up, without names (docs/develop/consensus.md)."""

import uuid

import sqlalchemy as sa

from app.core import scoring
from app.core.helpfulness import note_scores
from app.core.history.reason import Reason
from app.core.models import (
    Action,
    Community,
    Note,
    NoteSums,
)
from app.core.notes import explanations, verdicts
from app.core.notes.explanations import Explanation
from app.core.scoring import Counts, Model, Regime
from app.core.vocabulary import ActionType, NoteStatus
from app.wiring import Wiring
from tests import camps, factories
from tests.cast import Cast


def explained(wiring: Wiring, action_id: uuid.UUID) -> Explanation:
    with wiring.database.reading() as session:
        note = session.get_one(Note, session.get_one(Action, action_id).note_id)
        found = explanations.explain(session, note)
        assert not session.new
        assert not session.dirty
        return found


def test_too_few_ratings_say_how_many_are_missing(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    empty = explained(wiring, action_id)
    assert (empty.ratings, empty.needed, empty.score, empty.rule) == (0, 5, None, explanations.NO_RULE)
    factories.rate(wiring, cast, action_id, "HSN")
    found = explained(wiring, action_id)
    assert found.counts == Counts(1, 1, 1)
    assert (found.helpful_at, found.not_helpful_at) == (75, 30)
    assert found.rule == scoring.RULES["cold:few-ratings"]
    assert found.would_change.startswith("2 more ratings")
    assert "yet to tell viewpoints apart" in found.regime


def test_the_score_stands_beside_the_threshold_that_decided(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, action_id, "HHHHH")
    found = explained(wiring, action_id)
    assert found.status is NoteStatus.CURRENTLY_RATED_HELPFUL
    assert found.score is not None
    assert found.score >= found.helpful_at == 75
    assert found.rule == scoring.RULES["cold:helpful"]
    assert "decided once" in found.would_change
    with wiring.database.writing() as session:
        session.execute(sa.update(Action).values(action_type=ActionType.DELETE))
    assert explained(wiring, action_id).helpful_at == 85, "what cannot be taken back needs more"


def test_ratings_that_do_not_count_are_counted_by_reason(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {"min_trust_level": 1}
    action_id = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, action_id, "HHN")
    found = explained(wiring, action_id)
    assert found.ratings == 0
    assert found.excluded == [("The rater's trust level is below what this community asks for.", 3)]
    assert found.excluded_total == 3


def test_staffs_word_is_named_and_nothing_changes_it(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    with wiring.database.writing() as session:
        note = session.get_one(Note, session.get_one(Action, action_id).note_id)
        verdicts.dismiss(session, factories.integration(cast), note, reason=Reason("Banter"))
    found = explained(wiring, action_id)
    assert found.rule.startswith("A moderator dismissed it")
    assert found.would_change == "Nothing: it is locked."


def test_an_explanation_with_viewpoints_is_the_same_with_or_without_kept_sums(
    wiring: Wiring, cast: Cast
) -> None:
    action_id = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, action_id, "HHSNNNH")
    model = Model(Regime.WARM, mu=0.5, rho_intercept=10.0, rho_factor=2.0, axis=True)
    camps.fitted(wiring, cast, model, [-1.0] * 3 + [1.0] * 3)  # the seventh came after the fit
    found = explained(wiring, action_id)
    assert found.counts == Counts(3, 1, 3)
    assert found.not_helpful_at < 30, "one viewpoint's liking lowers the other bound"
    assert found.rule in scoring.RULES.values()
    assert "two viewpoints" in found.regime
    with wiring.database.writing() as session:
        note = session.get_one(Note, session.get_one(Action, action_id).note_id)
        note_scores.current(session, note)
        kept = session.get(NoteSums, (cast.community_id, 1, note.id))
        assert kept is not None
    assert explained(wiring, action_id) == found, "from the sums that are kept as from the ratings themselves"


def test_what_both_sides_are_for_says_how_far_its_score_may_fall(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, action_id, "H" * 10)
    model = Model(Regime.WARM, mu=0.25, rho_intercept=10.0, rho_factor=2.0, axis=True)
    camps.fitted(wiring, cast, model, [-1.0] * 5 + [1.0] * 5)
    with wiring.database.writing() as session:
        note = session.get_one(Note, session.get_one(Action, action_id).note_id)
        note.rationale, note.status, note.status_rule = False, NoteStatus.CURRENTLY_RATED_HELPFUL, None
    found = explained(wiring, action_id)
    assert found.rule == scoring.RULES["warm:both-sides-for@2"]
    assert (found.score, found.helpful_at) == (72, 75)
    assert found.would_change == (
        "Ratings on one of the sides that do not find it helpful, or that bring its score below 65."
    )
