"""What note scoring keeps: the fits of a community, its raters' parameters, each note's sums.

Parameters and sums belong to one fit, the ``version``; a new fit writes its own beside them and takes over by one
UPDATE of ``ScoringState``. They are derived from the ratings and can be thrown away at any time, so they carry no
foreign keys: those would cost more than the rows themselves when 100,000 are written.
"""

import uuid
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core import clock
from app.core.db import Base
from app.core.ids import new_id
from app.core.types import UtcDateTime


class ScoringModel(Base):
    """One fit of one community: ``parameters`` is ``scoring.Model`` as JSON. Never changed once written."""

    __tablename__ = "scoring_models"
    __table_args__ = (sa.UniqueConstraint("community_id", "version"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    version: Mapped[int] = mapped_column()
    regime: Mapped[str] = mapped_column(sa.String(10))
    parameters: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    ratings: Mapped[int] = mapped_column()
    notes: Mapped[int] = mapped_column()
    raters: Mapped[int] = mapped_column()
    milliseconds: Mapped[int] = mapped_column()
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)


class ScoringState(Base):
    """Which fit is in force in a community, and when the next is due.

    ``model_version`` 0: none, the cold regime. ``last_version`` was given to some fit, finished or not: no number is
    given twice. ``ratings_since`` counts what the last finished fit has not seen. The fit that runs holds the lease:
    ``lease_owner`` until ``lease_until``. ``camps`` is what the fits so far found of camps (``scoring.Camps`` as
    JSON), None before the first: the next fit begins with it.
    """

    __tablename__ = "scoring_states"
    __table_args__ = (sa.Index("ix_scoring_states_refit_due_at", "refit_due_at"),)

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    model_version: Mapped[int] = mapped_column(default=0)
    last_version: Mapped[int] = mapped_column(default=0)
    ratings_since: Mapped[int] = mapped_column(default=0)
    ratings_fitted: Mapped[int] = mapped_column(default=0)
    fitted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    fit_milliseconds: Mapped[int] = mapped_column(default=0)
    refit_due_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    lease_owner: Mapped[uuid.UUID | None] = mapped_column()
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    camps: Mapped[dict[str, Any] | None] = mapped_column(sa.JSON(none_as_null=True))


class RaterParameters(Base):
    """What one fit found of one rater (``scoring.Rater``); ``helpfulness`` 0.0 to 1.0, None while unknown.

    ``acting_intercept`` and ``acting_factor`` are those of the model by which notes that act are judged, where the
    fit has one of its own; None for a rater whom that model does not know.
    """

    __tablename__ = "rater_parameters"

    community_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    profile_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    intercept: Mapped[float] = mapped_column(sa.Float)
    factor: Mapped[float] = mapped_column(sa.Float)
    helpfulness: Mapped[float | None] = mapped_column(sa.Float)
    kept: Mapped[bool] = mapped_column()
    volume: Mapped[bool] = mapped_column()
    correlated: Mapped[bool] = mapped_column()
    acting_intercept: Mapped[float | None] = mapped_column(sa.Float)
    acting_factor: Mapped[float | None] = mapped_column(sa.Float)


class NoteSums(Base):
    """The sums over one note's ratings under one fit (``scoring.Sums`` as a list).

    They hold while ``note_version`` and ``rating_changes`` are the note's own; otherwise somebody rated while these
    were computed, or the text was changed, and they are made again from the ratings.
    """

    __tablename__ = "note_sums"

    community_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    note_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    note_version: Mapped[int] = mapped_column()
    rating_changes: Mapped[int] = mapped_column()
    sums: Mapped[list[float]] = mapped_column(sa.JSON)
