"""The author's earlier posts in this community, with their outcomes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import Action, Request
from app.core.models.decisions import QUEUED
from app.core.permissions import Actor, Permission, require
from app.core.vocabulary import ActionState, ActionType

_STANDING = (ActionState.APPLIED, ActionState.RETRO_REVIEW, ActionState.CONFIRMED)


@dataclass(frozen=True)
class EarlierPost:
    """One submission and its newest action, or None if there was none."""

    request: Request
    action: Action | None


@dataclass(frozen=True)
class AuthorHistory:
    """``count`` is the number of earlier submissions, ``hidden`` how many are hidden now; ``posts`` are the newest.

    ``first_at`` is when the first was submitted; ``open_now`` counts the author's other items in the review queue.
    """

    count: int = 0
    hidden: int = 0
    first_at: datetime | None = None
    open_now: int = 0
    posts: Sequence[EarlierPost] = field(default=())


def earlier_posts(session: Session, actor: Actor, action: Action, *, limit: int = 5) -> AuthorHistory:
    """The earlier submissions of this item's author, found by the platform's author id; at most four queries.

    ``action`` must have its request loaded. Withdrawn submissions are left out.
    """
    require(actor, Permission.SEE_HISTORY, action.community_id, "item")
    request = action.request
    if request.platform_author_id is None:
        return AuthorHistory()
    earlier = sa.and_(
        Request.community_id == action.community_id,
        Request.platform_author_id == request.platform_author_id,
        Request.withdrawn_at.is_(None),
        sa.tuple_(Request.requested_at, Request.id)
        < sa.tuple_(
            sa.literal(request.requested_at, Request.requested_at.type),
            sa.literal(request.id, Request.id.type),
        ),
    )
    is_hidden = sa.exists().where(
        Action.request_id == Request.id,
        Action.action_type == ActionType.HIDE,
        Action.action_state.in_(_STANDING),
    )
    count, hidden, first_at = session.execute(
        sa.select(sa.func.count(), sa.func.count().filter(is_hidden), sa.func.min(Request.requested_at))
        .select_from(Request)
        .where(earlier)
    ).one()
    open_now = session.scalar(
        sa.select(sa.func.count()).where(
            Action.community_id == action.community_id,
            Action.platform_author_id == request.platform_author_id,
            Action.id != action.id,
            sa.text(QUEUED),
        )
    )
    if not count:
        return AuthorHistory(open_now=open_now or 0)
    requests = session.scalars(
        sa.select(Request)
        .where(earlier)
        .order_by(Request.requested_at.desc(), Request.id.desc())
        .limit(limit)
    ).all()
    newest = {
        newer.request_id: newer
        for newer in session.scalars(
            sa.select(Action)
            .where(Action.request_id.in_([post.id for post in requests]), Action.restores_id.is_(None))
            .order_by(Action.created_at, Action.id)
        )
    }
    posts = [EarlierPost(post, newest.get(post.id)) for post in requests]
    return AuthorHistory(count, hidden, first_at, open_now or 0, posts)
