"""Moderators' lasting note about an author: one text for all of the author's posts in a community, with its history."""

import uuid
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import limits
from app.core.db import serialise
from app.core.errors import Forbidden, Invalid
from app.core.models import Action, AuthorNote
from app.core.permissions import Actor, Permission, require


def versions(
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


def write(session: Session, actor: Actor, action: Action, text: str) -> AuthorNote:
    """Write a new version of the note about the author of this item; an empty text takes the note back.

    Raises:
        Forbidden: the actor is not signed in.
        Invalid: the text is too long, it was changed too often, or the platform named no author.
    """
    require(actor, Permission.MODERATE, action.community_id, "item")
    if actor.account_id is None:
        raise Forbidden("Only a signed-in moderator can write about an author")
    if action.platform_author_id is None:
        raise Invalid.field("text", "cannot be kept: the platform named no author")
    text = text.strip()
    if text:
        limits.text(text, "text", limits.REASON_MAX)
    serialise(session, action.community_id)
    known = versions(session, actor, action.community_id, action.platform_author_id, limit=1)
    if known and known[0].text == text:
        return known[0]
    if text:
        written = sa.select(sa.func.count(AuthorNote.id)).where(
            AuthorNote.community_id == action.community_id,
            AuthorNote.platform_author_id == action.platform_author_id,
        )
        limits.room(limits.AUTHOR_NOTES, session.scalar(written) or 0, "text", "changed again")
    note = AuthorNote(
        community_id=action.community_id,
        platform_author_id=action.platform_author_id,
        text=text,
        account_id=actor.account_id,
        account_name=actor.name,
    )
    session.add(note)
    session.flush()
    return note
