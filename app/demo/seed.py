"""What a database begins with: one empty community, or the demonstration with six weeks of content.

A database is seeded whole or not at all, and only while nobody has put anything into it.
"""

import uuid
from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, outbox
from app.core.classify import Classifier
from app.core.communities import communities
from app.core.db import Database, serialise
from app.core.models import ApiKey, Community
from app.core.people import accounts
from app.core.permissions import SYSTEM
from app.core.sealing import Sealer
from app.demo import sign_ins
from app.demo.sign_ins import Demo
from app.demo.story import Story

FIRST = "local/main"
"""Platform and id of the community that a database begins with without the demonstration."""

_LOCK = uuid.UUID("00000000-0000-7000-8000-000000000001")


def is_empty(session: Session) -> bool:
    """Whether nobody has put anything here yet."""
    return not accounts.has_any(session) and session.scalar(sa.select(Community.id).limit(1)) is None


def begin(session: Session) -> bool:
    """One community, platform ``local``, for whoever starts in earnest; False when the database is not empty."""
    serialise(session, _LOCK)
    if not is_empty(session):
        return False
    communities.open_community(session, SYSTEM, *FIRST.split("/"))
    return True


def seed(database: Database, classifiers: Sequence[Classifier], sealer: Sealer, folder: Path) -> Demo | None:
    """Fill an empty database and keep the sign-ins in ``folder``; None when it is not empty: nothing happens."""
    try:
        with database.writing() as session:
            # Two that start together: the second waits here, and then finds the work done.
            serialise(session, _LOCK)
            if not is_empty(session):
                return None
            told = Story(session, classifiers, sealer, clock.now()).tell()
            # A month has passed in it: its operators begin at their work, not at the first steps.
            session.execute(sa.update(Community).values(getting_started_hidden_at=Community.created_at))
            # Whatever the verbs left to be done for later, the story has done itself.
            outbox.take_jobs(session)
            sign_ins.keep(told, folder)
        return told
    finally:
        clock.set_source(None)


def kept(session: Session, folder: Path) -> Demo | None:
    """The sign-ins of an earlier seeding, if they belong to this database."""
    found = sign_ins.kept(folder)
    parts = found.api_key.split("_") if found is not None else []
    if len(parts) < 2:
        return None
    known = session.scalar(sa.select(ApiKey.id).where(ApiKey.public_part == parts[1]))
    return found if known is not None else None
