"""The posts alike of an item, for moderators (docs/moderate/waves.md)."""

from typing import Any

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


def wave_words(posts: int, authors: int) -> str:
    """How many posts are alike, and by how many authors; empty for one alone."""
    if posts < 2:
        return ""
    alike = ngettext("%(num)s alike", "%(num)s alike", posts)
    if not authors:
        return alike
    return ngettext("%(alike)s, %(num)s author", "%(alike)s, %(num)s authors", authors, alike=alike)


def wave_of(session: Session, actor: Actor, action: Action) -> dict[str, Any] | None:
    """The posts alike of an item, without itself; None if there are none. Four queries.

    ``count`` and ``authors``: of all of them, or of those under review. ``open``: how many are under review, with
    itself if it is. ``joins``: later posts are decided as these were; ``later``: how many came since.
    """
    if action.wave_id is None:
        return None
    size = waves.sizes(session, [action.wave_id]).get(action.wave_id)
    wave = session.get(Wave, action.wave_id)
    if size is None or wave is None or size.total < 2:
        return None
    found = waves.posts(session, actor, action, limit=SHOWN)
    is_open = action.action_state is ActionState.UNDER_REVIEW and size.open > 1
    is_hidden = veils.hides(action)
    return {
        "count": size.open if is_open else size.total,
        "authors": size.authors,
        "open": size.open,
        "posts": [
            {
                "id": one.id,
                "text": HIDDEN if is_hidden else one.request.content,
                "author": one.platform_author_id or "",
                "state": review_state(one),
                "at": one.created_at,
            }
            for one in found
        ],
        "omitted": size.total - 1 - len(found),
        "joins": waves.decides_later_posts(wave, clock.now()),
        "later": size.later,
    }
