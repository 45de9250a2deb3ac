"""Creates a community with two camps of raters in bulk. The camps agree about some notes and disagree about others."""

import itertools
import random
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.db import Database
from app.core.helpfulness import fit_results, note_scores, refits
from app.core.ids import new_id
from app.core.models import Note, Profile, RaterParameters, Rating, ScoringModel, ScoringState
from app.core.notes import ratings
from app.core.people import profiles
from app.core.scoring import Model, Sums, Verdict
from app.core.vocabulary import Classification, HelpfulnessLevel, NoteStatus
from app.jobs import rescoring
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast

HELPFUL, SOMEWHAT, NOT = (
    HelpfulnessLevel.HELPFUL,
    HelpfulnessLevel.SOMEWHAT_HELPFUL,
    HelpfulnessLevel.NOT_HELPFUL,
)
PART = 10_000


def put_in_force(
    wiring: Wiring, community_id: uuid.UUID, model: Model, factors: Mapping[uuid.UUID, float]
) -> None:
    """Let the community be scored by a first fit: this model, with these factors of its raters."""
    with wiring.database.writing() as session:
        session.add(
            ScoringModel(
                community_id=community_id,
                version=1,
                regime=model.regime.value,
                parameters=model.to_json(),
                ratings=len(factors),
                notes=1,
                raters=len(factors),
                milliseconds=1,
            )
        )
        session.add_all(
            RaterParameters(
                community_id=community_id,
                version=1,
                profile_id=profile_id,
                intercept=0.0,
                factor=factor,
                helpfulness=None,
                kept=True,
                volume=False,
                correlated=False,
            )
            for profile_id, factor in factors.items()
        )
        state = session.get(ScoringState, community_id) or ScoringState(community_id=community_id)
        state.model_version = state.last_version = 1
        session.merge(state)


@dataclass(frozen=True)
class Camps:
    """Raters alternate between the camps. Notes cycle: liked by both camps, by the first, by the second, by none."""

    community_id: uuid.UUID
    raters: list[uuid.UUID]
    notes: list[uuid.UUID]
    ratings: int

    @property
    def first(self) -> list[uuid.UUID]:
        return self.raters[0::2]

    @property
    def second(self) -> list[uuid.UUID]:
        return self.raters[1::2]


def fitted(wiring: Wiring, cast: Cast, model: Model, factors: list[float]) -> None:
    """Let the community be scored by this model, with these factors of its raters in the order of their votes."""
    with wiring.database.reading() as session:
        raters = {
            one.platform_user_id: one.id
            for one in session.scalars(sa.select(Profile).where(Profile.platform_user_id.like("rater-%")))
        }
    own = {raters[f"rater-{number}"]: factor for number, factor in enumerate(factors)}
    put_in_force(wiring, cast.community_id, model, own)


def populate(
    database: Database, community_id: uuid.UUID, *, raters: int, notes: int, ratings: int, seed: int = 1
) -> Camps:
    """Create ``ratings`` ratings spread over all raters and notes. Afterwards a refit of the community is due."""
    chance = random.Random(seed)  # noqa: S311 - the same community each time, nothing secret
    begin = clock.now() - timedelta(days=1)
    people, written = [new_id() for _ in range(raters)], [new_id() for _ in range(notes)]
    with database.writing() as session:
        author = profiles.of_service(session).id
        _insert(session, Profile, (_profile(one, number) for number, one in enumerate(people)))
    given: dict[uuid.UUID, int] = dict.fromkeys(written, 0)
    made = 0
    per_rater, more = divmod(ratings, raters)
    for first in range(0, raters, 200):
        rows = []
        for number in range(first, min(first + 200, raters)):
            for place in chance.sample(range(notes), per_rater + (number < more)):
                given[written[place]] += 1
                level = _level(number % 2, place % 4, chance)
                rows.append(_rating(community_id, written[place], people[number], level, begin))
        made += len(rows)
        with database.writing() as session:
            if first == 0:
                _insert(session, Note, (_note(community_id, one, author, begin) for one in written))
            _insert(session, Rating, iter(rows))
    with database.writing() as session:
        session.connection().execute(
            sa.update(Note.__table__)
            .where(Note.__table__.c.id == sa.bindparam("note"))
            .values(ratings_count=sa.bindparam("count"), updated_at=begin),
            [{"note": one, "count": count} for one, count in given.items()],
        )
        session.add(
            ScoringState(
                community_id=community_id, ratings_since=made, refit_due_at=clock.now(), ratings_fitted=0
            )
        )
    return Camps(community_id, people, written, made)


def _level(camp: int, kind: int, chance: random.Random) -> HelpfulnessLevel:
    liked = kind == 0 or kind == camp + 1
    if chance.random() < 0.1:
        return SOMEWHAT
    return HELPFUL if (chance.random() < 0.92) == liked else NOT


def _insert(session: Any, model: Any, rows: Iterator[dict[str, Any]]) -> None:
    connection = session.connection()
    while part := list(itertools.islice(rows, PART)):
        connection.execute(sa.insert(model.__table__), part)


def _profile(identity: uuid.UUID, number: int) -> dict[str, Any]:
    return {
        "id": identity,
        "platform": "camps",
        "provider_scope": "",
        "platform_user_id": f"rater-{number}-{identity}",
        "metadata": {},
        "created_at": clock.now() - timedelta(days=100),
        "updated_at": clock.now(),
    }


def _note(community_id: uuid.UUID, identity: uuid.UUID, author: uuid.UUID, begin: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "community_id": community_id,
        "author_id": author,
        "author_ref": str(author),
        "summary": "A note",
        "classification": Classification.MISLEADING,
        "status": NoteStatus.NEEDS_MORE_RATINGS,
        "helpfulness_score": 0,
        "version": 1,
        "ratings_count": 0,
        "rationale": False,
        "ai_generated": False,
        "reasons": [],
        "sources": [],
        "locked": False,
        "force_published": False,
        "created_at": begin,
        "updated_at": begin,
    }


def _rating(
    community_id: uuid.UUID, note: uuid.UUID, rater: uuid.UUID, level: HelpfulnessLevel, begin: Any
) -> dict[str, Any]:
    return {
        "id": new_id(),
        "community_id": community_id,
        "note_id": note,
        "rater_id": rater,
        "rater_ref": str(rater),
        "helpfulness_level": level,
        "note_version": 1,
        "reasons": [],
        "created_at": begin + timedelta(hours=1),
        "updated_at": begin + timedelta(hours=1),
    }


def camps(wiring: Wiring, cast: Cast) -> Camps:
    """Two camps, large enough for the warm regime."""
    return populate(wiring.database, cast.community_id, raters=28, notes=20, ratings=340)


def rate(
    wiring: Wiring, cast: Cast, note_id: uuid.UUID, rater_id: uuid.UUID, level: HelpfulnessLevel
) -> uuid.UUID:
    with wiring.database.writing() as session:
        note, rater = session.get_one(Note, note_id), session.get_one(Profile, rater_id)
        who = factories.integration(cast, staff=False, profile_id=rater.id)
        return ratings.rate(session, who, note, rater, level)[0].id


def state(wiring: Wiring, cast: Cast) -> ScoringState:
    with wiring.database.reading() as session:
        return session.get_one(ScoringState, cast.community_id)


def ask(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        refits.ask(session, cast.community_id)


def refit(wiring: Wiring, cast: Cast) -> bool:
    ask(wiring, cast)
    return rescoring.refit(wiring.database, cast.community_id)


def from_scratch(wiring: Wiring, note_id: uuid.UUID) -> tuple[Sums, Sums, Verdict | None, Note]:
    """Return a note's stored sums, the sums computed from its ratings, the resulting verdict, and the note."""
    with wiring.database.writing() as session:
        note = session.get_one(Note, note_id)
        kept = note_scores.current(session, note)
        assert kept.fit == note_scores.in_force(session, note.community_id)
        (row,) = note_scores.rows_from_ratings(session, kept.fit, [note_id])
        anew = Sums.from_list(row["sums"])
        verdict = note_scores.Scored(kept.fit, anew).verdict(note)
        session.expunge_all()
        return kept.sums, anew, verdict, note


def assert_scored_as_from_scratch(wiring: Wiring, note_ids: Sequence[uuid.UUID]) -> None:
    """Assert that the notes' sums, statuses and scores are what their ratings give under the current fit."""
    for note_id in note_ids:
        kept, anew, verdict, note = from_scratch(wiring, note_id)
        assert kept.to_list() == pytest.approx(anew.to_list(), abs=1e-9)
        assert verdict is not None
        assert (note.status, note.helpfulness_score) == (verdict.status, verdict.shown)
        assert note.intercept == pytest.approx(verdict.intercept, abs=fit_results.VISIBLE)
