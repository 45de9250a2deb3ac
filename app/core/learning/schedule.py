"""When a community's model is trained, who does it, and how the result is stored.

A training runs outside of any transaction. A process that dies on the way has changed nothing: its lease expires, and
the next run begins again. A result is stored only if no content was erased since the labels were read.
"""

import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock
from app.core.classify.features import FEATURES_VERSION
from app.core.communities import settings as community_settings
from app.core.db import serialise
from app.core.history.reason import Reason
from app.core.ids import new_id
from app.core.learning import labels, versions
from app.core.learning.labels import Label, Ordinary
from app.core.learning.training import Outcome, Trained
from app.core.models import Community, HistoryEntry, LearnedCategory, LearnedModel, Learning
from app.core.permissions import SYSTEM
from app.core.texts import lazy_gettext, ngettext
from app.core.thresholds import threshold_sets

LEARN_JOB = "learn"
LEARN_SECONDS = 300.0
NEW_LABELS = 50
RETRAIN_AFTER = timedelta(hours=24)
"""A category is trained again after this many new labels, or after a day with at least one."""
LEASE = timedelta(minutes=15)
NOT_BETTER = lazy_gettext("on the newest decisions it is no better than the other classifiers alone")


class Outdated(Exception):
    """Another process trains this community, or content was erased meanwhile: the result must not be stored."""


@dataclass(frozen=True)
class Lease:
    """The right to train one community. ``erasures`` is the count of erasures when it was taken."""

    community_id: uuid.UUID
    owner: uuid.UUID
    erasures: int
    history_number: int
    categories: Sequence[str]


@dataclass(frozen=True)
class Material:
    """What one training needs. ``decisions`` counts all decisions; ``newest_at``: when the newest was made."""

    category: str
    labels: Sequence[Label]
    ordinary: Sequence[Ordinary]
    threshold: float
    decisions: int
    newest_at: datetime | None


def due(session: Session) -> list[uuid.UUID]:
    """Communities in which something happened since everything there was learned, or whose training is due."""
    newest = (
        sa.select(sa.func.max(HistoryEntry.number))
        .where(HistoryEntry.community_id == Community.id)
        .correlate(Community)
        .scalar_subquery()
    )
    return list(
        session.scalars(
            sa.select(Community.id)
            .outerjoin(Learning, Learning.community_id == Community.id)
            .where(
                Community.archived_at.is_(None),
                sa.or_(Learning.community_id.is_(None), Learning.is_on),
                sa.or_(Learning.lease_until.is_(None), Learning.lease_until < clock.now()),
                sa.or_(
                    newest > sa.func.coalesce(Learning.history_number, 0),
                    Learning.due_at <= clock.now(),
                    Community.id.in_(_outdated().with_only_columns(LearnedModel.community_id)),
                ),
            )
            .order_by(Learning.due_at.is_(None), Learning.due_at, Community.id)
        )
    )


def wanted(session: Session, community_id: uuid.UUID) -> list[str] | None:
    """The categories to train now, by name; None: what there is new must wait until there is more of it."""
    learning = session.get(Learning, community_id, populate_existing=True)
    rows = {row.category: row for row in versions.rows(session, community_id)}
    outdated = set(session.scalars(_outdated().where(LearnedModel.community_id == community_id)))
    is_due = learning is not None and learning.due_at is not None and learning.due_at <= clock.now()
    counted = labels.counts(session, community_id)
    learned = counted.keys() & _enabled(session, community_id)
    if is_due:
        return sorted(rows.keys() | learned)
    now = [
        category
        for category in sorted(learned)
        if category in outdated or _is_wanted(rows.get(category), *counted[category])
    ]
    is_waiting = any(_is_new(rows.get(category), *counted[category]) for category in learned)
    return None if is_waiting and not now else now


def take(session: Session, community_id: uuid.UUID, categories: Sequence[str]) -> Lease | None:
    """Take the lease to train these categories; None if another process holds it, or learning was switched off."""
    serialise(session, community_id)
    learning = versions.settings_row(session, community_id)
    now = clock.now()
    is_leased = learning.lease_until is not None and learning.lease_until >= now
    if is_leased or not learning.is_on:
        return None
    learning.lease_owner, learning.lease_until = new_id(), now + LEASE
    session.flush()
    number = session.scalar(
        sa.select(sa.func.max(HistoryEntry.number)).where(HistoryEntry.community_id == community_id)
    )
    return Lease(community_id, learning.lease_owner, learning.erasures, number or 0, categories)


def read(session: Session, lease: Lease, category: str) -> Material:
    """The labels of a category, and what else its training needs."""
    counted, newest_at = labels.counts(session, lease.community_id).get(category, (0, None))
    thresholds = threshold_sets.category_rules(threshold_sets.current(session, lease.community_id))
    return Material(
        category,
        labels.read(session, lease.community_id, category),
        labels.ordinary(session, lease.community_id),
        next((rule.tier2 for rule in thresholds if rule.name == category), 1.0),
        counted,
        newest_at,
    )


def store(
    session: Session, lease: Lease, material: Material, trained: Trained, milliseconds: int
) -> LearnedModel | None:
    """Store the result of a training, and put it in force if it is better and no operator wants to be asked first.

    Raises:
        Outdated: the result must not be stored.
    """
    learning = _check(session, lease)
    learning.lease_until = clock.now() + LEASE
    row = versions.category_row(session, lease.community_id, material.category)
    if row is None:
        row = LearnedCategory(community_id=lease.community_id, category=material.category)
        row.last_version = row.version_in_force = row.waiting_version = 0
        row.asks_first = False
        session.add(row)
    row.decisions, row.labels, row.positives = material.decisions, trained.labels, trained.positives
    row.outcome, row.trained_at, row.newest_label_at = trained.outcome, clock.now(), material.newest_at
    model = _write(session, row, trained, milliseconds)
    asks_first = (learning.asks_first or row.asks_first) and _can_stay(session, row)
    if model is not None and trained.outcome is Outcome.BETTER:
        if asks_first:
            row.waiting_version = model.version
        else:
            with community_settings.in_language(session, lease.community_id):
                cause = ngettext(
                    "%(num)s decision, better on the newest of them",
                    "%(num)s decisions, better on the newest of them",
                    trained.labels,
                )
            versions.set_in_force(session, SYSTEM, row, model, reason=Reason(cause=cause))
    elif model is not None and not asks_first:
        versions.take_out(session, row, NOT_BETTER)
    # Without a better version, one that contains erased content goes all the same.
    versions.drop_erased(session, row)
    bulk.change(
        session,
        sa.delete(LearnedModel).where(
            LearnedModel.community_id == row.community_id,
            LearnedModel.category == row.category,
            LearnedModel.version <= row.last_version - versions.VERSIONS_KEPT,
            LearnedModel.version != row.version_in_force,
        ),
    )
    session.flush()
    return model


def finish(session: Session, lease: Lease) -> None:
    """Give the lease back after all categories were trained. While labels wait, the sweep looks again.

    Raises:
        Outdated: content was erased meanwhile; the training stays due.
    """
    learning = _check(session, lease)
    learning.lease_owner = learning.lease_until = None
    if learning.due_at is not None and learning.due_at <= clock.now():
        learning.due_at = None
    session.flush()
    if wanted(session, lease.community_id) == []:
        learning.history_number = lease.history_number
        session.flush()


def give_back(session: Session, lease: Lease, *, failed: bool = False) -> None:
    """Give the lease back before all categories were trained.

    ``failed``: a version that should have been replaced after an erasure is dropped, for no training may replace it.
    """
    serialise(session, lease.community_id)
    learning = session.get_one(Learning, lease.community_id, populate_existing=True)
    if learning.lease_owner != lease.owner:
        return
    learning.lease_owner = learning.lease_until = None
    session.flush()
    for row in versions.rows(session, lease.community_id) if failed else ():
        versions.drop_erased(session, row)
    session.flush()


def _enabled(session: Session, community_id: uuid.UUID) -> set[str]:
    rules = threshold_sets.category_rules(threshold_sets.current(session, community_id))
    return {rule.name for rule in rules if rule.enabled}


def _is_new(row: LearnedCategory | None, count: int, newest_at: datetime) -> bool:
    """Whether some decision was made or changed since the last training."""
    if row is None or row.newest_label_at is None:
        return True
    return count > row.decisions or newest_at > row.newest_label_at


def _is_wanted(row: LearnedCategory | None, count: int, newest_at: datetime) -> bool:
    if row is None or row.trained_at is None:
        return True
    if not _is_new(row, count, newest_at):
        return False
    fresh = count - row.decisions
    # While there are too few labels, counting them is quick, and operators like to see the count rise.
    is_quick = row.outcome == Outcome.FEW_LABELS
    return fresh >= NEW_LABELS or is_quick or clock.now() >= row.trained_at + RETRAIN_AFTER


def _outdated() -> sa.Select[Any]:
    """The versions in force that were trained with the features of another release."""
    return (
        sa.select(LearnedModel.category)
        .join(
            LearnedCategory,
            sa.and_(
                LearnedCategory.community_id == LearnedModel.community_id,
                LearnedCategory.category == LearnedModel.category,
                LearnedCategory.version_in_force == LearnedModel.version,
            ),
        )
        .where(LearnedModel.features != FEATURES_VERSION)
    )


def _check(session: Session, lease: Lease) -> Learning:
    serialise(session, lease.community_id)
    learning = session.get_one(Learning, lease.community_id, populate_existing=True)
    if (learning.lease_owner, learning.erasures) != (lease.owner, lease.erasures) or not learning.is_on:
        raise Outdated
    return learning


def _write(
    session: Session, row: LearnedCategory, trained: Trained, milliseconds: int
) -> LearnedModel | None:
    made = trained.version
    if made is None:
        return None
    row.last_version += 1
    model = LearnedModel(
        community_id=row.community_id,
        category=row.category,
        version=row.last_version,
        features=FEATURES_VERSION,
        weights=made.linear.to_bytes(),
        blend_a=made.blend.a,
        blend_b=made.blend.b,
        blend_c=made.blend.c,
        labels=trained.labels,
        positives=trained.positives,
        outcome=trained.outcome.value,
        figures=asdict(made.figures),
        words=asdict(made.words),
        milliseconds=milliseconds,
    )
    session.add(model)
    session.flush()
    return model


def _can_stay(session: Session, row: LearnedCategory) -> bool:
    """Whether the version in force, if any, may score on; one with erased content is replaced without asking."""
    if not row.version_in_force:
        return True
    return versions.is_usable(versions.find(session, row.community_id, row.category, row.version_in_force))
