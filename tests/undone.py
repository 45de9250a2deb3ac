"""Changes that are undone."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from app.core.db import Database


@contextmanager
def undone(database: Database) -> Iterator[Session]:
    """A transaction that is rolled back when the block ends."""
    with Session(database.engine, autoflush=False, info=database.info) as session:
        yield session
