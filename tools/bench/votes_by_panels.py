"""What drawn panels would make of real votes: the answers of people who did vote on a statement, drawn by lot.

For ``python -m tools.bench.votes FOLDER``. A panel of 12 is drawn from those who voted on a statement, as many from
each side, and six in ten of them answer, with the vote they gave; it decides by the rules for what acts, and grows to
36 seats. The fit knows their vote, too, as it knows that of volunteers.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from app.core.panels import panels
from app.core.scoring import BoolArray, Facts, FloatArray, IntArray, Model, Regime, Scores, score
from app.core.scoring.arrays import Ratings
from app.core.scoring.rules import STATUSES, judge
from app.core.scoring.sums import NEGATIVE, POSITIVE, RaterArrays, tally
from app.core.vocabulary import NoteStatus

SEATS, ANSWERING, DRAWS = 12, 0.6, 2
HELPFUL = STATUSES.index(NoteStatus.CURRENTLY_RATED_HELPFUL)
UNRATED = STATUSES.index(NoteStatus.NEEDS_MORE_RATINGS)
LIMITS = {"without `opposed`": 1_000, "as it is": panels.most_against(SEATS), "at most one of a side": 1}
"""How many of one side may say no where a panel acts."""


@dataclass
class PanelsOfVotes:
    """Panels that acted, and all, by what their statement is ("good" or "poor"); answers they had, over all."""

    acted: Counter[str] = field(default_factory=Counter)
    all: Counter[str] = field(default_factory=Counter)
    answers: int = 0


def measure(
    votes: Iterable[tuple[IntArray, IntArray, FloatArray, dict[int, str]]],
) -> dict[str, PanelsOfVotes]:
    """``votes`` are each conversation's statements, voters and votes, and the kind of the statements to look at."""
    found = {name: PanelsOfVotes() for name in LIMITS}
    for note, rater, value, kinds in votes:
        scores = score(note, rater, value, Facts(acting=np.unique(note)))
        who, level = np.searchsorted(scores.rater_ids, rater), (2 * value).astype(np.int8)
        model, raters = scores.model.for_note(acting=True), _raters(scores)
        for statement, kind in kinds.items():
            theirs = np.flatnonzero(note == statement)
            for number in range(DRAWS):
                dice = np.random.default_rng([statement, number])
                drawn, wanted = _answers(dice, theirs, who, raters, model)
                if len(drawn) < panels.enough(SEATS):
                    continue
                status, against = _judged(who[drawn], level[drawn], raters, model)
                enough = np.arange(1, len(drawn) + 1) >= -(-panels.ENOUGH * wanted // panels.OF_SEATS)
                for name, limit in LIMITS.items():
                    decides = enough & (status != UNRATED) & ~((status == HELPFUL) & (against > limit))
                    at = int(np.argmax(decides)) if decides.any() else len(drawn) - 1
                    one = found[name]
                    one.all[kind] += 1
                    one.acted[kind] += bool(decides.any() and status[at] == HELPFUL)
                    one.answers += at + 1
    return found


def _raters(scores: Scores) -> RaterArrays:
    if scores.model.acting is None:
        columns = scores.rater_intercepts, scores.rater_factors, scores.raters_kept
    else:
        columns = scores.acting_intercepts, scores.acting_factors, scores.raters_acting
    return RaterArrays(*columns, scores.raters_volume, scores.raters_correlated)


def _answers(
    dice: np.random.Generator, theirs: IntArray, who: IntArray, raters: RaterArrays, model: Model
) -> tuple[IntArray, IntArray]:
    """The votes of those who answer, in order, and how many seats were wanted when each of them came."""
    order = _order(dice.permutation(theirs), who, raters, model)[: panels.MOST_SEATS]
    answers: BoolArray = dice.random(len(order)) < ANSWERING
    drawn, wanted, seats, place = list[int](), list[int](), SEATS, 0
    while place < len(order):
        asked = slice(place, place + seats - len(drawn))
        came = dice.permutation(order[asked][answers[asked]]).tolist()
        place = asked.stop
        drawn += came
        wanted += [seats] * len(came)
        if len(drawn) >= seats:
            if seats == panels.MOST_SEATS:
                break
            seats = min(seats + SEATS, panels.MOST_SEATS)
    return np.array(drawn, np.int64), np.array(wanted, np.int64)


def _order(votes: IntArray, who: IntArray, raters: RaterArrays, model: Model) -> IntArray:
    """A side's next after the other side's, and then those whose side is not known."""
    known = raters.kept[who[votes]] & model.axis & (model.regime is not Regime.COLD)
    of_one = raters.factor[who[votes]] < 0
    one, other = votes[known & of_one], votes[known & ~of_one]
    both = min(len(one), len(other))
    mixed = np.column_stack([one[:both], other[:both]]).ravel()
    return np.concatenate([mixed, one[both:], other[both:], votes[~known]])


def _judged(who: IntArray, level: IntArray, raters: RaterArrays, model: Model) -> tuple[IntArray, FloatArray]:
    """The status after each answer, and how many of one side have said no."""
    each = np.arange(len(who))
    single = Ratings(
        each,
        np.arange(len(raters.kept)),
        each.astype(np.int32),
        who.astype(np.int32),
        level.astype(np.int8),
        np.ones(len(who), np.bool_),
    )
    rows = np.cumsum(tally(single, raters, model), axis=0)
    nothing = np.zeros(len(who), np.bool_)
    threshold = np.full(len(who), model.helpful_at)
    status = judge(rows, model, nothing, nothing, threshold, ~nothing).status
    return status, np.maximum(rows[:, NEGATIVE.start], rows[:, POSITIVE.start])


def rows(found: dict[str, PanelsOfVotes]) -> Iterator[tuple[str, ...]]:
    """A row of the table for each limit."""
    for name, one in found.items():
        cells = [name]
        for kind in ("good", "poor"):
            cells += [str(one.all[kind]), f"{one.acted[kind] / max(1, one.all[kind]):.1%}"]
        yield *cells, f"{one.answers / max(1, sum(one.all.values())):.1f}"
