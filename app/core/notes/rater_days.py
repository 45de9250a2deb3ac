"""On which days each rater rated (``RaterDay``), for Insights. Whatever writes ratings keeps it."""

import uuid
from typing import cast

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk
from app.core.models import RaterDay, Rating
from app.core.periods import begin_of, day_of

_TABLE = cast(sa.Table, RaterDay.__table__)


def add(session: Session, rating: Rating) -> None:
    """Note the day of a new rating."""
    row = {
        "community_id": rating.community_id,
        "day": day_of(rating.created_at),
        "rater_id": rating.rater_id,
    }
    bulk.insert(session.connection(), _TABLE, [row], skip_known=True)


def remove(session: Session, rating: Rating) -> None:
    """Forget the day of a rating that was deleted, unless the rater has another one on it."""
    day = day_of(rating.created_at)
    others = sa.exists().where(
        Rating.community_id == rating.community_id,
        Rating.rater_id == rating.rater_id,
        Rating.created_at >= begin_of(day),
        Rating.created_at < begin_of(day + 1),
    )
    session.execute(
        sa.delete(_TABLE).where(
            _TABLE.c.community_id == rating.community_id,
            _TABLE.c.day == day,
            _TABLE.c.rater_id == rating.rater_id,
            ~others,
        )
    )


def move(session: Session, rater_id: uuid.UUID, to_rater_id: uuid.UUID) -> None:
    """Give the days of a rater to another one. The ratings move along."""
    own = _TABLE.c.rater_id == rater_id
    days = session.execute(sa.select(_TABLE.c.community_id, _TABLE.c.day).where(own)).all()
    rows = [{"community_id": row.community_id, "day": row.day, "rater_id": to_rater_id} for row in days]
    bulk.insert(session.connection(), _TABLE, rows, skip_known=True)
    session.execute(sa.delete(_TABLE).where(own))
