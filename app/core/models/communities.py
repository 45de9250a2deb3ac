"""Communities and the threshold sets that route their content: immutable numbered versions."""

import uuid
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.core import clock
from app.core.db import Base, Stamped
from app.core.ids import new_id
from app.core.types import UtcDateTime, word
from app.core.vocabulary import ReviewGroup, Verb


class Community(Stamped, Base):
    """A community server of a platform (docs/integrate/api.md).

    ``settings`` is what operators set (``community_settings``); ``supplied`` is a free object that integrations
    write and read back. The two are never mixed. While ``paused_at`` is set, Tier 1 goes to review; once
    ``archived_at`` is set, nothing in the community changes any more. ``getting_started_hidden_at``: when an
    operator hid the list of first steps on the start page.
    """

    __tablename__ = "communities"
    __table_args__ = (sa.UniqueConstraint("platform", "platform_community_server_id"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    platform: Mapped[str] = mapped_column(sa.String(50))
    platform_community_server_id: Mapped[str] = mapped_column(sa.String(255))
    slug: Mapped[str] = mapped_column(sa.String(255), unique=True)
    name: Mapped[str] = mapped_column(sa.String(255))
    description: Mapped[str | None] = mapped_column(sa.Text)
    policy_text: Mapped[str | None] = mapped_column(sa.Text)
    is_active: Mapped[bool] = mapped_column(default=True)
    is_public: Mapped[bool] = mapped_column(default=True)
    ai_notes_enabled: Mapped[bool] = mapped_column(default=True)
    settings: Mapped[dict[str, Any]] = mapped_column(sa.JSON, default=dict)
    supplied: Mapped[dict[str, Any]] = mapped_column(sa.JSON, default=dict, server_default=sa.text("'{}'"))
    server_stats: Mapped[dict[str, Any] | None] = mapped_column(sa.JSON)
    archived_at: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)
    paused_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    paused_by: Mapped[str | None] = mapped_column(sa.String(255))
    paused_reason: Mapped[str | None] = mapped_column(sa.Text)
    getting_started_hidden_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class ThresholdSet(Base):
    """One version of a community's category configuration; never changed after it is written."""

    __tablename__ = "policies"
    __table_args__ = (sa.UniqueConstraint("community_id", "version"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    version: Mapped[int] = mapped_column()
    reason: Mapped[str] = mapped_column(sa.Text)
    made_by: Mapped[str] = mapped_column(sa.String(255))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)

    categories: Mapped[list["Category"]] = relationship(
        lazy="raise", order_by="Category.severity.desc(), Category.name"
    )


class Category(Base):
    """One category of one threshold set. Thresholds are 0.0 to 1.0; ``tier1`` None never acts without review.

    ``severity`` breaks ties between categories, higher first. ``observe_only``: the outcome is recorded with the
    score, but no action is opened. ``target_minutes``: within which time people should decide; None: by severity.
    ``author_text``: what the author of a post is told with a warning; None: the shipped text.
    ``report_threshold``: the weight of open reports from which on people are asked about a post; None: never.
    ``strike_points``: what an applied action counts against its author, for ``strike_days``.
    """

    __tablename__ = "categories"
    __table_args__ = (
        sa.UniqueConstraint("policy_id", "name"),
        sa.CheckConstraint("tier2 >= 0 AND tier2 <= 1", name="tier2_range"),
        sa.CheckConstraint("tier1 IS NULL OR (tier1 <= 1 AND tier2 <= tier1)", name="tier2_at_most_tier1"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    threshold_set_id: Mapped[uuid.UUID] = mapped_column("policy_id", sa.ForeignKey("policies.id"))
    name: Mapped[str] = mapped_column(sa.String(40))
    enabled: Mapped[bool] = mapped_column(default=True)
    observe_only: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    tier1: Mapped[float | None] = mapped_column(sa.Float)
    tier2: Mapped[float] = mapped_column(sa.Float)
    tier1_action: Mapped[Verb] = mapped_column(word(Verb), default=Verb.HIDE)
    tier2_action: Mapped[Verb] = mapped_column(word(Verb), default=Verb.HIDE)
    review_group: Mapped[ReviewGroup] = mapped_column(word(ReviewGroup), default=ReviewGroup.COMMUNITY)
    severity: Mapped[int] = mapped_column(default=0)
    requires: Mapped[list[str]] = mapped_column(sa.JSON, default=list)
    on_error: Mapped[str] = mapped_column(sa.String(10), default="retry")
    target_minutes: Mapped[int | None] = mapped_column()
    author_text: Mapped[str | None] = mapped_column(sa.Text)
    strike_points: Mapped[int] = mapped_column(default=0, server_default=sa.text("0"))
    strike_days: Mapped[int] = mapped_column(default=90, server_default=sa.text("90"))
    report_threshold: Mapped[float | None] = mapped_column(sa.Float, server_default=sa.text("1"))
