"""The score of one note, updated in the same request that changes a rating (docs/develop/consensus.md).

Each note has its sums under the fit in force. A rating adds or subtracts one row, and the verdict needs only the
sums, however many ratings there are.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.core import scoring
from app.core.communities import settings as community_settings
from app.core.communities.settings import CommunitySettings
from app.core.models import Community, Note, NoteSums, RaterParameters, Rating, ScoringModel, ScoringState
from app.core.scoring import VALUES, Model, Rater, Sums, Verdict
from app.core.vocabulary import Classification, NoteStatus

NOT_FITTED = 0
"""The version of a community without a fit in force: the cold regime, which needs no parameters."""

PART = 2_000
"""The most ratings whose raters are looked up by one statement."""


@dataclass(frozen=True)
class Fit:
    """One fit of a community: its version, its model, and the community's settings."""

    community_id: uuid.UUID
    version: int
    model: Model
    settings: CommunitySettings

    def model_of(self, note: Note) -> Model:
        """The model that judges this note: a rationale has an action on a post."""
        return self.model.for_note(acting=note.rationale)


@dataclass(frozen=True)
class Scored:
    """A note's sums, and the fit that they belong to."""

    fit: Fit
    sums: Sums

    def verdict(self, note: Note, *, raised: float = 0.0, was: NoteStatus | None = None) -> Verdict | None:
        """The verdict from the ratings; None while none counts. ``raised`` as in ``decide``.

        ``was``: the last status by ratings, where the note's own status is a moderator's.
        """
        return scoring.decide(
            self.sums,
            self.fit.model_of(note),
            was=note.status if was is None else was,
            not_misleading=note.classification is Classification.NOT_MISLEADING,
            raised=raised,
            acting=note.rationale,
        )


def in_force(session: Session, community_id: uuid.UUID) -> Fit:
    """The fit that scores the community's notes now."""
    return _fit(session, community_id, *session.execute(_IN_FORCE, {"community": community_id}).one())


_IN_FORCE = (
    sa.select(Community.settings, ScoringModel)
    .outerjoin(ScoringState, ScoringState.community_id == Community.id)
    .outerjoin(
        ScoringModel,
        sa.and_(
            ScoringModel.community_id == ScoringState.community_id,
            ScoringModel.version == ScoringState.model_version,
        ),
    )
    .where(Community.id == sa.bindparam("community"))
)
_VERSION = sa.func.coalesce(ScoringModel.version, NOT_FITTED)
_STORED = (
    _IN_FORCE.add_columns(NoteSums, RaterParameters)
    .outerjoin(
        NoteSums,
        sa.and_(
            NoteSums.community_id == Community.id,
            NoteSums.version == _VERSION,
            NoteSums.note_id == sa.bindparam("note"),
        ),
    )
    .outerjoin(
        RaterParameters,
        sa.and_(
            RaterParameters.community_id == Community.id,
            RaterParameters.version == _VERSION,
            RaterParameters.profile_id == sa.bindparam("rater"),
        ),
    )
    .execution_options(populate_existing=True)
)


def _fit(
    session: Session,
    community_id: uuid.UUID,
    stored_settings: Mapping[str, Any],
    model: ScoringModel | None,
) -> Fit:
    settings = community_settings.parse_stored(stored_settings, community_settings.defaults(session))
    if model is None:
        cold = Model.cold(settings.min_ratings, settings.helpful_at)
        return Fit(community_id, NOT_FITTED, cold, settings)
    return of_version(model, settings)


def of_version(stored: ScoringModel, settings: CommunitySettings) -> Fit:
    """A stored fit with the community's current settings, which apply at once, not only from the next fit on."""
    model = Model.from_json(stored.parameters).with_settings(
        settings.min_ratings, settings.helpful_at, published=settings.published
    )
    return Fit(stored.community_id, stored.version, model, settings)


def current(session: Session, note: Note) -> Scored:
    """The note's current sums; computed from its ratings and stored if missing.

    The caller holds the community's lock.
    """
    fit, row, _ = _stored(session, note)
    if _is_current(row, note):
        return Scored(fit, Sums.from_list(row.sums))
    return Scored(fit, _rebuild(session, note, fit, row))


def read(session: Session, note: Note) -> Scored:
    """Like ``current``, but writes nothing: for callers that only read."""
    fit, row, _ = _stored(session, note)
    return Scored(
        fit, Sums.from_list(row.sums) if _is_current(row, note) else _from_ratings(session, note, fit)
    )


def current_sums(
    community_id: uuid.UUID, version: int, column: InstrumentedAttribute[Any] = NoteSums.sums
) -> sa.ScalarSelect[Any]:
    """SQL: a column of a note's sums under a fit; NULL if they are missing, or older than its ratings.

    Not by a join: PostgreSQL has no statistics of a new fit yet, and would read all its sums once for each note.
    """
    return (
        sa.select(column)
        .where(
            NoteSums.community_id == community_id,
            NoteSums.version == version,
            NoteSums.note_id == Note.id,
            NoteSums.note_version == Note.version,
            NoteSums.rating_changes == Note.rating_changes,
        )
        .correlate(Note)
        .scalar_subquery()
    )


def rating_changed(
    session: Session, note: Note, rater_id: uuid.UUID, before: float | None, after: float | None
) -> Scored:
    """Update the sums after a rating changed: its value before and after, None where it does not count.

    The caller holds the community's lock, has written the rating, and flushes.
    """
    fit, row, rater = _stored(session, note, rater_id)
    is_first = row is None and before is None and note.ratings_count == 0
    if not is_first and not _is_current(row, note):
        note.rating_changes += 1
        return Scored(fit, _rebuild(session, note, fit, row))
    sums = Sums.from_list(row.sums) if row is not None else Sums.zero()
    if before is not None:
        sums = sums.minus(fit.model_of(note), rater, before)
    if after is not None:
        sums = sums.plus(fit.model_of(note), rater, after)
    note.rating_changes += 1
    _keep(session, note, fit, row, sums)
    return Scored(fit, sums)


def rows_from_ratings(session: Session, fit: Fit, note_ids: Sequence[uuid.UUID]) -> list[dict[str, Any]]:
    """What ``NoteSums`` should hold of these notes under this fit, computed from their ratings. Writes nothing.

    It needs no lock: one statement sees ratings and the counts of their changes at one moment.
    """
    given = session.execute(
        sa.select(
            Note.id,
            Note.version,
            Note.rating_changes,
            Note.rationale,
            Rating.rater_id,
            Rating.helpfulness_level,
        )
        .outerjoin(
            Rating,
            sa.and_(
                Rating.note_id == Note.id,
                Rating.note_version == Note.version,
                Rating.exclusion_reason.is_(None),
            ),
        )
        .where(Note.id.in_(note_ids))
        .order_by(Note.id, Rating.created_at, Rating.id)
        .execution_options(yield_per=PART)
    )
    rows: dict[uuid.UUID, dict[str, Any]] = {}
    for part in given.partitions():
        known = raters(session, fit, {row.rater_id for row in part})
        for note_id, version, changes, rationale, rater_id, level in part:
            row = rows.setdefault(note_id, {"note_version": version, "rating_changes": changes})
            sums = row.setdefault("sums", Sums.zero())
            if rater_id is not None:
                model = fit.model.for_note(acting=rationale)
                row["sums"] = sums.plus(model, known.get(rater_id), VALUES[level])
    fit_key = {"community_id": fit.community_id, "version": fit.version}
    return [
        {**fit_key, "note_id": note_id, **row, "sums": row["sums"].to_list()} for note_id, row in rows.items()
    ]


def by_raters(session: Session, note: Note, fit: Fit, rater_ids: sa.Select[uuid.UUID]) -> Scored:
    """The sums of the ratings by these raters alone: those of a panel."""
    return Scored(fit, _from_ratings(session, note, fit, rater_ids))


def counting(note: Note) -> sa.Select[Any]:
    """The ratings of a note that count, oldest first (docs/develop/consensus.md)."""
    return (
        sa.select(Rating)
        .where(
            Rating.note_id == note.id, Rating.note_version == note.version, Rating.exclusion_reason.is_(None)
        )
        .order_by(Rating.created_at, Rating.id)
    )


def raters(session: Session, fit: Fit, profile_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, Rater]:
    """The fit's parameters of these raters; raters that it does not know are left out.

    Not by a join with their ratings: PostgreSQL has no statistics of a new fit yet, takes it for one row, and reads all
    of it once for each rating.
    """
    if fit.version == NOT_FITTED:
        return {}
    rows = session.scalars(
        sa.select(RaterParameters).where(
            RaterParameters.community_id == fit.community_id,
            RaterParameters.version == fit.version,
            RaterParameters.profile_id.in_(profile_ids),
        )
    )
    return {row.profile_id: _rater(row) for row in rows}


def _rater(row: RaterParameters) -> Rater:
    return Rater(
        intercept=row.intercept,
        factor=row.factor,
        kept=row.kept,
        volume=row.volume,
        correlated=row.correlated,
        acting_intercept=row.acting_intercept,
        acting_factor=row.acting_factor or 0.0,
    )


def acting_factors(
    fit: Fit,
) -> tuple[InstrumentedAttribute[float] | InstrumentedAttribute[float | None], sa.ColumnElement[bool]] | None:
    """SQL: raters' factors under the model that judges what acts, and which raters it knows; None without camps."""
    model = fit.model.for_note(acting=True)
    if fit.version == NOT_FITTED or not model.axis:
        return None
    rows = sa.and_(
        RaterParameters.community_id == fit.community_id,
        RaterParameters.version == fit.version,
        RaterParameters.acting_intercept.is_not(None) if model.of_acting else RaterParameters.kept,
    )
    return RaterParameters.acting_factor if model.of_acting else RaterParameters.factor, rows


def _stored(
    session: Session, note: Note, rater_id: uuid.UUID | None = None
) -> tuple[Fit, NoteSums | None, Rater | None]:
    """The fit in force with its sums of the note and its parameters of a rater; one statement, for each rating asks."""
    which = {"community": note.community_id, "note": note.id, "rater": rater_id}
    settings, model, row, parameters = session.execute(_STORED, which).one()
    fit = _fit(session, note.community_id, settings, model)
    return fit, row, None if parameters is None else _rater(parameters)


def _is_current(row: NoteSums | None, note: Note) -> TypeGuard[NoteSums]:
    return row is not None and row.note_version == note.version and row.rating_changes == note.rating_changes


def _rebuild(session: Session, note: Note, fit: Fit, row: NoteSums | None) -> Sums:
    sums = _from_ratings(session, note, fit)
    _keep(session, note, fit, row, sums)
    return sums


def _from_ratings(
    session: Session, note: Note, fit: Fit, rater_ids: sa.Select[uuid.UUID] | None = None
) -> Sums:
    chosen = counting(note) if rater_ids is None else counting(note).where(Rating.rater_id.in_(rater_ids))
    given = session.execute(chosen.with_only_columns(Rating.rater_id, Rating.helpfulness_level)).all()
    model, sums = fit.model_of(note), Sums.zero()
    for first in range(0, len(given), PART):
        part = given[first : first + PART]
        known = raters(session, fit, [rater_id for rater_id, _ in part])
        for rater_id, level in part:
            sums = sums.plus(model, known.get(rater_id), VALUES[level])
    return sums


def _keep(session: Session, note: Note, fit: Fit, row: NoteSums | None, sums: Sums) -> None:
    if row is None:
        row = NoteSums(community_id=note.community_id, version=fit.version, note_id=note.id)
        session.add(row)
    row.note_version = note.version
    row.rating_changes = note.rating_changes
    row.sums = sums.to_list()
