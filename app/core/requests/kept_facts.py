"""Facts and marks as they are stored, and their end (docs/moderate/waves.md)."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock
from app.core.classify import COMMUNITY_RULES, likeness
from app.core.classify.facts import FACTS
from app.core.models import Action, PostFacts, PostMark, Request, Score
from app.core.requests.marked_posts import marked
from app.core.requests.post_facts import ReadFacts

KEPT = timedelta(days=2)
"""Posts may wait before they are scored, and count the posts of the day before they came."""
PRUNED = 5_000
_MARKS = PostMark.metadata.tables[PostMark.__tablename__]
_FACTS = PostFacts.metadata.tables[PostFacts.__tablename__]


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
        for mark in marked(one).marks()
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
