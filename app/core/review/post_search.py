"""Search for posts by text, author, or any id that a user may have copied."""

import uuid
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.ids import parse_id
from app.core.models import Action, Request


def finds(text: str) -> sa.ColumnElement[bool]:
    """A condition: a post (``Request`` joined with its ``Action``) matches ``text``.

    Matches part of the post's text, of the author's id, or of the platform's ids of the submission or the message,
    ignoring case; or one of our UUIDs in full. ``%`` and ``_`` are not wildcards.
    """
    conditions: list[sa.ColumnElement[bool]] = [
        column.icontains(text, autoescape=True)
        for column in (
            Request.content,
            Request.platform_author_id,
            Request.request_id,
            Request.platform_message_id,
        )
    ]
    identity = parse_id(text)
    if identity is not None:
        conditions += [Action.id == identity, Request.id == identity]
    return sa.or_(*conditions)


def languages(session: Session, community_id: uuid.UUID) -> Sequence[str]:
    """The detected languages of the community's posts, for the filters of lists.

    It steps from one language to the next through the index, so it reads a row a language and not a row a post.
    """
    first = sa.func.min(Request.language).label("tag")
    # The comparison is what lets PostgreSQL use the partial index also for the first one.
    seen = sa.select(first).where(Request.community_id == community_id, Request.language > "")
    steps = seen.cte("languages", recursive=True)
    following = (
        sa.select(sa.func.min(Request.language))
        .where(Request.community_id == community_id, Request.language > steps.c.tag)
        .scalar_subquery()
    )
    steps = steps.union_all(sa.select(following).where(steps.c.tag.is_not(None)))
    return [tag for tag in session.scalars(sa.select(steps.c.tag)) if tag]
