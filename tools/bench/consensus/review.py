"""Our way to decide, as the service does it, without its database.

A review is decided at the first vote after which the rules hold, and draws no more votes from then on. The community
is fitted anew now and then, and what new parameters decide is decided (docs/develop/consensus.md).
"""

from dataclasses import dataclass

import numpy as np

from app.core.communities.settings import CommunitySettings
from app.core.scoring import (
    GRAVE_MARGIN,
    AxisTest,
    BoolArray,
    Camps,
    Facts,
    FloatArray,
    IntArray,
    Model,
    Regime,
    Scores,
    score,
)
from app.core.scoring.arrays import Ratings, ratings
from app.core.scoring.rules import STATUSES, judge
from app.core.scoring.sums import WIDTH, RaterArrays, tally
from app.core.vocabulary import NoteStatus
from tools.bench.consensus.methods import Outcome
from tools.bench.consensus.population import Content, People, Votes

PROMPT_HOURS = 48.0
"""Votes so soon after the opening count for their rater's helpfulness."""
REFIT_LEAST, REFIT_SHARE = 20, 0.05
"""Votes between two refits. The service refits up to five times as often; here that takes too long."""
UNRATED = STATUSES.index(NoteStatus.NEEDS_MORE_RATINGS)
HELPFUL = STATUSES.index(NoteStatus.CURRENTLY_RATED_HELPFUL)


@dataclass(frozen=True)
class FitRecord:
    """What one fit made of the camps: whether it took them to be there, and its test, if one could be made."""

    regime: Regime
    axis: bool
    test: AxisTest | None


class Review:
    """Votes come in by ``hear``; ``outcome`` has one entry per piece of content, ``counted`` the votes that count.

    ``fits`` are all fits so far that could have found camps, those of the review it was forked from left out.
    ``took`` is how many ratings of it counted when a piece of content was decided, 0 before.
    """

    def __init__(self, people: People, content: Content, settings: CommunitySettings | None = None) -> None:
        self.people, self.content = people, content
        self.settings = settings or CommunitySettings()
        self.outcome: IntArray = np.full(len(content), int(Outcome.OPEN))
        self.counted = Votes.none()
        self.model = Model.cold(self.settings.min_ratings, self.settings.helpful_at)
        self.regime, self.camps = Regime.COLD, Camps()
        self.raters = RaterArrays.blank(len(people), kept=False)
        self.rows: FloatArray = np.zeros((len(content), WIDTH))
        self.fits: list[FitRecord] = []
        self.took: IntArray = np.zeros(len(content), np.int64)
        self._raised = np.where(content.grave, GRAVE_MARGIN, 0.0)

    def fork(self, people: People) -> "Review":
        """A copy that goes on by itself, with these people: the ones so far, and perhaps more after them."""
        copy = Review(people, self.content, self.settings)
        copy.take_over(self)
        return copy

    def take_over(self, past: "Review") -> None:
        """Go on where ``past`` is; the people may be more."""
        self.outcome, self.counted, self.took = past.outcome.copy(), past.counted, past.took.copy()
        self.model, self.regime, self.camps = past.model, past.regime, past.camps
        self.rows = past.rows
        self.raters = _spread(past.raters, np.arange(len(past.people)), len(self.people))

    def hear(self, votes: Votes) -> None:
        """All of ``votes``, which are by time and later than those heard so far."""
        votes = votes.where(self._may_vote(votes))
        start = 0
        while start < len(votes):
            end = start + self._until_refit()
            part = votes.where(slice(start, end))
            part = part.where(self.outcome[part.item] == Outcome.OPEN)
            if len(part):
                self._count(part)
                self._refit(float(part.at[-1]))
            start = end

    def _until_refit(self) -> int:
        return max(REFIT_LEAST, round(REFIT_SHARE * len(self.counted)))

    def _may_vote(self, votes: Votes) -> BoolArray:
        """Suffrage, as ``core.suffrage`` has it: what cannot be taken back is for raters known before."""
        newcomer = self.people.first_seen[votes.rater] > self.content.opened[votes.item]
        return ~(self.content.grave[votes.item] & newcomer)

    def _count(self, votes: Votes) -> None:
        """One vote after the other under the parameters in force; what a vote decides draws no more."""
        by_item = votes.where(np.argsort(votes.item, kind="stable"))
        status = self._judge(self._rows_after_each(by_item), by_item.item)
        decisive = np.flatnonzero(status != UNRATED)
        items, first = np.unique(by_item.item[decisive], return_index=True)
        last = decisive[first]
        # Where in by_item each piece of content hears its last vote.
        until = np.full(len(self.content), len(by_item))
        until[items] = last
        heard = by_item.where(np.arange(len(by_item)) <= until[by_item.item])
        self.counted = self.counted.and_later(heard)
        for item, place in zip(items.tolist(), last.tolist(), strict=True):
            self._decide(item, int(status[place]), float(by_item.at[place]))

    def _rows_after_each(self, by_item: Votes) -> FloatArray:
        """The sums of its content after each vote: those so far, and one row more per vote."""
        size = len(by_item)
        each = np.arange(size)
        single = Ratings(
            each,
            np.arange(len(self.people)),
            each.astype(np.int32),
            by_item.rater.astype(np.int32),
            by_item.level,
            np.ones(size, np.bool_),
        )
        running = np.cumsum(tally(single, self.raters, self.model), axis=0)
        begins = np.flatnonzero(np.r_[True, by_item.item[1:] != by_item.item[:-1]])
        before = np.vstack([np.zeros(WIDTH), running])[begins]
        rows: FloatArray = running - np.repeat(before, np.diff(np.r_[begins, size]), axis=0)
        return rows + self.rows[by_item.item]

    def _judge(self, rows: FloatArray, item: IntArray) -> IntArray:
        """Statuses, as numbers in ``STATUSES``, by the sums ``rows`` of these pieces of content.

        Ordinary notes are nothing to decide about: they go on drawing votes.
        """
        nothing = np.zeros(len(rows), np.bool_)
        threshold = self.model.helpful_at + self._raised[item]
        status = judge(rows, self.model, nothing, nothing, threshold, ~nothing).status
        return np.where(self.content.reviewed[item], status, UNRATED)

    def _decide(self, item: int, status: int, at: float) -> None:
        self.took[item] = np.count_nonzero(self.counted.item == item)
        if self._is_burst(item, at):
            self.outcome[item] = Outcome.STAFF
        else:
            self.outcome[item] = Outcome.ACT if status == HELPFUL else Outcome.KEEP

    def _is_burst(self, item: int, at: float) -> bool:
        """The breaker, as ``core.bursts`` asks it of the database."""
        settings, seen, votes = self.settings, self.people.first_seen, self.counted
        recent = (votes.item == item) & (votes.at > at - settings.burst_minutes / 60) & (votes.at <= at)
        known_since = at - settings.burst_hours
        new = np.count_nonzero(seen[votes.rater[recent]] > known_since)
        if new < settings.burst_raters or new <= settings.burst_share * np.count_nonzero(recent):
            return False
        known = np.bincount(votes.rater[seen[votes.rater] <= known_since])
        return int(np.count_nonzero(known)) >= settings.burst_known

    def _refit(self, at: float) -> None:
        """Fit the community, and decide what the new parameters decide."""
        scores = self._scores()
        if scores.regime is not Regime.COLD:
            self.fits.append(FitRecord(scores.regime, scores.model.axis, scores.axis))
        if not scores.suspect:
            self.model, self.regime = scores.model.for_note(acting=True), scores.regime
            self.camps = scores.camps
            apart = scores.model.acting is not None
            found = RaterArrays(
                scores.acting_intercepts if apart else scores.rater_intercepts,
                scores.acting_factors if apart else scores.rater_factors,
                scores.raters_acting if apart else scores.raters_kept,
                scores.raters_volume,
                scores.raters_correlated,
            )
            self.raters = _spread(found, scores.rater_ids, len(self.people))
        # A doubtful fit changes nothing: the sums stay those of the model before it.
        sums = scores.sums
        if scores.suspect:
            votes = ratings(self.counted.item, self.counted.rater, self.counted.level / 2)
            sums = tally(votes, self._known_among(votes.rater_ids), self.model)
        self.rows = np.zeros_like(self.rows)
        self.rows[scores.note_ids] = sums
        rated = scores.note_ids[self.outcome[scores.note_ids] == Outcome.OPEN]
        status = self._judge(self.rows[rated], rated)
        for place in np.flatnonzero(status != UNRATED).tolist():
            self._decide(int(rated[place]), int(status[place]), at)

    def _scores(self) -> Scores:
        votes, content = self.counted, self.content
        facts = Facts(
            helpful=np.flatnonzero(self.outcome == Outcome.ACT),
            raised=dict.fromkeys(np.flatnonzero(content.grave).tolist(), GRAVE_MARGIN),
            acting=np.flatnonzero(content.reviewed),
            valid=votes.at < content.opened[votes.item] + PROMPT_HOURS,
            regime=self.regime,
            camps=self.camps,
            min_ratings=self.settings.min_ratings,
            helpful_at=self.settings.helpful_at,
        )
        return score(votes.item, votes.rater, votes.level / 2, facts)

    def _known_among(self, places: IntArray) -> RaterArrays:
        raters = self.raters
        return RaterArrays(
            raters.intercept[places],
            raters.factor[places],
            raters.kept[places],
            raters.volume[places],
            raters.correlated[places],
        )


def _spread(found: RaterArrays, places: IntArray, size: int) -> RaterArrays:
    """The same raters at these places among ``size`` people; the model does not know the others."""
    intercept, factor = np.zeros(size), np.zeros(size)
    kept, volume, correlated = (np.zeros(size, np.bool_) for _ in range(3))
    intercept[places], factor[places] = found.intercept, found.factor
    kept[places], volume[places], correlated[places] = found.kept, found.volume, found.correlated
    return RaterArrays(intercept, factor, kept, volume, correlated)
