"""Ordinary notes, scored once all ratings are in: which good ones, and how many bad ones, are called helpful."""

import numpy as np

from app.core.scoring import MIN_RATINGS, BoolArray, Facts, Scores, score, slug_of
from app.core.scoring.verdict import OFFSET
from app.core.vocabulary import NoteStatus
from tools.bench.consensus.methods import Outcome, bayes, majority
from tools.bench.consensus.population import LEAN, Community, Truth, World, crowd_with_notes
from tools.bench.consensus.results import Bar, Crowd, Method

BARS, BAR_CROWDS = (75, 73, 71, 70, 68, 65), (2_000, 15_000)
"""Other bars, as they are shown, and the sizes of crowds, by ratings, on which they are tried."""


def add(crowd: Crowd, world: World, dice: np.random.Generator) -> None:
    """Make one community of the crowd's size and count what is called helpful there."""
    here = crowd_with_notes(dice, crowd.raters, crowd.notes, crowd.ratings, lean=LEAN[world])
    votes, content = here.votes, here.content
    scores = score(votes.item, votes.rater, votes.level / 2)
    crowd.regimes[scores.regime.value] += 1
    ours = _helpful(scores, crowd.notes)
    good, poor = content.truth == Truth.BAD, np.isin(content.truth, (Truth.FINE, Truth.DIVISIVE))
    crowd.decidable.add(ours[good & (np.bincount(votes.item, minlength=crowd.notes) >= MIN_RATINGS)])
    for method, helpful in (
        (Method.MAJORITY, majority(here) == Outcome.ACT),
        (Method.BAYES, bayes(here) == Outcome.ACT),
        (Method.OURS, ours),
    ):
        crowd.recall[method].add(helpful[good])
        crowd.bad[method].add(poor[helpful])
    missed = (good & ~ours)[scores.note_ids]
    crowd.missed_by.update(slug_of(str(rule)) for rule in scores.rules[missed])
    if world is World.DIVIDED and crowd.ratings in BAR_CROWDS:
        for shown in BARS:
            _with_bar(here, shown, good, poor, crowd.bars.setdefault(shown, Bar()))


def _with_bar(here: Community, shown: int, good: BoolArray, poor: BoolArray, bar: Bar) -> None:
    votes = here.votes
    scores = score(votes.item, votes.rater, votes.level / 2, Facts(helpful_at=shown / 100 - OFFSET))
    helpful = _helpful(scores, len(good))
    bar.recall.add(helpful[good])
    bar.bad.add(poor[helpful])
    bar.between.add(~(good | poor)[helpful])


def _helpful(scores: Scores, notes: int) -> BoolArray:
    helpful = np.zeros(notes, np.bool_)
    helpful[scores.note_ids[scores.statuses == NoteStatus.CURRENTLY_RATED_HELPFUL]] = True
    return helpful
