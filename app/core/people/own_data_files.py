"""The file with all that is kept of a person: asked for on a page, made by a job, for them alone, kept for a day.

It is in the database, because the servers of an installation may share nothing else, and because it then goes in the
transaction in which its person is erased or disabled.
"""

import uuid
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock, mail, outbox
from app.core.errors import NotFound
from app.core.mail import Kind
from app.core.models import Account, OwnDataFile
from app.core.permissions import Actor

MAKE_JOB = "make_own_data"
KEPT = timedelta(days=1)
LATE = timedelta(hours=1)
"""A file that is not made after this time can be asked for again."""
SLICE = 1024 * 1024
"""Bytes that are read at once."""


def ask(session: Session, actor: Actor) -> OwnDataFile:
    """Have a file made for the signed-in person, in place of one that they have. While one is made, it is that one."""
    account = session.scalars(
        sa.select(Account)
        .where(Account.id == actor.account_id, Account.disabled_at.is_(None))
        .with_for_update()
    ).first()
    if account is None:
        raise NotFound("account")
    found = current(session, actor)
    if found is not None and is_being_made(found):
        return found
    remove(session, account.id)
    created = OwnDataFile(account_id=account.id)
    session.add(created)
    session.flush()
    outbox.enqueue(session, MAKE_JOB, {"file_id": str(created.id)}, community_id=None, key=str(created.id))
    return created


def current(session: Session, actor: Actor) -> OwnDataFile | None:
    """The signed-in person's file without its content, also while it is made or if that failed; None once it is old."""
    mine = sa.and_(OwnDataFile.account_id == actor.account_id, sa.not_(_is_old()))
    return session.scalars(sa.select(OwnDataFile).where(mine)).first()


def is_being_made(found: OwnDataFile) -> bool:
    """Whether a job works on the file, or is going to."""
    return found.made_at is None and found.failed_at is None and found.asked_at > clock.now() - LATE


def content(session: Session, actor: Actor, file_id: uuid.UUID, start: int) -> bytes:
    """Up to ``SLICE`` bytes of the signed-in person's file from ``start`` on; none at its end, or if it is gone."""
    part = sa.func.substr(OwnDataFile.content, start + 1, SLICE)
    mine = sa.and_(OwnDataFile.id == file_id, OwnDataFile.account_id == actor.account_id)
    return session.scalar(sa.select(sa.type_coerce(part, sa.LargeBinary)).where(mine)) or b""


def account_to_make_for(session: Session, file_id: uuid.UUID) -> uuid.UUID | None:
    """The id of the account; None if this file is made already or is not wanted any more."""
    wanted = sa.and_(OwnDataFile.id == file_id, OwnDataFile.made_at.is_(None))
    return session.scalar(sa.select(OwnDataFile.account_id).where(wanted))


def keep(session: Session, file_id: uuid.UUID, packed: bytes, counts: dict[str, int]) -> None:
    """Keep a file that was made, and mail its person, unless it is not wanted any more."""
    account_id = account_to_make_for(session, file_id)
    values = {"content": packed, "counts": counts, "made_at": clock.now(), "failed_at": None}
    if bulk.change(session, _unmade(file_id).values(**values)):
        mail.ask(session, Kind.OWN_DATA, account_id=account_id, key=f"own-data:{file_id}")


def fail(session: Session, file_id: uuid.UUID) -> None:
    """Mark a file that could not be made, so that its person can ask again."""
    bulk.change(session, _unmade(file_id).values(failed_at=clock.now()))


def remove(session: Session, account_id: uuid.UUID) -> None:
    """Remove the account's file."""
    bulk.change(session, sa.delete(OwnDataFile).where(OwnDataFile.account_id == account_id))


def remove_old(session: Session) -> None:
    """Remove files that are older than they are kept."""
    bulk.change(session, sa.delete(OwnDataFile).where(_is_old()))


def _unmade(file_id: uuid.UUID) -> sa.Update:
    return sa.update(OwnDataFile).where(OwnDataFile.id == file_id, OwnDataFile.made_at.is_(None))


def _is_old() -> sa.ColumnElement[bool]:
    return sa.func.coalesce(OwnDataFile.made_at, OwnDataFile.asked_at) < clock.now() - KEPT
