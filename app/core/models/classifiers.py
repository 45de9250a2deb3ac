"""A community's own rules: immutable numbered versions, and the one draft that operators work on."""

import uuid
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core import clock
from app.core.db import Base
from app.core.ids import new_id
from app.core.types import UtcDateTime


class RulePackVersion(Base):
    """One version of what a community's rules are; never changed once written.

    ``starter_off`` names the rules of the shipped pack that are switched off here; ``pack`` is the community's own
    pack as `classify.rules.parse_pack` reads it, with ``rules`` empty when it has none.
    """

    __tablename__ = "rule_packs"
    __table_args__ = (sa.UniqueConstraint("community_id", "version"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    version: Mapped[int] = mapped_column()
    starter_off: Mapped[list[str]] = mapped_column(sa.JSON, default=list)
    pack: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    reason: Mapped[str] = mapped_column(sa.Text)
    made_by: Mapped[str] = mapped_column(sa.String(255))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class RulePackDraft(Base):
    """Changes that are not in force yet. ``etag`` rises with every change, so a stale page is noticed."""

    __tablename__ = "rule_pack_drafts"

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    starter_off: Mapped[list[str]] = mapped_column(sa.JSON, default=list)
    pack: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    etag: Mapped[int] = mapped_column("edition", default=1)
    changed_by: Mapped[str] = mapped_column(sa.String(255))
    changed_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class SlowRule(Base):
    """A rule that took the most of a text's time when that ran out, with the classifier's ``version`` then.

    ``texts`` is how often, ``milliseconds`` the most that it took.
    """

    __tablename__ = "slow_rules"

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    rule: Mapped[str] = mapped_column(sa.String(80), primary_key=True)
    version: Mapped[str] = mapped_column(sa.String(100))
    texts: Mapped[int] = mapped_column(default=0)
    milliseconds: Mapped[int] = mapped_column(default=0)
    last_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
