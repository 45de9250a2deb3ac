"""From scores to what happens: pure, strictly greater, one route per request (docs/integration.md)."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from app.core.vocabulary import ActionTier, ReviewGroup, Verb

MISINFORMATION = "misinformation"
"""The category whose notes say whether the post misleads; elsewhere they tell readers what they should know."""
ESCALATED = "escalated"
"""The category of a post that a member sent to staff."""
UNFINISHED = "unfinished"
"""The category of a post that nobody could name one for, because a classifier could not finish with it."""


@dataclass(frozen=True)
class CategoryRule:
    """A category as routing sees it. Thresholds 0.0 to 1.0; ``tier1`` None never acts by itself.

    One that only observes routes nothing; ``observed`` says what it would have done.
    """

    name: str
    tier2: float
    tier1: float | None = None
    tier1_action: Verb = Verb.HIDE
    tier2_action: Verb = Verb.HIDE
    review_group: ReviewGroup = ReviewGroup.COMMUNITY
    severity: int = 0
    enabled: bool = True
    observe_only: bool = False


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
    routes = _routes(scores, (rule for rule in rules if not rule.observe_only))
    return min(routes, key=_precedence, default=None)


def for_review(route: Route, rules: Iterable[CategoryRule]) -> Route:
    """What a Tier 1 route becomes while nothing acts by itself: people are asked about its category's Tier 2 verb."""
    rule = next(one for one in rules if one.name == route.category)
    return replace(route, tier=ActionTier.CONSENSUS, verb=rule.tier2_action)


def without_score(unscored: Collection[str], rules: Iterable[CategoryRule]) -> Route | None:
    """Where a post goes that a classifier could not finish with: to staff. None when its scores lead to nothing.

    ``unscored`` are the categories that it would have scored.
    """
    if any(rule.name in unscored and rule.enabled and not rule.observe_only for rule in rules):
        return Route(ActionTier.CONSENSUS, UNFINISHED, 0.0, 0.0, Verb.HIDE, ReviewGroup.STAFF, 0)
    return None


def observed(scores: Mapping[str, Scored], rules: Iterable[CategoryRule]) -> list[Route]:
    """What each category that only observes would have led to, one route for each that exceeds a threshold."""
    return _routes(scores, (rule for rule in rules if rule.observe_only))


def millionths(value: float) -> int:
    """A score or threshold as a whole number: margins compare without the noise of binary fractions."""
    return round(value * 1_000_000)


def _routes(scores: Mapping[str, Scored], rules: Iterable[CategoryRule]) -> list[Route]:
    return [
        route
        for rule in rules
        if rule.enabled and rule.name in scores
        for route in [_route(rule, scores[rule.name])]
        if route is not None
    ]


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


def _precedence(route: Route) -> tuple[int, int, int, str]:
    # previews.py puts the same order into SQL.
    margin = millionths(route.score) - millionths(route.threshold)
    return (route.tier.number, -route.severity, -margin, route.category)
