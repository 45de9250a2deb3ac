"""SQLite's index of parts of words (FTS5 with trigrams), which triggers keep; PostgreSQL has ``pg_trgm`` for the same.

PostgreSQL decides by itself when to use its index. For SQLite it is asked first here, and only what is rare is looked
up by it: a common text is found quickly without. The index ignores case in more scripts than SQLite's LIKE, so it only
narrows down a search, and the search's own condition stays.
"""

import uuid
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

LEAST_CHARACTERS = 3
"""Shorter texts have no trigram; they are looked for row by row."""
FEW = 1_000
MERGED_PAGES = 500
"""How many pages of the index one step of ``tidy`` writes, about."""
_EXISTS = sa.text("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = :name")
_WRITTEN = sa.text("SELECT total_changes()")

_MATCHING = {
    # The ids are given back as the tables store them.
    table: sa.text(
        f"SELECT id FROM search_{table}_rows WHERE number IN "  # noqa: S608 - our own words
        f"(SELECT rowid FROM search_{table} WHERE search_{table} MATCH :phrase LIMIT :most)"
    ).columns(id=sa.Uuid())
    for table in ("requests", "history_texts")
}


def posts(session: Session, text: str) -> Sequence[uuid.UUID] | None:
    """The posts of all communities that may have ``text``, or None: there are many, or no index can tell."""
    return _ids(session, "requests", text)


def reasons(session: Session, text: str) -> Sequence[uuid.UUID] | None:
    """The history entries of all communities that may have ``text`` in their reason, or None as ``posts``."""
    return _ids(session, "history_texts", text)


def _ids(session: Session, table: str, text: str) -> Sequence[uuid.UUID] | None:
    if session.get_bind().dialect.name != "sqlite" or len(text) < LEAST_CHARACTERS or "\x00" in text:
        return None
    if not _has_index(session, table):
        return None
    phrase = '"' + text.replace('"', '""') + '"'
    found = session.scalars(_MATCHING[table], {"phrase": phrase, "most": FEW + 1}).all()
    return found if len(found) <= FEW else None


def _has_index(session: Session, table: str) -> bool:
    return session.scalar(_EXISTS, {"name": f"search_{table}"}) is not None


def tidy(session: Session, *, is_first: bool) -> bool:
    """Let the index drop a part of what it holds of removed texts; return whether there may be more of it.

    It marks what is removed, as fast as it adds, and drops it when it merges its parts: here, a step at a time, so
    that other writers need not wait. ``is_first``: the first step of a run, which chooses all parts.
    """
    if session.get_bind().dialect.name != "sqlite":
        return False
    before = session.scalar(_WRITTEN)
    for table in _MATCHING:
        if _has_index(session, table):
            pages = -MERGED_PAGES if is_first else MERGED_PAGES
            merge = sa.text(f"INSERT INTO search_{table} (search_{table}, rank) VALUES ('merge', :pages)")  # noqa: S608
            session.execute(merge, {"pages": pages})
    # A step that has nothing to do writes one row for each index.
    return (session.scalar(_WRITTEN) or 0) - (before or 0) > len(_MATCHING)
