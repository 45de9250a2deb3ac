"""What an assistant may read of a community's figures: what other thresholds would have done, and Insights."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import Field

from app.api.shapes import Text
from app.commands.mcp.reading import EXCERPT, ROWS_MAX, Call, OfCommunity
from app.core import clock
from app.core.errors import Invalid
from app.core.insights import concerns, trends
from app.core.insights.concerns import Concern, Matter
from app.core.insights.trend_figures import Overturned, Totals
from app.core.periods import Period
from app.core.permissions import Permission, require
from app.core.thresholds import previews, threshold_sets
from app.core.thresholds.drafts import draft_of


class WhatIfArguments(OfCommunity):
    category: Annotated[Text, Field(max_length=100)]
    tier2: float | None = Field(
        None, ge=0, le=1, description="The score above which people would be asked; left out: as it is."
    )
    tier1: float | None = Field(
        None,
        ge=0,
        le=1,
        description="The score above which it would act alone; null: never; left out: as it is.",
    )
    enabled: bool | None = Field(None, description="Whether the category would be on; left out: as it is.")


class InsightsArguments(OfCommunity):
    days: int = Field(30, ge=1, le=90, description="Days until today, in UTC.")


def what_if(call: Call, wanted: WhatIfArguments) -> dict[str, Any]:
    """Say what other thresholds of one category would have done with the posts of the last 7, 30 and 90 days."""
    community_id = call.community(wanted.community)
    require(call.actor, Permission.PREVIEW_POLICY, community_id)
    current = threshold_sets.current(call.session, community_id)
    drafts = {one.name: draft_of(one) for one in current.categories}
    if wanted.category not in drafts:
        raise Invalid.field("category", f"must be one of {', '.join(drafts)}")
    given = wanted.model_fields_set & {"tier1", "tier2", "enabled"}
    values = {name: getattr(wanted, name) for name in given}
    for name in {"tier2", "enabled"} & given:
        if values[name] is None:
            raise Invalid.field(name, "must not be null: leave it out")
    drafts[wanted.category] = draft = replace(drafts[wanted.category], **values)
    found = previews.preview(call.session, call.actor, community_id, list(drafts.values()))
    return {
        "based_on_version": current.version,
        "category": draft.name,
        "tier2": draft.tier2,
        "tier1": draft.tier1,
        "enabled": draft.enabled,
        "periods": [
            {
                "days": one.days,
                "scored": one.scored,
                "before": asdict(one.before),
                "after": asdict(one.after),
                "newly_affected": one.newly_affected,
                "no_longer_affected": one.no_longer_affected,
                "acted_on_before": _counts(one.outcomes_before),
                "acted_on_after": _counts(one.outcomes),
            }
            for one in found.periods
        ],
        "posts": [
            {"item_id": one.action_id, "category": one.category, "was": one.was, "now": one.now}
            | {"outcome": one.outcome, "judged": one.judged.name.lower()}
            | {"post": call.untrusted(one.content, EXCERPT)}
            for one in found.affected[:ROWS_MAX]
        ],
    }


def insights(call: Call, wanted: InsightsArguments) -> dict[str, Any]:
    """Read figures: volume, delays, backlog, ratings, agreement, overturned actions; what needs attention."""
    community_id = call.community(wanted.community)
    today = clock.now().astimezone(UTC).date()
    period = Period(today - timedelta(days=wanted.days - 1), today, ZoneInfo("UTC"))
    found = trends.for_community(call.session, call.actor, community_id, period)
    now = concerns.read(call.session, call.actor, community_id)
    matters = concerns.in_order([*now, *concerns.from_trends(found)])
    parts = zip(
        found.period.starts,
        found.volume,
        found.delays,
        found.backlog,
        found.activity,
        found.agreement,
        strict=True,
    )
    return {
        "from": period.first,
        "to": period.last,
        "whole": _totals(found.totals),
        "period_before": _totals(found.before),
        "parts": [
            {
                "from": start,
                "volume": asdict(volume),
                "delay_seconds": asdict(delay),
                "backlog": asdict(backlog),
            }
            | {"activity": asdict(activity), "agreement": asdict(agreement)}
            for start, volume, delay, backlog, activity, agreement in parts
        ],
        "channels": [_rate(one) | {"name": call.untrusted(one.name)} for one in found.channels[:ROWS_MAX]],
        "attention": [_matter(one) for one in matters[:ROWS_MAX]],
    }


def _counts(outcomes: Mapping[Any, int]) -> dict[str, int]:
    return {str(outcome or "never_reviewed"): count for outcome, count in outcomes.items()}


def _totals(totals: Totals) -> dict[str, Any]:
    rates = {
        name: [_rate(one) for one in getattr(totals, name)][:ROWS_MAX]
        for name in ("categories", "classifiers")
    }
    return asdict(totals) | rates


def _rate(rate: Overturned) -> dict[str, Any]:
    return asdict(rate) | {"share": round(rate.share, 4)}


def _matter(matter: Matter) -> dict[str, Any]:
    """Without the name of who paused a community."""
    name = "" if matter.concern is Concern.PAUSED else matter.name
    return asdict(replace(matter, name=name)) | {"concern": matter.concern}
