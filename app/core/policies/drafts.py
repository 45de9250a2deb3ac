"""A category's thresholds as an operator enters them: the bounds, and those a community begins with."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.core import limits
from app.core.errors import Invalid
from app.core.models import Category
from app.core.policies.routing import ESCALATED, UNFINISHED
from app.core.vocabulary import ReviewGroup, Verb

"""The largest number of categories of one community."""
SEVERITY_MAX = 1_000
TARGET_MAX = 30 * 24 * 60
"""The longest target time of a category, in minutes."""


@dataclass(frozen=True)
class CategoryDraft:
    """A category's values as an operator enters them. ``tier1`` None: never act without raters.

    ``requires`` names the classifiers that the category must not go without, ``on_error`` what happens when one
    fails: "retry" or "review" (docs/run/classifiers.md). ``target_minutes``: the time in which to decide; None:
    by severity (``routing.default_target``).
    """

    name: str
    tier2: float
    tier1: float | None = None
    tier1_action: Verb = Verb.HIDE
    tier2_action: Verb = Verb.HIDE
    enabled: bool = True
    observe_only: bool = False
    review_group: ReviewGroup = ReviewGroup.COMMUNITY
    severity: int = 0
    requires: tuple[str, ...] = field(default=())
    on_error: str = "retry"
    target_minutes: int | None = None


DEFAULTS = (
    CategoryDraft("threat", 0.55, severity=70),
    CategoryDraft("self_harm", 0.55, tier2_action=Verb.NOTIFY, severity=60),
    CategoryDraft("hate", 0.55, severity=50),
    CategoryDraft("sexual", 0.55, severity=40),
    CategoryDraft("pii", 0.55, tier1=0.95, severity=35),
    CategoryDraft("toxicity", 0.55, severity=30),
    CategoryDraft("misinformation", 0.55, severity=20),
    CategoryDraft("spam", 0.55, tier1=0.95, severity=10),
)
"""The thresholds of a new community: only spam and pii act without review (docs/moderate/operator.md)."""


def draft_of(category: Category) -> CategoryDraft:
    return CategoryDraft(
        name=category.name,
        tier2=category.tier2,
        tier1=category.tier1,
        tier1_action=category.tier1_action,
        tier2_action=category.tier2_action,
        enabled=category.enabled,
        observe_only=category.observe_only,
        review_group=category.review_group,
        severity=category.severity,
        requires=tuple(category.requires),
        on_error=category.on_error,
        target_minutes=category.target_minutes,
    )


def new_name(name: str) -> None:
    """Check that a community may name a category like this.

    Raises:
        Invalid: the name is malformed, or the service uses it itself for posts sent to staff without a category.
    """
    limits.category_name(name)
    if name in {ESCALATED, UNFINISHED}:
        raise Invalid.field("name", f"must not be {name}, which the service uses itself", name)


def check(drafts: Sequence[CategoryDraft]) -> None:
    """Check that the drafts could be saved as a version.

    Raises:
        Invalid: as ``revise``, for its values.
    """
    limits.room(limits.CATEGORIES, len(drafts) - 1, "name")
    seen: set[str] = set()
    for draft in drafts:
        new_name(draft.name)
        if draft.name in seen:
            raise Invalid.field("name", f"{draft.name} is there twice", draft.name)
        seen.add(draft.name)
        limits.thresholds(draft.tier1, draft.tier2)
        if not 0 <= draft.severity <= SEVERITY_MAX:
            raise Invalid.field(
                "severity", f"must be a whole number from 0 to {SEVERITY_MAX:,}", draft.severity
            )
        if draft.target_minutes is not None and not 1 <= draft.target_minutes <= TARGET_MAX:
            raise Invalid.field(
                "target_minutes", f"must be a whole number from 1 to {TARGET_MAX:,}", draft.target_minutes
            )


def plain(drafts: Iterable[CategoryDraft]) -> dict[str, Any]:
    """The drafts by category, as entries of the history keep them."""
    return {
        draft.name: {
            "enabled": draft.enabled,
            "observe_only": draft.observe_only,
            "tier1": draft.tier1,
            "tier2": draft.tier2,
            "tier1_action": draft.tier1_action.value,
            "tier2_action": draft.tier2_action.value,
            "review_group": draft.review_group.value,
            "severity": draft.severity,
            "requires": list(draft.requires),
            "on_error": draft.on_error,
        }
        # Left out while unset, as in entries from before this setting existed.
        | ({} if draft.target_minutes is None else {"target_minutes": draft.target_minutes})
        for draft in drafts
    }
