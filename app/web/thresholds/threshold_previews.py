"""The what-if of the thresholds page: histograms of scores, and what the typed values would have done."""

import math
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.core import texts
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext, number
from app.core.thresholds.drafts import CategoryDraft
from app.core.thresholds.outcomes import RIGHT, WRONG, Outcome
from app.core.thresholds.previews import BINS, Affected, Change, Period, Preview
from app.core.thresholds.route_changes import Judged
from app.core.vocabulary import ActionTier
from app.web import auth
from app.web.categories import HIDDEN, category_name, is_veiled
from app.web.thresholds.threshold_forms import ADD
from app.web.thresholds.threshold_verdicts import Verdict, verdicts

SHOWN_DAYS = 30
"""The period of the verdicts and of the table by category."""
WIDTH, HEIGHT = 400, 120
"""Size of a histogram, in its own units."""

OUTCOME_WORDS: Mapping[Outcome | None, str] = {
    Outcome.UPHELD: lazy_gettext("Upheld"),
    Outcome.OVERTURNED: lazy_gettext("Overturned"),
    Outcome.DISMISSED: lazy_gettext("Dismissed"),
    Outcome.OPEN: lazy_gettext("Still open"),
    Outcome.LAPSED: lazy_gettext("Lapsed: not decided in time"),
    Outcome.UNREVIEWED: lazy_gettext("Acted on, not reviewed yet"),
    None: lazy_gettext("Never reviewed"),
}
_TIER_WORDS: Mapping[ActionTier | None, str] = {
    ActionTier.IMMEDIATE: lazy_gettext("Acted on without asking"),
    ActionTier.CONSENSUS: lazy_gettext("Put before people"),
    None: lazy_gettext("Let through"),
}


@dataclass(frozen=True)
class Bar:
    """One bar of a histogram: position, size and count."""

    x: float
    y: float
    width: float
    height: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Histogram:
    """The stored scores of one category. Heights are logarithmic, so that a few high scores stay visible."""

    name: str
    title: str
    total: int
    bars: Sequence[Bar]
    tier2: float
    tier1: float | None

    @property
    def summary(self) -> str:
        """The histogram as text."""
        scores = ngettext(
            "%(num)s score of %(category)s above 0.",
            "%(num)s scores of %(category)s above 0.",
            self.total,
            category=self.title,
        )
        if self.tier1 is None:
            lines = _(
                "Asks people (Tier 2) above %(tier2)s, never acts by itself.",
                tier2=texts.short_number(self.tier2),
            )
        else:
            lines = _(
                "Asks people (Tier 2) above %(tier2)s, acts by itself (Tier 1) above %(tier1)s.",
                tier2=texts.short_number(self.tier2),
                tier1=texts.short_number(self.tier1),
            )
        return f"{scores} {lines}"

    @property
    def figures(self) -> str:
        """The numbers behind the bars. As text, because a table for each category is too much for a page."""
        return "; ".join(
            _(
                "%(count)s above %(low)s, up to %(high)s",
                count=number(bar.count),
                low=number(bar.low, 2),
                high=number(bar.high, 2),
            )
            for bar in self.bars
            if bar.count
        )


@dataclass(frozen=True)
class AffectedRow:
    """A post that is treated otherwise with the typed values."""

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
    """Number of automatic actions (Tier 1) with this outcome, with the current and with the typed values."""

    word: str
    before: int
    after: int


@dataclass(frozen=True)
class AffectedList:
    """The newest posts that are treated otherwise, with one judgement on that. ``total``: how many there are."""

    title: str
    hint: str
    tone: str
    icon: str
    total: int
    rows: Sequence[AffectedRow]


@dataclass(frozen=True)
class PreviewView:
    """The content of ``_thresholds_verdict.html`` and ``_thresholds_effects.html``.

    ``judged``: what people's decisions call right, and wrong.
    ``unjudged``: posts that are treated more strictly and have no decision.
    """

    verdicts: Sequence[Verdict]
    periods: Sequence[Period]
    shown_days: int
    effects: Mapping[str, Change]
    longest: Period
    outcomes: Sequence[OutcomeRow]
    known: int
    upheld: int
    judged: Sequence[AffectedList]
    unjudged: AffectedList


def view(preview: Preview, drafts: Mapping[str, CategoryDraft]) -> PreviewView:
    """Return the preview for the page. ``drafts``: the categories as typed, or else as they are in force."""
    longest = preview.periods[-1]
    shown = next(period for period in preview.periods if period.days == SHOWN_DAYS)
    known = {outcome: longest.outcomes.get(outcome, 0) for outcome in RIGHT | WRONG}
    newly, no_longer = longest.newly_acted.values(), longest.no_longer_acted.values()
    rightly = sum(acted.right for acted in newly) + sum(acted.wrong for acted in no_longer)
    wrongly = sum(acted.wrong for acted in newly) + sum(acted.right for acted in no_longer)
    stricter_and_known = sum(acted.known for acted in newly)
    return PreviewView(
        verdicts=verdicts(shown, {name: draft.tier1_action for name, draft in drafts.items()}),
        periods=preview.periods,
        shown_days=SHOWN_DAYS,
        effects={
            category_name(name): change
            for name, change in shown.categories.items()
            if change.before != change.after
        },
        longest=longest,
        outcomes=[
            OutcomeRow(word, longest.outcomes_before.get(outcome, 0), longest.outcomes.get(outcome, 0))
            for outcome, word in OUTCOME_WORDS.items()
        ],
        known=sum(known.values()),
        upheld=sum(known[outcome] for outcome in RIGHT),
        judged=[
            AffectedList(
                _("Rightly"),
                _("People decided as your values would."),
                "good",
                "circle-check",
                rightly,
                _rows(preview, Judged.RIGHTLY),
            ),
            AffectedList(
                _("Wrongly"),
                _("People decided the other way."),
                "bad",
                "circle-x",
                wrongly,
                _rows(preview, Judged.WRONGLY),
            ),
        ],
        unjudged=AffectedList(
            _("Not decided"),
            _("Treated more strictly. Unknown is not the same as right."),
            "off",
            "info",
            longest.newly_affected - stricter_and_known,
            _rows(preview, Judged.UNKNOWN),
        ),
    )


def histograms(
    drafts: Mapping[str, CategoryDraft], names: Sequence[str], bars_by_category: Mapping[str, Sequence[int]]
) -> dict[str, Histogram]:
    """Return the histogram of each category of these names, and under ``ADD`` that of the one that is added."""
    new = next((draft for name, draft in drafts.items() if name not in names), CategoryDraft("", 0.55))
    by_name = {**{name: drafts[name] for name in names}, ADD: new}
    return {
        name: histogram(name, draft, bars_by_category.get(draft.name, [0] * BINS))
        for name, draft in by_name.items()
    }


def histogram(name: str, draft: CategoryDraft, counts: Sequence[int]) -> Histogram:
    """Return the histogram of one category's scores, with lines at its draft's thresholds."""
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
    title = _("New category") if name == ADD else category_name(name)
    return Histogram(name, title, sum(counts), bars, draft.tier2, draft.tier1)


def _rows(preview: Preview, judged: Judged) -> list[AffectedRow]:
    return [_row(affected) for affected in preview.affected if affected.judged is judged]


def _row(affected: Affected) -> AffectedRow:
    veiled = is_veiled(affected.category, warn=auth.current_reader().account.content_warnings)
    return AffectedRow(
        text=HIDDEN if veiled else affected.content,
        is_veiled=veiled,
        scored_at=affected.scored_at,
        category=category_name(affected.category),
        was=_TIER_WORDS[affected.was],
        now=_TIER_WORDS[affected.now],
        action_id=affected.action_id,
        outcome=OUTCOME_WORDS[affected.outcome],
    )
