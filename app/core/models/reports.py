"""Reports of posts by people, and reporters whose reports count nothing for a time."""

import uuid
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.core import clock
from app.core.db import Base, Stamped
from app.core.ids import new_id
from app.core.models.content import Request
from app.core.models.people import Profile
from app.core.types import UtcDateTime, word
from app.core.vocabulary import OUTCOMES, ReportOrigin, ReportOutcome, ReportState

_OPEN = sa.text("state = 'open'")
_COUNTS = sa.text("state <> 'withdrawn'")


class Report(Stamped, Base):
    """One person's report of one post (docs/integrate/reports.md). Only ``moves.make_move`` changes its state.

    ``report_id`` is the integration's string, unique in the community. ``request_id`` is the post's first request.
    ``reporter_ref`` is the reporter as it was sent. ``weight`` (0.0 to 1.0), ``side`` (-1, 0 or 1 of the axis that
    ratings taught, 0 unknown) and ``is_newcomer`` say how much the report weighs, as known when it came in
    (``reports.weighing``). ``is_late``: it came in after the decision about the post. ``outcome_text``: the words
    in which the reporter hears the outcome.
    """

    __tablename__ = "reports"
    __table_args__ = (
        sa.UniqueConstraint("community_id", "report_id"),
        sa.Index(
            "uq_reports_request_id_reporter_id",
            "request_id",
            "reporter_id",
            unique=True,
            sqlite_where=_COUNTS,
            postgresql_where=_COUNTS,
        ),
        # All that the weight of a post's reports takes, so that thousands of reports of one post are summed in it.
        sa.Index(
            "ix_reports_post", "request_id", "state", "is_late", "category", "side", "is_newcomer", "weight"
        ),
        # What waits for a decision, oldest first.
        sa.Index("ix_reports_open", "created_at", sqlite_where=_OPEN, postgresql_where=_OPEN),
        sa.Index("ix_reports_community_id_reported_at_id", "community_id", "reported_at", "id"),
        sa.Index("ix_reports_reported_at_id", "reported_at", "id"),
        sa.Index("ix_reports_community_id_updated_at_id", "community_id", "updated_at", "id"),
        sa.Index("ix_reports_updated_at_id", "updated_at", "id"),
        sa.Index("ix_reports_state", "community_id", "state", "reported_at", "id"),
        sa.Index("ix_reports_category", "community_id", "category", "reported_at", "id"),
        sa.Index("ix_reports_reporter", "reporter_id", "community_id", "reported_at", "id", "state"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    report_id: Mapped[str] = mapped_column(sa.String(255))
    request_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("requests.id"))
    reporter_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("profiles.id"))
    reporter_ref: Mapped[str] = mapped_column(sa.String(255))
    category: Mapped[str] = mapped_column(sa.String(40))
    text: Mapped[str | None] = mapped_column(sa.Text)
    origin: Mapped[ReportOrigin] = mapped_column(word(ReportOrigin))
    state: Mapped[ReportState] = mapped_column(word(ReportState), default=ReportState.OPEN)
    reported_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
    resolved_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    outcome_text: Mapped[str | None] = mapped_column(sa.Text)
    weight: Mapped[float] = mapped_column(sa.Float, default=0.0)
    side: Mapped[int] = mapped_column(default=0)
    is_newcomer: Mapped[bool] = mapped_column(default=False)
    is_late: Mapped[bool] = mapped_column(default=False)

    request: Mapped[Request] = relationship(lazy="raise", viewonly=True)
    reporter: Mapped[Profile] = relationship(lazy="raise", viewonly=True)

    @property
    def outcome(self) -> ReportOutcome | None:
        """What the reporter hears; None while it is open, and once it is withdrawn."""
        return OUTCOMES.get(self.state)


class MutedReporter(Base):
    """A person whose reports count nothing in a community until a moment, and why."""

    __tablename__ = "muted_reporters"
    __table_args__ = (sa.Index("ix_muted_reporters_profile_id", "profile_id"),)

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    profile_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("profiles.id"), primary_key=True)
    until: Mapped[datetime] = mapped_column(UtcDateTime)
    reason: Mapped[str] = mapped_column(sa.Text)
    account_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("accounts.id"))
    account_name: Mapped[str] = mapped_column(sa.String(255))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
