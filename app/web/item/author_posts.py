"""What moderators see of an author: their earlier posts in the community, and what became of them."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from flask import url_for
from sqlalchemy.orm import Session

from app.core.models import Action
from app.core.permissions import Actor
from app.core.review import author_history
from app.core.review.author_history import EarlierPost
from app.web import auth
from app.web.categories import HIDDEN, is_veiled


@dataclass(frozen=True)
class PastPost:
    """An earlier post. ``id`` names its item, None when no score asked for one."""

    id: uuid.UUID | None
    text: str
    state: str | None
    at: datetime


@dataclass(frozen=True)
class AuthorPast:
    """The sentence about an author, their newest posts, and where the history tells of all."""

    sentence: str
    posts: Sequence[PastPost]
    more: int
    url: str


def of(session: Session, actor: Actor, action: Action) -> AuthorPast | None:
    """The past of this item's author; None when the platform did not name one."""
    author = action.request.platform_author_id
    if author is None:
        return None
    found = author_history.before(session, actor, action)
    if not found.count:
        sentence = "No earlier submissions by this author"
    else:
        posts = "submission" if found.count == 1 else "submissions"
        sentence = f"{found.count:,} earlier {posts} by this author, {found.hidden or 'none'} hidden"
    return AuthorPast(
        sentence=sentence,
        posts=[_post(one) for one in found.posts],
        more=found.count - len(found.posts),
        url=f"{url_for('web.history_page')}?{urlencode({'author': author})}",
    )


def _post(earlier: EarlierPost) -> PastPost:
    action, warn = earlier.action, auth.current_reader().account.content_warnings
    veiled = action is not None and is_veiled(action.category, warn=warn)
    return PastPost(
        id=action.id if action is not None else None,
        text=HIDDEN if veiled else earlier.request.content,
        state=action.action_state.value if action is not None else None,
        at=earlier.request.platform_timestamp or earlier.request.requested_at,
    )
