"""Links platform profiles to the account that shows a code: one person is one rater (docs/integrate/api.md).

What a linked person rates and writes, on any platform, is stored under the account's own profile
(``profiles.hold_canonical``). Earlier ratings and notes of the platform profile move there; where both had rated
one note, the newer rating stays. Unlinking moves nothing back, because that person gave them.
"""

import uuid
from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from app.core import clock, limits
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, NotFound
from app.core.helpfulness import refits
from app.core.history import chain as history
from app.core.history.why import Why
from app.core.models import (
    Account,
    Community,
    HistoryEntry,
    Membership,
    Note,
    Profile,
    Rating,
    Request,
)
from app.core.notes import rater_days, ratings, verdicts
from app.core.panels import seats
from app.core.people import link_codes, profiles
from app.core.permissions import Actor

NOT_THE_KEYS = "This profile is active in communities that this API key may not act in"
NOT_YOURS = "This profile is active in communities that you do not administer"
OTHER_PLATFORM = "None of the communities that you act for is of this profile's platform"


def linked_to(session: Session, account_id: uuid.UUID) -> Sequence[Profile]:
    """The platform profiles of an account, oldest first."""
    return session.scalars(
        sa.select(Profile)
        .where(Profile.account_id == account_id, Profile.platform != profiles.WEB)
        .order_by(Profile.created_at, Profile.id)
    ).all()


def link(session: Session, actor: Actor, profile: Profile, code: str) -> Profile:
    """Link a platform profile to the account that shows ``code``. Repeating it changes nothing.

    Raises:
        Invalid: the code is wrong, used by another profile, or expired; the same error for all.
        Conflict: the profile is linked to another account, or the account has the most profiles allowed.
        Forbidden: the profile does not belong to a platform, or is active in a community that is not the actor's.
    """
    if profile.platform in {profiles.WEB, profiles.SERVICE_PLATFORM}:
        raise Forbidden(f"Profiles of platform {profile.platform} cannot be linked")
    # The lock of ``profiles.hold_canonical``: nobody can rate with this profile while its ratings move.
    serialise(session, profile.id)
    session.refresh(profile)
    row = link_codes.live(session, profile, code)
    account = session.get_one(Account, row.account_id)
    if profile.account_id is not None and profile.account_id != account.id:
        raise Conflict("This profile is linked to another account; it can be unlinked there", profile.id)
    is_new = profile.account_id is None
    row.used_at, row.profile_id = row.used_at or clock.now(), profile.id
    session.flush()
    return join(session, actor, profile, account) if is_new else profile


def join(session: Session, actor: Actor, profile: Profile, account: Account, *, reason: str = "") -> Profile:
    """Link a profile to the account and move its notes and ratings. The caller has locked and read the profile.

    Raises:
        Conflict, Forbidden: as ``link``.
    """
    rated_in = communities_of(session, profile)
    _check_platform(session, actor, profile)
    _check_reach(session, actor, account, rated_in)
    person = profiles.of_account(session, account)
    doubtful = _doubtful(session, profile, person)
    member_of = _memberships(session, account)
    community_ids = sorted(
        {community_id for community_id in member_of if actor.sees(community_id)} | rated_in
    )
    for community_id in sorted({*community_ids, *doubtful.values()}):
        serialise(session, community_id)
    profile.account_id = account.id
    session.flush()
    for community_id in community_ids:
        history.record(
            session,
            actor,
            community_id,
            "profile.linked",
            "profile",
            profile.id,
            after={"account_profile_id": str(person.id)},
            why=Why(reason),
        )
    _move(session, actor, profile, person, doubtful, cause=f"linked profile {profile.id}")
    for community_id in sorted(rated_in):
        refits.ask(session, community_id)
    return profile


def take_over(
    session: Session, actor: Actor, source: Profile, profile: Profile, community_id: uuid.UUID
) -> None:
    """Move what ``source`` wrote and rated in one community to ``profile``, which is the same person.

    Where both had rated one note, the newer rating stays. The caller has locked both profiles.
    """
    doubtful = _doubtful(session, source, profile, community_id)
    serialise(session, community_id)
    profile.created_at = min(profile.created_at, source.created_at)
    session.flush()
    cause = f"profile {source.id} was the same person"
    _move(session, actor, source, profile, doubtful, cause=cause, community_id=community_id)
    refits.ask(session, community_id)


def _move(
    session: Session,
    actor: Actor,
    profile: Profile,
    person: Profile,
    doubtful: Collection[uuid.UUID],
    *,
    cause: str,
    community_id: uuid.UUID | None = None,
) -> None:
    """Move the profile's notes, seats and ratings to the person; of one community, or of all. Settle their notes."""
    _move_notes(session, profile, person, community_id)
    seats.move(session, profile.id, person.id, community_id)
    merged = _merge_ratings(session, actor, profile, person, cause, community_id)
    for note_id in sorted({*merged, *doubtful}):
        note = session.get_one(Note, note_id)
        if note.deleted_at is None:
            verdicts.recount(session, note, cause=cause)


def unlink(session: Session, actor: Actor, profile_id: uuid.UUID) -> Profile:
    """Unlink a profile from the actor's own account; from now on it is a separate rater.

    Raises:
        NotFound: it is not linked to the actor's account.
    """
    profile = session.get(Profile, profile_id)
    if profile is not None:
        serialise(session, profile.id)
        session.refresh(profile)
    if (
        profile is None
        or profile.platform == profiles.WEB
        or profile.account_id is None
        or profile.account_id != actor.account_id
    ):
        raise NotFound("linked profile")
    detach(session, actor, profile)
    return profile


def detach(session: Session, actor: Actor, profile: Profile, *, reason: str = "") -> None:
    """Unlink a profile; from now on it is a separate rater. The caller has locked and read it."""
    profile.account_id = None
    session.flush()
    for community_id in sorted(recorded_in(session, profile)):
        history.record(
            session, actor, community_id, "profile.unlinked", "profile", profile.id, why=Why(reason)
        )


def recorded_in(session: Session, profile: Profile) -> Sequence[uuid.UUID]:
    """The communities whose history records that this profile was linked."""
    return session.scalars(
        sa.select(HistoryEntry.community_id)
        .where(
            HistoryEntry.object_type == "profile",
            HistoryEntry.object_id == profile.id,
            HistoryEntry.what == "profile.linked",
        )
        .distinct()
    ).all()


def _check_platform(session: Session, actor: Actor, profile: Profile) -> None:
    """If a platform has communities here, only their keys and admins may link the platform's profiles.

    Otherwise anybody could open a community and link people who have not come here yet to their own account.
    """
    if actor.communities is None or profile.provider_scope:
        return
    on_platform = sa.select(Community.id).where(Community.platform == profile.platform).limit(1)
    on_platform_mine = on_platform.where(Community.id.in_(actor.communities))
    if session.scalar(on_platform_mine) is None and session.scalar(on_platform) is not None:
        raise Forbidden(OTHER_PLATFORM)


def _check_reach(session: Session, actor: Actor, account: Account, active_in: Collection[uuid.UUID]) -> None:
    """Refuse to move ratings of communities that are not the actor's, or to gather many profiles in one account."""
    if not all(actor.sees(community_id) for community_id in active_in):
        raise Forbidden(NOT_YOURS if actor.kind == "account" else NOT_THE_KEYS)
    if len(linked_to(session, account.id)) >= limits.LINKED_PROFILES.number:
        raise Conflict(
            f"This account has {limits.LINKED_PROFILES.number} linked profiles; more cannot be linked"
        )


def _memberships(session: Session, account: Account) -> Collection[uuid.UUID]:
    return session.scalars(
        sa.select(Membership.community_id).where(Membership.account_id == account.id)
    ).all()


def communities_of(session: Session, profile: Profile) -> set[uuid.UUID]:
    """The communities where this profile rated or wrote."""
    return set(session.scalars(profiles.active_in(profile)))


def can_move(person_id: uuid.UUID) -> sa.ColumnElement[bool]:
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
    session.execute(
        sa.update(Note)
        .where(Note.author_id == profile.id, can_move(person.id), *_only_in(Note.community_id, community_id))
        .values(author_id=person.id, updated_at=Note.updated_at)
        .execution_options(synchronize_session=False)
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
    session.execute(
        sa.update(Note)
        .where(Note.id.in_(moved))
        .values(rating_changes=Note.rating_changes + 1, updated_at=Note.updated_at)
        .execution_options(synchronize_session=False)
    )
    rater_days.move(session, profile.id, person.id, here)
    session.execute(
        sa.update(Rating)
        .where(Rating.rater_id == profile.id, *here)
        .values(rater_id=person.id, updated_at=Rating.updated_at)
        .execution_options(synchronize_session=False)
    )
    return notes


def _doubtful(
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
