"""Fact-checks as vectors, by which they are found by their meaning (docs/moderate/fact-checks.md)."""

import uuid
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, Stamped
from app.core.ids import new_id
from app.core.types import UtcDateTime


class VectorSpace(Stamped, Base):
    """The vectors that one model of a connected service gave to the fact-checks of its community.

    ``identity`` names service address, model and what else changes vectors; ``settings_version`` has them.
    ``dimensions`` is 0 before the first vector. Posts are compared with it from ``complete_at`` on. ``covered`` says
    of which state of the datasets every item has its vector. ``leased_until``: no other job works on it until then.
    ``problem`` is why the job could not go on, empty while it can.
    """

    __tablename__ = "vector_spaces"
    __table_args__ = (sa.UniqueConstraint("service_id", "identity"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    service_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("connected_services.id"))
    settings_version: Mapped[int] = mapped_column()
    identity: Mapped[str] = mapped_column(sa.String(64))
    dimensions: Mapped[int] = mapped_column(default=0)
    covered: Mapped[str] = mapped_column(sa.String(60), default="")
    complete_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    leased_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    problem: Mapped[str] = mapped_column(sa.String(255), default="")


class FactCheckVector(Base):
    """The vector of one fact-check in one space: numbers of two bytes (float16), the low byte first.

    ``number`` is the item's in the full-text index when its text was sent: it changes with the text. ``sha256`` is of
    that text, so that equal texts are sent once. ``vector`` is empty if the service refuses the text. ``position``
    grows with every stored vector, so that a process reads only what is new to it.
    """

    __tablename__ = "fact_check_vectors"
    __table_args__ = (
        sa.Index("ix_fact_check_vectors_space_id_position", "space_id", "position"),
        sa.Index("ix_fact_check_vectors_space_id_sha256", "space_id", "sha256"),
        sa.Index("ix_fact_check_vectors_item_id", "item_id"),
    )

    space_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("vector_spaces.id"), primary_key=True)
    item_id: Mapped[uuid.UUID] = mapped_column(
        sa.ForeignKey("fact_check_items.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column()
    sha256: Mapped[str] = mapped_column(sa.String(64))
    vector: Mapped[bytes] = mapped_column(sa.LargeBinary)
    position: Mapped[int] = mapped_column()
