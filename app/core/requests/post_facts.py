"""The facts of posts that rules may ask: counted before a post is scored, stored with it (docs/moderate/waves.md).

Nothing keeps a count. A post leaves marks (``PostMark``): of its author, of each site that it links to, and of its
text. Counting reads at most the newest thousand rows of a mark. However many posts are scored together, reading takes
three statements and storing two.
"""

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import compress
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock
from app.core.author_facts import author_facts
from app.core.classify import COMMUNITY_RULES, likeness
from app.core.classify.facts import FACTS, Facts
from app.core.classify.likeness import Likeness
from app.core.limits import FACT_ALIKE, FACT_COUNTED, FACT_HOURS
from app.core.models import Action, PostFacts, PostMark, Request, Score
from app.core.thresholds.post_scores import ids_of, joined_ids
from app.core.types import UtcDateTime

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
KEPT = timedelta(days=2)
"""Posts may wait before they are scored, and count the posts of the day before they came."""
CANDIDATES = 100
"""Newest posts with a mark of a text that are compared with it."""
PRUNED = 5_000
_MARKS = PostMark.metadata.tables[PostMark.__tablename__]
_FACTS = PostFacts.metadata.tables[PostFacts.__tablename__]


@dataclass(frozen=True)
class _Post:
    """A post to read facts of. ``post_id``: of an edit or a repeated submission the first post: they count as one."""

    request_id: uuid.UUID
    community_id: uuid.UUID
    post_id: uuid.UUID
    at: datetime
    author: str | None
    metadata: Mapping[str, Any] | None
    sites: Sequence[str]
    likeness: Likeness

    @property
    def author_mark(self) -> int | None:
        return None if self.author is None else likeness.mark("author", self.author)

    @property
    def links_mark(self) -> int | None:
        return None if self.author is None else likeness.mark("links", self.author)

    @property
    def site_marks(self) -> list[int]:
        return [likeness.mark("site", site) for site in self.sites]

    @property
    def counted_marks(self) -> list[int]:
        """The marks that other posts are counted by."""
        return [mark for mark in (self.author_mark, self.links_mark) if mark is not None] + self.site_marks

    def marks(self) -> list[int]:
        """Every mark that the post leaves."""
        own = [self.author_mark, self.links_mark if self.sites else None]
        return [mark for mark in own if mark is not None] + self.site_marks + list(self.likeness.marks)


@dataclass(frozen=True)
class ReadFacts:
    """The facts of a post, and what is stored beside them."""

    post: _Post
    facts: Facts

    @property
    def request_id(self) -> uuid.UUID:
        return self.post.request_id

    @property
    def community_id(self) -> uuid.UUID:
        return self.post.community_id

    @property
    def signature(self) -> bytes | None:
        return self.post.likeness.signature


def read(session: Session, request_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, ReadFacts]:
    """The facts of posts of one community, by request. Those scored together count each other, in their order."""
    posts = _posts(session, request_ids)
    if not posts:
        return {}
    counted, candidates = _counts(session, posts)
    near = _near(session, posts, candidates)
    read_facts: dict[uuid.UUID, ReadFacts] = {}
    for number, post in enumerate(posts):
        earlier = posts[:number]
        facts = _given(post) | _behaviour(post, counted, earlier) | _of_likeness(post, near, earlier)
        read_facts[post.request_id] = ReadFacts(post, facts)
    return read_facts


def alike(session: Session, read_facts: Sequence[ReadFacts]) -> dict[uuid.UUID, list[uuid.UUID]]:
    """The stored posts alike of the day before each post, newest first, by request; two statements."""
    posts = [one.post for one in read_facts]
    if not posts:
        return {}
    near = _near(session, posts, _counts(session, posts)[1])
    return {
        post.request_id: [other.post_id for other in _those_alike(post, near.get(post.request_id, ()))]
        for post in posts
    }


def store(session: Session, read_facts: Iterable[ReadFacts]) -> None:
    """Write the facts of posts and the marks that later posts are counted by; two statements."""
    stored = list(read_facts)
    rows = [
        {
            "request_id": one.post.request_id,
            "community_id": one.post.community_id,
            "signature": one.post.likeness.signature,
            **{name: one.facts.get(name) for name in FACTS},
        }
        for one in stored
    ]
    marks = [
        {
            "community_id": one.post.community_id,
            "mark": mark,
            "post_id": one.post.post_id,
            "at": one.post.at,
        }
        for one in stored
        for mark in one.post.marks()
    ]
    bulk.insert(session.connection(), _FACTS, rows, skip_known=True)
    bulk.insert(session.connection(), _MARKS, marks, skip_known=True)


def remove(session: Session, requests: Sequence[Request]) -> None:
    """Remove the facts of posts of a community, and what later ones are counted by. Call it while they have content."""
    if not requests:
        return
    bulk.change(session, sa.delete(PostFacts).where(PostFacts.request_id.in_([one.id for one in requests])))
    marks = {
        mark
        for one in requests
        if one.requested_at >= clock.now() - KEPT and one.content_removed_at is None
        for mark in _post_of(one).marks()
    }
    if marks:
        bulk.change(
            session,
            sa.delete(PostMark).where(
                PostMark.community_id == requests[0].community_id,
                PostMark.mark.in_(marks),
                PostMark.post_id.in_([one.id for one in requests]),
            ),
        )


def forget_author(session: Session, in_communities: sa.Select[Any], user_id: str) -> int:
    """Remove the facts of a person's posts, also where a rule's match repeats them. Return of how many posts."""
    theirs = sa.select(Request.id).where(
        Request.community_id.in_(in_communities), Request.platform_author_id == user_id
    )
    marks = [likeness.mark(kind, user_id) for kind in ("author", "links")]
    bulk.change(
        session,
        sa.delete(PostMark).where(PostMark.community_id.in_(in_communities), PostMark.mark.in_(marks)),
    )
    matched = sa.select(Score).where(
        Score.request_id.in_(theirs), Score.classifier.startswith(COMMUNITY_RULES), Score.score > 0
    )
    for score in session.scalars(matched):
        score.matches = [_without_facts(match) for match in score.matches]
    for action in session.scalars(sa.select(Action).where(Action.request_id.in_(theirs))):
        details = (action.evidence or {}).get("details") or {}
        if any("facts" in match for match in details.get("matches", ())):
            bare = {**details, "matches": [_without_facts(match) for match in details["matches"]]}
            action.evidence = {**(action.evidence or {}), "details": bare}
    session.flush()
    return bulk.change(session, sa.delete(PostFacts).where(PostFacts.request_id.in_(theirs)))


def _without_facts(match: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in match.items() if name != "facts"}


def prune_marks(session: Session) -> int:
    """Remove marks that no later post is counted by. Return how many, at most ``PRUNED``."""
    due = sa.select(PostMark.community_id, PostMark.mark, PostMark.post_id).where(
        PostMark.at < clock.now() - KEPT
    )
    key = sa.tuple_(PostMark.community_id, PostMark.mark, PostMark.post_id)
    return bulk.change(session, sa.delete(PostMark).where(key.in_(due.limit(PRUNED))))


def _posts(session: Session, request_ids: Sequence[uuid.UUID]) -> list[_Post]:
    """The posts in the order of their ids. Tests of an operator have no facts and count nowhere."""
    rows = session.execute(
        sa.select(
            Request.id,
            Request.community_id,
            sa.func.coalesce(Request.edit_of, Request.duplicate_of, Request.id),
            Request.requested_at,
            Request.platform_author_id,
            Request.extra,
            Request.content,
        )
        .where(Request.id.in_(request_ids), ~Request.is_test)
        .order_by(Request.id)
    )
    return [_post(*row) for row in rows]


def _post_of(request: Request) -> _Post:
    return _post(
        request.id,
        request.community_id,
        request.edit_of or request.duplicate_of or request.id,
        request.requested_at,
        request.platform_author_id,
        request.extra,
        request.content,
    )


def _post(
    request_id: uuid.UUID,
    community_id: uuid.UUID,
    post_id: uuid.UUID,
    at: datetime,
    author: str | None,
    metadata: Mapping[str, Any] | None,
    content: str,
) -> _Post:
    sites, alike = likeness.sites_of(content), likeness.likeness_of(content)
    return _Post(request_id, community_id, post_id, at, author, metadata, sites, alike)


def _given(post: _Post) -> dict[str, int]:
    """What the integration says about the author."""
    known = author_facts(post.metadata)
    facts: dict[str, int | None] = {"posts_count": known.posts_count, "trust_level": known.trust_level}
    if known.account_created_at is not None:
        age = max(timedelta(0), post.at - known.account_created_at)
        facts["account_age_hours"] = min(age // HOUR, FACT_HOURS)
    return {name: value for name, value in facts.items() if value is not None}


_Counts = Mapping[tuple[uuid.UUID, int], tuple[int, int]]
"""By request and mark: how many other posts have the mark in the hour and the day before the post came."""
_Candidates = Mapping[uuid.UUID, set[uuid.UUID]]
"""By request: the newest stored posts that share a mark with its text."""


def _counts(session: Session, posts: Sequence[_Post]) -> tuple[_Counts, _Candidates]:
    """What stored posts have in common with these; one statement."""
    asked = [
        (number, mark, is_text)
        for number, post in enumerate(posts)
        for is_text, marks in ((False, post.counted_marks), (True, post.likeness.marks))
        for mark in marks
    ]
    if not asked:
        return {}, {}
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    wanted = [_row(number, mark, is_text, posts[number], is_sqlite) for number, mark, is_text in asked]
    rows = session.connection().execute(
        _statement(session.get_bind().dialect.name, joined_ids(session, sa.column("post_id"))),
        {"wanted": json.dumps(wanted), "community": posts[0].community_id},
    )
    counted: dict[tuple[uuid.UUID, int], tuple[int, int]] = {}
    candidates: dict[uuid.UUID, set[uuid.UUID]] = {}
    for number, mark, hour, day, ids in rows:
        if hour is not None:
            counted[posts[number].request_id, mark] = hour, day
        elif ids:
            near = candidates.setdefault(posts[number].request_id, set())
            near.update(uuid.UUID(bytes=raw.tobytes()) for raw in ids_of(ids))
    return counted, candidates


def _row(number: int, mark: int, is_text: bool, post: _Post, is_sqlite: bool) -> dict[str, Any]:
    """A mark to count, as JSON; ids and moments as the database stores them."""
    moments = {"at": post.at, "hour": post.at - HOUR, "day": post.at - DAY}
    form = "%Y-%m-%d %H:%M:%S.%f" if is_sqlite else "%Y-%m-%dT%H:%M:%S.%f+00:00"
    return {
        "number": number,
        "mark": mark,
        "is_text": is_text,
        "post_id": post.post_id.hex,
        **{name: moment.strftime(form) for name, moment in moments.items()},
    }


_WANTED_TYPES: Mapping[str, Any] = {
    "number": sa.Integer(),
    "mark": sa.BigInteger(),
    "is_text": sa.Boolean(),
    "post_id": sa.Uuid(),
    "at": UtcDateTime(),
    "hour": UtcDateTime(),
    "day": UtcDateTime(),
}
_WANTED_SQL = {
    "sqlite": "SELECT json_extract(value, '$.number') AS number, json_extract(value, '$.mark') AS mark, "
    "json_extract(value, '$.is_text') AS is_text, json_extract(value, '$.post_id') AS post_id, "
    "json_extract(value, '$.at') AS at, json_extract(value, '$.hour') AS hour, "
    "json_extract(value, '$.day') AS day FROM json_each(:wanted)",
    "postgresql": "SELECT * FROM json_to_recordset(CAST(:wanted AS json)) AS given (number int, mark bigint, "
    "is_text boolean, post_id uuid, at timestamptz, hour timestamptz, day timestamptz)",
}
_STATEMENTS: dict[str, Any] = {}


def _statement(dialect: str, joined: sa.ColumnElement[Any]) -> Any:
    """Counts of marks, and posts that share a mark of a text. Built once: that takes longer than running it."""
    if dialect in _STATEMENTS:
        return _STATEMENTS[dialect]
    wanted = sa.text(_WANTED_SQL[dialect]).columns(**_WANTED_TYPES).cte("wanted")

    def newest(column: Any, most: int) -> Any:
        stored = sa.select(column).where(
            PostMark.community_id == sa.bindparam("community", type_=sa.Uuid()),
            PostMark.mark == wanted.c.mark,
            PostMark.post_id != wanted.c.post_id,
        )
        return stored.correlate(wanted).order_by(PostMark.post_id.desc()).limit(most).subquery()

    def count(since: Any) -> Any:
        found = newest(PostMark.at, FACT_COUNTED)
        return (
            sa.select(sa.func.count())
            .select_from(found)
            .where(found.c.at > since, found.c.at <= wanted.c.at)
            .scalar_subquery()
        )

    alike = sa.select(joined).select_from(newest(PostMark.post_id, CANDIDATES)).scalar_subquery()
    _STATEMENTS[dialect] = sa.select(
        wanted.c.number,
        wanted.c.mark,
        sa.case((wanted.c.is_text, None), else_=count(wanted.c.hour)),
        sa.case((wanted.c.is_text, None), else_=count(wanted.c.day)),
        sa.case((wanted.c.is_text, alike)),
    )
    return _STATEMENTS[dialect]


def _behaviour(post: _Post, counted: _Counts, earlier: Sequence[_Post]) -> dict[str, int]:
    """What the author did in the last hour and day, and how often the sites were linked to; the post included."""
    facts: dict[str, int] = {}

    def add(name: str, mark: int | None, *, is_own: bool = True) -> None:
        hour, day = counted.get((post.request_id, mark), (0, 0)) if mark is not None else (0, 0)
        for other in earlier:
            if (
                mark in other.marks()
                and other.post_id != post.post_id
                and post.at - DAY < other.at <= post.at
            ):
                day += 1
                hour += other.at > post.at - HOUR
        for time, count in (("hour", hour), ("day", day)):
            key = f"{name}_{time}"
            facts[key] = min(max(count + is_own, facts.get(key, 0)), FACT_COUNTED)

    if post.author is not None:
        add("author_posts", post.author_mark)
        add("author_links", post.links_mark, is_own=bool(post.sites))
    for mark in post.site_marks:
        add("host_posts", mark)
    return facts


@dataclass(frozen=True)
class _Near:
    """A stored post that shares a mark with another one's text."""

    post_id: uuid.UUID
    at: datetime
    author: str | None
    signature: bytes | None


def _near(
    session: Session, posts: Sequence[_Post], candidates: _Candidates
) -> dict[uuid.UUID, Sequence[_Near]]:
    """The stored posts of the day before each post that may be like it, newest first, by request; one statement."""
    ids = set().union(*candidates.values())
    if not ids:
        return {}
    rows = session.execute(
        sa.select(PostFacts.request_id, Request.requested_at, Request.platform_author_id, PostFacts.signature)
        .join(Request, Request.id == PostFacts.request_id)
        .where(PostFacts.request_id.in_(ids))
    )
    known = {row[0]: _Near(*row) for row in rows}
    return {
        post.request_id: [
            near
            for one in sorted(candidates.get(post.request_id, ()), reverse=True)
            if (near := known.get(one)) is not None and post.at - DAY < near.at <= post.at
        ]
        for post in posts
    }


def _of_likeness(
    post: _Post, near: Mapping[uuid.UUID, Sequence[_Near]], earlier: Sequence[_Post]
) -> dict[str, int]:
    """How many posts alike there were in the last hour and day, and of how many authors; the post included."""
    if not post.likeness.marks:
        return {}
    marks = set(post.likeness.marks)
    others = [
        *near.get(post.request_id, ()),
        *(
            _Near(other.post_id, other.at, other.author, other.likeness.signature)
            for other in earlier
            if other.post_id != post.post_id
            and post.at - DAY < other.at <= post.at
            and not marks.isdisjoint(other.likeness.marks)
        ),
    ]
    alike = _those_alike(post, others)
    authors = {other.author for other in alike} | {post.author}
    counts = {
        "alike_hour": 1 + sum(other.at > post.at - HOUR for other in alike),
        "alike_day": 1 + len(alike),
        "alike_authors": len(authors - {None}),
    }
    return {name: min(count, FACT_ALIKE) for name, count in counts.items() if count}


def _those_alike(post: _Post, others: Sequence[_Near]) -> list[_Near]:
    return list(
        compress(others, likeness.are_alike(post.likeness.signature, [other.signature for other in others]))
    )
