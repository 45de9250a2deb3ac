"""The author's earlier posts in this community, with their outcomes, for moderators."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from flask import url_for
from sqlalchemy.orm import Session
from wtforms import Form, TextAreaField

from app.core import limits
from app.core.actions import strikes
from app.core.models import Action, AuthorNote
from app.core.permissions import Actor
from app.core.review import authors
from app.core.review.authors import EarlierPost
from app.web import auth
from app.web.categories import HIDDEN, is_veiled
from app.web.filters import ago, counted, percent
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
    """A summary sentence, the newest posts, how many more there are, and the URL of the history with all of them.

    ``open_now`` is the number of the author's other items in the queue, ``open_url`` the queue with these alone,
    ``decide_url`` the preview of deciding all together, ``page_url`` the author's page.
    """

    sentence: str
    posts: Sequence[PastPost]
    more: int
    url: str
    open_now: int
    open_url: str
    page_url: str
    decide_url: str


def past_posts(session: Session, actor: Actor, action: Action) -> AuthorPast | None:
    """Return the earlier posts of this item's author; None if the platform named no author."""
    author = action.request.platform_author_id
    if author is None:
        return None
    past = authors.earlier_posts(session, actor, action)
    if not past.count:
        sentence = "No earlier submissions by this author"
    else:
        posts = "submission" if past.count == 1 else "submissions"
        sentence = f"{past.count:,} earlier {posts} by this author, {past.hidden or 'none'} hidden"
        if past.hidden:
            sentence += f" ({percent(past.hidden / past.count)})"
        if past.first_at is not None:
            sentence += f", the first {ago(past.first_at)}"
    points = strikes.points_of(session, action.community_id, author)
    if points:
        sentence += f"; {counted(points, 'strike point')}"
    return AuthorPast(
        sentence=sentence,
        posts=[_post(post) for post in past.posts],
        more=past.count - len(past.posts),
        url=f"{url_for('web.history_page')}?{urlencode({'author': author})}",
        open_now=past.open_now,
        open_url=f"{url_for('web.review')}?{urlencode({'author': author})}",
        decide_url=f"{url_for('web.matching')}?{urlencode({'author': author})}",
        page_url=f"{url_for('web.author_of')}?{urlencode({'author': author})}",
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


class AuthorNoteForm(Form):
    """The text of the note; empty to take it back."""

    about_author = TextAreaField(
        "Note about the author", [at_most(limits.REASON_MAX, "Note about the author")], filters=[whole_lines]
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
