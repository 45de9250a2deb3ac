"""How many items wait for a moderator: the numbers in the navigation and in the title of the queue.

Unread notices are counted in the same statement, because every page and every poll shows both.
"""

import uuid
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.history import notices
from app.core.models import Action
from app.core.models.decisions import SECOND_LOOK
from app.core.permissions import Actor, Permission, require

MOST_COUNTED = 999
"""Counting stops after one more than this, so that a long queue costs no more than a short one."""


@dataclass(frozen=True)
class OpenCounts:
    """Items under review that are not put aside, and second looks; each at most ``MOST_COUNTED`` + 1.

    ``notices``: the actor's unread notices of all communities.
    """

    review: int
    second_looks: int
    notices: int


def bounded_count(found: sa.Select[Any]) -> sa.ScalarSelect[int]:
    """How many rows ``found`` selects, as part of a query; at most ``MOST_COUNTED`` + 1."""
    limited = found.limit(MOST_COUNTED + 1).subquery()
    return sa.select(sa.func.count()).select_from(limited).scalar_subquery()


_action = Action.__table__.c
_IS_OF_COMMUNITY = _action.community_id == sa.bindparam("community_id")
_IS_AWAKE = sa.or_(
    _action.snoozed_until.is_(None),
    _action.snoozed_until <= sa.bindparam("now", type_=_action.snoozed_until.type),
)
# Built once, from table columns: every page of a moderator counts, and open tabs do again and again. The states are
# written out, not parameters, and the orders are those of the partial indexes: only so are these used for certain.
_COUNTS = sa.select(
    *(
        bounded_count(
            sa.select(_action.id).where(_IS_OF_COMMUNITY, sa.text(condition), *further).order_by(*order)
        )
        for condition, further, order in (
            (
                "moderation_actions.action_state = 'under_review'",
                (_IS_AWAKE,),
                (_action.urgent_at, _action.id),
            ),
            (SECOND_LOOK, (), (_action.action_state, _action.retro_review_at)),
        )
    )
)


def open_counts(session: Session, actor: Actor, community_id: uuid.UUID) -> OpenCounts:
    """Count what waits in the community; one query, which reads indexes of open items and of unread notices only."""
    require(actor, Permission.SEE_QUEUE, community_id)
    counts = _COUNTS.add_columns(notices.unread_count(actor).scalar_subquery())
    row = session.execute(counts, {"community_id": community_id, "now": clock.now()}).one()
    return OpenCounts(row[0], row[1], row[2])
