"""Lists of notes by filter, for the API (docs/integrate/api.md)."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.history import tallies
from app.core.ids import parse_id
from app.core.models import Note, Rating, Request
from app.core.models.content import about_withdrawn
from app.core.models.insights import TallyKind
from app.core.paging import Matching, Page, Slice, paginate
from app.core.panels import seats
from app.core.people import profiles
from app.core.permissions import Actor
from app.core.vocabulary import Classification, NoteStatus


def matching(
    actor: Actor,
    *,
    status: NoteStatus | None = None,
    status_not: NoteStatus | None = None,
    classification: Classification | None = None,
    community_id: uuid.UUID | None = None,
    author: str | None = None,
    request: str | None = None,
    platform_message_id: str | None = None,
    created_from: datetime | None = None,
    created_to: datetime | None = None,
    rater: str | None = None,
    drawn_rater: str | None = None,
    raters_not_in: Sequence[str] | None = None,
    platform: str | None = None,
) -> Matching:
    """The notes that match, in the actor's communities.

    ``author`` and raters are profile UUIDs or user ids of ``platform`` (default: that of each note's community);
    ``request`` is our UUID or the integration's string.
    ``drawn_rater`` is a platform user with an open seat in a drawn panel.
    Only ratings of the note's current text count: a member who rated an earlier text has not rated it.
    """
    statement = sa.select(Note).where(Note.deleted_at.is_(None), sa.not_(about_withdrawn()))
    visible = actor.seen_of((community_id,))
    if visible is not None:
        statement = statement.where(Note.community_id.in_(visible))
    for column, value in (
        (Note.status, status),
        (Note.classification, classification),
        (Note.platform_message_id, platform_message_id),
    ):
        if value is not None:
            statement = statement.where(column == value)
    if status_not is not None:
        statement = statement.where(Note.status != status_not)
    if created_from is not None:
        statement = statement.where(Note.created_at >= created_from)
    if created_to is not None:
        statement = statement.where(Note.created_at <= created_to)
    if request is not None:
        statement = statement.where(Note.request_id.in_(_request_ids(request)))
    if author is not None:
        statement = statement.where(
            Note.author_id.in_(profiles.named(actor, [author])),
            profiles.is_meant(actor, [author], platform, Note.author_id, Note.community_id),
        )
    if rater is not None:
        statement = statement.where(_rated_by(actor, [rater], platform))
    if drawn_rater is not None:
        statement = statement.where(Note.id.in_(seats.notes_of(actor, drawn_rater, platform)))
    if raters_not_in is not None:
        statement = statement.where(~_rated_by(actor, raters_not_in, platform))
    others = (
        classification,
        author,
        request,
        platform_message_id,
        created_from,
        created_to,
        rater,
        drawn_rater,
        raters_not_in,
    )
    if any(other is not None for other in others):
        return Matching(statement)
    statuses = [one for one in NoteStatus if status in (None, one) and one is not status_not]
    # All notes are a tally, and the few on posts that were withdrawn are found by an index of these.
    left_out = (
        sa.select(sa.func.count())
        .select_from(Note)
        .join(Request, Request.id == Note.request_id)
        .where(
            Request.withdrawn_at.is_not(None),
            Note.rationale.is_(False),
            Note.deleted_at.is_(None),
            Note.status.in_(statuses),
        )
    )
    if visible is not None:
        left_out = left_out.where(Request.community_id.in_(visible))
    total = tallies.total(TallyKind.NOTE, visible, statuses)
    return Matching(statement, sa.select(total.scalar_subquery() - left_out.scalar_subquery()))


def listed(session: Session, matching_notes: Matching, part: Slice) -> Page[Note]:
    """A page of the notes that ``matching`` selects, newest first."""
    statement = matching_notes.statement
    return paginate(
        session,
        statement,
        Note.created_at,
        Note.id,
        part,
        counted=matching_notes.counted,
        narrow=statement.with_only_columns(Note.id),
    )


def _request_ids(reference: str) -> sa.Select[Any]:
    by_string = sa.and_(Request.request_id == reference, Request.withdrawn_at.is_(None))
    return sa.select(Request.id).where(sa.or_(by_string, Request.id == parse_id(reference)))


def _rated_by(actor: Actor, references: Sequence[str], platform: str | None) -> sa.Exists:
    return sa.exists().where(
        Rating.note_id == Note.id,
        Rating.note_version == Note.version,
        Rating.rater_id.in_(profiles.named(actor, references)),
        profiles.is_meant(actor, references, platform, Rating.rater_id, Rating.community_id),
    )
