"""Seats: answered, declined, and a person's own. Nobody learns another person's seat (docs/moderate/panels.md)."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock
from app.core.actions import moves
from app.core.db import serialise
from app.core.errors import NotFound
from app.core.ids import parse_id
from app.core.models import Action, Community, Panel, PanelSeat, Profile
from app.core.panels import panels
from app.core.people import profiles
from app.core.permissions import Actor, Permission, require
from app.core.vocabulary import IN_REVIEW, ReviewGroup, SeatState


@dataclass(frozen=True)
class Drawn:
    """A person's own open seat: the item, and until when they can answer."""

    action_id: uuid.UUID
    expires_at: datetime


def answer(session: Session, panel: Panel, profile_id: uuid.UUID) -> None:
    """Mark the person's open seat as answered, if they have one. The caller holds the community's lock."""
    if not _move(session, panel, profile_id, SeatState.OPEN, SeatState.ANSWERED):
        return
    still_open = sa.select(PanelSeat.number).where(
        PanelSeat.panel_id == panel.id, PanelSeat.state == SeatState.OPEN
    )
    if session.scalar(still_open.limit(1)) is None:
        # Unless this answer decides, more people have to be drawn now.
        _make_due(session, panel)


def reopen(session: Session, panel: Panel, profile_id: uuid.UUID) -> None:
    """The person took their rating back: the seat is open again, for what is left of its time."""
    if _move(session, panel, profile_id, SeatState.ANSWERED, SeatState.OPEN):
        expires_at = session.scalar(
            sa.select(PanelSeat.expires_at).where(
                PanelSeat.panel_id == panel.id, PanelSeat.profile_id == profile_id
            )
        )
        panel.due_at = min(panel.due_at, expires_at or panel.due_at)
        session.flush()


def decline(session: Session, actor: Actor, action: Action, profile_id: uuid.UUID) -> None:
    """Give the actor's own seat back, so that the next person is drawn. Repeating it changes nothing.

    Raises:
        NotFound: they have no seat, or the panel has ended.
    """
    require(actor, Permission.RATE, action.community_id, "item")
    serialise(session, action.community_id)
    panel = panels.newest(session, action.id)
    if panel is None or panel.ended_at is not None:
        raise NotFound("seat")
    if _move(session, panel, profile_id, SeatState.OPEN, SeatState.DECLINED):
        _make_due(session, panel)
    elif session.get(PanelSeat, (panel.id, profile_id)) is None:
        raise NotFound("seat")


def open_for(session: Session, profile_id: uuid.UUID, community_id: uuid.UUID) -> Sequence[Drawn]:
    """The person's open seats in a community, first the one that ends first."""
    rows = session.execute(
        open_of([profile_id])
        .with_only_columns(Panel.action_id, PanelSeat.expires_at)
        .where(Panel.community_id == community_id)
        .order_by(PanelSeat.expires_at, Panel.action_id)
    )
    return [Drawn(action_id, expires_at) for action_id, expires_at in rows]


def communities_of(session: Session, profile_id: uuid.UUID) -> Sequence[uuid.UUID]:
    """The communities where the person has open seats, ordered by their names."""
    rows = session.scalars(
        open_of([profile_id])
        .join(Community, Community.id == Panel.community_id)
        .with_only_columns(Panel.community_id)
        .group_by(Panel.community_id, Community.name)
        .order_by(Community.name, Panel.community_id)
    )
    return rows.all()


def of_items(
    session: Session, profile_id: uuid.UUID, action_ids: Collection[uuid.UUID]
) -> Mapping[uuid.UUID, datetime]:
    """Until when the person can answer, for each of these items that they have an open seat for."""
    rows = session.execute(
        open_of([profile_id])
        .with_only_columns(Panel.action_id, PanelSeat.expires_at)
        .where(Panel.action_id.in_(action_ids))
    )
    return {action_id: expires_at for action_id, expires_at in rows}


def notes_of(actor: Actor, reference: str, platform: str | None = None) -> sa.Select[uuid.UUID]:
    """SELECT of the rationales for which this user of a platform has an open seat.

    ``reference`` is a profile UUID or a user id of ``platform`` (default: that of the panel's community). Seats of
    people of the dashboard are found only by their linked platform profile, and nothing by read-only keys: only who
    asks the person has to know.
    """
    person = sa.orm.aliased(Profile)
    mentioned = sa.select(Profile.id, Profile.account_id).where(
        sa.or_(Profile.platform_user_id == reference, Profile.id == parse_id(reference)),
        Profile.platform.not_in((profiles.WEB, profiles.SERVICE_PLATFORM)),
        profiles.known_to(actor),
        sa.false() if actor.read_only else sa.true(),
    )
    found = mentioned.subquery()
    people = sa.select(person.id).where(
        sa.or_(
            person.id.in_(sa.select(found.c.id)),
            sa.and_(person.platform == profiles.WEB, person.account_id.in_(sa.select(found.c.account_id))),
        )
    )
    meant = profiles.is_meant(actor, [reference], platform, PanelSeat.profile_id, Panel.community_id)
    return open_of(people).where(meant).with_only_columns(Panel.note_id)


def give_up(session: Session, profile_id: uuid.UUID) -> int:
    """End all open seats of a person who was erased. Return how many there were."""
    ended = session.scalars(
        sa.update(PanelSeat)
        .where(PanelSeat.profile_id == profile_id, PanelSeat.state == SeatState.OPEN)
        .values(state=SeatState.LAPSED, ended_at=clock.now())
        .returning(PanelSeat.panel_id)
        .execution_options(synchronize_session=False)
    ).all()
    bulk.change(
        session,
        sa.update(Panel).where(Panel.id.in_(ended), Panel.ended_at.is_(None)).values(due_at=clock.now()),
    )
    return len(ended)


def move(session: Session, profile_id: uuid.UUID, person_id: uuid.UUID) -> None:
    """Move a profile's seats to another profile of the same person, as its ratings are.

    A panel with both keeps both.
    """
    other = sa.orm.aliased(PanelSeat)
    has_one = sa.exists().where(other.panel_id == PanelSeat.panel_id, other.profile_id == person_id)
    moving = sa.update(PanelSeat).where(PanelSeat.profile_id == profile_id, sa.not_(has_one))
    bulk.change(session, moving.values(profile_id=person_id))


def open_of(profile_ids: Collection[uuid.UUID] | sa.Select[uuid.UUID]) -> sa.Select[uuid.UUID]:
    """SELECT of the panels in which these people have a seat that they can still use, one row a seat."""
    return (
        sa.select(PanelSeat.panel_id)
        .join(Panel, Panel.id == PanelSeat.panel_id)
        .join(Action, Action.id == Panel.action_id)
        .where(
            PanelSeat.profile_id.in_(profile_ids),
            PanelSeat.state == SeatState.OPEN,
            PanelSeat.expires_at > clock.now(),
            Panel.ended_at.is_(None),
            # The review may have ended, or gone to moderators, and the panel not yet.
            Action.action_state.in_(IN_REVIEW),
            Action.review_group != ReviewGroup.STAFF,
        )
    )


def _make_due(session: Session, panel: Panel) -> None:
    panel.due_at = clock.now()
    session.flush()
    moves.wake_panels(session, panel.community_id)


def _move(
    session: Session, panel: Panel, profile_id: uuid.UUID, source: SeatState, target: SeatState
) -> bool:
    changed = bulk.change(
        session,
        sa.update(PanelSeat)
        .where(PanelSeat.panel_id == panel.id, PanelSeat.profile_id == profile_id, PanelSeat.state == source)
        .values(state=target, ended_at=None if target is SeatState.OPEN else clock.now()),
    )
    return bool(changed)
