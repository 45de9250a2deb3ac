"""Where history, posts, notes and ratings name a person, and how the names are removed (decision 0021)."""

import uuid
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.history import chain as history
from app.core.history import facts
from app.core.models import (
    Account,
    Action,
    HistoryEntry,
    HistoryText,
    Note,
    NoteSkip,
    Profile,
    Rating,
    Request,
    SampleAnswer,
    Skip,
)
from app.core.panels import seats

NAMELESS = "Erased"
"""Replaces a name where the column may not be empty."""


def forget(
    session: Session, person_profiles: Sequence[Profile], account: Account | None, *, note_texts: bool
) -> dict[str, int]:
    """Remove names and texts from the profiles and from history. Return the number of rows by kind."""
    profile_ids = [profile.id for profile in person_profiles]
    theirs: sa.ColumnElement[bool] = HistoryEntry.profile_id.in_(profile_ids)
    if account is not None:
        # Also what others wrote when they gave this person a role or took it away.
        about = sa.and_(HistoryEntry.object_type == "account", HistoryEntry.object_id == account.id)
        theirs = sa.or_(theirs, HistoryEntry.account_id == account.id, about)
    gone = {"texts in history": _erase_texts(session, theirs)}
    gone["names"] = sum(
        profile.display_name is not None or bool(profile.extra) for profile in person_profiles
    )
    for profile in person_profiles:
        profile.display_name, profile.extra = None, {}
    # What they passed by has no effect on any score.
    gone["skips"] = sum(
        changed_rows(session, sa.delete(model).where(model.profile_id.in_(profile_ids)))
        for model in (Skip, NoteSkip)
    )
    gone["skips"] += changed_rows(
        session,
        sa.delete(SampleAnswer).where(SampleAnswer.profile_id.in_(profile_ids), SampleAnswer.level.is_(None)),
    )
    # Nobody is left to ask; who comes next is drawn as soon as the job looks.
    gone["open seats"] = sum(seats.give_up(session, profile_id) for profile_id in profile_ids)
    # The platform's user id is also stored with their ratings and notes.
    for model, column, ref in ((Rating, Rating.rater_id, "rater_ref"), (Note, Note.author_id, "author_ref")):
        for profile_id in profile_ids:
            session.execute(
                sa.update(model)
                .where(column == profile_id)
                .values({ref: str(profile_id), "updated_at": model.updated_at})
                .execution_options(synchronize_session=False)
            )
    if note_texts:
        gone["texts of notes"] = changed_rows(
            session,
            sa.update(Note)
            .where(Note.author_id.in_(profile_ids), Note.summary != NAMELESS)
            .values(summary=NAMELESS, sources=[], updated_at=Note.updated_at),
        )
    return gone


def mentioning(in_communities: sa.Select[Any], user_id: str) -> sa.ColumnElement[bool]:
    """The condition for posts that name this user of the platform."""
    return sa.and_(
        Request.community_id.in_(in_communities),
        sa.or_(Request.platform_author_id == user_id, Request.requested_by == user_id),
    )


def with_attachments(session: Session, in_communities: sa.Select[Any], user_id: str) -> list[uuid.UUID]:
    """The posts that this person wrote with attachments."""
    return list(
        session.scalars(
            sa.select(Request.id).where(
                Request.community_id.in_(in_communities),
                Request.platform_author_id == user_id,
                Request.has_attachments,
            )
        )
    )


def rename_on_posts(session: Session, in_communities: sa.Select[Any], user_id: str, pseudonym: str) -> int:
    """Write the pseudonym wherever a post names the user. Return the number of places."""
    rows = 0
    theirs = sa.select(Request.id).where(
        Request.community_id.in_(in_communities), Request.platform_author_id == user_id
    )
    changed_rows(
        session,
        sa.update(Action)
        .where(Action.request_id.in_(theirs), Action.platform_author_id == user_id)
        .values(platform_author_id=pseudonym, updated_at=Action.updated_at),
    )
    for column in (Request.platform_author_id, Request.requested_by):
        rows += changed_rows(
            session,
            sa.update(Request)
            .where(Request.community_id.in_(in_communities), column == user_id)
            .values({column.key: pseudonym, "updated_at": Request.updated_at}),
        )
    facts.rename_author(session, in_communities, user_id, pseudonym)
    return rows


def _erase_texts(session: Session, theirs: sa.ColumnElement[bool]) -> int:
    return changed_rows(
        session,
        sa.update(HistoryText)
        .where(
            HistoryText.entry_id.in_(
                sa.select(HistoryEntry.id).where(theirs, HistoryEntry.what.not_in(history.ERASURE_ENTRIES))
            ),
            HistoryText.erased_at.is_(None),
        )
        .values(actor_name="", reason="", comment="", salt="", erased_at=clock.now()),
    )


def changed_rows(session: Session, statement: sa.Update | sa.Delete) -> int:
    """Run the statement and return how many rows it changed. Objects that the session has loaded stay as they are."""
    result = session.execute(statement.execution_options(synchronize_session=False))
    return int(result.rowcount)  # type: ignore[attr-defined]  # an UPDATE's result is a CursorResult
