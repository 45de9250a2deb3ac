"""Authors: their earlier posts in a community with the outcomes, and the moderators' lasting note about them."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import limits
from app.core.actions import actions
from app.core.db import serialise
from app.core.errors import Forbidden, Invalid
from app.core.models import Action, AuthorNote, Request
from app.core.models.notes import judged_by_itself
from app.core.permissions import Actor, Permission, require
from app.core.texts import gettext as _

POSTS = 5
"""How many earlier posts are listed."""


@dataclass(frozen=True)
class EarlierPost:
    """One submission and its newest action, or None if there was none."""

    request: Request
    action: Action | None


def earlier_posts(session: Session, actor: Actor, action: Action) -> Sequence[EarlierPost]:
    """The newest earlier submissions of this item's author, found by the platform's author id; two queries.

    ``action`` must have its request loaded. Withdrawn submissions are left out.
    """
    require(actor, Permission.SEE_HISTORY, action.community_id, "item")
    request = action.request
    if request.platform_author_id is None:
        return []
    requests = session.scalars(
        sa.select(Request)
        .where(
            Request.community_id == action.community_id,
            Request.platform_author_id == request.platform_author_id,
            Request.withdrawn_at.is_(None),
            judged_by_itself(),
            sa.tuple_(Request.requested_at, Request.id)
            < sa.tuple_(
                sa.literal(request.requested_at, Request.requested_at.type),
                sa.literal(request.id, Request.id.type),
            ),
        )
        .order_by(Request.requested_at.desc(), Request.id.desc())
        .limit(POSTS)
    ).all()
    newest = actions.newest_of(session, [post.id for post in requests])
    return [EarlierPost(post, newest.get(post.id)) for post in requests]


def note_versions(
    session: Session, actor: Actor, community_id: uuid.UUID, author: str, *, limit: int = 20
) -> Sequence[AuthorNote]:
    """The versions of the note about this author, newest first: the first is in force unless its text is empty."""
    require(actor, Permission.MODERATE, community_id, "item")
    return session.scalars(
        sa.select(AuthorNote)
        .where(AuthorNote.community_id == community_id, AuthorNote.platform_author_id == author)
        .order_by(AuthorNote.created_at.desc(), AuthorNote.id.desc())
        .limit(limit)
    ).all()


def write_note(
    session: Session, actor: Actor, community_id: uuid.UUID, author: str | None, text: str
) -> AuthorNote:
    """Write a new version of the note about an author; an empty text takes the note back.

    Raises:
        Forbidden: the actor is not signed in.
        Invalid: the text is too long, it was changed too often, or the platform named no author.
    """
    require(actor, Permission.MODERATE, community_id, "author")
    if actor.account_id is None:
        raise Forbidden(_("Only a signed-in moderator can write a note about an author"))
    if author is None:
        raise Invalid.field("text", _("cannot be kept: the platform named no author"))
    text = text.strip()
    if text:
        limits.text(text, "text", limits.REASON_MAX)
    serialise(session, community_id)
    known = note_versions(session, actor, community_id, author, limit=1)
    if known and known[0].text == text:
        return known[0]
    if text:
        written = sa.select(sa.func.count(AuthorNote.id)).where(
            AuthorNote.community_id == community_id,
            AuthorNote.platform_author_id == author,
        )
        limits.room(limits.AUTHOR_NOTES, session.scalar(written) or 0, "text")
    note = AuthorNote(
        community_id=community_id,
        platform_author_id=author,
        text=text,
        account_id=actor.account_id,
        account_name=actor.name,
    )
    session.add(note)
    session.flush()
    return note
