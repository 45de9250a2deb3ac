"""Events, the webhooks that receive them, deliveries and every attempt."""

import uuid
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.core import clock
from app.core.db import Base, Stamped
from app.core.ids import new_id
from app.core.types import UtcDateTime, word
from app.core.vocabulary import DeliveryState, EventName


class Webhook(Stamped, Base):
    """A registered webhook. Secrets are sealed; ``previous_secret`` also signs until ``previous_until``.

    ``FormerSecret`` has those before the previous one that still sign.
    """

    __tablename__ = "webhook_endpoints"
    __table_args__ = (
        sa.Index(
            "uq_webhook_endpoints_community_id_url",
            "community_id",
            "url",
            unique=True,
            sqlite_where=sa.text("deleted_at IS NULL"),
            postgresql_where=sa.text("deleted_at IS NULL"),
        ),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    key_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("api_keys.id"))
    url: Mapped[str] = mapped_column(sa.String(2048))
    secret: Mapped[bytes] = mapped_column(sa.LargeBinary)
    previous_secret: Mapped[bytes | None] = mapped_column(sa.LargeBinary)
    previous_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    events: Mapped[list[str] | None] = mapped_column(sa.JSON(none_as_null=True))
    is_active: Mapped[bool] = mapped_column(default=True)
    disabled_reason: Mapped[str | None] = mapped_column(sa.Text)
    failures: Mapped[int] = mapped_column(default=0)
    gone_answers: Mapped[int] = mapped_column(default=0)
    failing_since: Mapped[datetime | None] = mapped_column(UtcDateTime)
    last_success_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    deleted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class FormerSecret(Base):
    """A secret of a webhook that was replaced before ``previous_secret`` and also signs until ``until``.

    It is sealed for its own id, like every sealed value.
    """

    __tablename__ = "webhook_former_secrets"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    webhook_id: Mapped[uuid.UUID] = mapped_column(
        "endpoint_id", sa.ForeignKey("webhook_endpoints.id"), index=True
    )
    secret: Mapped[bytes] = mapped_column(sa.LargeBinary)
    until: Mapped[datetime] = mapped_column(UtcDateTime)


class Event(Base):
    """Something that happened, written in the same transaction as the change. ``id`` is the ``event_id``."""

    __tablename__ = "events"
    __table_args__ = (sa.Index("ix_events_community_id_created_at", "community_id", "created_at"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    name: Mapped[EventName] = mapped_column(word(EventName))
    payload: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    request_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("requests.id"), index=True)
    action_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("moderation_actions.id"))
    note_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("notes.id"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class Delivery(Stamped, Base):
    """One event to be sent to one webhook. Workers claim it by a lease; a retry sets ``due_at``.

    ``event_name`` is the event's, for an index with both it and the community.
    """

    __tablename__ = "deliveries"
    __table_args__ = (
        sa.UniqueConstraint("event_id", "endpoint_id"),
        sa.Index("ix_deliveries_state_due_at", "state", "due_at"),
        sa.Index("ix_deliveries_endpoint_id_state", "endpoint_id", "state", "due_at"),
        sa.Index("ix_deliveries_community_id_created_at", "community_id", "created_at"),
        sa.Index(
            "ix_deliveries_community_id_event_name_created_at", "community_id", "event_name", "created_at"
        ),
        sa.Index(
            "ix_deliveries_dead",
            "community_id",
            "created_at",
            sqlite_where=sa.text("state = 'dead'"),
            postgresql_where=sa.text("state = 'dead'"),
        ),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    event_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("events.id"))
    event_name: Mapped[EventName | None] = mapped_column(word(EventName))
    webhook_id: Mapped[uuid.UUID] = mapped_column("endpoint_id", sa.ForeignKey("webhook_endpoints.id"))
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    state: Mapped[DeliveryState] = mapped_column(word(DeliveryState), default=DeliveryState.DUE)
    due_at: Mapped[datetime | None] = mapped_column(UtcDateTime, default=clock.now)
    leased_by: Mapped[str | None] = mapped_column(sa.String(100))
    leased_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    attempts_made: Mapped[int] = mapped_column(default=0)
    delivered_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    event: Mapped[Event] = relationship(lazy="raise")
    webhook: Mapped[Webhook] = relationship(lazy="raise")


class Attempt(Base):
    """One attempt of a delivery: the status, the time in milliseconds, and the first 1 KB of the answer.

    ``webhook_id`` is the delivery's: a webhook's newest attempts are found by it.
    """

    __tablename__ = "delivery_attempts"
    __table_args__ = (
        sa.Index("ix_delivery_attempts_at", "at"),
        sa.Index("ix_delivery_attempts_endpoint_id_at", "endpoint_id", "at"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    delivery_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("deliveries.id"), index=True)
    webhook_id: Mapped[uuid.UUID | None] = mapped_column("endpoint_id")
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    status: Mapped[int | None] = mapped_column()
    milliseconds: Mapped[int] = mapped_column()
    excerpt: Mapped[str] = mapped_column(sa.Text, default="")
    error: Mapped[str | None] = mapped_column(sa.String(255))


class Replay(Stamped, Base):
    """A range of deliveries that an operator sends again, in batches by delivery id.

    ``filters`` says which ones, as JSON of ``deliveries.Filters``; ``last_id`` is the last delivery of the last
    batch, so that a resumed replay repeats none. ``sent`` of ``total`` were put back into the queue so far;
    ``stopped`` says why it ended early.
    """

    __tablename__ = "replays"
    __table_args__ = (sa.Index("ix_replays_community_id_created_at", "community_id", "created_at"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    filters: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    total: Mapped[int] = mapped_column()
    sent: Mapped[int] = mapped_column(default=0)
    last_id: Mapped[uuid.UUID | None] = mapped_column()
    stopped: Mapped[str | None] = mapped_column(sa.Text)
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
