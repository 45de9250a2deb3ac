"""Whose ratings count (docs/develop/consensus.md). The others are stored too, and "why this status" explains them.

Profiles that are linked to one account are one person (docs/integrate/api.md): each rule applies to all of them.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.communities import settings as community_settings
from app.core.models import Action, Community, Note, Profile, Request, SampledPost
from app.core.people import profiles
from app.core.texts import lazy_gettext
from app.core.vocabulary import ActionType

GRAVE = frozenset({ActionType.DELETE, ActionType.SILENCE})
"""Actions that cannot be undone: only raters known before the submission count."""


class Exclusion(StrEnum):
    """Why a rating does not count; stored with it (``ratings.exclusion_reason``)."""

    AUTHOR = "note_author"
    SUBMITTER = "submitter"
    CONTENT_AUTHOR = "content_author"
    NEWCOMER = "newcomer"
    TRUST = "below_trust_level"
    AGE = "below_age"


SENTENCES: Mapping[Exclusion, str] = {
    Exclusion.AUTHOR: lazy_gettext("The rater wrote this note."),
    Exclusion.SUBMITTER: lazy_gettext("The rater submitted the post."),
    Exclusion.CONTENT_AUTHOR: lazy_gettext("The rater wrote the post."),
    Exclusion.NEWCOMER: lazy_gettext(
        "The rater was first seen after the submission, and this action cannot be taken back."
    ),
    Exclusion.TRUST: lazy_gettext("The rater's trust level is below what this community asks for."),
    Exclusion.AGE: lazy_gettext("The rater was first seen more recently than this community asks for."),
}
TO_THE_RATER: Mapping[Exclusion, str] = {
    Exclusion.AUTHOR: lazy_gettext("you wrote this note"),
    Exclusion.SUBMITTER: lazy_gettext("you submitted the post"),
    Exclusion.CONTENT_AUTHOR: lazy_gettext("you wrote the post"),
    Exclusion.NEWCOMER: lazy_gettext("you came after the submission, and this cannot be taken back"),
    Exclusion.TRUST: lazy_gettext("this community asks for a higher trust level"),
    Exclusion.AGE: lazy_gettext("this community asks raters to have been here for longer"),
}
"""Why the rater's own rating does not count, shown after "Not counted:"."""


@dataclass(frozen=True)
class Person:
    """A rater with all profiles that are linked to the same account."""

    profiles: Sequence[Profile]

    @property
    def ids(self) -> frozenset[uuid.UUID]:
        return frozenset(profile.id for profile in self.profiles)

    @property
    def first_seen(self) -> datetime:
        """When the earliest of the profiles was created."""
        earliest: datetime = min(profile.created_at for profile in self.profiles)
        return earliest

    def trust_on(self, *platforms: str) -> int | None:
        """The highest trust level of the person on these platforms; None if there is none."""
        levels = [profile.trust_level for profile in self.profiles if profile.platform in platforms]
        return max((level for level in levels if level is not None), default=None)

    def is_called(self, reference: str | None) -> bool:
        """Whether a platform's user id names this person.

        On any platform: a submission does not say of which platform its ids are.
        """
        return any(
            profile.platform != profiles.WEB and profile.platform_user_id == reference
            for profile in self.profiles
        )


def exclusion_reason(
    session: Session, note: Note, rater: Profile, action: Action | None, *, at: datetime | None = None
) -> Exclusion | None:
    """Why this rater's rating of the note does not count; None when it does.

    ``action`` is the one whose rationale the note is, ``at`` the time of the rating (default: now). Called when a
    rating is given or changed. The reason is stored with it, so that later settings do not change earlier reviews.
    """
    person = person_of(session, rater)
    if note.author_id in person.ids:
        return Exclusion.AUTHOR
    request = session.get(Request, note.request_id) if note.request_id else None
    community = session.get_one(Community, note.community_id)
    return excluded(session, community, rater, person, request, action, at=at) or submitted_too(
        session, person, request
    )


def submitted_too(session: Session, person: Person, request: Request | None) -> Exclusion | None:
    """Whether this person submitted the same post after the first one; no statement where nobody did."""
    if request is None or not request.is_followed:
        return None
    names = [row.platform_user_id for row in person.profiles if row.platform != profiles.WEB]
    theirs = sa.select(Request.id).where(Request.duplicate_of == request.id, Request.requested_by.in_(names))
    return Exclusion.SUBMITTER if session.scalar(theirs.limit(1)) is not None else None


def sample_exclusion_reason(session: Session, sample: SampledPost, rater: Profile) -> Exclusion | None:
    """Why this rater's answer about a sample does not count; None when it does. Nothing happens to the post."""
    request = session.get(Request, sample.request_id)
    community = session.get_one(Community, sample.community_id)
    return excluded(session, community, rater, person_of(session, rater), request)


def excluded(
    session: Session,
    community: Community,
    rater: Profile,
    person: Person,
    request: Request | None,
    action: Action | None = None,
    *,
    at: datetime | None = None,
) -> Exclusion | None:
    """As ``exclusion_reason``, for callers that have loaded all that it depends on. It sends no statement."""
    if request is not None:
        is_grave = action is not None and action.action_type in GRAVE
        reason = of_post(person, request, is_grave=is_grave)
        if reason is not None:
            return reason
    settings = community_settings.for_community(community, community_settings.defaults(session))
    if settings.min_trust_level is not None:
        # Only this community's platform and the rater's own count: a trust level elsewhere says nothing here.
        trust = person.trust_on(community.platform, rater.platform)
        if trust is None or trust < settings.min_trust_level:
            return Exclusion.TRUST
    if settings.min_age_days is not None:
        age = (at or clock.now()) - person.first_seen
        if age < timedelta(days=settings.min_age_days):
            return Exclusion.AGE
    return None


def of_post(person: Person, request: Request, *, is_grave: bool) -> Exclusion | None:
    """Why this person's ratings about one post do not count, whatever the community demands of raters."""
    if person.is_called(request.requested_by):
        return Exclusion.SUBMITTER
    if person.is_called(request.platform_author_id):
        return Exclusion.CONTENT_AUTHOR
    if is_grave and person.first_seen > request.created_at:
        return Exclusion.NEWCOMER
    return None


def person_of(session: Session, rater: Profile) -> Person:
    """The person of a profile; needs no query when the profile is not linked to an account."""
    if rater.account_id is None:
        return Person((rater,))
    return Person(session.scalars(sa.select(Profile).where(Profile.account_id == rater.account_id)).all())
