"""The what-if of the thresholds page: histograms of scores, and what the typed values would have done."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core import texts
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext, number
from app.core.thresholds.drafts import CategoryDraft
from app.core.thresholds.outcomes import RIGHT, WRONG, Outcome
from app.core.thresholds.previews import BINS, Preview
from app.core.thresholds.route_changes import Judged
from app.core.vocabulary import ActionTier
from app.web.categories import HIDDEN, category_name
from app.web.thresholds.threshold_forms import ADD
from app.web.thresholds.threshold_verdicts import verdicts
from app.web.veils import is_veiled

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
class Histogram:
    """The stored scores of one category: ``counts`` of each bin from 0 to 1, with lines at its draft's thresholds."""

    name: str
    title: str
    counts: Sequence[int]
    tier2: float
    tier1: float | None

    @property
    def total(self) -> int:
        return sum(self.counts)

    @property
    def path(self) -> str:
        """The bars as a path. Heights are logarithmic, so that a few high scores stay visible."""
        width, most, bars = WIDTH / BINS, math.log1p(max(self.counts)), []
        for place, count in enumerate(self.counts):
            if count:
                height = round(HEIGHT * math.log1p(count) / most, 1)
                bars.append(f"M{place * width + 1} {HEIGHT - height}h{width - 2}v{height}h-{width - 2}z")
        return "".join(bars)

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
                count=number(count),
                low=number(place / BINS, 2),
                high=number((place + 1) / BINS, 2),
            )
            for place, count in enumerate(self.counts)
            if count
        )


@dataclass(frozen=True)
class AffectedList:
    """The newest posts that are treated otherwise, with one judgement on that. ``total``: how many there are."""

    title: str
    hint: str
    tone: str
    icon: str
    total: int
    rows: Sequence[Mapping[str, Any]]


def view(preview: Preview, drafts: Mapping[str, CategoryDraft]) -> dict[str, Any]:
    """Return what ``_thresholds_verdict.html`` and ``_thresholds_effects.html`` show.

    ``drafts``: the categories as typed, or else as they are in force. ``judged``: what people's decisions call right,
    and wrong; ``unjudged``: posts that are treated more strictly and have no decision.
    """
    longest = preview.periods[-1]
    shown = next(period for period in preview.periods if period.days == SHOWN_DAYS)
    known = {outcome: longest.outcomes.get(outcome, 0) for outcome in RIGHT | WRONG}
    newly, no_longer = longest.newly_acted.values(), longest.no_longer_acted.values()
    rightly = sum(acted.right for acted in newly) + sum(acted.wrong for acted in no_longer)
    wrongly = sum(acted.wrong for acted in newly) + sum(acted.right for acted in no_longer)
    stricter_and_known = sum(acted.known for acted in newly)
    return {
        "verdicts": verdicts(shown, {name: draft.tier1_action for name, draft in drafts.items()}),
        "periods": preview.periods,
        "shown_days": SHOWN_DAYS,
        "effects": {
            category_name(name): change
            for name, change in shown.categories.items()
            if change.before != change.after
        },
        "longest": longest,
        "outcomes": [
            (word, longest.outcomes_before.get(outcome, 0), longest.outcomes.get(outcome, 0))
            for outcome, word in OUTCOME_WORDS.items()
        ],
        "known": sum(known.values()),
        "upheld": sum(known[outcome] for outcome in RIGHT),
        "judged": [
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
        "unjudged": AffectedList(
            _("Not decided"),
            _("Treated more strictly. Unknown is not the same as right."),
            "off",
            "info",
            longest.newly_affected - stricter_and_known,
            _rows(preview, Judged.UNKNOWN),
        ),
    }


def histograms(
    drafts: Mapping[str, CategoryDraft], names: Sequence[str], bars_by_category: Mapping[str, Sequence[int]]
) -> dict[str, Histogram]:
    """Return the histogram of each category of these names, and under ``ADD`` that of the one that is added."""
    new = next((draft for name, draft in drafts.items() if name not in names), CategoryDraft("", 0.55))
    by_name = {**{name: drafts[name] for name in names}, ADD: new}
    return {
        name: Histogram(
            name,
            _("New category") if name == ADD else category_name(name),
            bars_by_category.get(draft.name, [0] * BINS),
            draft.tier2,
            draft.tier1,
        )
        for name, draft in by_name.items()
    }


def _rows(preview: Preview, judged: Judged) -> list[dict[str, Any]]:
    return [
        {
            "text": HIDDEN if (veiled := is_veiled(affected.category)) else affected.content,
            "is_veiled": veiled,
            "scored_at": affected.scored_at,
            "category": category_name(affected.category),
            "was": _TIER_WORDS[affected.was],
            "now": _TIER_WORDS[affected.now],
            "action_id": affected.action_id,
            "outcome": OUTCOME_WORDS[affected.outcome],
        }
        for affected in preview.affected
        if affected.judged is judged
    ]
