"""Routing: from scores to at most one route for a request. Pure functions; a score must exceed its threshold
(docs/integrate/api.md).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.core.vocabulary import ActionTier, ReviewGroup, Verb

MISINFORMATION = "misinformation"
"""The category whose notes say whether a post misleads. In other categories notes give readers context."""
ESCALATED = "escalated"
"""The category of a post that a member sent to staff."""
STRIKES = "strikes"
"""The category of an item about an author whose strikes reached a step (docs/moderate/authors.md)."""
UNFINISHED = "unfinished"
"""The category of a post that a classifier failed to score."""
OTHER = "other"
"""The category of a report that names none of the community's."""


@dataclass(frozen=True)
class CategoryRule:
    """A category's settings for routing. Thresholds are 0.0 to 1.0; ``tier1`` None: no Tier 1 action.

    A category with ``observe_only`` routes nothing; ``observed`` returns the routes that it would have caused.
    ``requires`` are classifiers whose score the category must not go without; when one fails, ``on_error`` says
    whether scoring is tried again ("retry") or the post goes to staff ("review"). ``target_minutes`` is the time within
    which people should decide; None: the ``default_target`` of its severity. ``report_threshold``: above which weight
    of reports people are asked; None: never.
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
    requires: frozenset[str] = frozenset()
    on_error: str = "retry"
    target_minutes: int | None = None
    report_threshold: float | None = None


@dataclass(frozen=True)
class Scored:
    """A category's score, 0.0 to 1.0. A score that is not calibrated can only lead to Tier 2.

    ``lower_acting``: the highest calibrated score, where a higher one of another classifier is not calibrated.
    """

    score: float
    calibrated: bool = True
    lower_acting: float | None = None

    @property
    def height(self) -> tuple[float, bool]:
        """The key by which the highest of several classifiers' scores is chosen."""
        return self.score, self.calibrated

    @property
    def acting(self) -> float | None:
        """The highest score that may lead to Tier 1; None if no score may."""
        return self.score if self.calibrated else self.lower_acting


def higher(first: Scored, second: Scored) -> Scored:
    """The score of two together: the higher one for Tier 2, and the higher of those that may act for Tier 1.

    So a score that may not act never keeps a lower one from acting (docs/run/model-card.md).
    """
    highest = max(first, second, key=lambda scored: scored.height)
    if highest.calibrated:
        return highest
    acting = max((scored.acting for scored in (first, second) if scored.acting is not None), default=None)
    return replace(highest, lower_acting=acting)


def raise_to(scores: dict[str, Scored], category: str, scored: Scored) -> None:
    """Add a score to those of the category so far."""
    known = scores.get(category)
    scores[category] = scored if known is None else higher(known, scored)


@dataclass(frozen=True)
class Route:
    """What happens to a request: the tier, the category that caused it, its score and the exceeded threshold.

    In Tier 1, the score is the highest that may act, which need not be the category's highest.
    """

    tier: ActionTier
    category: str
    score: float
    threshold: float
    verb: Verb
    review_group: ReviewGroup
    severity: int
    target_minutes: int | None = None

    @property
    def target(self) -> int:
        """Within how many minutes people should decide."""
        return default_target(self.severity) if self.target_minutes is None else self.target_minutes


_TARGETS = ((60, 60), (35, 4 * 60), (20, 12 * 60))
"""Least severity, and the target time in minutes; the first row that fits counts."""
LONGEST_TARGET = 24 * 60
STAFF_TARGET = 4 * 60
"""Within how many minutes staff should look at a post that a member sent to them."""


def default_target(severity: int) -> int:
    """Within how many minutes people should decide about a category of this severity, unless an operator says so."""
    return next((minutes for least, minutes in _TARGETS if severity >= least), LONGEST_TARGET)


def severity_level(severity: int) -> int:
    """A severity as one of four levels, 4 the most severe; its target times have the same limits."""
    return sum(severity >= least for least, _ in _TARGETS) + 1


Place = tuple[str, int] | None
"""Where a route leads: the category and the number of its tier. None: the post is let through."""


def place_of(route: Route | None) -> Place:
    return (route.category, route.tier.number) if route is not None else None


def decide(scores: Mapping[str, Scored], rules: Iterable[CategoryRule]) -> Route | None:
    """The route for these scores, or None when no score exceeds a threshold.

    Tier 1 goes before Tier 2, then the higher severity, then the larger margin above the threshold, then the name.
    """
    routes = _routes(scores, (rule for rule in rules if not rule.observe_only))
    return min(routes, key=_precedence, default=None)


def for_review(route: Route, rules: Iterable[CategoryRule]) -> Route:
    """The Tier 2 route that replaces a Tier 1 route while automatic actions are off, with its Tier 2 verb."""
    rule = next(rule for rule in rules if rule.name == route.category)
    return replace(route, tier=ActionTier.CONSENSUS, verb=rule.tier2_action)


def without_score(unscored: Collection[str], rules: Iterable[CategoryRule]) -> Route | None:
    """The route to staff of a post that a classifier failed to score; None if its categories route nothing.

    ``unscored`` are the categories that the classifier would have scored.
    """
    if any(rule.name in unscored and rule.enabled and not rule.observe_only for rule in rules):
        return Route(ActionTier.CONSENSUS, UNFINISHED, 0.0, 0.0, Verb.HIDE, ReviewGroup.STAFF, 0)
    return None


def observed(scores: Mapping[str, Scored], rules: Iterable[CategoryRule]) -> list[Route]:
    """The routes that ``observe_only`` categories would have caused: one for each that exceeds a threshold."""
    return _routes(scores, (rule for rule in rules if rule.observe_only))


def millionths(value: float) -> int:
    """A score or threshold as a whole number, so that margins compare without floating-point errors."""
    return round(value * 1_000_000)


Numbers = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class ScoreColumn:
    """The scores of many posts in one category, as ``Scored`` has them of one.

    ``posts``: which posts, as places in an array of all, each at most once. ``acting`` 0.0: no score may act.
    """

    posts: Numbers
    scores: Numbers
    acting: Numbers


@dataclass(frozen=True)
class Routes:
    """The routes of many posts. ``codes``: of each the route as a whole number, 0 for none (see ``code``)."""

    names: Sequence[str]
    codes: Numbers

    def code(self, tier: ActionTier, category: str) -> int:
        """An odd number for Tier 1, an even one for Tier 2."""
        return 2 * self.names.index(category) + tier.number

    def read(self, code: int) -> tuple[ActionTier, str] | None:
        """The tier and category of a code; None for no route."""
        if code == 0:
            return None
        place, is_tier2 = divmod(code - 1, 2)
        return ActionTier.CONSENSUS if is_tier2 else ActionTier.IMMEDIATE, self.names[place]


def decide_many(count: int, columns: Mapping[str, ScoreColumn], rules: Sequence[CategoryRule]) -> Routes:
    """``decide`` for ``count`` posts at once, by their scores in each category.

    Each possible route is a whole number, ordered as ``_precedence`` orders routes; a post's lowest one is its route.
    """
    routes = Routes(sorted(rule.name for rule in rules), np.zeros(count, np.int64))
    severities = sorted({-rule.severity for rule in rules})
    lowest = np.full(count, _NO_ROUTE, np.int64)
    factor = 2 * len(rules) + 1
    for rule in rules:
        column = columns.get(rule.name)
        if column is None or not rule.enabled or rule.observe_only:
            continue
        tiers = [(ActionTier.CONSENSUS, rule.tier2, column.scores)]
        if rule.tier1 is not None:
            tiers.append((ActionTier.IMMEDIATE, rule.tier1, column.acting))
        for tier, threshold, scores in tiers:
            exceeds = scores > threshold
            posts, margins = column.posts[exceeds], _millionths(scores[exceeds]) - millionths(threshold)
            place = tier.number * len(severities) + severities.index(-rule.severity)
            numbers = ((place + 1) * _MARGINS - margins) * factor + routes.code(tier, rule.name)
            lowest[posts] = np.minimum(lowest[posts], numbers)
    return replace(routes, codes=np.where(lowest == _NO_ROUTE, 0, lowest % factor))


_NO_ROUTE = np.iinfo(np.int64).max
_MARGINS = 1_000_001
"""More than any margin above a threshold, in millionths."""


def _millionths(values: Numbers) -> Numbers:
    return np.asarray(np.rint(values * 1_000_000).astype(np.int64))


def _routes(scores: Mapping[str, Scored], rules: Iterable[CategoryRule]) -> list[Route]:
    return [
        route
        for rule in rules
        if rule.enabled and rule.name in scores
        for route in [_route(rule, scores[rule.name])]
        if route is not None
    ]


def _route(rule: CategoryRule, scored: Scored) -> Route | None:
    acting = scored.acting
    if rule.tier1 is not None and acting is not None and acting > rule.tier1:
        return Route(
            ActionTier.IMMEDIATE,
            rule.name,
            acting,
            rule.tier1,
            rule.tier1_action,
            rule.review_group,
            rule.severity,
            rule.target_minutes,
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
            rule.target_minutes,
        )
    return None


def _precedence(route: Route) -> tuple[int, int, int, str]:
    # ``decide_many`` has the same order as numbers.
    margin = millionths(route.score) - millionths(route.threshold)
    return (route.tier.number, -route.severity, -margin, route.category)
