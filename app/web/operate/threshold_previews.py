"""What a preview of thresholds shows: figures before and after, posts newly affected, histograms as drawings."""

import math
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.core.policies.outcomes import RIGHT, WRONG, Outcome
from app.core.policies.policies import CategoryDraft
from app.core.policies.previews import Affected, Change, Period, Preview
from app.core.policies.route_counts import BINS
from app.core.vocabulary import ActionTier
from app.web import auth
from app.web.categories import HIDDEN, category_name, is_veiled

SHOWN_DAYS = 30
"""The period of the table by category."""
WIDTH, HEIGHT = 400, 120
"""Of a drawing, in its own units."""

OUTCOME_WORDS: Mapping[Outcome | None, str] = {
    Outcome.UPHELD: "Upheld",
    Outcome.OVERTURNED: "Overturned",
    Outcome.DISMISSED: "Dismissed",
    Outcome.OPEN: "Still open",
    Outcome.LAPSED: "Lapsed: nobody decided in time",
    Outcome.UNREVIEWED: "Acted on, nobody has looked yet",
    None: "Never sent to anybody",
}
_TIER_WORDS = {ActionTier.IMMEDIATE: "Acted on alone", ActionTier.CONSENSUS: "Sent to people"}


@dataclass(frozen=True)
class Bar:
    """One bar of a histogram: its place in the drawing, and what it counts."""

    x: float
    y: float
    width: float
    height: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Histogram:
    """The stored scores of one category. Heights are logarithmic: few high scores beside many low ones stay visible."""

    name: str
    title: str
    total: int
    bars: Sequence[Bar]
    tier2: float
    tier1: float | None

    @property
    def summary(self) -> str:
        """The drawing in words."""
        first = f"{self.total:,} scores of {self.title} above 0. Asks people (Tier 2) above {self.tier2:g}"
        if self.tier1 is None:
            return f"{first}, never acts by itself."
        return f"{first}, acts by itself (Tier 1) above {self.tier1:g}."


@dataclass(frozen=True)
class AffectedRow:
    """A post that the typed values treat more strictly."""

    text: str
    is_veiled: bool
    scored_at: datetime
    category: str
    was: str
    now: str
    action_id: uuid.UUID | None
    outcome: str


@dataclass(frozen=True)
class OutcomeRow:
    """How many of what is acted on alone had this outcome, by the values in force and by the typed ones."""

    word: str
    before: int
    after: int


@dataclass(frozen=True)
class PreviewView:
    """Everything that ``_thresholds_effects.html`` shows."""

    periods: Sequence[Period]
    shown_days: int
    effects: Mapping[str, Change]
    longest: Period
    outcomes: Sequence[OutcomeRow]
    known: int
    upheld: int
    affected: Sequence[AffectedRow]
    histograms: Sequence[Histogram]


def view(made: Preview, drafts: Sequence[CategoryDraft]) -> PreviewView:
    """A preview of these drafts, in words and drawings."""
    longest = made.periods[-1]
    shown = next(period for period in made.periods if period.days == SHOWN_DAYS)
    known = {outcome: longest.outcomes.get(outcome, 0) for outcome in RIGHT | WRONG}
    return PreviewView(
        periods=made.periods,
        shown_days=SHOWN_DAYS,
        effects={category_name(name): change for name, change in shown.categories.items()},
        longest=longest,
        outcomes=[
            OutcomeRow(word, longest.outcomes_before.get(outcome, 0), longest.outcomes.get(outcome, 0))
            for outcome, word in OUTCOME_WORDS.items()
        ],
        known=sum(known.values()),
        upheld=sum(known[outcome] for outcome in RIGHT),
        affected=[_row(one) for one in made.affected],
        histograms=[
            histogram(draft, made.histograms.get(draft.name, [0] * BINS))
            for draft in drafts
            if draft.enabled or draft.name in made.histograms
        ],
    )


def histogram(draft: CategoryDraft, counts: Sequence[int]) -> Histogram:
    """The drawing of one category's scores."""
    width, most = WIDTH / BINS, math.log1p(max(counts))
    bars = []
    for place, count in enumerate(counts):
        height = round(HEIGHT * math.log1p(count) / most, 1) if most else 0.0
        bars.append(
            Bar(
                x=place * width + 1,
                y=HEIGHT - height,
                width=width - 2,
                height=height,
                low=place / BINS,
                high=(place + 1) / BINS,
                count=count,
            )
        )
    return Histogram(draft.name, category_name(draft.name), sum(counts), bars, draft.tier2, draft.tier1)


def _row(one: Affected) -> AffectedRow:
    veiled = is_veiled(one.category, warn=auth.current_reader().account.content_warnings)
    return AffectedRow(
        text=HIDDEN if veiled else one.content,
        is_veiled=veiled,
        scored_at=one.scored_at,
        category=category_name(one.category),
        was=_TIER_WORDS[one.was] if one.was else "Let through",
        now=_TIER_WORDS[one.now],
        action_id=one.action_id,
        outcome=OUTCOME_WORDS[one.outcome],
    )
