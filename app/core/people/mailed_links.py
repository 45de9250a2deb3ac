"""Links that work once: to confirm an address, to reset a password, to accept an invitation, to be the first admin.

All but the last are mailed (``first_admin`` has that one), and only the mail holds a link's token. The job that writes
the mail makes the token, so that it stands in no job's arguments, and the database keeps its SHA-256; a mail that has
to be written again has a token of its own.
"""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits, tokens
from app.core.errors import Refused
from app.core.ids import new_id
from app.core.models import AccountLink
from app.core.vocabulary import LinkPurpose

LIVES: Mapping[LinkPurpose, timedelta] = {
    LinkPurpose.CONFIRM: timedelta(hours=limits.CONFIRM_HOURS),
    LinkPurpose.RESET: timedelta(minutes=limits.RESET_MINUTES),
    LinkPurpose.CHANGE_EMAIL: timedelta(hours=limits.CONFIRM_HOURS),
    LinkPurpose.INVITE: timedelta(days=limits.INVITATION_DAYS),
    LinkPurpose.FIRST_ADMIN: timedelta(minutes=limits.FIRST_ADMIN_MINUTES),
}
"""How long each works, from when its mail is written."""


class LinkOver(Refused):
    """The link was used, withdrawn or replaced, is too old, or never was: the same reply for all."""

    def __init__(self) -> None:
        super().__init__("This link does not work any more")


def begin(
    session: Session, purpose: LinkPurpose, email: str, account_id: uuid.UUID | None = None, **fields: Any
) -> AccountLink:
    """A link without its token yet; ``mail.ask`` has it mailed."""
    now = clock.now()
    link = AccountLink(
        id=new_id(),
        purpose=purpose,
        email=email,
        account_id=account_id,
        created_at=now,
        expires_at=now + LIVES[purpose],
        **fields,
    )
    session.add(link)
    session.flush()
    return link


def mint(session: Session, link_id: uuid.UUID) -> tuple[AccountLink, str] | None:
    """The link with a new token for its mail; None when there is nothing to mail any more."""
    link = session.get(AccountLink, link_id)
    if link is None or link.used_at or link.withdrawn_at or link.sent_at:
        return None
    token = tokens.new()
    link.token_hash = tokens.digest(token)
    link.expires_at = clock.now() + LIVES[link.purpose]
    session.flush()
    return link, token


def record_sent(session: Session, link_id: uuid.UUID) -> None:
    _set(session, link_id, sent_at=clock.now(), failed_at=None)


def note_failed(session: Session, link_id: uuid.UUID) -> None:
    """The mail was given up: whoever asked for it can be told."""
    _set(session, link_id, failed_at=clock.now())


def find(session: Session, token: str, purpose: LinkPurpose) -> AccountLink:
    """The link that this token opens, still unused.

    Raises:
        LinkOver: it does not work (any more).
    """
    link = session.scalars(
        sa.select(AccountLink).where(
            AccountLink.token_hash == tokens.digest(token),
            AccountLink.purpose == purpose,
            AccountLink.used_at.is_(None),
            AccountLink.withdrawn_at.is_(None),
            AccountLink.expires_at > clock.now(),
        )
    ).first()
    if link is None:
        raise LinkOver
    return link


def was_used(session: Session, token: str, purpose: LinkPurpose) -> bool:
    """Whether the link has done what it was for, so that whoever opens it again can be told."""
    used = sa.select(AccountLink.id).where(
        AccountLink.token_hash == tokens.digest(token),
        AccountLink.purpose == purpose,
        AccountLink.used_at.is_not(None),
    )
    return session.scalar(used) is not None


def use(session: Session, token: str, purpose: LinkPurpose) -> AccountLink:
    """The link, used up by this call: of two at once, one is refused.

    Raises:
        LinkOver: it does not work (any more).
    """
    link = find(session, token, purpose)
    used = session.execute(
        sa.update(AccountLink)
        .where(AccountLink.id == link.id, AccountLink.used_at.is_(None), AccountLink.withdrawn_at.is_(None))
        .values(used_at=clock.now())
        .execution_options(synchronize_session=False)
    )
    if used.rowcount != 1:  # type: ignore[attr-defined]  # an UPDATE's result has one
        raise LinkOver
    session.refresh(link)
    return link


def drop(session: Session, account_id: uuid.UUID, *purposes: LinkPurpose) -> None:
    """Let the account's links of these purposes work no more."""
    session.execute(
        sa.delete(AccountLink)
        .where(
            AccountLink.account_id == account_id,
            AccountLink.purpose.in_(purposes),
            AccountLink.used_at.is_(None),
        )
        .execution_options(synchronize_session=False)
    )


def prune(session: Session, before: datetime) -> int:
    """Forget links that ended before this moment; how many."""
    gone = session.execute(
        sa.delete(AccountLink)
        .where(AccountLink.expires_at < before)
        .execution_options(synchronize_session=False)
    )
    return int(gone.rowcount)  # type: ignore[attr-defined]


def _set(session: Session, link_id: uuid.UUID, **values: Any) -> None:
    session.execute(
        sa.update(AccountLink)
        .where(AccountLink.id == link_id)
        .values(**values)
        .execution_options(synchronize_session=False)
    )
