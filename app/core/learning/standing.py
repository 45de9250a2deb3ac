"""Whether a community's model learns and how far it is, and the verb that switches it."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.db import serialise
from app.core.errors import Invalid
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.learning import sampling, versions
from app.core.learning.training import Outcome
from app.core.models import LearnedCategory, LearnedModel, Learning, Request, SampledPost
from app.core.permissions import Actor, Permission, require
from app.core.texts import gettext as _


class State(StrEnum):
    """What the model does in a category. ``SHADOW``: it is trained, and the others alone score."""

    OFF = "off"
    LEARNING = "learning"
    SHADOW = "shadow"
    WAITING = "waiting"
    IN_FORCE = "in_force"


@dataclass(frozen=True)
class CategoryStanding:
    """How far the model is in one category. ``version``: the one in force, or 0; ``figures`` of the newest version."""

    category: str
    state: State
    decisions: int
    labels: int
    positives: int
    outcome: Outcome
    version: int
    since: datetime | None
    waiting: int
    asks_first: bool
    trained_at: datetime | None
    figures: Mapping[str, Any] | None = None

    @property
    def negatives(self) -> int:
        return self.labels - self.positives

    @property
    def left_out(self) -> int:
        """The decisions that the caps or missing people left out."""
        return max(0, self.decisions - self.labels)


@dataclass(frozen=True)
class SampleCounts:
    """The samples of a community: all, those still open, and those on which raters agreed."""

    total: int = 0
    waiting: int = 0
    labelled: int = 0


@dataclass(frozen=True)
class Standing:
    """Whether a community's model learns, how far it is, and which share of the other posts it samples."""

    is_on: bool = True
    asks_first: bool = False
    categories: Sequence[CategoryStanding] = ()
    sample_share: float = 0.0
    samples: SampleCounts = SampleCounts()


def read_standing(session: Session, actor: Actor, community_id: uuid.UUID) -> Standing:
    """The settings, and every category that has labels, by name."""
    require(actor, Permission.REVISE_POLICY, community_id)
    learning = session.get(Learning, community_id, populate_existing=True)
    if learning is None:
        return Standing()
    newest = {
        (row.category, row.version): row.figures
        for row in session.execute(
            sa.select(LearnedModel.category, LearnedModel.version, LearnedModel.figures)
            .join(
                LearnedCategory,
                sa.and_(
                    LearnedCategory.community_id == LearnedModel.community_id,
                    LearnedCategory.category == LearnedModel.category,
                    LearnedCategory.last_version == LearnedModel.version,
                ),
            )
            .where(LearnedModel.community_id == community_id)
        )
    }
    return Standing(
        learning.is_on,
        learning.asks_first,
        [
            _standing(row, learning, newest.get((row.category, row.last_version)))
            for row in versions.rows(session, community_id)
        ],
        learning.sample_share,
        _samples(session, community_id),
    )


def _samples(session: Session, community_id: uuid.UUID) -> SampleCounts:
    total, waiting, labelled = session.execute(
        sa.select(
            sa.func.count(),
            sa.func.sum(sa.case((sampling.is_open(), 1), else_=0)),
            sa.func.count(SampledPost.acted),
        )
        .join(Request, Request.id == SampledPost.request_id)
        .where(SampledPost.community_id == community_id)
    ).one()
    return SampleCounts(total, waiting or 0, labelled)


def _standing(
    row: LearnedCategory, learning: Learning, figures: Mapping[str, Any] | None
) -> CategoryStanding:
    if not learning.is_on:
        state = State.OFF
    elif row.version_in_force:
        state = State.IN_FORCE
    elif row.waiting_version:
        state = State.WAITING
    elif row.outcome in (Outcome.FEW_LABELS, Outcome.ONE_SIDED):
        state = State.LEARNING
    else:
        state = State.SHADOW
    return CategoryStanding(
        row.category,
        state,
        row.decisions,
        row.labels,
        row.positives,
        Outcome(row.outcome),
        row.version_in_force,
        row.in_force_since,
        row.waiting_version,
        row.asks_first or learning.asks_first,
        row.trained_at,
        figures,
    )


def switch(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    *,
    is_on: bool,
    asks_first: bool,
    sample_share: float = 0.0,
    reason: str,
) -> None:
    """Switch learning on or off, and choose whether an operator puts new versions in force.

    ``sample_share``: the share of the posts below every threshold that raters are asked about, 0.001 to 0.05; 0: none.

    Switched off, no version scores and none is trained; the versions stay. To let the service put versions in force by
    itself also ends what a way back has fixed.

    Raises:
        Invalid: the reason is missing, the share is out of bounds, or nothing would change.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    limits.text(reason, "reason", limits.REASON_MAX)
    if sample_share and not sampling.LEAST_SHARE <= sample_share <= sampling.MOST_SHARE:
        raise Invalid.field("sample_share", _("must be 0, or 0.001 to 0.05"))
    serialise(session, community_id)
    learning = versions.settings_row(session, community_id)
    fixed = [row for row in versions.rows(session, community_id) if row.asks_first]
    before: dict[str, Any] = {"learning": learning.is_on, "asks_first": learning.asks_first or bool(fixed)}
    after: dict[str, Any] = {"learning": is_on, "asks_first": asks_first}
    if sample_share != learning.sample_share:
        before["samples"], after["samples"] = _percent(learning.sample_share), _percent(sample_share)
    if before == after:
        raise Invalid.field("learning", _("is set like that already"))
    learning.is_on, learning.asks_first = is_on, asks_first
    learning.sample_share = sample_share
    learning.sample_key = learning.sample_key or sampling.new_key()
    if not is_on or not sample_share:
        sampling.end_all(session, community_id)
    if not asks_first:
        for row in fixed:
            row.asks_first = False
    if is_on:
        learning.due_at = clock.now()
    else:
        # Nothing is trained from now on, so no training would replace a version with erased content.
        for row in versions.rows(session, community_id):
            versions.drop_erased(session, row)
    session.flush()
    history.record(
        session,
        actor,
        community_id,
        "learning.switched",
        "learned_model",
        community_id,
        before=before,
        after=after,
        reason=Reason(reason),
    )


def _percent(share: float) -> str:
    return f"{share * 100:g} %" if share else "none"
