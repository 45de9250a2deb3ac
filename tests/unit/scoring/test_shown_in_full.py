"""Notes that the full regime shows because both sides are for them, and the setting that leaves them out."""

import numpy as np
import pytest

from app.core.scoring import Facts, Scores, Sums, decide, score
from app.core.scoring.rules import FOR_MEAN, FOR_RATINGS
from app.core.scoring.sums import NEGATIVE, POSITIVE, WARM
from app.core.scoring.verdict import Regime
from app.core.vocabulary import NoteStatus
from tests.unit.scoring.communities import community

CRH = NoteStatus.CURRENTLY_RATED_HELPFUL
NMR = NoteStatus.NEEDS_MORE_RATINGS
SIZE = (150, 260, 16_000)
RULE = "full:both-sides-for@1"


@pytest.fixture(scope="module", params=[1, 2])
def both(request: pytest.FixtureRequest) -> tuple[Scores, Scores]:
    """A large community with many ratings per note, scored as published and as shown."""
    columns = community(*SIZE, seed=request.param).columns
    published, shown = score(*columns, Facts(published=True)), score(*columns)
    assert published.regime is shown.regime is Regime.FULL
    assert published.model.axis
    return published, shown


def test_more_notes_are_shown_and_each_only_where_both_sides_are_for_it(both: tuple[Scores, Scores]) -> None:
    published, shown = both
    more = (shown.statuses == CRH) & (published.statuses != CRH)
    assert more.any()
    assert set(shown.rules[more].tolist()) == {RULE}
    assert set(published.statuses[more].tolist()) == {NMR}
    for side in (NEGATIVE, POSITIVE):
        none, half, full = shown.sums[more][:, side].T
        total = none + half + full
        assert (total >= FOR_RATINGS).all()
        assert ((full + half / 2) / total >= FOR_MEAN).all()
    assert np.array_equal(shown.statuses[~more], published.statuses[~more])
    assert np.array_equal(shown.intercepts, published.intercepts), "their scores stay the published ones"


def test_a_rating_more_gives_the_sums_and_the_status_of_a_new_fit() -> None:
    note, rater, value = community(*SIZE, seed=1).columns
    scores = score(note, rater, value)
    places = {int(one): place for place, one in enumerate(scores.rater_ids.tolist())}
    targets = [*np.flatnonzero(scores.rules == RULE)[:3].tolist(), 0, 1]
    for target in targets:
        number = int(scores.note_ids[target])
        sums = Sums.zero()
        for who, given in zip(rater[note == number].tolist(), value[note == number].tolist(), strict=True):
            sums = sums.plus(scores.model, scores.rater(places[who]), given)
        assert sums.to_list() == pytest.approx(scores.sums_of(target).to_list(), abs=1e-9)
        assert any(sums.row[WARM])
        verdict = decide(sums, scores.model, was=NMR)
        assert verdict is not None
        assert (verdict.status, verdict.rule) == (scores.statuses[target], scores.rules[target])


def test_the_setting_holds_at_once_for_a_fit_that_was_made_without_it(both: tuple[Scores, Scores]) -> None:
    _, shown = both
    place = int(np.flatnonzero(shown.rules == RULE)[0])
    model = shown.model.with_settings(5, 0.40, published=True)
    strict = decide(shown.sums_of(place), model, was=NMR)
    assert strict is not None
    assert strict.status is NMR


def test_a_crowd_of_one_side_shows_nothing_more() -> None:
    columns = community(*SIZE, seed=1)
    loved = [one for one in range(SIZE[0]) if columns.camp[one] > 0]
    note = np.concatenate([columns.note, np.full(len(loved), SIZE[1])])
    rater = np.concatenate([columns.rater, loved])
    value = np.concatenate([columns.value, np.ones(len(loved))])
    scores = score(note, rater, value)
    assert scores.statuses[scores.note_ids == SIZE[1]].tolist() == [NMR]
