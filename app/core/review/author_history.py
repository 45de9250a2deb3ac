"""What an author's earlier posts in the same community came to."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import Action, Request
from app.core.permissions import Actor, Permission, require
from app.core.vocabulary import ActionState, ActionType

_STANDING = (ActionState.APPLIED, ActionState.RETRO_REVIEW, ActionState.CONFIRMED)


@dataclass(frozen=True)
class EarlierPost:
    """One submission and the newest action about it; None when no score asked for one."""

    request: Request
    action: Action | None


@dataclass(frozen=True)
class AuthorHistory:
    """``count`` earlier submissions, ``hidden`` of which are hidden today; ``posts`` are the newest, newest first."""

    count: int = 0
    hidden: int = 0
    posts: Sequence[EarlierPost] = field(default=())


def earlier_posts(session: Session, actor: Actor, action: Action, *, limit: int = 5) -> AuthorHistory:
    """What the author of this item submitted before it, by the platform's id of them; three queries at most.

    ``action`` has its request loaded. Withdrawn submissions are as if they had never been.
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
    count, hidden = session.execute(
        sa.select(sa.func.count(), sa.func.count().filter(is_hidden)).select_from(Request).where(earlier)
    ).one()
    if not count:
        return AuthorHistory()
    requests = session.scalars(
        sa.select(Request)
        .where(earlier)
        .order_by(Request.requested_at.desc(), Request.id.desc())
        .limit(limit)
    ).all()
    newest = {
        one.request_id: one
        for one in session.scalars(
            sa.select(Action)
            .where(Action.request_id.in_([one.id for one in requests]), Action.restores_id.is_(None))
            .order_by(Action.created_at, Action.id)
        )
    }
    return AuthorHistory(count, hidden, [EarlierPost(one, newest.get(one.id)) for one in requests])
