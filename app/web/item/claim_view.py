"""Who holds an item, and what an open page of it depends on (``templates/moderate/_claim.html``)."""

import hashlib
import math
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.core import clock
from app.core.models import Action
from app.core.permissions import Actor
from app.core.review import claims, looking
from app.core.texts import gettext as _
from app.web import auth
from app.wiring import wired


@dataclass(frozen=True)
class Claim:
    """Who has claimed the item. ``name`` and ``until`` are None while it is free.

    ``taken_at``: when this person took the claim over from the reader; None if they did not. ``lookers``: the names of
    the colleagues who look at the item now.
    """

    name: str | None = None
    until: datetime | None = None
    mine: bool = False
    taken_at: datetime | None = None
    lookers: Sequence[str] = ()


def claim_of(session: Session, actor: Actor, action: Action) -> Claim:
    lookers = looking.names(session, actor, action)
    if claims.is_held_by(actor, action):
        return Claim(_("You"), action.claimed_until, mine=True, lookers=lookers)
    holder = claims.held_by_other(session, actor, action)
    if holder is None:
        return Claim(lookers=lookers)
    lost = claims.lost(session, actor, action)
    return Claim(
        holder.display_name, action.claimed_until, taken_at=lost.at if lost else None, lookers=lookers
    )


def mark_looking(action_id: uuid.UUID) -> None:
    """Record that the reader, who moderates the item, looks at it; no more often than needed."""
    sign_in = auth.current_reader().sign_in
    if looking.is_due(sign_in, action_id):
        with wired().database.writing() as session:
            looking.mark(session, sign_in, action_id)


def seen(actor: Actor, action: Action, lookers: Sequence[str]) -> str:
    """Return what an open page of the item depends on: digests of the decision, the claimant and ``lookers``, and
    minutes.

    The first differs once the item is decided or changed, the second once another account holds it. The minutes are
    those that a colleague's claim has left.
    """
    now, until, claimant = clock.now(), action.claimed_until, action.claimed_by_id
    if until is None or until <= now:
        claimant = None
    is_colleagues = claimant is not None and claimant != actor.account_id
    minutes = math.ceil((until - now).total_seconds() / 60) if until is not None and is_colleagues else 0
    decision = (action.version, action.held.id if action.held is not None else None)
    digests = [
        hashlib.blake2b(repr(part).encode(), digest_size=4).hexdigest()
        for part in (decision, claimant, list(lookers))
    ]
    return ".".join([*digests, str(minutes)])
