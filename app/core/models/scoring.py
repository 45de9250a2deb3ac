"""Stored results of note scoring: the fits of a community, its raters' parameters, the sums of each note.

Parameters and sums belong to one fit, the ``version``. A new fit writes its own rows and takes effect with one
UPDATE of ``ScoringState``. They are derived from the ratings and can be deleted at any time, so they have no
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
    """One fit of one community: ``parameters`` is ``scoring.Model`` as JSON. Never changed after it is written."""

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
    """Which fit is in force in a community, and when the next one is due.

    ``model_version`` 0: no fit yet, the cold regime. ``last_version`` is the highest number given to any fit,
    finished or not: no number is reused. ``ratings_since`` counts the ratings that the last finished fit did not
    include. A running fit holds the lease: ``lease_owner`` until ``lease_until``. ``camps`` is what previous fits
    learned about camps (``scoring.Camps`` as JSON), None before the first; the next fit starts from it.
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
    """One rater's parameters in one fit (``scoring.Rater``); ``helpfulness`` 0.0 to 1.0, None while unknown.

    ``acting_intercept`` and ``acting_factor`` come from the model that judges notes with an action, if the fit has
    a separate one; None for a rater whom that model does not know.
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

    They are valid while ``note_version`` and ``rating_changes`` equal the note's. Otherwise someone rated during
    the computation, or the text changed, and the sums are computed again from the ratings.
    """

    __tablename__ = "note_sums"

    community_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    note_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    note_version: Mapped[int] = mapped_column()
    rating_changes: Mapped[int] = mapped_column()
    sums: Mapped[list[float]] = mapped_column(sa.JSON)
