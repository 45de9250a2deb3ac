"""Who of the people that the draw comes to can be asked about a post now (docs/moderate/panels.md)."""

import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.helpfulness import eligibility
from app.core.helpfulness.eligibility import Person
from app.core.models import Account, Action, Membership, PanelSeat, Profile, Rating, Request
from app.core.panels import seats
from app.core.people import profiles

MOST_OPEN = 3
"""A person with so many open seats is not drawn for another."""


class Passed(StrEnum):
    """Why the draw went on to the next person; next to the reasons of ``eligibility.Exclusion``."""

    RATED = "rated_already"
    BUSY = "three_open_seats"
    GONE = "gone"
    AVOIDS = "avoids_category"


@dataclass(frozen=True)
class Askable:
    """What decides whether people can be asked about posts now, read for all panels of a batch at once."""

    people: Mapping[uuid.UUID, Person]
    rated: frozenset[tuple[uuid.UUID, uuid.UUID]]
    open_seats: Mapping[uuid.UUID, int]
    here: frozenset[uuid.UUID]
    avoided: Mapping[uuid.UUID, Collection[str]]
    """The categories of posts that an account prefers not to be asked about."""

    @classmethod
    def read(
        cls,
        session: Session,
        community_id: uuid.UUID,
        note_ids: Collection[uuid.UUID],
        asked: Iterable[Sequence[uuid.UUID]],
    ) -> "Askable":
        candidates = {person for people in asked for person in people}
        own = _rows(session, Profile.id, candidates)
        accounts = {row.account_id for row in own if row.account_id is not None}
        known = {row.id: row for row in [*own, *_rows(session, Profile.account_id, accounts)]}
        linked: dict[uuid.UUID, list[Profile]] = defaultdict(list)
        for profile in known.values():
            if profile.account_id is not None:
                linked[profile.account_id].append(profile)
        # Two look-ups by key: joined, PostgreSQL may compare every member with every id.
        members = session.scalars(
            sa.select(Membership.account_id).where(
                Membership.account_id.in_(accounts), Membership.community_id == community_id
            )
        ).all()
        active = session.execute(
            sa.select(Account.id, Account.avoided_categories).where(
                Account.id.in_(accounts), Account.disabled_at.is_(None)
            )
        )
        avoided = {account_id: categories for account_id, categories in active}
        rated = session.execute(
            sa.select(Rating.note_id, Rating.rater_id).where(
                Rating.note_id.in_(note_ids), Rating.rater_id.in_(candidates)
            )
        )
        open_seats = session.execute(
            seats.open_of(candidates)
            .with_only_columns(PanelSeat.profile_id, sa.func.count())
            .group_by(PanelSeat.profile_id)
        )
        return cls(
            {
                profile.id: Person(linked[profile.account_id] if profile.account_id else [profile])
                for profile in own
            },
            frozenset((note_id, rater_id) for note_id, rater_id in rated),
            {profile_id: count for profile_id, count in open_seats},
            frozenset(members) & avoided.keys(),
            avoided,
        )

    def refusal(
        self, note_id: uuid.UUID, action: Action, request: Request, person_id: uuid.UUID, drawn_now: int
    ) -> str | None:
        """Why this person cannot have a seat of this review's panel; None when they can.

        ``drawn_now``: the seats that this batch has given them, which the database does not have yet.
        """
        person = self.people.get(person_id)
        if person is None or not self._is_here(person):
            return Passed.GONE
        if any(action.category in self.avoided.get(account_id, ()) for account_id in _accounts(person)):
            return Passed.AVOIDS
        is_grave = action.action_type in eligibility.GRAVE
        excluded = eligibility.of_post(person, request, is_grave=is_grave)
        if excluded is not None:
            return excluded
        if any((note_id, profile_id) in self.rated for profile_id in person.ids):
            return Passed.RATED
        return Passed.BUSY if self.open_seats.get(person_id, 0) + drawn_now >= MOST_OPEN else None

    def _is_here(self, person: Person) -> bool:
        """Whether they can still be reached: a member of the dashboard, or a user of a platform."""
        return any(
            profile.account_id in self.here if profile.platform == profiles.WEB else True
            for profile in person.profiles
        )


def _accounts(person: Person) -> set[uuid.UUID]:
    return {profile.account_id for profile in person.profiles if profile.account_id is not None}


def _rows(
    session: Session, column: sa.orm.InstrumentedAttribute[Any], values: Collection[uuid.UUID]
) -> list[Profile]:
    """The profiles with one of these values, as rows: objects would take most of the time of a draw.

    They have what a ``Person`` reads.
    """
    rows = session.execute(
        sa.select(
            Profile.id,
            Profile.account_id,
            Profile.platform,
            Profile.platform_user_id,
            Profile.trust_level,
            Profile.created_at,
        ).where(column.in_(values))
    ).all()
    return cast(list[Profile], rows)
