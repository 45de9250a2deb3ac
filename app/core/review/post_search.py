"""Search for posts by text, author, or any id that a user may have copied.

PostgreSQL decides by itself when to use its index of parts of words (``pg_trgm``). SQLite's (FTS5 with trigrams, which
triggers keep) is asked first here, and only what is rare is looked up by it: a common text is found quickly without. It
ignores case in more scripts than SQLite's LIKE, so it only narrows down a search, and the search's own condition stays.
"""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from app.core.ids import parse_id
from app.core.listed import is_one_of
from app.core.models import Action, Request

LEAST_CHARACTERS = 3
"""Shorter texts have no trigram; they are looked for row by row."""
INDEXED_MOST = 1_000
MERGED_PAGES = 500
"""How many pages of the index one step of ``tidy_index`` writes, about."""
_EXISTS = sa.text("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = :name")
_WRITTEN = sa.text("SELECT total_changes()")

_MATCHING = {
    # The ids are given back as the tables store them.
    table: sa.text(
        f"SELECT id FROM search_{table}_rows WHERE number IN "  # noqa: S608 - our own words
        f"(SELECT rowid FROM search_{table} WHERE search_{table} MATCH :phrase LIMIT :most)"
    ).columns(id=sa.Uuid())
    for table in ("requests", "history_texts")
}


def indexed_posts(session: Session, text: str) -> Sequence[uuid.UUID] | None:
    """The posts of all communities that may have ``text``, or None: there are many, or no index can tell."""
    return _indexed(session, "requests", text)


def indexed_reasons(session: Session, text: str) -> Sequence[uuid.UUID] | None:
    """The history entries of all communities that may have ``text`` in their reason, or None as ``posts``."""
    return _indexed(session, "history_texts", text)


def _indexed(session: Session, table: str, text: str) -> Sequence[uuid.UUID] | None:
    if session.get_bind().dialect.name != "sqlite" or len(text) < LEAST_CHARACTERS or "\x00" in text:
        return None
    if not _has_index(session, table):
        return None
    phrase = '"' + text.replace('"', '""') + '"'
    found = session.scalars(_MATCHING[table], {"phrase": phrase, "most": INDEXED_MOST + 1}).all()
    return found if len(found) <= INDEXED_MOST else None


def _has_index(session: Session, table: str) -> bool:
    return session.scalar(_EXISTS, {"name": f"search_{table}"}) is not None


def tidy_index(session: Session, *, is_first: bool) -> bool:
    """Let the index drop a part of what it holds of removed texts; return whether there may be more of it.

    It marks what is removed, as fast as it adds, and drops it when it merges its parts: here, a step at a time, so
    that other writers need not wait. ``is_first``: the first step of a run, which chooses all parts.
    """
    if session.get_bind().dialect.name != "sqlite":
        return False
    before = session.scalar(_WRITTEN)
    for table in _MATCHING:
        if _has_index(session, table):
            pages = -MERGED_PAGES if is_first else MERGED_PAGES
            merge = sa.text(f"INSERT INTO search_{table} (search_{table}, rank) VALUES ('merge', :pages)")  # noqa: S608
            session.execute(merge, {"pages": pages})
    # A step that has nothing to do writes one row for each index.
    return (session.scalar(_WRITTEN) or 0) - (before or 0) > len(_MATCHING)


WALKED = 1_000
"""The newest posts that a search reads, before it asks the index."""
FEW = 500
"""How many posts with a text are few enough to be looked up one by one."""
RARE = 2_000
"""How many posts PostgreSQL's index of parts of words may lead to: each is read, whether it has the text or not."""
FURTHEST = 6_000
"""How many posts back a search for a common text goes."""
_POSTS = sa.text(
    "SELECT reltuples FROM pg_class WHERE oid = to_regclass('requests')"
    " AND to_regclass('ix_requests_search') IS NOT NULL"
)
"""About how many posts there are; nothing without the index, which needs ``pg_trgm`` (docs/run/operations.md)."""


@dataclass(frozen=True)
class _Walked:
    """What a search learned from the newest posts, at most ``WALKED``.

    ``found`` have the text, newest first. ``alike`` is how many have all its words, which is what an index of parts of
    words finds. ``end`` is when the oldest of them was submitted; None if there are no older ones.
    """

    found: Sequence[uuid.UUID]
    alike: int
    end: datetime | None


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
    """All posts of the community with ``text``, or None if they are more than ``FEW`` or no index can tell quickly."""
    posts = sa.select(Request.id).where(has(text))
    if session.get_bind().dialect.name == "sqlite":
        indexed = indexed_posts(session, text)
        if indexed is None:
            return None
        posts = posts.where(Request.community_id == community_id, Request.id.in_(indexed))
    else:
        walked = _walk(session, sa.select(Request.id).where(Request.community_id == community_id), text)
        if not _is_rare(session, text, walked):
            return None
        posts = posts.where(Request.community_id == community_id)
    # No LIMIT: for one, PostgreSQL would rather read the table until it has found enough.
    found = session.scalars(posts).all()
    return found if len(found) <= FEW else None


def filtered(session: Session, post_ids: Collection[uuid.UUID], text: str) -> Sequence[uuid.UUID]:
    """Those of these posts that have ``text``."""
    # A query of its own, by its OFFSET: PostgreSQL would rather go to the index of search, or to all posts.
    posts = sa.select(Request).where(is_one_of(session, Request.id, post_ids)).offset(0)
    read = aliased(Request, posts.subquery("listed"))
    return session.scalars(sa.select(read.id).where(has(text, read))).all()


def newest(
    session: Session, community_id: uuid.UUID, text: str, until: datetime | None, most: int
) -> tuple[Sequence[uuid.UUID], bool]:
    """The newest posts with ``text``, at most ``most``, submitted before ``until``; and whether there may be more.

    The newest ``WALKED`` posts are read. Where too few of them match, the index of search finds older ones with a rare
    text; for a common one as many posts are read as their share lets expect enough in, back to the ``FURTHEST``.
    """
    order = (Request.requested_at.desc(), Request.id.desc())
    posts = sa.select(Request.id).where(Request.community_id == community_id)
    if until is not None:
        posts = posts.where(Request.requested_at < until)
    walked = _walk(session, posts, text)
    found, begin = list(walked.found), None
    if len(found) <= most and walked.end is not None:
        indexed = indexed_posts(session, text)
        if indexed is not None or _is_rare(session, text, walked):
            older = sa.select(Request.id).where(
                Request.community_id == community_id,
                Request.requested_at <= walked.end,
                Request.id.not_in(found),
                has(text),
            )
            if indexed is not None:
                older = older.where(Request.id.in_(indexed))
            # No LIMIT: for one, PostgreSQL would rather read all posts in their order until it has found enough.
            found += session.scalars(older.order_by(*order))
        else:
            begin = _nth(session, posts, order, _reach(walked, most))
            older = posts.where(Request.requested_at <= walked.end)
            if begin is not None:
                older = older.where(Request.requested_at >= begin)
            # A query of its own, by its OFFSET: the index of search would lead to far more posts than these few.
            read = aliased(Request, older.with_only_columns(Request).offset(0).subquery("older"))
            matching = sa.select(read.id).where(read.id.not_in(found), has(text, read))
            by_time = matching.order_by(read.requested_at.desc(), read.id.desc())
            found += session.scalars(by_time.limit(most + 1 - len(found)))
    return found[:most], len(found) > most or begin is not None


def _walk(session: Session, posts: sa.Select[Any], text: str) -> _Walked:
    """Read the newest of ``posts``."""
    order = (Request.requested_at.desc(), Request.id.desc())
    read = aliased(
        Request, posts.with_only_columns(Request).order_by(*order).limit(WALKED).subquery("walked")
    )
    words = [word for word in text.split() if len(word) >= LEAST_CHARACTERS]
    is_alike = sa.and_(sa.true(), *(read.content.icontains(word, autoescape=True) for word in words))
    rows = session.execute(
        sa.select(read.id, read.requested_at, has(text, read), is_alike).order_by(
            read.requested_at.desc(), read.id.desc()
        )
    ).all()
    return _Walked(
        found=[post_id for post_id, _, has_text, _ in rows if has_text],
        alike=sum(has_text or alike for _, _, has_text, alike in rows),
        end=rows[-1].requested_at if len(rows) == WALKED else None,
    )


def _is_rare(session: Session, text: str, walked: _Walked) -> bool:
    """Whether PostgreSQL's index of search leads to few posts, as far as the newest ones tell."""
    if session.get_bind().dialect.name == "sqlite" or len(text) < LEAST_CHARACTERS:
        return False
    posts = session.scalar(_POSTS)
    return posts is not None and walked.alike * posts <= RARE * WALKED


def _reach(walked: _Walked, most: int) -> int:
    """How many posts back enough posts with the text are expected, if their share stays the same."""
    return min(FURTHEST, WALKED * most * 5 // (len(walked.found) * 4) if walked.found else FURTHEST)


def _nth(
    session: Session, posts: sa.Select[Any], order: Sequence[sa.ColumnElement[Any]], number: int
) -> datetime | None:
    """When the post at this place, from 0, was submitted; None if there are fewer. Reads the index alone."""
    return session.scalar(
        posts.with_only_columns(Request.requested_at).order_by(*order).offset(number).limit(1)
    )


def exact(session: Session, community_id: uuid.UUID, text: str) -> Sequence[uuid.UUID]:
    """The actions of the post that has ``text`` as one of its ids: ours, the integration's, or the platform's.

    A copied id means this post, and the indexes of ids find it among millions. Of a submission that has no item of its
    own, they are those of the item that it shares.
    """
    identity = parse_id(text)
    posts = sa.union_all(
        *(
            sa.select(
                Request.id.label("id"),
                Request.duplicate_of.label("first_id"),
                Request.note_id.label("note_id"),
            ).where(Request.community_id == community_id, condition)
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
    return session.scalars(
        sa.union(
            sa.select(Action.id).where(
                Action.request_id.in_(sa.select(sa.func.coalesce(posts.c.first_id, posts.c.id)))
            ),
            sa.select(Action.id).where(Action.note_id.in_(sa.select(posts.c.note_id))),
        )
    ).all()


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
