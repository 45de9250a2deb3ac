"""Lists of notes by filter, for the API (docs/integrate/api.md)."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.ids import parse_id
from app.core.listed import is_one_of
from app.core.models import Note, Rating, Request
from app.core.models.notes import about_withdrawn
from app.core.paging import Page, Slice, paginate
from app.core.panels import seats
from app.core.people import profiles
from app.core.permissions import Actor
from app.core.vocabulary import Classification, NoteKind, NoteStatus


def matching(
    session: Session,
    actor: Actor,
    *,
    status: NoteStatus | None = None,
    status_not: NoteStatus | None = None,
    classification: Classification | None = None,
    kind: NoteKind | None = None,
    community_id: uuid.UUID | None = None,
    author: str | None = None,
    request: str | None = None,
    platform_message_id: str | None = None,
    created_from: datetime | None = None,
    created_to: datetime | None = None,
    updated_from: datetime | None = None,
    rater: str | None = None,
    drawn_rater: str | None = None,
    raters_not_in: Sequence[str] | None = None,
    platform: str | None = None,
) -> sa.Select[Any]:
    """The notes that match, in the actor's communities.

    ``author`` and raters are profile UUIDs or user ids of ``platform`` (default: that of each note's community);
    ``request`` is our UUID or the integration's string.
    ``drawn_rater`` is a platform user with an open seat in a drawn panel.
    Authors and seats, which are few, are looked up first: else a page that finds little would read every note for it.
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
    if kind is not None:
        is_rationale = kind is NoteKind.RATIONALE
        statement = statement.where(Note.rationale if is_rationale else sa.not_(Note.rationale))
    if status_not is not None:
        statement = statement.where(Note.status != status_not)
    if created_from is not None:
        statement = statement.where(Note.created_at >= created_from)
    if created_to is not None:
        statement = statement.where(Note.created_at <= created_to)
    if updated_from is not None:
        statement = statement.where(Note.updated_at >= updated_from)
    if request is not None:
        statement = statement.where(Note.request_id.in_(_request_ids(request)))
    if author is not None:
        statement = statement.where(
            is_one_of(session, Note.author_id, session.scalars(profiles.named(actor, [author])).all()),
            profiles.is_meant(actor, [author], platform, Note.author_id, Note.community_id),
        )
    if rater is not None:
        statement = statement.where(_rated_by(actor, [rater], platform))
    if drawn_rater is not None:
        drawn = session.scalars(seats.notes_of(actor, drawn_rater, platform)).all()
        statement = statement.where(is_one_of(session, Note.id, drawn))
    if raters_not_in is not None:
        statement = statement.where(~_rated_by(actor, raters_not_in, platform))
    return statement


def listed(
    session: Session, statement: sa.Select[Any], part: Slice, *, by_change: bool = False
) -> Page[Note]:
    """A page of the notes that ``matching`` selects, newest first.

    ``by_change``: those that changed first come first.
    """
    return paginate(
        session,
        statement,
        Note.updated_at if by_change else Note.created_at,
        Note.id,
        part,
        descending=not by_change,
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
