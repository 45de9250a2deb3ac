"""Who looks at an item now, so that two moderators do not work on the same one without knowing of each other.

Nothing but the newest look of each session is stored, in its row. It keeps nobody off: that is what claims do.
"""

import uuid
from collections.abc import Sequence
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock
from app.core.models import Account, Action, Membership, SignIn
from app.core.permissions import Actor, Permission, require, roles_with

LASTS = timedelta(seconds=30)
"""For how long a look is shown. An open page asks every 15 s, and each time is a look."""
WRITTEN_EVERY = timedelta(seconds=10)


def is_due(sign_in: SignIn, action_id: uuid.UUID) -> bool:
    """Whether a look at this item has to be written: it is another item, or the last look was some seconds ago."""
    if sign_in.looking_at != action_id or sign_in.looked_at is None:
        return True
    return clock.now() - sign_in.looked_at > WRITTEN_EVERY


def mark(session: Session, sign_in: SignIn, action_id: uuid.UUID) -> None:
    """Record that the session's page shows this item; the caller has checked that its account moderates there.

    ``sign_in`` may be detached.
    """
    values = {"looking_at": action_id, "looked_at": clock.now()}
    bulk.change(session, sa.update(SignIn).where(SignIn.id == sign_in.id).values(values))


def names(session: Session, actor: Actor, action: Action) -> Sequence[str]:
    """The names of the others who look at the item now, in their order; one query."""
    require(actor, Permission.MODERATE, action.community_id, "item")
    # Not of people who were removed since they looked.
    moderates = sa.exists().where(
        Membership.account_id == Account.id,
        Membership.community_id == action.community_id,
        Membership.role.in_(roles_with(Permission.MODERATE)),
    )
    looks = sa.exists().where(
        SignIn.account_id == Account.id,
        SignIn.looking_at == action.id,
        SignIn.looked_at > clock.now() - LASTS,
        SignIn.ended_at.is_(None),
    )
    return session.scalars(
        sa.select(Account.display_name)
        .where(
            looks,
            sa.or_(moderates, Account.service_admin),
            Account.id != actor.account_id,
            Account.disabled_at.is_(None),
        )
        .order_by(sa.func.lower(Account.display_name), Account.id)
    ).all()
