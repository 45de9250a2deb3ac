"""One panel's turn: who of the people drawn next can be asked about the post now, and telling integrations.

docs/moderate/panels.md describes the draw.
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.helpfulness import eligibility
from app.core.helpfulness.eligibility import Person
from app.core.models import (
    Account,
    Action,
    Community,
    Membership,
    Note,
    Panel,
    PanelSeat,
    Profile,
    Rating,
    Request,
)
from app.core.panels import draw, panels, seats
from app.core.panels.draw import Order, Side
from app.core.people import profiles
from app.core.vocabulary import EventName, SeatState
from app.core.webhooks import events


@dataclass
class Work:
    """One panel's turn: ``states`` are the people that the draw came to so far, ``left`` those that come next.

    ``sides`` are those of the people that it came to.
    """

    panel: Panel
    action: Action
    request: Request
    left: dict[Side, list[uuid.UUID]] = field(default_factory=dict)
    sides: dict[uuid.UUID, Side] = field(default_factory=dict)
    is_all: bool = True
    states: dict[uuid.UUID, SeatState] = field(default_factory=dict)
    expires: list[datetime] = field(default_factory=list)
    drawn: list[uuid.UUID] = field(default_factory=list)
    is_waiting: bool = False
    """Whether all who are left had too many open seats, and may have fewer later."""
    numbers: int = 0
    """How many people the draw came to, whether or not they could be asked."""

    @property
    def held(self) -> Counter[SeatState]:
        return Counter(self.states.values())

    @property
    def asked(self) -> int:
        return len(self.states) - self.held[SeatState.PASSED]

    @property
    def missing(self) -> int:
        """How many people to draw now."""
        held = self.held
        seated = held[SeatState.OPEN] + held[SeatState.ANSWERED]
        return max(0, min(self.panel.wanted - seated, panels.MOST_SEATS - self.asked))

    def order_by(self, found: Order) -> None:
        """Take the people that the draw has not come to yet from this order."""
        self.left = {
            side: [person for person in people if person not in self.states]
            for side, people in found.sides.items()
        }
        self.sides = {person: side for person, side in found.people.items() if person in self.states}
        self.is_all = found.is_all

    def next_people(self) -> list[uuid.UUID]:
        """Take as many people as are missing from the order, as if all of them could be asked."""
        seated = Counter(
            self.sides.get(person, Side.UNKNOWN)
            for person, state in self.states.items()
            if state in (SeatState.OPEN, SeatState.ANSWERED)
        )
        taken: list[uuid.UUID] = []
        missing = self.missing
        while len(taken) < missing:
            side = draw.next_side(self.left, seated, self.panel.seed)
            if side is None:
                break
            person = self.left[side].pop(0)
            self.sides[person] = side
            taken.append(person)
            seated[side] += 1
        return taken


MOST_OPEN = 3
"""A person with this many open seats is not drawn for another."""


class SkipReason(StrEnum):
    """Why the draw went on to the next person; next to the reasons of ``eligibility.Exclusion``."""

    RATED = "rated_already"
    BUSY = "three_open_seats"
    GONE = "gone"
    AVOIDS = "avoids_category"


@dataclass(frozen=True)
class Eligibility:
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
    ) -> "Eligibility":
        candidates = {person for people in asked for person in people}
        own = session.scalars(sa.select(Profile).where(Profile.id.in_(candidates))).all()
        accounts = {profile.account_id for profile in own if profile.account_id is not None}
        linked: dict[uuid.UUID, list[Profile]] = defaultdict(list)
        for profile in session.scalars(sa.select(Profile).where(Profile.account_id.in_(accounts))):
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
            sa.select(Rating.note_id, Rating.rater_id)
            .join(Note, sa.and_(Note.id == Rating.note_id, Note.version == Rating.note_version))
            .where(Rating.note_id.in_(note_ids), Rating.rater_id.in_(candidates))
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
            return SkipReason.GONE
        if any(action.category in self.avoided.get(account_id, ()) for account_id in _accounts(person)):
            return SkipReason.AVOIDS
        is_grave = action.action_type in eligibility.GRAVE
        excluded = eligibility.of_post(person, request, is_grave=is_grave)
        if excluded is not None:
            return excluded
        if any((note_id, profile_id) in self.rated for profile_id in person.ids):
            return SkipReason.RATED
        return SkipReason.BUSY if self.open_seats.get(person_id, 0) + drawn_now >= MOST_OPEN else None

    def _is_here(self, person: Person) -> bool:
        """Whether they can still be reached: a member of the dashboard, or a user of a platform."""
        return any(
            profile.account_id in self.here if profile.platform == profiles.WEB else True
            for profile in person.profiles
        )


def _accounts(person: Person) -> set[uuid.UUID]:
    return {profile.account_id for profile in person.profiles if profile.account_id is not None}


def announce(session: Session, community_id: uuid.UUID, drawing: Sequence[Work]) -> None:
    """Tell integrations that subscribed which of their users were drawn."""
    drawn = [(work, person) for work in drawing for person in work.drawn]
    if not drawn or not events.is_subscribed(session, community_id, EventName.PANEL_DRAWN):
        return
    community = session.get_one(Community, community_id)
    names = _platform_names(session, community, {person for _, person in drawn})
    with events.gathered(session):
        for work in drawing:
            raters = sorted(names[person] for person in work.drawn if person in names)
            if raters:
                expires_at = clock.now() + timedelta(hours=work.panel.hours)
                events.emit_panel(session, work.panel, work.action, raters, expires_at)


def _platform_names(
    session: Session, community: Community, people: set[uuid.UUID]
) -> Mapping[uuid.UUID, str]:
    """The people's user ids on the community's platform; people without one are left out."""
    linked = sa.orm.aliased(Profile)
    scope = profiles.scope_in(community.platform, community)
    is_theirs = sa.or_(linked.id == Profile.id, linked.account_id == Profile.account_id)
    rows = session.execute(
        sa.select(Profile.id, linked.platform_user_id)
        .join(linked, is_theirs)
        .where(
            Profile.id.in_(people),
            linked.platform == community.platform,
            linked.provider_scope.in_((scope, "")),
        )
        .order_by(linked.created_at.desc())
    )
    return {profile_id: name for profile_id, name in rows}
