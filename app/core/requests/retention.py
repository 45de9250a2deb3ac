"""Removes content when its post is withdrawn, and some days after the decision, if the community has set that
(``content_retention_days``).

What stays: the decision, its scores, the ids of matched rules, and the content's hash, so that exemptions from
scanning and repeated submissions are still recognised. What is removed: the text, its author's id, the platform's
metadata, the attachments, the texts of reports, and the positions of the matches.
"""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock
from app.core.attachments import files
from app.core.communities import settings as community_settings
from app.core.db import serialise
from app.core.history import chain as history
from app.core.history import facts
from app.core.learning import versions
from app.core.models import Action, AiDraft, Community, Decision, Note, NoteDraft, Report, Request, Score
from app.core.permissions import SYSTEM
from app.core.requests import kept_facts
from app.core.texts import lazy_gettext
from app.core.vocabulary import ActionState, RequestStatus

BATCH = 200
"""Requests per transaction, so that other writers need not wait long."""

WITHDRAWN = lazy_gettext("The submission was withdrawn")
"""In place of the content of a withdrawn post."""

_UNSETTLED = (ActionState.PROPOSED, ActionState.UNDER_REVIEW, ActionState.RETRO_REVIEW)
_WITHDRAWN_FULL = (Request.withdrawn_at.is_not(None), Request.content_removed_at.is_(None))
_KEPT_OF_A_MATCH = frozenset({"rule", "category", "weight"})


def retention_days(session: Session) -> dict[uuid.UUID, int]:
    """The communities that remove content, with the number of days until they do."""
    rows = session.scalars(sa.select(Community).order_by(Community.id))
    defaults = community_settings.defaults(session)
    days = {
        community.id: community_settings.for_community(community, defaults).content_retention_days
        for community in rows
    }
    return {community_id: number for community_id, number in days.items() if number is not None}


def remove(session: Session, community_id: uuid.UUID, days: int, *, is_first: bool) -> int:
    """Remove the content of the next batch. Return how many requests, 0 when none is left.

    With ``is_first``, the first batch of a run, an entry is written to history. Content that is undecided, under
    review, or waiting for the platform is never removed.
    """
    limit = clock.now() - timedelta(days=days)
    serialise(session, community_id)
    due = session.scalars(_due(community_id, limit)).all()
    if not due:
        return 0
    if is_first:
        after = {"days": days, "decided_before": clock.iso(limit)}
        history.record(
            session, SYSTEM, community_id, "content.removed", "community", community_id, after=after
        )
    empty(session, due, f"Removed after {days} {'day' if days == 1 else 'days'}")
    versions.content_erased(session, community_id, [request.id for request in due])
    return len(due)


def with_withdrawn(session: Session) -> Sequence[uuid.UUID]:
    """The communities with withdrawn posts that have their content: withdrawing did not always remove it."""
    return session.scalars(sa.select(Request.community_id).where(*_WITHDRAWN_FULL).distinct()).all()


def remove_withdrawn(session: Session, community_id: uuid.UUID) -> int:
    """Remove the content of the next posts that were withdrawn. Return how many, 0 when none is left."""
    serialise(session, community_id)
    withdrawn = session.scalars(
        sa.select(Request)
        .where(Request.community_id == community_id, *_WITHDRAWN_FULL)
        .order_by(Request.id)
        .limit(BATCH)
    ).all()
    if withdrawn:
        empty(session, withdrawn, WITHDRAWN)
        versions.content_erased(session, community_id, [request.id for request in withdrawn])
    return len(withdrawn)


def empty(session: Session, posts: Sequence[Request], words: str) -> None:
    """Remove the content of posts of one community, and all that repeats it. The caller holds the community's lock.

    ``words`` are stored in place of the content, so that every page that shows the content shows them. What was learned
    from it is up to the caller.
    """
    now = clock.now()
    kept_facts.remove(session, posts)
    for request in posts:
        request.content = words
        request.content_removed_at = now
        request.platform_author_id = None
        request.extra = None
    identities = [request.id for request in posts]
    facts.forget_authors(session, identities)
    bulk.change(
        session,
        sa.update(Report)
        .where(Report.request_id.in_(identities), Report.text.is_not(None))
        .values(text=None, updated_at=Report.updated_at),
    )
    for score in session.scalars(sa.select(Score).where(Score.request_id.in_(identities))):
        score.matches = [_bare(match) for match in score.matches]
    for action in session.scalars(sa.select(Action).where(Action.request_id.in_(identities))):
        action.platform_author_id = None
        details = (action.evidence or {}).get("details")
        if isinstance(details, Mapping) and details.get("matches"):
            bare = {**details, "matches": [_bare(match) for match in details["matches"]]}
            action.evidence = {**(action.evidence or {}), "details": bare}
    # A language model's answer may quote the content.
    bulk.change(
        session,
        sa.update(AiDraft)
        .where(AiDraft.note_id.in_(sa.select(Note.id).where(Note.request_id.in_(identities))))
        .values(reply=None),
    )
    bulk.change(session, sa.delete(NoteDraft).where(NoteDraft.request_id.in_(identities)))
    session.flush()
    files.remove(session, [request.id for request in posts if request.has_attachments])


def _due(community_id: uuid.UUID, limit: datetime) -> sa.Select[Any]:
    own = sa.or_(Action.request_id == Request.id, Action.request_id == Request.edit_of)
    unsettled = sa.exists().where(own, Action.action_state.in_(_UNSETTLED))
    settled_at = sa.func.coalesce(Decision.decided_at, Request.scored_at, Request.requested_at)
    return (
        sa.select(Request)
        .outerjoin(Decision, Decision.request_id == Request.id)
        .where(
            Request.community_id == community_id,
            Request.content_removed_at.is_(None),
            Request.requested_at < limit,
            sa.or_(Request.status == RequestStatus.COMPLETED, Request.withdrawn_at.is_not(None)),
            settled_at < limit,
            ~unsettled,
        )
        .order_by(Request.requested_at)
        .limit(BATCH)
    )


def _bare(match: Any) -> dict[str, Any]:
    return (
        {name: match[name] for name in _KEPT_OF_A_MATCH if name in match} if isinstance(match, dict) else {}
    )
