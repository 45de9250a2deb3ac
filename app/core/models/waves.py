"""Facts stored with posts, the marks that they are counted by, and waves of posts alike (docs/moderate/waves.md)."""

import uuid
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core import clock
from app.core.db import Base
from app.core.ids import new_id
from app.core.types import UtcDateTime, word
from app.core.vocabulary import ActionType, ActionVerb


class PostFacts(Base):
    """The facts of one post when it was scored, by the names of ``classify.facts``; None: not known.

    ``signature``: the MinHash of a long text (``classify.likeness``). It leaves with the post's content.
    """

    __tablename__ = "post_facts"

    request_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("requests.id"), primary_key=True)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    author_posts_hour: Mapped[int | None] = mapped_column()
    author_posts_day: Mapped[int | None] = mapped_column()
    author_links_hour: Mapped[int | None] = mapped_column()
    author_links_day: Mapped[int | None] = mapped_column()
    host_posts_hour: Mapped[int | None] = mapped_column()
    host_posts_day: Mapped[int | None] = mapped_column()
    alike_hour: Mapped[int | None] = mapped_column()
    alike_day: Mapped[int | None] = mapped_column()
    alike_authors: Mapped[int | None] = mapped_column()
    account_age_hours: Mapped[int | None] = mapped_column()
    trust_level: Mapped[int | None] = mapped_column()
    posts_count: Mapped[int | None] = mapped_column()
    signature: Mapped[bytes | None] = mapped_column(sa.LargeBinary)


class PostMark(Base):
    """A post counts under this mark: of its author, of a host that it links to, or of a part of its text.

    ``mark``: 64 bits of a digest. ``post_id``: of an edit, the post that it edits. Pruned after two days.
    """

    __tablename__ = "post_marks"
    __table_args__ = (sa.Index("ix_post_marks_at", "at", postgresql_using="brin"),)

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    mark: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True)
    post_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(UtcDateTime)


class Wave(Base):
    """Posts alike of one category, whose actions name it (``Action.wave_id``).

    ``request_id``: its first post, which all others are compared with. ``joins``: while True, later posts alike are
    decided as the last decision about the wave says, as the account that made it.
    """

    __tablename__ = "waves"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    request_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("requests.id"), index=True)
    category: Mapped[str | None] = mapped_column(sa.String(40))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
    joins: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    decided_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    account_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("accounts.id"), index=True)
    verb: Mapped[ActionVerb | None] = mapped_column(word(ActionVerb))
    act_as: Mapped[ActionType | None] = mapped_column(word(ActionType))
    reason: Mapped[str | None] = mapped_column(sa.Text)
    author_text: Mapped[str | None] = mapped_column(sa.Text)
