"""The audit history: append-only, hash-chained per community."""

import uuid
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.core.db import Base
from app.core.ids import new_id
from app.core.types import UtcDateTime

_OF_ACTION = sa.text("object_type = 'action'")
NOT_ABOUT_POSTS = "object_type NOT IN ('action', 'note', 'rating', 'request')"
"""The few entries about settings and people. An index repeats it."""


class HistoryEntry(Base):
    """Who did what to which object, before and after. ``hash`` covers every column and the previous hash.

    Personal data and free text are in ``HistoryText``; only their salted hash is chained, so that erasing a person
    does not break the chain.

    ``action_type``, ``category``, ``author`` and ``language`` are copies for the filters of the moderators' history
    (``history.facts``), set only where the object is an action. They are not chained, because an author can be
    erased: ``chain.verify`` compares them with the action and its post.
    """

    __tablename__ = "history"
    __table_args__ = (
        sa.UniqueConstraint("community_id", "number"),
        sa.Index("ix_history_community_id_at", "community_id", "at"),
        sa.Index("ix_history_object", "object_type", "object_id"),
        # The moderators' history: of all actions, and of those that came to one state.
        sa.Index(
            "ix_history_actions",
            "community_id",
            "number",
            "what",
            "at",
            sqlite_where=_OF_ACTION,
            postgresql_where=_OF_ACTION,
        ),
        sa.Index(
            "ix_history_actions_what",
            "community_id",
            "what",
            "number",
            sqlite_where=_OF_ACTION,
            postgresql_where=_OF_ACTION,
        ),
        *(
            sa.Index(
                f"ix_history_actions_{column}",
                "community_id",
                column,
                "number",
                sqlite_where=_OF_ACTION,
                postgresql_where=_OF_ACTION,
            )
            for column in ("action_type", "category", "author", "language", "account_id")
        ),
        # What one person did, in all communities: for what is kept of them, and for erasing it.
        *(
            sa.Index(
                f"ix_history_{column}",
                column,
                sqlite_where=sa.text(f"{column} IS NOT NULL"),
                postgresql_where=sa.text(f"{column} IS NOT NULL"),
            )
            for column in ("account_id", "profile_id")
        ),
        sa.Index(
            "ix_history_not_about_posts",
            "community_id",
            "number",
            sqlite_where=sa.text(NOT_ABOUT_POSTS),
            postgresql_where=sa.text(NOT_ABOUT_POSTS),
        ),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    number: Mapped[int] = mapped_column()
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    actor_kind: Mapped[str] = mapped_column(sa.String(10))
    account_id: Mapped[uuid.UUID | None] = mapped_column()
    key_id: Mapped[uuid.UUID | None] = mapped_column()
    profile_id: Mapped[uuid.UUID | None] = mapped_column()
    what: Mapped[str] = mapped_column(sa.String(60))
    object_type: Mapped[str] = mapped_column(sa.String(40))
    object_id: Mapped[uuid.UUID] = mapped_column()
    before: Mapped[dict[str, Any]] = mapped_column(sa.JSON, default=dict)
    after: Mapped[dict[str, Any]] = mapped_column(sa.JSON, default=dict)
    cause: Mapped[str] = mapped_column(sa.String(255), default="")
    text_hash: Mapped[str] = mapped_column(sa.String(64))
    previous_hash: Mapped[str] = mapped_column(sa.String(64))
    hash: Mapped[str] = mapped_column(sa.String(64))
    action_type: Mapped[str | None] = mapped_column(sa.String(20))
    category: Mapped[str | None] = mapped_column(sa.String(40))
    author: Mapped[str | None] = mapped_column(sa.String(255))
    language: Mapped[str | None] = mapped_column(sa.String(8))

    text: Mapped["HistoryText"] = relationship(lazy="raise")


class HistoryText(Base):
    """The erasable part of a history entry: the actor's name and the reason they gave."""

    __tablename__ = "history_texts"
    __table_args__ = (
        sa.Index(
            "ix_history_texts_search",
            "actor_name",
            "reason",
            postgresql_using="gin",
            postgresql_ops={"actor_name": "gin_trgm_ops", "reason": "gin_trgm_ops"},
        ).ddl_if(dialect="postgresql"),
    )

    entry_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("history.id"), primary_key=True)
    salt: Mapped[str] = mapped_column(sa.String(32))
    actor_name: Mapped[str] = mapped_column(sa.String(255))
    reason: Mapped[str] = mapped_column(sa.Text, default="")
    comment: Mapped[str] = mapped_column(sa.Text, default="")
    erased_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class RetentionMark(Base):
    """How far a community's history and scores were removed, and its history verified.

    ``history_number``, ``history_hash`` and ``history_at`` are of the last entry removed: 0 and the chain's beginning
    where none was. ``verified_number`` and ``verified_hash`` are of the last entry that was found unaltered. Scores of
    requests that were scored before ``scores_until`` were removed; those in review kept theirs, none of them scored
    before ``scores_kept_from`` (None: not known).
    """

    __tablename__ = "retention_marks"

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    history_number: Mapped[int] = mapped_column(default=0)
    history_hash: Mapped[str] = mapped_column(sa.String(64))
    history_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    verified_number: Mapped[int] = mapped_column(default=0)
    verified_hash: Mapped[str] = mapped_column(sa.String(64))
    scores_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    scores_kept_from: Mapped[datetime | None] = mapped_column(UtcDateTime)
