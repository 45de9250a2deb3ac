"""Search for posts by text, author, or any id that a user may have copied."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from app.core.ids import parse_id
from app.core.models import Action, Request
from app.core.review import text_index
from app.core.unindexed import unindexed

WALKED = 1_000
"""The newest posts that a search reads, before it asks the index."""
FEW = 500
"""How many posts with a text are few enough to be looked up one by one."""
_HAS_INDEX = sa.text("SELECT to_regclass('ix_requests_search')")
"""PostgreSQL's index of parts of words is only there with the extension ``pg_trgm`` (docs/operations.md)."""


def finds(text: str) -> sa.ColumnElement[bool]:
    """A condition: a post (``Request`` joined with its ``Action``) matches ``text``.

    Matches part of the post's text, of the author's id, or of the platform's ids of the submission or the message,
    ignoring case; or one of our UUIDs in full. ``%`` and ``_`` are not wildcards.
    """
    identity = parse_id(text)
    by_id = [] if identity is None else [Action.id == identity, Request.id == identity]
    return sa.or_(has(text), *by_id)


def has(text: str, post: Any = Request) -> sa.ColumnElement[bool]:
    """A condition: the post's text, its author's id, or an id of the platform's contains ``text``, ignoring case."""
    columns = (post.content, post.platform_author_id, post.request_id, post.platform_message_id)
    return sa.or_(*(column.icontains(text, autoescape=True) for column in columns))


def few(session: Session, community_id: uuid.UUID, text: str) -> Sequence[uuid.UUID] | None:
    """All posts of the community with ``text``, or None if they are more than ``FEW`` or no index of texts can tell."""
    posts = sa.select(Request.id).where(has(text))
    if session.get_bind().dialect.name == "sqlite":
        indexed = text_index.posts(session, text)
        if indexed is None:
            return None
        posts = posts.where(unindexed(Request.community_id) == community_id, Request.id.in_(indexed))
    elif len(text) < text_index.LEAST_CHARACTERS or session.scalar(_HAS_INDEX) is None:
        return None
    else:
        posts = posts.where(Request.community_id == community_id)
    found = session.scalars(posts.limit(FEW + 1)).all()
    return found if len(found) <= FEW else None


def newest(
    session: Session, community_id: uuid.UUID, text: str, until: datetime | None, most: int
) -> Sequence[uuid.UUID]:
    """The newest posts with ``text``, at most ``most``, submitted before ``until``.

    The newest ``WALKED`` posts are read. Where too few of them match, the index of search finds older ones, as far
    back as their share lets expect enough: a common text is found without reading the posts of years.
    """
    order = (Request.requested_at.desc(), Request.id.desc())
    posts = sa.select(Request.id).where(Request.community_id == community_id)
    if until is not None:
        posts = posts.where(Request.requested_at < until)
    read = aliased(
        Request, posts.with_only_columns(Request).order_by(*order).limit(WALKED).subquery("walked")
    )
    walked = sa.select(read.id).where(has(text, read)).order_by(read.requested_at.desc(), read.id.desc())
    found = list(session.scalars(walked.limit(most)))
    end = _nth(session, posts, order, WALKED)
    if len(found) >= most or end is None:
        return found
    expected = WALKED * most * 5 // (len(found) * 4) if found else None
    begin = _nth(session, posts, order, expected) if expected is not None else None
    older = posts.where(Request.requested_at <= end, Request.id.not_in(found), has(text))
    indexed = text_index.posts(session, text)
    if indexed is not None:
        older = older.where(Request.id.in_(indexed))
    if begin is not None:
        older = older.where(Request.requested_at >= begin)
    return [*found, *session.scalars(older.order_by(*order).limit(most - len(found)))]


def _nth(
    session: Session, posts: sa.Select[Any], order: Sequence[sa.ColumnElement[Any]], number: int
) -> datetime | None:
    """When the post at this place, from 0, was submitted; None if there are not so many. Reads the index alone."""
    return session.scalar(
        posts.with_only_columns(Request.requested_at).order_by(*order).offset(number).limit(1)
    )


def exact(session: Session | sa.Connection, community_id: uuid.UUID, text: str) -> Sequence[uuid.UUID]:
    """The actions of the post that has ``text`` as one of its ids: ours, the integration's, or the platform's.

    Somebody who copied an id looks for this post, and the indexes of ids find it among millions.
    """
    identity = parse_id(text)
    ids = sa.union_all(
        *(
            sa.select(Request.id.label("id")).where(
                unindexed(Request.community_id) == community_id, condition
            )
            for condition in (
                Request.request_id == text,
                Request.platform_message_id == text,
                *(
                    ()
                    if identity is None
                    else (
                        Request.id == identity,
                        Request.id
                        == sa.select(Action.request_id).where(Action.id == identity).scalar_subquery(),
                    )
                ),
            )
        )
    ).subquery()
    return session.scalars(sa.select(Action.id).where(Action.request_id.in_(sa.select(ids.c.id)))).all()


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
