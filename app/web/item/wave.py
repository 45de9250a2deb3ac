"""The posts alike of an item, for moderators (docs/moderate/waves.md)."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.core import clock
from app.core.models import Action, Wave
from app.core.permissions import Actor
from app.core.review import waves
from app.core.texts import ngettext
from app.core.vocabulary import ActionState
from app.web import veils
from app.web.categories import HIDDEN
from app.web.filters import review_state

SHOWN = 50


@dataclass(frozen=True)
class AlikePost:
    """One of the posts alike. ``text`` is a placeholder while the category's content is hidden."""

    id: uuid.UUID
    text: str
    author: str
    state: str
    at: datetime


@dataclass(frozen=True)
class WaveView:
    """The posts alike of an item, without itself. ``count`` and ``authors``: of all of them, or of those under review.

    ``open``: how many are under review, with itself if it is. ``joins``: later posts are decided as these were;
    ``later``: how many came since.
    """

    count: int
    authors: int
    open: int
    posts: Sequence[AlikePost]
    omitted: int
    joins: bool
    later: int


def wave_words(posts: int, authors: int) -> str:
    """How many posts are alike, and by how many authors; empty for one alone."""
    if posts < 2:
        return ""
    alike = ngettext("%(num)s alike", "%(num)s alike", posts)
    if not authors:
        return alike
    return ngettext("%(alike)s, %(num)s author", "%(alike)s, %(num)s authors", authors, alike=alike)


def wave_of(session: Session, actor: Actor, action: Action) -> WaveView | None:
    """The posts alike of an item; None if there are none. Four queries."""
    if action.wave_id is None:
        return None
    size = waves.sizes(session, [action.wave_id]).get(action.wave_id)
    wave = session.get(Wave, action.wave_id)
    if size is None or wave is None or size.total < 2:
        return None
    found = waves.posts(session, actor, action, limit=SHOWN)
    is_open = action.action_state is ActionState.UNDER_REVIEW and size.open > 1
    is_hidden = veils.hides(action)
    return WaveView(
        count=size.open if is_open else size.total,
        authors=size.authors,
        open=size.open,
        posts=[
            AlikePost(
                one.id,
                HIDDEN if is_hidden else one.request.content,
                one.platform_author_id or "",
                review_state(one),
                one.created_at,
            )
            for one in found
        ],
        omitted=size.total - 1 - len(found),
        joins=waves.decides_later_posts(wave, clock.now()),
        later=size.later,
    )
