"""The target time of a community's reviews, put together from the target times of its categories."""

import uuid
from collections.abc import Mapping
from itertools import accumulate

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.insights.trend_figures import Target
from app.core.policies import policies
from app.core.policies.routing import CategoryRule, default_target


def typical(session: Session, community_id: uuid.UUID, actions: Mapping[str, int]) -> Target | None:
    """The target time that fits the categories of a period; None if no category asks people.

    ``actions``: how many there were of each category. Categories without any count only where none has any.
    """
    version_id = session.scalar(sa.select(policies.in_force(community_id)))
    if version_id is None:
        return None
    _, rules = policies.rules_of(session, version_id)
    return of_rules({rule.name: rule for rule in rules}, actions)


def of_rules(rules: Mapping[str, CategoryRule], actions: Mapping[str, int]) -> Target | None:
    """The middle one of the actions' target times: half of the actions have this one or a shorter one.

    It is compared with the time within which half of the reviews were decided.
    """
    minutes = {
        name: default_target(rule.severity) if rule.target_minutes is None else rule.target_minutes
        for name, rule in rules.items()
        if rule.enabled and not rule.observe_only
    }
    found = {name: actions.get(name, 0) for name in minutes}
    if not any(found.values()):
        found = dict.fromkeys(minutes, 1)
    used = sorted((minutes[name], count) for name, count in found.items() if count)
    if not used:
        return None
    half, reached = sum(count for _, count in used) / 2, accumulate(count for _, count in used)
    middle = next(target for (target, _), so_far in zip(used, reached, strict=True) if so_far >= half)
    return Target(middle * 60, used[0][0] * 60, used[-1][0] * 60)
