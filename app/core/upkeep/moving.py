"""Moves what a profile wrote and rated to the account's own profile when the two are linked (decision 0015)."""

import uuid
from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from app.core import bulk
from app.core.models import Note, Profile, Rating, Report, Request
from app.core.notes import rater_days, ratings, verdicts
from app.core.panels import seats
from app.core.permissions import Actor
from app.core.vocabulary import ReportState


def move(
    session: Session,
    actor: Actor,
    profile: Profile,
    person: Profile,
    doubtful: Collection[uuid.UUID],
    *,
    cause: str,
) -> None:
    """Move what the profile wrote, rated and reported to the person, and settle the notes."""
    _move_notes(session, profile, person)
    seats.move(session, profile.id, person.id)
    _move_reports(session, profile, person)
    merged = _merge_ratings(session, actor, profile, person, cause)
    for note_id in sorted({*merged, *doubtful}):
        note = session.get_one(Note, note_id)
        if note.deleted_at is None:
            verdicts.recount(session, note, cause=cause)


def _can_move(person_id: uuid.UUID) -> sa.ColumnElement[bool]:
    """SQL condition: the person has no note yet on the request of this note.

    Notes that cannot move keep their authors; ``profiles.are_one`` still treats linked profiles as one person.
    """
    other = aliased(Note)
    has_one = sa.exists().where(
        other.author_id == person_id,
        other.request_id == Note.request_id,
        other.deleted_at.is_(None),
        other.ai_generated.is_(False),
    )
    return sa.or_(Note.deleted_at.is_not(None), ~has_one)


def _move_notes(session: Session, profile: Profile, person: Profile) -> None:
    """Move the profile's notes to the person, except where the person already has a note on the same request."""
    bulk.change(
        session,
        sa.update(Note)
        .where(Note.author_id == profile.id, _can_move(person.id))
        .values(author_id=person.id, updated_at=Note.updated_at),
    )


def _move_reports(session: Session, profile: Profile, person: Profile) -> None:
    """Move the profile's reports to the person, except of posts that the person reported too."""
    other = aliased(Report)
    has_one = sa.exists().where(
        other.reporter_id == person.id,
        other.request_id == Report.request_id,
        other.state != ReportState.WITHDRAWN,
    )
    may_move = sa.or_(Report.state == ReportState.WITHDRAWN, ~has_one)
    bulk.change(
        session,
        sa.update(Report)
        .where(Report.reporter_id == profile.id, may_move)
        .values(reporter_id=person.id, updated_at=Report.updated_at),
    )


def _merge_ratings(
    session: Session,
    actor: Actor,
    profile: Profile,
    person: Profile,
    cause: str,
) -> set[uuid.UUID]:
    """Move the profile's ratings to the person, one per note. Return the ids of notes that lost a rating."""
    pair = (profile.id, person.id)
    twice = sa.select(Rating.note_id).where(Rating.rater_id.in_(pair)).group_by(Rating.note_id)
    doubled = session.scalars(
        sa.select(Rating)
        .where(Rating.note_id.in_(twice.having(sa.func.count() > 1)), Rating.rater_id.in_(pair))
        .order_by(Rating.note_id, Rating.updated_at.desc(), Rating.id.desc())
    ).all()
    older = doubled[1::2]
    on_own_notes = session.scalars(
        sa.select(Rating)
        .join(Note, Note.id == Rating.note_id)
        .where(Rating.rater_id.in_(pair), Note.author_id.in_(pair))
    ).all()
    removed = {rating.id: rating for rating in (*older, *on_own_notes)}
    notes = {rating.note_id for rating in removed.values()}
    for rating in sorted(removed.values(), key=lambda rating: rating.id):
        ratings.remove(session, actor, rating, cause=f"{cause}: one person, one rating")
    moved = sa.select(Rating.note_id).where(Rating.rater_id == profile.id)
    bulk.change(
        session,
        sa.update(Note)
        .where(Note.id.in_(moved))
        .values(rating_changes=Note.rating_changes + 1, updated_at=Note.updated_at),
    )
    rater_days.move(session, profile.id, person.id)
    bulk.change(
        session,
        sa.update(Rating)
        .where(Rating.rater_id == profile.id)
        .values(rater_id=person.id, updated_at=Rating.updated_at),
    )
    return notes


def doubtful_notes(session: Session, profile: Profile, person: Profile) -> dict[uuid.UUID, uuid.UUID]:
    """Notes with a rating that may start or stop to count after linking, with their communities.

    Those are ratings of what the profile submitted or wrote, and ratings that did not count so far: the other
    profile may be older, or have a higher trust level (docs/develop/consensus.md).
    """
    rows = session.execute(
        sa.select(Rating.note_id, Rating.community_id)
        .join(Note, Note.id == Rating.note_id)
        .outerjoin(Request, Request.id == Note.request_id)
        .where(
            Rating.rater_id.in_((profile.id, person.id)),
            sa.or_(
                Rating.exclusion_reason.is_not(None),
                Request.requested_by == profile.platform_user_id,
                Request.platform_author_id == profile.platform_user_id,
            ),
        )
    )
    return {note_id: community_id for note_id, community_id in rows}
