"""Communities in which panels can be drawn, for tests and benchmarks."""

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from app.core import clock
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
    SignIn,
)
from app.core.notes import notes, ratings
from app.core.outbound import AllowList
from app.core.people import profiles
from app.core.permissions import SYSTEM, Actor
from app.core.vocabulary import ActionState, Classification, HelpfulnessLevel, ReviewGroup, Role, SeatState
from app.core.webhooks import registrations
from app.jobs import communities
from app.wiring import Wiring
from tests import factories
from tests.cast import COMMUNITY, PLATFORM, Cast

LEVELS = {
    "H": HelpfulnessLevel.HELPFUL,
    "S": HelpfulnessLevel.SOMEWHAT_HELPFUL,
    "N": HelpfulnessLevel.NOT_HELPFUL,
}


def settle_in(wiring: Wiring, cast: Cast, count: int, *, size: int = 5_000) -> list[uuid.UUID]:
    """Add members who can be drawn: known for a month, practised, here yesterday. Return their profiles."""
    long_ago, lately = clock.now() - timedelta(days=30), clock.now() - timedelta(days=1)
    people = [(uuid.uuid4(), uuid.uuid4()) for _ in range(count)]
    stamps = {"created_at": long_ago, "updated_at": long_ago}
    for start in range(0, count, size):
        part = people[start : start + size]
        with wiring.database.writing() as session:
            session.execute(
                sa.insert(Account),
                [
                    {
                        "id": account,
                        "email": f"{account}@example.org",
                        "display_name": f"Member {account.hex[:6]}",
                        "password_hash": "!",
                        "confirmed_at": long_ago,
                        **stamps,
                    }
                    for account, _ in part
                ],
            )
            session.execute(
                sa.insert(Membership),
                [
                    {
                        "id": uuid.uuid4(),
                        "account_id": account,
                        "community_id": cast.community_id,
                        "role": Role.RATER,
                        "welcomed_at": long_ago,
                        "practice": dict.fromkeys(("attack", "quotation", "criticism", "note"), "yes"),
                        **stamps,
                    }
                    for account, _ in part
                ],
            )
            session.execute(
                sa.insert(Profile),
                [
                    {
                        "id": profile,
                        "platform": profiles.WEB,
                        "platform_user_id": str(account),
                        "account_id": account,
                        **stamps,
                    }
                    for account, profile in part
                ],
            )
            session.execute(
                sa.insert(SignIn),
                [
                    {
                        "id": uuid.uuid4(),
                        "account_id": account,
                        "token_hash": uuid.uuid4().hex,
                        "created_at": lately,
                        "last_seen_at": lately,
                    }
                    for account, _ in part
                ],
            )
    return [profile for _, profile in people]


def set_up(wiring: Wiring, cast: Cast, **settings: Any) -> None:
    """Set the community's settings."""
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = settings


def run_jobs(wiring: Wiring) -> None:
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double


def seated(wiring: Wiring, action_id: uuid.UUID, *states: SeatState, every: bool = False) -> list[uuid.UUID]:
    """Who has a seat in the newest panel of an action, in the order of the draw; by default an open one."""
    with wiring.database.reading() as session:
        newest = sa.select(Panel.id).where(Panel.action_id == action_id).order_by(Panel.opened_at.desc())
        statement = sa.select(PanelSeat.profile_id).where(
            PanelSeat.panel_id == newest.limit(1).scalar_subquery()
        )
        if not every:
            statement = statement.where(PanelSeat.state.in_(states or (SeatState.OPEN,)))
        return list(session.scalars(statement.order_by(PanelSeat.number)))


def member(wiring: Wiring, cast: Cast, profile_id: uuid.UUID) -> Actor:
    """The actor of somebody who ``settle_in`` added."""
    with wiring.database.reading() as session:
        account_id = session.get_one(Profile, profile_id).account_id
    return Actor(
        kind="account",
        name="Member",
        account_id=account_id,
        profile_id=profile_id,
        roles={cast.community_id: Role.RATER},
        communities=frozenset({cast.community_id}),
    )


def answer(wiring: Wiring, cast: Cast, note_id: uuid.UUID, people: Sequence[uuid.UUID], levels: str) -> None:
    """Rate a note, one person for each letter: H helpful, S somewhat, N not."""
    for profile_id, letter in zip(people, levels, strict=False):
        who = member(wiring, cast, profile_id)
        with wiring.database.writing() as session:
            rater = session.get_one(Profile, profile_id)
            ratings.rate(session, who, session.get_one(Note, note_id), rater, LEVELS[letter])


def settle_in_on_platform(wiring: Wiring, cast: Cast, count: int) -> list[str]:
    """Add users of the platform who can be drawn once a webhook names the event: each has rated three notes."""
    long_ago, lately = clock.now() - timedelta(days=30), clock.now() - timedelta(days=1)
    people = [(uuid.uuid4(), f"user-{number}") for number in range(count)]
    stamps = {"created_at": long_ago, "updated_at": long_ago}
    with wiring.database.writing() as session:
        author = session.get_one(Profile, cast.operator.profile_id)
        written = [
            notes.write(
                session, SYSTEM, cast.community_id, author, f"Note {number}", Classification.MISLEADING
            )
            for number in range(3)
        ]
        session.execute(
            sa.insert(Profile),
            [
                {
                    "id": profile,
                    "platform": PLATFORM,
                    "provider_scope": COMMUNITY,
                    "platform_user_id": name,
                    **stamps,
                }
                for profile, name in people
            ],
        )
        session.execute(
            sa.insert(Rating),
            [
                {
                    "id": uuid.uuid4(),
                    "community_id": cast.community_id,
                    "note_id": note.id,
                    "rater_id": profile,
                    "rater_ref": name,
                    "helpfulness_level": LEVELS["H" if place % 2 else "N"],
                    "note_version": 1,
                    "created_at": lately,
                    "updated_at": lately,
                }
                for note in written
                for place, (profile, name) in enumerate(people)
            ],
        )
    return [name for _, name in people]


def register(wiring: Wiring, cast: Cast, url: str, names: list[str] | None) -> None:
    """Register a webhook of the community for these events; None: all."""
    allow = AllowList.parse("127.0.0.1")
    with wiring.database.writing() as session:
        community = session.get_one(Community, cast.community_id)
        registrations.register(session, SYSTEM, wiring.sealer, allow, community, url, "s" * 32, names)


def state_of(wiring: Wiring, action_id: uuid.UUID) -> tuple[ActionState, ReviewGroup | None]:
    with wiring.database.reading() as session:
        action = session.get_one(Action, action_id)
        return action.action_state, action.review_group


def reviewed(wiring: Wiring, cast: Cast, request_id: str = "post-1") -> tuple[uuid.UUID, uuid.UUID]:
    """A post under review, its panel drawn if the community wants one: the action and its rationale."""
    action_id = factories.scored_action(wiring, cast, request_id=request_id)
    communities.sweep_panels(wiring.database)
    with wiring.database.reading() as session:
        note_id = session.get_one(Action, action_id).note_id
    assert note_id is not None
    return action_id, note_id
