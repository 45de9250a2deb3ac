"""The author's earlier posts in this community, with their outcomes, for moderators."""

from typing import Any

from flask import url_for
from sqlalchemy.orm import Session
from wtforms import Form, TextAreaField

from app.core import clock, limits
from app.core.models import Action
from app.core.permissions import Actor
from app.core.review import author_pages, authors
from app.core.review.author_pages import Figures
from app.core.review.authors import EarlierPost
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.web.categories import HIDDEN
from app.web.filter_forms import encoded
from app.web.filters import review_state
from app.web.forms import at_most, whole_lines
from app.web.veils import is_veiled


def past_posts(session: Session, actor: Actor, action: Action) -> dict[str, Any] | None:
    """Return the author of this item with their newest earlier posts; None if the platform named no author.

    ``is_several``: they have several items in the queue, which can be decided together (``decide_url``).
    """
    author = action.request.platform_author_id
    if author is None:
        return None
    figures = author_pages.figures(session, action.community_id, author)
    query = encoded({"author": author})
    return {
        "name": author,
        "summary": summary_line(figures),
        "is_several": figures.open > 1,
        "posts": [_post(post) for post in authors.earlier_posts(session, actor, action)],
        "page_url": f"{url_for('web.author_of')}?{query}",
        "decide_url": f"{url_for('web.matching')}?{query}",
    }


def summary_line(figures: Figures) -> str:
    """Say the figures in a line: "23 posts in 40 days · 2 hidden · 1 open"."""
    posts = ngettext("%(num)s post", "%(num)s posts", figures.posts)
    if figures.first_at is not None:
        days = max(1, (clock.now() - figures.first_at).days + 1)
        posts = ngettext("%(posts)s in %(num)s day", "%(posts)s in %(num)s days", days, posts=posts)
    parts = [
        posts,
        ngettext("%(num)s hidden", "%(num)s hidden", figures.hidden),
        ngettext("%(num)s open", "%(num)s open", figures.open),
    ]
    if figures.points:
        parts.append(ngettext("%(num)s strike point", "%(num)s strike points", figures.points))
    if figures.silenced is not None:
        parts.append(_("silenced"))
    return " · ".join(parts)


def _post(earlier: EarlierPost) -> dict[str, Any]:
    """``id`` is the post's item, None if it has none because no score reached a threshold."""
    action = earlier.action
    veiled = action is not None and is_veiled(action.category)
    return {
        "id": action.id if action is not None else None,
        "text": HIDDEN if veiled else earlier.request.content,
        "state": review_state(action) if action is not None else None,
        "at": earlier.request.platform_timestamp or earlier.request.requested_at,
    }


class AuthorNoteForm(Form):
    """The text of the note; empty to take it back."""

    about_author = TextAreaField(
        lazy_gettext("Note about the author"),
        [at_most(limits.REASON_MAX, lazy_gettext("Note about the author"))],
        filters=[whole_lines],
    )


def note_for(
    session: Session, actor: Actor, action: Action, form: AuthorNoteForm | None = None
) -> dict[str, Any] | None:
    """Return the note about this item's author, its earlier versions, and the form that writes another.

    None if the platform named no author.
    """
    if action.platform_author_id is None:
        return None
    versions = authors.note_versions(session, actor, action.community_id, action.platform_author_id)
    current = versions[0] if versions and versions[0].text else None
    return {
        "url": url_for("web.write_author_note", action_id=action.id),
        "current": current,
        "earlier": versions[1:] if current is not None else versions,
        "form": form or AuthorNoteForm(about_author=current.text if current is not None else ""),
    }
