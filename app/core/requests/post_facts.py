"""The facts of posts that rules may ask: counted before a post is scored, stored with it (docs/moderate/waves.md).

Nothing keeps a count. A post leaves marks (``PostMark``): of its author, of each site that it links to, and of its
text. Counting reads at most the newest thousand rows of a mark. However many posts are scored together, reading takes
three statements and storing two.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import compress

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.author_facts import author_facts
from app.core.classify import likeness
from app.core.classify.facts import Facts
from app.core.limits import FACT_ALIKE, FACT_COUNTED, FACT_HOURS
from app.core.models import PostFacts, Request
from app.core.requests import mark_counts
from app.core.requests.mark_counts import Candidates, Counts
from app.core.requests.marked_posts import COLUMNS, DAY, HOUR, MarkedPost, marked


@dataclass(frozen=True)
class ReadFacts:
    """The facts of a post, and what is stored beside them."""

    post: MarkedPost
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
    counted, candidates = mark_counts.count(session, posts)
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
    near = _near(session, posts, mark_counts.count(session, posts)[1])
    return {
        post.request_id: [other.post_id for other in _those_alike(post, near.get(post.request_id, ()))]
        for post in posts
    }


def _posts(session: Session, request_ids: Sequence[uuid.UUID]) -> list[MarkedPost]:
    """The posts in the order of their ids. Tests of an operator have no facts and count nowhere."""
    rows = session.execute(
        sa.select(*COLUMNS).where(Request.id.in_(request_ids), ~Request.is_test).order_by(Request.id)
    )
    return [marked(row) for row in rows]


def _given(post: MarkedPost) -> dict[str, int]:
    """What the integration says about the author."""
    known = author_facts(post.metadata)
    facts: dict[str, int | None] = {"posts_count": known.posts_count, "trust_level": known.trust_level}
    if known.account_created_at is not None:
        age = max(timedelta(0), post.at - known.account_created_at)
        facts["account_age_hours"] = min(age // HOUR, FACT_HOURS)
    return {name: value for name, value in facts.items() if value is not None}


def _behaviour(post: MarkedPost, counted: Counts, earlier: Sequence[MarkedPost]) -> dict[str, int]:
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
    session: Session, posts: Sequence[MarkedPost], candidates: Candidates
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
    post: MarkedPost, near: Mapping[uuid.UUID, Sequence[_Near]], earlier: Sequence[MarkedPost]
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


def _those_alike(post: MarkedPost, others: Sequence[_Near]) -> list[_Near]:
    return list(
        compress(others, likeness.are_alike(post.likeness.signature, [other.signature for other in others]))
    )
