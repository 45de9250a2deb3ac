"""Looks after open panels in batches: draws seats, lets them lapse, and ends panels that cannot decide.

One batch is one short transaction with the same few statements however many panels are in it. Killed anywhere, it has
changed nothing that the next run does not do: a panel is due until its turn is committed, under the community's lock.
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, load_only, undefer

from app.core import bulk, clock, texts
from app.core.actions import actions
from app.core.communities import settings as community_settings
from app.core.db import serialise
from app.core.helpfulness.eligibility import GRAVE
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import Action, Panel, PanelRoll, PanelSeat, Request
from app.core.panels import asking, draw, panels, rolls
from app.core.panels.asking import Eligibility, SkipReason, Work
from app.core.permissions import SYSTEM
from app.core.scoring import GRAVE_MARGIN
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.core.vocabulary import PanelOutcome, SeatState

TEND_SECONDS = 30.0
BATCH = 100
"""The most panels in one transaction."""
AGAIN = timedelta(hours=1)
"""So long after everybody who was left had too many open seats they are asked again."""
TOO_FEW = lazy_gettext("too few people could be drawn")
KEPT = timedelta(days=90)
"""So long after the end of a panel its draw can be repeated; then its seats are deleted."""


@dataclass(frozen=True)
class Advanced:
    """A batch: how many panels it looked at, and the notes whose reviews everybody's ratings decide after all."""

    panels: int
    released: Sequence[uuid.UUID] = ()


def communities_due(session: Session) -> Sequence[uuid.UUID]:
    """The communities with panels that are due."""
    return session.scalars(
        sa.select(Panel.community_id).where(Panel.ended_at.is_(None), Panel.due_at <= clock.now()).distinct()
    ).all()


def needs_roll(session: Session, community_id: uuid.UUID) -> bool:
    """Whether a panel waits for its first seats and no roll of the last hour is there."""
    waits = sa.select(Panel.id).where(
        Panel.community_id == community_id, Panel.ended_at.is_(None), Panel.roll_id.is_(None)
    )
    return session.scalar(waits.limit(1)) is not None and rolls.newest(session, community_id) is None


def advance(session: Session, community_id: uuid.UUID) -> Advanced:
    """Give the community's panels that are due the longest their turn."""
    serialise(session, community_id)
    now = clock.now()
    due = _due(session, community_id, now)
    if not due:
        return Advanced(0)
    _read_seats(session, due, now)
    released: list[uuid.UUID] = []
    drawing = []
    for work in due:
        if not panels.is_reviewed_by_raters(work.action) or panels.of_review(work.panel, work.action) is None:
            panels.end(session, work.panel, PanelOutcome.OVERTAKEN, panels.OVERTAKEN)
        elif work.panel.opened_at <= now - panels.LONGEST:
            _to_staff(session, work, is_late=True)
        else:
            drawing.append(work)
    for work in _too_few(session, community_id, drawing):
        drawing.remove(work)
        panels.end(session, work.panel, PanelOutcome.TOO_FEW, TOO_FEW)
        released.append(work.panel.note_id)
    for work in drawing:
        held = work.held
        if not held[SeatState.OPEN] and held[SeatState.ANSWERED] >= work.panel.wanted:
            # All have answered, and what they said does not decide.
            work.panel.wanted = min(work.panel.wanted + work.panel.size, panels.MOST_SEATS)
    _draw(session, drawing, now)
    for work in drawing:
        if work.expires or work.is_waiting:
            again = [now + AGAIN] if work.is_waiting else []
            work.panel.due_at = min(*work.expires, *again, work.panel.opened_at + panels.LONGEST)
        else:
            _to_staff(session, work, is_late=False)
    session.flush()
    asking.announce(session, community_id, drawing)
    return Advanced(len(due), released)


def prune(session: Session, *, limit: int = 500) -> bool:
    """Delete the seats of the next panels that ended long ago; what their answers were is kept with the panel.

    Returns whether there may be more; after the last ones, the lists that those panels were drawn from go.
    """
    has_seats = sa.exists().where(PanelSeat.panel_id == Panel.id)
    old = session.scalars(
        sa.select(Panel.id).where(Panel.ended_at < clock.now() - KEPT, has_seats).limit(limit)
    ).all()
    bulk.change(session, sa.delete(PanelSeat).where(PanelSeat.panel_id.in_(old)))
    if len(old) == limit:
        return True
    bulk.change(
        session,
        sa.update(Panel)
        .where(Panel.ended_at < clock.now() - KEPT, Panel.roll_id.is_not(None))
        .values(roll_id=None),
    )
    rolls.prune(session)
    return False


def _due(session: Session, community_id: uuid.UUID, now: datetime) -> list[Work]:
    rows = session.execute(
        sa.select(Panel, Action, Request)
        .join(Action, Action.id == Panel.action_id)
        .join(Request, Request.id == Action.request_id)
        .where(Panel.community_id == community_id, Panel.ended_at.is_(None), Panel.due_at <= now)
        .order_by(Panel.due_at, Panel.id)
        .limit(BATCH)
        .options(
            undefer(Panel.shortlist),
            load_only(
                # ``language`` is a fact that history copies.
                Request.requested_by,
                Request.platform_author_id,
                Request.created_at,
                Request.language,
            ),
        )
        .execution_options(populate_existing=True)
    )
    return [Work(panel, action, request) for panel, action, request in rows]


def _read_seats(session: Session, due: Sequence[Work], now: datetime) -> None:
    """Let seats lapse whose time is over, and read the others."""
    by_id = {work.panel.id: work for work in due}
    bulk.change(
        session,
        sa.update(PanelSeat)
        .where(PanelSeat.panel_id.in_(by_id), PanelSeat.state == SeatState.OPEN, PanelSeat.expires_at <= now)
        .values(state=SeatState.LAPSED, ended_at=now),
    )
    for panel_id, profile_id, state, expires_at in session.execute(
        sa.select(PanelSeat.panel_id, PanelSeat.profile_id, PanelSeat.state, PanelSeat.expires_at).where(
            PanelSeat.panel_id.in_(by_id)
        )
    ):
        work = by_id[panel_id]
        work.states[profile_id] = state
        work.numbers += 1
        if state is SeatState.OPEN:
            work.expires.append(expires_at)


def _too_few(session: Session, community_id: uuid.UUID, drawing: Sequence[Work]) -> list[Work]:
    """Give each panel its roll and its order. Return those for which too few people could be drawn."""
    refused = []
    known: dict[uuid.UUID, PanelRoll] = {}
    newest: PanelRoll | None = None
    with history.gathered(session):
        for work in drawing:
            panel = work.panel
            if panel.shortlist is not None:
                work.order_by(draw.unpacked(panel.shortlist))
                continue
            if panel.roll_id is None:
                newest = newest or rolls.newest(session, community_id) or _new_roll(session, community_id)
                known[newest.id], panel.roll_id = newest, newest.id
            roll = known.setdefault(panel.roll_id, session.get_one(PanelRoll, panel.roll_id))
            if roll.people < rolls.LEAST:
                refused.append(work)
                continue
            found = draw.order(panel.seed, roll.raters)
            panel.shortlist = draw.packed(found)
            work.order_by(found)
            # From now on the list of people who could be drawn is fixed.
            after = {"eligible": roll.people, "eligible_sha256": roll.digest}
            panels.record(session, panel, "action.panel_drawn", after)
    return refused


def _new_roll(session: Session, community_id: uuid.UUID) -> PanelRoll:
    roll = rolls.make(session, community_id)
    session.add(roll)
    session.flush()
    return roll


def _draw(session: Session, drawing: Sequence[Work], now: datetime) -> None:
    """Draw the seats that are missing. For people who cannot be asked, others follow in the next pass."""
    unfilled = [work for work in drawing if work.missing]
    rows: dict[uuid.UUID, list[dict[str, Any]]] = defaultdict(list)
    extra: Counter[uuid.UUID] = Counter()
    while unfilled:
        asked = {work.panel.id: work.next_people() for work in unfilled}
        for work in unfilled:
            if len(asked[work.panel.id]) < work.missing and not work.is_all:
                # The shortlist is used up, which takes many people who could not be asked.
                work.states |= dict.fromkeys(asked[work.panel.id], SeatState.OPEN)
                roll = session.get_one(PanelRoll, work.panel.roll_id)
                work.order_by(draw.order(work.panel.seed, roll.raters, first=None))
                asked[work.panel.id] += work.next_people()
        askable = Eligibility.read(
            session, unfilled[0].panel.community_id, [work.panel.note_id for work in unfilled], asked.values()
        )
        for work in unfilled:
            expires_at = now + timedelta(hours=work.panel.hours)
            for person in asked[work.panel.id]:
                passed = askable.refusal(work.panel.note_id, work.action, work.request, person, extra[person])
                work.states[person] = SeatState.PASSED if passed else SeatState.OPEN
                work.numbers += 1
                if not passed:
                    extra[person] += 1
                    work.drawn.append(person)
                    work.expires.append(expires_at)
                rows[work.panel.id].append(
                    {
                        "panel_id": work.panel.id,
                        "profile_id": person,
                        "number": work.numbers,
                        "state": work.states[person],
                        "passed_over": passed,
                        "drawn_at": now,
                        "expires_at": expires_at,
                    }
                )
        unfilled = [work for work in unfilled if work.missing and asked[work.panel.id]]
    for work in drawing:
        if work.missing:
            _come_back_later(work, rows[work.panel.id])
    session.flush()
    table = PanelSeat.metadata.tables[PanelSeat.__tablename__]
    bulk.insert(session.connection(), table, [row for of_panel in rows.values() for row in of_panel])


def _come_back_later(work: Work, rows: list[dict[str, Any]]) -> None:
    """Forget the people at the end of the draw if some of them only had too many seats: they are asked again later.

    A person before the last one seated stays passed over, or the order would not follow from the seed.
    """
    last = max((place for place, row in enumerate(rows, 1) if row["state"] is SeatState.OPEN), default=0)
    work.is_waiting = any(row["passed_over"] == SkipReason.BUSY for row in rows[last:])
    if work.is_waiting:
        del rows[last:]


def _to_staff(session: Session, work: Work, *, is_late: bool) -> None:
    raised = GRAVE_MARGIN if work.action.action_type in GRAVE else 0.0
    rule = panels.withheld_by(session, work.panel, raised=raised)
    with community_settings.in_language(session, work.panel.community_id):
        why = (
            ngettext("%(num)s day went by", "%(num)s days went by", panels.LONGEST.days)
            if is_late
            else ngettext(
                "%(num)s person was drawn, and no more can be",
                "%(num)s people were drawn, and no more can be",
                work.asked,
            )
        )
        if rule:
            most = texts.number(panels.most_against(work.panel.size))
            why = _(
                "%(why)s; more than %(most)s of one side said no (%(rule)s)", why=why, most=most, rule=rule
            )
        cause = _("a drawn panel did not decide: %(why)s", why=why)
    panels.end(session, work.panel, PanelOutcome.STAFF, why)
    actions.send_to_staff(session, SYSTEM, work.action, reason=Reason(cause=cause))
