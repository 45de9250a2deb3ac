"""History entries about held decisions: made, undone, or not carried out; and who decided an object last.

A held decision changes nothing yet, but a moderator who decides and undoes it leaves a trace.
"""

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import HistoryEntry, HistoryText, Hold
from app.core.permissions import Actor
from app.core.states import ACTION
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, pgettext
from app.core.vocabulary import HELD_VERBS

HELD = "decision.held"
UNDONE = "decision.undone"
LAPSED = "hold.lapsed"
TRACES = (HELD, UNDONE, LAPSED)
"""Names of entries about decisions that changed nothing, or nothing yet."""
PRACTISED = 10
"""After so many decisions a person needs no hints beside the fields."""

_DECIDING = frozenset(
    f"{ACTION.name}.{row.target}" for row in ACTION.moves if row.source is not None and row.verb in HELD_VERBS
)
"""Names of entries about moves that moderators decide."""
_DECIDING_NOTHING = frozenset(
    {
        "action.chosen",
        "action.commented",
        "action.edited",
        "action.filed",
        "claim.taken_over",
        "claim.assigned",
        "claim.snoozed",
        "wave.stopped",
        HELD,
        UNDONE,
    }
)


def held(session: Session, actor: Actor, hold: Hold) -> None:
    """Record that a moderator decided and can still undo it."""
    _record(session, actor, hold, HELD, reason_of(hold))


def undone(session: Session, actor: Actor, hold: Hold) -> None:
    """Record that a held decision was undone. The reason is repeated only if the moderator undid it personally."""
    own = actor.account_id == hold.account_id
    reason = reason_of(hold) if own else Reason(cause=lazy_gettext("the person who decided has left"))
    _record(session, actor, hold, UNDONE, reason)


def lapsed(session: Session, actor: Actor, hold: Hold, cause: str) -> HistoryEntry:
    """Record that a held decision was due but could not be carried out; ``actor`` is the moderator who decided."""
    return _record(session, actor, hold, LAPSED, Reason(hold.reason, cause=cause))


def already_decided(session: Session, object_id: uuid.UUID) -> str:
    """A sentence: "Already decided by Sam, 2 min ago"."""
    last = last_decider(session, object_id)
    if last is None:
        return _("Already decided")
    if last.minutes == 0:
        return _("Already decided by %(who)s, just now", who=last.name)
    return _("Already decided by %(who)s, %(minutes)s min ago", who=last.name, minutes=last.minutes)


def changed(session: Session, object_id: uuid.UUID) -> str:
    """A sentence: "Changed by Sam, 2 min ago; look again"."""
    last = last_decider(session, object_id)
    if last is None:
        return _("Changed; look again")
    if last.minutes == 0:
        return _("Changed by %(who)s, just now; look again", who=last.name)
    return _("Changed by %(who)s, %(minutes)s min ago; look again", who=last.name, minutes=last.minutes)


def last_decider(session: Session, object_id: uuid.UUID) -> "Decider | None":
    """Who decided an action or note last, or else changed it last. Comments do not count."""
    row = session.execute(
        sa.select(HistoryText.actor_name, HistoryEntry.at, HistoryEntry.actor_kind, HistoryEntry.what)
        .join(HistoryEntry, HistoryEntry.id == HistoryText.entry_id)
        .where(
            # What the index of objects begins with.
            HistoryEntry.object_type.in_(("action", "note")),
            HistoryEntry.object_id == object_id,
            HistoryEntry.what.not_in(_DECIDING_NOTHING),
        )
        .order_by(HistoryEntry.what.in_(_DECIDING).desc(), HistoryEntry.number.desc())
        .limit(1)
    ).first()
    if row is None:
        return None
    by_community = row.actor_kind == "system" and row.what in _DECIDING
    return Decider(_by_community() if by_community else row.actor_name, row.at)


def is_practised(session: Session, actor: Actor) -> bool:
    """Whether this person has decided at least ``PRACTISED`` times, in any community. Reads no more entries."""
    decided = sa.select(HistoryEntry.id).where(
        HistoryEntry.account_id == actor.account_id, HistoryEntry.what == HELD
    )
    newest = decided.limit(PRACTISED).subquery()
    return session.scalar(sa.select(sa.func.count()).select_from(newest)) == PRACTISED


@dataclass(frozen=True)
class Decider:
    """Who decided an object last, and when. ``name`` is "the community" and ``reason`` empty if no person decided."""

    name: str
    at: datetime
    reason: str = ""

    @property
    def minutes(self) -> int:
        """Whole minutes since then."""
        return int((clock.now() - self.at).total_seconds() // 60)


def _by_community() -> str:
    return pgettext("Decided by …", "the community")


def deciders(session: Session, object_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, Decider]:
    """Who decided these objects last, by object id; one query. Objects without a decision are left out."""
    if not object_ids:
        return {}
    rows = session.execute(
        sa.select(
            HistoryEntry.object_id,
            HistoryText.actor_name,
            HistoryEntry.at,
            HistoryEntry.actor_kind,
            HistoryText.reason,
        )
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .where(
            HistoryEntry.object_type == "action",
            HistoryEntry.object_id.in_(object_ids),
            HistoryEntry.what.in_(_DECIDING),
        )
        .order_by(HistoryEntry.number)
    )
    return {
        object_id: Decider(_by_community(), at)
        if kind == "system"
        else Decider(name or _("an erased account"), at, reason)
        for object_id, name, at, kind, reason in rows
    }


def reason_of(hold: Hold) -> Reason:
    """The reason and comment that the moderator wrote for the decision."""
    return Reason(hold.reason, hold.comment or "")


def _record(session: Session, actor: Actor, hold: Hold, what: str, reason: Reason) -> HistoryEntry:
    after = {"verb": hold.verb.value}
    after |= {"to": hold.reopen_to.value} if hold.reopen_to else {}
    after |= {"action_type": hold.act_as.value} if hold.act_as else {}
    return history.record(
        session,
        actor,
        hold.community_id,
        what,
        "action" if hold.action_id else "note",
        hold.action_id or hold.note_id or hold.id,
        after=after,
        reason=reason,
    )
