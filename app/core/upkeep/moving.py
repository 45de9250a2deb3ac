"""Moves what a platform profile wrote and rated to the profile of the same person (decision 0015).

A link moves it to the account's own profile (``linking``). Ids that calls sent without a platform named a profile of
platform ``discord`` before 0.1.0, whatever the community's platform; what those profiles did is moved, community by
community, when the person next writes or rates there (``take_over_former``).
"""

import uuid
from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from app.core import bulk
from app.core.db import serialise
from app.core.helpfulness import refits
from app.core.models import Community, Note, Profile, Rating, Report, Request
from app.core.notes import rater_days, ratings, verdicts
from app.core.panels import seats
from app.core.people import profiles
from app.core.permissions import Actor
from app.core.vocabulary import ReportState


def ensure(session: Session, actor: Actor, identity: profiles.Identity, community: Community) -> Profile:
    """The profile of an identity in a community, created when unknown, with all that it did there before."""
    profile = profiles.ensure(session, *identity)
    take_over_former(session, actor, profile, community)
    return profile


def take_over_former(session: Session, actor: Actor, profile: Profile, community: Community) -> None:
    """Give a profile of the community's platform what a bare id of the same user did in this community before.

    Changes nothing for other profiles, nor for a former profile that is linked to an account: it is a person of
    Discord. Call it in a writing session, before anything else locks the community.
    """
    if profile.platform != community.platform or community.platform == profiles.FORMER_PLATFORM:
        return
    if profile.provider_scope != profiles.scope_in(profile.platform, community):
        return  # named by its UUID here: a person of another forum, and not whom the bare id meant
    former = session.scalars(
        sa.select(Profile).where(
            Profile.platform == profiles.FORMER_PLATFORM,
            Profile.provider_scope == "",
            Profile.platform_user_id == profile.platform_user_id,
            Profile.account_id.is_(None),
        )
    ).first()
    if former is None or not _is_active(session, former, profile, community):
        return
    serialise(session, former.id)
    person = profiles.hold_canonical(session, profile)
    if _is_active(session, former, person, community):
        _take_over(session, actor, former, person, community.id)
        session.expire_all()


def _is_active(session: Session, former: Profile, profile: Profile, community: Community) -> bool:
    """Whether the former profile has ratings here, or notes that can be moved."""
    rated = sa.exists().where(Rating.rater_id == former.id, Rating.community_id == community.id)
    wrote = sa.exists().where(
        Note.author_id == former.id, Note.community_id == community.id, _can_move(profile.id)
    )
    return bool(session.scalar(sa.select(sa.or_(rated, wrote))))


def move(
    session: Session,
    actor: Actor,
    profile: Profile,
    person: Profile,
    doubtful: Collection[uuid.UUID],
    *,
    cause: str,
    community_id: uuid.UUID | None = None,
) -> None:
    """Move what the profile wrote, rated and reported to the person; in one community, or in all. Settle the notes."""
    _move_notes(session, profile, person, community_id)
    seats.move(session, profile.id, person.id, community_id)
    _move_reports(session, profile, person, community_id)
    merged = _merge_ratings(session, actor, profile, person, cause, community_id)
    for note_id in sorted({*merged, *doubtful}):
        note = session.get_one(Note, note_id)
        if note.deleted_at is None:
            verdicts.recount(session, note, cause=cause)


def _take_over(
    session: Session, actor: Actor, source: Profile, profile: Profile, community_id: uuid.UUID
) -> None:
    """Move what ``source`` wrote and rated in one community to ``profile``, which is the same person.

    Where both had rated one note, the newer rating stays. The caller has locked both profiles.
    """
    doubtful = doubtful_notes(session, source, profile, community_id)
    serialise(session, community_id)
    profile.created_at = min(profile.created_at, source.created_at)
    session.flush()
    cause = f"profile {source.id} was the same person"
    move(session, actor, source, profile, doubtful, cause=cause, community_id=community_id)
    refits.ask(session, community_id)


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


def _move_notes(session: Session, profile: Profile, person: Profile, community_id: uuid.UUID | None) -> None:
    """Move the profile's notes to the person, except where the person already has a note on the same request."""
    bulk.change(
        session,
        sa.update(Note)
        .where(Note.author_id == profile.id, _can_move(person.id), *_only_in(Note.community_id, community_id))
        .values(author_id=person.id, updated_at=Note.updated_at),
    )


def _move_reports(
    session: Session, profile: Profile, person: Profile, community_id: uuid.UUID | None
) -> None:
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
        .where(Report.reporter_id == profile.id, may_move, *_only_in(Report.community_id, community_id))
        .values(reporter_id=person.id, updated_at=Report.updated_at),
    )


def _only_in(
    column: sa.orm.InstrumentedAttribute[uuid.UUID], community_id: uuid.UUID | None
) -> list[sa.ColumnElement[bool]]:
    return [column == community_id] if community_id is not None else []


def _merge_ratings(
    session: Session,
    actor: Actor,
    profile: Profile,
    person: Profile,
    cause: str,
    community_id: uuid.UUID | None,
) -> set[uuid.UUID]:
    """Move the profile's ratings to the person, one per note. Return the ids of notes that lost a rating."""
    pair = (profile.id, person.id)
    here = _only_in(Rating.community_id, community_id)
    twice = sa.select(Rating.note_id).where(Rating.rater_id.in_(pair), *here).group_by(Rating.note_id)
    doubled = session.scalars(
        sa.select(Rating)
        .where(Rating.note_id.in_(twice.having(sa.func.count() > 1)), Rating.rater_id.in_(pair))
        .order_by(Rating.note_id, Rating.updated_at.desc(), Rating.id.desc())
    ).all()
    older = doubled[1::2]
    on_own_notes = session.scalars(
        sa.select(Rating)
        .join(Note, Note.id == Rating.note_id)
        .where(Rating.rater_id.in_(pair), Note.author_id.in_(pair), *here)
    ).all()
    removed = {rating.id: rating for rating in (*older, *on_own_notes)}
    notes = {rating.note_id for rating in removed.values()}
    for rating in sorted(removed.values(), key=lambda rating: rating.id):
        ratings.remove(session, actor, rating, cause=f"{cause}: one person, one rating")
    moved = sa.select(Rating.note_id).where(Rating.rater_id == profile.id, *here)
    bulk.change(
        session,
        sa.update(Note)
        .where(Note.id.in_(moved))
        .values(rating_changes=Note.rating_changes + 1, updated_at=Note.updated_at),
    )
    rater_days.move(session, profile.id, person.id, community_id)
    bulk.change(
        session,
        sa.update(Rating)
        .where(Rating.rater_id == profile.id, *here)
        .values(rater_id=person.id, updated_at=Rating.updated_at),
    )
    return notes


def doubtful_notes(
    session: Session, profile: Profile, person: Profile, community_id: uuid.UUID | None = None
) -> dict[uuid.UUID, uuid.UUID]:
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
            *_only_in(Rating.community_id, community_id),
            sa.or_(
                Rating.exclusion_reason.is_not(None),
                Request.requested_by == profile.platform_user_id,
                Request.platform_author_id == profile.platform_user_id,
            ),
        )
    )
    return {note_id: community_id for note_id, community_id in rows}
