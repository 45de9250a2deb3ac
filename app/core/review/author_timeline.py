"""The timeline of an author in one community: posts with what followed, strikes, notes, and reports by them."""

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import strikes
from app.core.models import Action, AuthorNote, Report, Request, Strike
from app.core.permissions import Actor, Permission, require
from app.core.review.author_pages import by_author
from app.core.vocabulary import ReportState

PAGE = 25
"""How many entries of the timeline a page has."""
Cursor = tuple[datetime, uuid.UUID]
"""The time and the id of the last entry of a page."""


@dataclass(frozen=True)
class Entry:
    """One row of the timeline: a post with what followed, a strike by hand, a moderators' note, or a report by them.

    ``reports``: how many reports about the post there are, by category and state.
    """

    at: datetime
    id: uuid.UUID
    post: Request | None = None
    actions: Sequence[Action] = ()
    reports: Mapping[tuple[str, ReportState], int] = field(default_factory=dict)
    points: int = 0
    strike: Strike | None = None
    note: AuthorNote | None = None
    report: Report | None = None


def timeline(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    author: str,
    profile_ids: Collection[uuid.UUID],
    *,
    older_than: Cursor | None = None,
) -> tuple[Sequence[Entry], Cursor | None]:
    """A page of the author's timeline, newest first, and the cursor of the next one; seven queries."""
    require(actor, Permission.SEE_HISTORY, community_id, "author")
    posts = _newest(
        session, by_author(community_id, author).with_only_columns(Request), Request.requested_at, older_than
    )
    by_hand = sa.select(Strike).where(
        Strike.community_id == community_id, Strike.platform_author_id == author, Strike.action_id.is_(None)
    )
    notes = sa.select(AuthorNote).where(
        AuthorNote.community_id == community_id, AuthorNote.platform_author_id == author
    )
    reports = sa.select(Report).where(
        Report.community_id == community_id, Report.reporter_id.in_(profile_ids)
    )
    found = sorted(
        [
            *(Entry(post.requested_at, post.id, post=post) for post in posts),
            *(
                Entry(strike.created_at, strike.id, strike=strike, points=strike.points)
                for strike in _newest(session, by_hand, Strike.created_at, older_than)
            ),
            *(
                Entry(note.created_at, note.id, note=note)
                for note in _newest(session, notes, AuthorNote.created_at, older_than)
            ),
            *(
                Entry(report.reported_at, report.id, report=report)
                for report in _newest(session, reports, Report.reported_at, older_than)
            ),
        ],
        key=lambda entry: (entry.at, entry.id),
        reverse=True,
    )
    entries = list(_with_what_followed(session, found[:PAGE]))
    return entries, (entries[-1].at, entries[-1].id) if len(found) > PAGE else None


def _newest(session: Session, statement: sa.Select[Any], at: Any, older_than: Cursor | None) -> Sequence[Any]:
    row_id = at.class_.id
    if older_than is not None:
        moment, last = sa.literal(older_than[0], at.type), sa.literal(older_than[1], row_id.type)
        statement = statement.where(at <= moment, sa.or_(at < moment, row_id < last))
    return session.scalars(statement.order_by(at.desc(), row_id.desc()).limit(PAGE + 1)).all()


def _with_what_followed(session: Session, entries: Sequence[Entry]) -> Iterator[Entry]:
    """Add actions, reports and points to the posts among the entries; three queries for all."""
    ids = [entry.id for entry in entries if entry.post is not None]
    actions: dict[uuid.UUID, list[Action]] = {}
    reports: dict[uuid.UUID, dict[tuple[str, ReportState], int]] = {}
    points: dict[uuid.UUID, int] = {}
    if ids:
        for action in session.scalars(
            sa.select(Action).where(Action.request_id.in_(ids)).order_by(Action.created_at, Action.id)
        ):
            actions.setdefault(action.request_id, []).append(action)
        for request_id, category, state, count in session.execute(
            sa.select(Report.request_id, Report.category, Report.state, sa.func.count())
            .where(Report.request_id.in_(ids))
            .group_by(Report.request_id, Report.category, Report.state)
            .order_by(Report.category, Report.state)
        ):
            reports.setdefault(request_id, {})[category, state] = count
        given = sa.select(Action.request_id, sa.func.sum(Strike.points)).join(
            Action, Action.id == Strike.action_id
        )
        for request_id, total in session.execute(
            given.where(Action.request_id.in_(ids), strikes.counting(clock.now())).group_by(Action.request_id)
        ):
            points[request_id] = int(total)
    for entry in entries:
        if entry.post is None:
            yield entry
            continue
        yield replace(
            entry,
            actions=actions.get(entry.id, ()),
            reports=reports.get(entry.id, {}),
            points=points.get(entry.id, 0),
        )
