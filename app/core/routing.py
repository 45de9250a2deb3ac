"""From scores to what happens: pure, strictly greater, one route per request (Spec: Scoring routing)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.core.vocabulary import ActionTier, ReviewGroup, Verb


@dataclass(frozen=True)
class CategoryRule:
    """A category as routing sees it. Thresholds 0.0 to 1.0; ``tier1`` None never acts by itself."""

    name: str
    tier2: float
    tier1: float | None = None
    tier1_action: Verb = Verb.HIDE
    tier2_action: Verb = Verb.HIDE
    review_group: ReviewGroup = ReviewGroup.COMMUNITY
    severity: int = 0
    enabled: bool = True


@dataclass(frozen=True)
class Scored:
    """A category's score, 0.0 to 1.0. One that is not calibrated may reach Tier 2 only."""

    score: float
    calibrated: bool = True


@dataclass(frozen=True)
class Route:
    """What happens to a request: which tier, because of which category, above which threshold."""

    tier: ActionTier
    category: str
    score: float
    threshold: float
    verb: Verb
    review_group: ReviewGroup
    severity: int


def decide(scores: Mapping[str, Scored], rules: Iterable[CategoryRule]) -> Route | None:
    """The route for these scores, or None when nothing exceeds a threshold.

    Any Tier 1 beats every Tier 2; then the severer category; then the wider margin; then the name.
    """
    routes = [
        route
        for rule in rules
        if rule.enabled and rule.name in scores
        for route in [_route(rule, scores[rule.name])]
        if route is not None
    ]
    return min(routes, key=_precedence, default=None)


def _route(rule: CategoryRule, scored: Scored) -> Route | None:
    if rule.tier1 is not None and scored.calibrated and scored.score > rule.tier1:
        return Route(
            ActionTier.IMMEDIATE,
            rule.name,
            scored.score,
            rule.tier1,
            rule.tier1_action,
            rule.review_group,
            rule.severity,
        )
    if scored.score > rule.tier2:
        return Route(
            ActionTier.CONSENSUS,
            rule.name,
            scored.score,
            rule.tier2,
            rule.tier2_action,
            rule.review_group,
            rule.severity,
        )
    return None


def _precedence(route: Route) -> tuple[int, int, float, str]:
    return (route.tier.number, -route.severity, -(route.score - route.threshold), route.category)
