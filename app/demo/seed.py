"""Fills an empty database with one empty community, or with the demo and its six weeks of content.

It does this completely or not at all, and only if the database is empty.
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
from app.demo import pictures, sign_ins
from app.demo.pictures import KeepPicture
from app.demo.sign_ins import Demo
from app.demo.story import Story

FIRST = "local/main"
"""Platform and id of the first community of a database without the demo."""

_LOCK = uuid.UUID("00000000-0000-7000-8000-000000000001")


def is_empty(session: Session) -> bool:
    """Whether the database is empty."""
    return not accounts.has_any(session) and session.scalar(sa.select(Community.id).limit(1)) is None


def open_first_community(session: Session) -> bool:
    """Create one community, platform ``local``, for real use. Returns False if the database is not empty."""
    serialise(session, _LOCK)
    if not is_empty(session):
        return False
    communities.open_community(session, SYSTEM, *FIRST.split("/"))
    return True


def seed(
    database: Database,
    classifiers: Sequence[Classifier],
    sealer: Sealer,
    folder: Path,
    keep_picture: KeepPicture | None = None,
) -> Demo | None:
    """Fill an empty database with the demo and save the sign-ins in ``folder``.

    ``keep_picture`` stores the pictures of some posts; without it they have none. Returns None, and
    changes nothing, if the database is not empty.
    """
    try:
        with database.writing() as session:
            # If two processes start together, the second waits here and then finds the database filled.
            serialise(session, _LOCK)
            if not is_empty(session):
                return None
            demo = Story(session, classifiers, sealer, clock.now()).tell()
            if keep_picture is not None:
                pictures.attach(session, keep_picture)
            # The demo's community is six weeks old, so hide the first steps for new communities.
            session.execute(sa.update(Community).values(getting_started_hidden_at=Community.created_at))
            # Discard the jobs that the verbs enqueued: the story has already done their work.
            outbox.take_jobs(session)
            sign_ins.save(demo, folder)
        return demo
    finally:
        clock.set_source(None)


def load_demo(session: Session, folder: Path) -> Demo | None:
    """Return the sign-ins saved by an earlier seeding, if they belong to this database."""
    demo = sign_ins.load(folder)
    parts = demo.api_key.split("_") if demo is not None else []
    if len(parts) < 2:
        return None
    key_id = session.scalar(sa.select(ApiKey.id).where(ApiKey.public_part == parts[1]))
    return demo if key_id is not None else None
