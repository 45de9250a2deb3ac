"""How a panel decided, until when one can, and repeating its draw after the decision (docs/moderate/panels.md).

A draw is repeated from the seed, the roll, and what history recorded before anybody answered.
"""

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session, undefer

from app.core.errors import Conflict, NotFound
from app.core.models import Action, HistoryEntry, Note, Panel, PanelRoll, PanelSeat, Profile, Rating
from app.core.panels import draw, panels
from app.core.scoring import Counts
from app.core.texts import gettext as _
from app.core.vocabulary import HelpfulnessLevel, SeatState


def closes_at(session: Session, action: Action) -> datetime | None:
    """Until when the action's open panel can decide; None if it has none.

    Nobody learns more about an open panel: a moderator who compared the number of answers with the list of ratings
    would find out who sits on it.
    """
    panel = panels.newest(session, action.id)
    if panel is None or panel.ended_at is not None or not panels.is_reviewed_by_raters(action):
        return None
    return panel.opened_at + panels.LONGEST


@dataclass(frozen=True)
class Decided:
    """A panel that decided a review: its answers, those of the volunteers, and what the draw can be checked with."""

    id: uuid.UUID
    seats: int
    answered: int
    panel: Counts
    volunteers: Counts
    reason: str
    ended_at: datetime
    seed: str
    eligible: int
    eligible_digest: str


def decided(session: Session, note_id: uuid.UUID) -> Decided | None:
    """The panel that decided what this note is the rationale of; None while a review is open, or without one."""
    found = session.execute(
        sa.select(Panel, PanelRoll.people, PanelRoll.digest, Action)
        .join(Action, Action.id == Panel.action_id)
        .outerjoin(PanelRoll, PanelRoll.id == Panel.roll_id)
        .where(Panel.note_id == note_id)
        .order_by(Panel.ended_at.is_(None).desc(), Panel.opened_at.desc())
        .limit(1)
    ).first()
    if found is None or not panels.has_decided(found[0], found[3]):
        return None
    panel, people, digest, _ = found
    own = Counts(panel.not_helpful, panel.somewhat_helpful, panel.helpful)
    rows = session.execute(
        sa.select(Rating.helpfulness_level, sa.func.count())
        .join(Note, sa.and_(Note.id == Rating.note_id, Note.version == Rating.note_version))
        .where(Rating.note_id == note_id)
        .group_by(Rating.helpfulness_level)
    )
    total = {level: count for level, count in rows}
    return Decided(
        id=panel.id,
        seats=panel.wanted,
        answered=panel.answered,
        panel=own,
        volunteers=Counts(
            max(0, total.get(HelpfulnessLevel.NOT_HELPFUL, 0) - own.not_helpful),
            max(0, total.get(HelpfulnessLevel.SOMEWHAT_HELPFUL, 0) - own.somewhat_helpful),
            max(0, total.get(HelpfulnessLevel.HELPFUL, 0) - own.helpful),
        ),
        reason=panel.reason,
        ended_at=panel.ended_at or panel.opened_at,
        seed=panel.seed.hex(),
        eligible=people or 0,
        eligible_digest=digest or "",
    )


@dataclass(frozen=True)
class Repeated:
    """A draw that was repeated. ``faults`` are sentences; empty: everything is as it should be.

    ``asked`` and ``passed_over`` count the people that the draw came to.
    """

    panel_id: uuid.UUID
    seed: str
    eligible: int
    digest: str
    asked: int
    passed_over: int
    faults: tuple[str, ...]


def repeat(session: Session, reference: uuid.UUID) -> Repeated:
    """Repeat the newest draw of a panel, an action or a rationale with this id.

    Raises:
        NotFound: there is no such panel.
        Conflict: it has not ended, or its seats were deleted long after the end.
    """
    panel = session.scalars(
        sa.select(Panel)
        .where(sa.or_(Panel.id == reference, Panel.action_id == reference, Panel.note_id == reference))
        .order_by(Panel.ended_at.is_(None).desc(), Panel.opened_at.desc())
        .limit(1)
    ).first()
    if panel is None:
        raise NotFound("panel")
    if panel.ended_at is None:
        raise Conflict(_("The panel has not ended; its members are secret until then"), panel.id)
    roll = (
        session.get(PanelRoll, panel.roll_id, options=[undefer(PanelRoll.raters)]) if panel.roll_id else None
    )
    if roll is None:
        raise Conflict(_("Who could be drawn is not kept any more"), panel.id)
    rows = session.execute(
        sa.select(PanelSeat.profile_id, PanelSeat.state)
        .where(PanelSeat.panel_id == panel.id)
        .order_by(PanelSeat.number)
    ).all()
    found = draw.order(panel.seed, roll.raters, first=None)
    came_to = _as_on_the_roll(session, [profile_id for profile_id, _ in rows], found)
    faults = [*_faults_in_promises(session, panel, roll), *_faults_in_order(found, came_to)]
    passed = sum(state is SeatState.PASSED for _, state in rows)
    return Repeated(
        panel.id, panel.seed.hex(), roll.people, roll.digest, len(rows) - passed, passed, tuple(faults)
    )


def _faults_in_promises(session: Session, panel: Panel, roll: PanelRoll) -> list[str]:
    """Whether seed and roll are those whose hashes went to history before anybody answered."""
    promised: dict[str, object] = {}
    for entry in session.scalars(
        sa.select(HistoryEntry).where(
            HistoryEntry.object_type == "action",
            HistoryEntry.object_id == panel.action_id,
            HistoryEntry.what.in_(("action.panel_opened", "action.panel_drawn")),
        )
    ):
        if entry.after.get("panel_id") == str(panel.id):
            promised |= entry.after
    faults = []
    if promised.get("seed_sha256") != hashlib.sha256(panel.seed).hexdigest():
        faults.append("The seed is not the one that history promised.")
    if draw.digest(roll.raters) != roll.digest or promised.get("eligible_sha256", roll.digest) != roll.digest:
        faults.append("The people who could be drawn are not those that history promised.")
    return faults


def _as_on_the_roll(session: Session, came_to: Sequence[uuid.UUID], found: draw.Order) -> list[uuid.UUID]:
    """The people by the profiles that the roll has: a seat moves when its profile is linked to an account."""
    others = [person for person in came_to if person not in found.people]
    account = sa.orm.aliased(Profile)
    linked = session.execute(
        sa.select(account.id, Profile.id)
        .join(Profile, Profile.account_id == account.account_id)
        .where(account.id.in_(others))
    )
    earlier = {person: profile for person, profile in linked if profile in found.people}
    return [earlier.get(person, person) for person in came_to]


def _faults_in_order(found: draw.Order, came_to: Sequence[uuid.UUID]) -> list[str]:
    """Whether the draw came to the first people of each side, in their order, and to no others."""
    faults = []
    for people in found.sides.values():
        of_side = set(people)
        drawn = [person for person in came_to if person in of_side]
        if drawn != list(people[: len(drawn)]):
            faults.append("People were not drawn in the order that the seed gives.")
    if not set(came_to) <= found.people.keys():
        faults.append("A person was drawn who is not among the people who could be drawn.")
    return faults
