"""What scores posts for a community: its own rules, and connected services with their settings and what they did."""

import uuid
from datetime import date, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core import clock
from app.core.db import Base, Stamped
from app.core.ids import new_id
from app.core.types import UtcDateTime, word
from app.core.vocabulary import ServiceMode


class ConnectedService(Stamped, Base):
    """A service that a community's operators added. Its settings are in ``ServiceVersion``.

    ``version`` is the number of the settings in use; a newer one waits until it is put in force. ``key`` is sealed for
    the row's id. ``consents`` maps each host that may be sent posts to when an operator agreed, and to the operator's
    account. ``model_seen`` is the model that the service named last, ``model_before`` the one before that.
    ``etag`` increases with every change, so that a form on a stale page is refused.
    """

    __tablename__ = "connected_services"
    __table_args__ = (
        sa.Index(
            "uq_connected_services_community_id_name",
            "community_id",
            "name",
            unique=True,
            sqlite_where=sa.text("removed_at IS NULL"),
            postgresql_where=sa.text("removed_at IS NULL"),
        ),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    name: Mapped[str] = mapped_column(sa.String(40))
    kind: Mapped[str] = mapped_column(sa.String(40))
    mode: Mapped[ServiceMode] = mapped_column(word(ServiceMode), default=ServiceMode.OBSERVE)
    version: Mapped[int] = mapped_column(default=1)
    key: Mapped[bytes | None] = mapped_column(sa.LargeBinary)
    consents: Mapped[dict[str, Any]] = mapped_column(sa.JSON, default=dict)
    model_seen: Mapped[str] = mapped_column(sa.String(100), default="")
    model_before: Mapped[str] = mapped_column(sa.String(100), default="")
    model_changed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    etag: Mapped[int] = mapped_column(default=1)
    removed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class ServiceVersion(Base):
    """One version of a service's settings (``core.services.settings.ServiceSettings`` as JSON); never changed.

    ``made_by_id`` is an account; its name is looked up when shown, so that erasing an account erases it here too.
    """

    __tablename__ = "connected_service_versions"
    __table_args__ = (sa.UniqueConstraint("service_id", "version"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    service_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("connected_services.id"))
    version: Mapped[int] = mapped_column()
    settings: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    reason: Mapped[str] = mapped_column(sa.Text)
    made_by_id: Mapped[uuid.UUID | None] = mapped_column()
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class ServiceDay(Base):
    """What a service did on one day (UTC): calls made, of them failed, answers from the cache, and the cost.

    ``milliseconds`` counts the calls by their time: one number for each of ``core.services.calls.BOUNDS``, and one
    for slower ones.
    """

    __tablename__ = "connected_service_days"

    service_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("connected_services.id"), primary_key=True)
    day: Mapped[date] = mapped_column(sa.Date, primary_key=True)
    requests: Mapped[int] = mapped_column(default=0)
    errors: Mapped[int] = mapped_column(default=0)
    cached: Mapped[int] = mapped_column(default=0)
    cost: Mapped[float] = mapped_column(sa.Float, default=0.0)
    milliseconds: Mapped[list[int]] = mapped_column(sa.JSON, default=list)
    last_error: Mapped[str] = mapped_column(sa.String(255), default="")


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
