"""A community's own classifier rules: immutable numbered versions, and one draft that operators edit."""

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
    """One version of a community's rules; never changed after it is written.

    ``starter_off`` lists the rules of the shipped pack that are switched off here; ``pack`` is the community's own
    pack as `classify.rules.parse_pack` reads it, with empty ``rules`` when it has none.
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
    """Unpublished changes. ``etag`` increases with every change, so that a form on a stale page is refused."""

    __tablename__ = "rule_pack_drafts"

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    starter_off: Mapped[list[str]] = mapped_column(sa.JSON, default=list)
    pack: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    etag: Mapped[int] = mapped_column("edition", default=1)
    changed_by: Mapped[str] = mapped_column(sa.String(255))
    changed_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class SlowRule(Base):
    """A rule that used most of the time when the scan of a text ran out of time.

    ``version`` is the classifier's version then, ``texts`` how often it happened, ``milliseconds`` the longest run.
    """

    __tablename__ = "slow_rules"

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    rule: Mapped[str] = mapped_column(sa.String(80), primary_key=True)
    version: Mapped[str] = mapped_column(sa.String(100))
    texts: Mapped[int] = mapped_column(default=0)
    milliseconds: Mapped[int] = mapped_column(default=0)
    last_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
