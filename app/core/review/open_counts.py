"""How many items wait for a moderator: the numbers in the navigation and in the title of the queue."""

import uuid
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.models import Action
from app.core.models.decisions import SECOND_LOOK
from app.core.permissions import Actor, Permission, require

MOST_COUNTED = 999
"""Counting stops after one more than this, so that a long queue costs no more than a short one."""


@dataclass(frozen=True)
class OpenCounts:
    """Items under review that are not put aside, and second looks; each at most ``MOST_COUNTED`` + 1."""

    review: int
    second_looks: int


def bounded_count(found: sa.Select[Any]) -> sa.ScalarSelect[int]:
    """How many rows ``found`` selects, as part of a query; at most ``MOST_COUNTED`` + 1."""
    limited = found.limit(MOST_COUNTED + 1).subquery()
    return sa.select(sa.func.count()).select_from(limited).scalar_subquery()


def open_counts(session: Session, actor: Actor, community_id: uuid.UUID) -> OpenCounts:
    """Count what waits in the community; one query, which reads indexes of open items only."""
    require(actor, Permission.SEE_QUEUE, community_id)
    is_awake = sa.or_(Action.snoozed_until.is_(None), Action.snoozed_until <= clock.now())
    # Written out, not parameters: only so are the partial indexes used for certain.
    review, looks = (
        bounded_count(
            sa.select(Action.id).where(Action.community_id == community_id, sa.text(condition), *further)
        )
        for condition, further in (
            ("moderation_actions.action_state = 'under_review'", [is_awake]),
            (SECOND_LOOK, []),
        )
    )
    row = session.execute(sa.select(review, looks)).one()
    return OpenCounts(row[0], row[1])
