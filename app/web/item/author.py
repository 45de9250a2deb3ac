"""The author's earlier posts in this community, with their outcomes, for moderators."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from flask import url_for
from sqlalchemy.orm import Session
from wtforms import Form, TextAreaField

from app.core import clock, limits
from app.core.models import Action, AuthorNote
from app.core.permissions import Actor
from app.core.review import author_pages, authors
from app.core.review.author_pages import Figures
from app.core.review.authors import EarlierPost
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.web import auth
from app.web.categories import HIDDEN, is_veiled
from app.web.filter_forms import encoded
from app.web.filters import review_state
from app.web.forms import at_most, whole_lines


@dataclass(frozen=True)
class PastPost:
    """An earlier post. ``id`` is its item's id, None if it has no item because no score reached a threshold."""

    id: uuid.UUID | None
    text: str
    state: str | None
    at: datetime


@dataclass(frozen=True)
class AuthorPast:
    """The author in a line, and their newest earlier posts.

    ``is_several``: they have several items in the queue, which can be decided together (``decide_url``). ``page_url``
    is the author's page.
    """

    name: str
    summary: str
    is_several: bool
    posts: Sequence[PastPost]
    page_url: str
    decide_url: str


def past_posts(session: Session, actor: Actor, action: Action) -> AuthorPast | None:
    """Return the author of this item with their earlier posts; None if the platform named no author."""
    author = action.request.platform_author_id
    if author is None:
        return None
    figures = author_pages.figures(session, action.community_id, author)
    query = encoded({"author": author})
    return AuthorPast(
        name=author,
        summary=summary_line(figures),
        is_several=figures.open > 1,
        posts=[_post(post) for post in authors.earlier_posts(session, actor, action)],
        page_url=f"{url_for('web.author_of')}?{query}",
        decide_url=f"{url_for('web.matching')}?{query}",
    )


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


def _post(earlier: EarlierPost) -> PastPost:
    action, warn = earlier.action, auth.current_reader().account.content_warnings
    veiled = action is not None and is_veiled(action.category, warn=warn)
    return PastPost(
        id=action.id if action is not None else None,
        text=HIDDEN if veiled else earlier.request.content,
        state=review_state(action) if action is not None else None,
        at=earlier.request.platform_timestamp or earlier.request.requested_at,
    )


class AuthorNoteForm(Form):
    """The text of the note; empty to take it back."""

    about_author = TextAreaField(
        lazy_gettext("Note about the author"),
        [at_most(limits.REASON_MAX, lazy_gettext("Note about the author"))],
        filters=[whole_lines],
    )


@dataclass(frozen=True)
class AuthorNoteView:
    """The note in force (None if there is none), its earlier versions, and the form that writes another."""

    url: str
    current: AuthorNote | None
    earlier: Sequence[AuthorNote]
    form: AuthorNoteForm


def note_for(
    session: Session, actor: Actor, action: Action, form: AuthorNoteForm | None = None
) -> AuthorNoteView | None:
    """Return the note about this item's author; None if the platform named no author."""
    if action.platform_author_id is None:
        return None
    versions = authors.note_versions(session, actor, action.community_id, action.platform_author_id)
    current = versions[0] if versions and versions[0].text else None
    return AuthorNoteView(
        url=url_for("web.write_author_note", action_id=action.id),
        current=current,
        earlier=versions[1:] if current is not None else versions,
        form=form or AuthorNoteForm(about_author=current.text if current is not None else ""),
    )
