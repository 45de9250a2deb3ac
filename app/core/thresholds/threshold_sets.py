"""Categories and thresholds: immutable numbered versions per community (docs/develop/design-system.md)."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from app.core import limits
from app.core.classify import CATEGORIES
from app.core.db import serialise
from app.core.errors import Conflict, Invalid, NotFound
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import Category, Score, ThresholdSet
from app.core.permissions import SYSTEM, Actor, Permission, require
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.thresholds.drafts import DEFAULTS, CategoryDraft, check, draft_of, plain
from app.core.thresholds.routing import ESCALATED, STRIKES, CategoryRule, severity_level

SENSITIVE = frozenset({"sexual", "self_harm", "threat", "hate"})
"""Categories whose content is hidden behind "Show content"."""


def current(session: Session, community_id: uuid.UUID) -> ThresholdSet:
    """The version in force, with its categories loaded."""
    thresholds = session.scalars(_versions(community_id).limit(1)).first()
    if thresholds is None:
        raise NotFound("thresholds")
    return thresholds


def versions(session: Session, actor: Actor, community_id: uuid.UUID) -> Sequence[ThresholdSet]:
    """Every version, newest first, with its categories."""
    require(actor, Permission.REVISE_POLICY, community_id)
    return session.scalars(_versions(community_id)).all()


def _versions(community_id: uuid.UUID) -> sa.Select[ThresholdSet]:
    return (
        sa.select(ThresholdSet)
        .where(ThresholdSet.community_id == community_id)
        .order_by(ThresholdSet.version.desc())
        .options(selectinload(ThresholdSet.categories))
    )


def in_force(community_id: Any) -> sa.ScalarSelect[uuid.UUID]:
    """For a statement: the id of the version in force of a community, which may be a column."""
    newest = sa.select(ThresholdSet.id).where(ThresholdSet.community_id == community_id)
    return newest.order_by(ThresholdSet.version.desc()).limit(1).scalar_subquery()


def severity_levels(session: Session, community_id: uuid.UUID) -> Mapping[str, int]:
    """Each category's level of severity, 1 to 4. What a member or strikes send to staff is as urgent as level 3."""
    categories = sa.select(Category.name, Category.severity).where(
        Category.threshold_set_id == in_force(community_id)
    )
    levels = {name: severity_level(severity) for name, severity in session.execute(categories)}
    return {ESCALATED: 3, STRIKES: 3, **levels}


def rules_of(session: Session, version_id: uuid.UUID) -> tuple[int, Sequence[CategoryRule]]:
    """The number of a version, and its categories as routing uses them.

    A version never changes, so each process reads it once.
    """
    kept = _KEPT.get(version_id)
    if kept is None:
        thresholds = session.get_one(
            ThresholdSet, version_id, options=[selectinload(ThresholdSet.categories)], populate_existing=True
        )
        while len(_KEPT) >= _MOST_KEPT:
            _KEPT.pop(next(iter(_KEPT)), None)
        kept = _KEPT[version_id] = (thresholds.version, tuple(category_rules(thresholds)))
    return kept


_KEPT: dict[uuid.UUID, tuple[int, Sequence[CategoryRule]]] = {}
_MOST_KEPT = 1_000


def category_rules(thresholds: ThresholdSet) -> list[CategoryRule]:
    return [rule_of(category) for category in thresholds.categories]


def rule_of(category: Category | CategoryDraft) -> CategoryRule:
    """A category in the form that routing uses."""
    values = {one.name: getattr(category, one.name) for one in fields(CategoryRule)}
    return CategoryRule(**values | {"requires": frozenset(category.requires)})


def begin(session: Session, community_id: uuid.UUID) -> ThresholdSet:
    """Write the first version of a new community."""
    return _write(session, SYSTEM, community_id, 1, DEFAULTS, lazy_gettext("Shipped defaults"), {})


def revise(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    drafts: Sequence[CategoryDraft],
    reason: str,
    *,
    based_on: int | None = None,
) -> ThresholdSet:
    """Write a new version with exactly these ``drafts``; it routes only new content.

    Raises:
        Invalid: a threshold is out of range, Tier 2 is above Tier 1, a name is used twice, the reason is missing.
        Conflict: ``based_on`` is no longer the version in force.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    limits.text(reason, "reason", limits.REASON_MAX)
    check(drafts)
    serialise(session, community_id)
    thresholds = current(session, community_id)
    if based_on is not None and based_on != thresholds.version:
        raise Conflict(
            _(
                "%(name)s saved version %(version)s in the meantime",
                name=thresholds.made_by,
                version=thresholds.version,
            ),
            thresholds.id,
        )
    before = plain(map(draft_of, thresholds.categories))
    return _write(session, actor, community_id, thresholds.version + 1, drafts, reason, before)


def set_category(
    session: Session, actor: Actor, community_id: uuid.UUID, draft: CategoryDraft, reason: str
) -> ThresholdSet:
    """Write a new version that changes or adds this one category and keeps the others."""
    # Lock before reading the others: a concurrent revision waits, so that no change is lost.
    serialise(session, community_id)
    kept = [
        draft_of(category)
        for category in current(session, community_id).categories
        if category.name != draft.name
    ]
    return revise(session, actor, community_id, [*kept, draft], reason)


def require_classifier(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    classifier: str,
    on_error: Mapping[str, str | None],
    reason: str,
) -> ThresholdSet | None:
    """Write a new version in which categories do, or do not, go without this classifier's score.

    ``on_error`` maps a category to "retry" or "review", or to None: it does not need the classifier. What happens on an
    error is one setting of a category, for all classifiers that it requires. None when nothing changes.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    if not set(on_error.values()) <= {"retry", "review", None}:
        raise Invalid.field("on_error", _("must be retry or review"))
    serialise(session, community_id)
    drafts = [draft_of(category) for category in current(session, community_id).categories]
    revised = [_requiring(draft, classifier, on_error) for draft in drafts]
    return None if revised == drafts else revise(session, actor, community_id, revised, reason)


def _requiring(draft: CategoryDraft, classifier: str, on_error: Mapping[str, str | None]) -> CategoryDraft:
    if draft.name not in on_error:
        return draft
    others = tuple(name for name in draft.requires if name != classifier)
    wanted = on_error[draft.name]
    if wanted is None:
        return replace(draft, requires=others)
    return replace(draft, requires=(*others, classifier), on_error=wanted)


def revert(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    version: int,
    reason: str,
    *,
    based_on: int | None = None,
) -> ThresholdSet:
    """Write a new version with the categories of an old one; raises as ``revise``."""
    old = next((p for p in versions(session, actor, community_id) if p.version == version), None)
    if old is None:
        raise NotFound("version")
    drafts = [draft_of(category) for category in old.categories]
    return revise(session, actor, community_id, drafts, reason, based_on=based_on)


@dataclass(frozen=True)
class Observed:
    """What an observe-only category would have done, in requests."""

    acted: int = 0
    reviewed: int = 0


def observed(session: Session, actor: Actor, community_id: uuid.UUID, since: datetime) -> dict[str, Observed]:
    """What each observe-only category would have done since ``since``; categories without effect are left out."""
    require(actor, Permission.REVISE_POLICY, community_id)
    rows = session.execute(
        sa.select(
            Score.category,
            sa.func.sum(sa.case((Score.observed_tier == 1, 1), else_=0)),
            sa.func.sum(sa.case((Score.observed_tier == 2, 1), else_=0)),
        )
        .where(
            Score.community_id == community_id, Score.created_at >= since, Score.observed_tier.is_not(None)
        )
        .group_by(Score.category)
        .order_by(Score.category)
    )
    return {name: Observed(acted, reviewed) for name, acted, reviewed in rows}


def describe(name: str) -> str:
    """The meaning of a category, in the words shown to raters."""
    return CATEGORIES.get(name, name.replace("_", " "))


def _write(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    version: int,
    drafts: Sequence[CategoryDraft],
    reason: str,
    before: dict[str, Any],
) -> ThresholdSet:
    thresholds = ThresholdSet(community_id=community_id, version=version, reason=reason, made_by=actor.name)
    thresholds.categories = [
        Category(**{**asdict(draft), "requires": list(draft.requires)}) for draft in drafts
    ]
    session.add(thresholds)
    session.flush()
    after = plain(drafts)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    history.record(
        session,
        actor,
        community_id,
        "policy.revised",
        "policy",
        thresholds.id,
        before={name: before.get(name) for name in sorted(changed)} if before else {},
        after={"version": version} | {name: after.get(name) for name in sorted(changed)},
        reason=Reason(reason),
    )
    return thresholds
