"""Vectors searched by PostgreSQL: nothing happens where nobody switched it on, and backups know nothing of it.

What runs with the extension itself is in ``tools/bench/matching.py``, for Debian's own PostgreSQL has no pgvector.
"""

import uuid

import click
import numpy as np
import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.commands.backup.postgres import _contents
from app.commands.use_pgvector import _switch_off, _switch_on
from app.core.factcheck import pgvectors
from app.core.factcheck.nearest import Nearest
from app.core.factcheck.pgvectors import Extension
from app.core.ids import new_id
from app.core.models import ConnectedService, VectorSpace
from app.core.vocabulary import ServiceMode
from app.jobs import fact_checks
from app.wiring import Wiring
from tests.cast import Cast
from tests.undone import undone

ON_POSTGRESQL = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)


@pytest.mark.both_databases
def test_nothing_is_there_before_an_operator_switches_it_on(wiring: Wiring) -> None:
    _switch_off(wiring.database)
    with wiring.database.reading() as session:
        assert not pgvectors.is_on(session)
        assert not pgvectors.takes(session, 384)
        assert not pgvectors.is_ready(session, uuid.uuid4())
    fact_checks.follow_in_postgresql(wiring.database)
    with pytest.raises(click.ClickException, match="has no pgvector"):
        _switch_on(wiring.database, None)
    with pytest.raises(click.ClickException, match=r"0\.4\.4 is too old: it needs 0\.5 or newer"):
        _switch_on(wiring.database, Extension("0.6.2", "0.4.4"))
    with wiring.database.reading() as session:
        assert not pgvectors.is_on(session)


def space_of(session: Session, cast: Cast, dimensions: int) -> uuid.UUID:
    service = ConnectedService(
        id=new_id(),
        community_id=cast.community_id,
        kind="embeddings",
        name="meanings",
        mode=ServiceMode.OFF,
    )
    session.add(service)
    session.flush()
    space = VectorSpace(
        id=new_id(), service_id=service.id, settings_version=1, identity="one", dimensions=dimensions
    )
    session.add(space)
    session.flush()
    return space.id


def test_a_vector_of_another_model_and_a_deleted_space_have_nothing_near(wiring: Wiring, cast: Cast) -> None:
    with undone(wiring.database) as session:
        space_id = space_of(session, cast, dimensions=3)
        assert pgvectors.nearest(session, space_id, np.ones(4, np.float32), 20) == Nearest()
        assert pgvectors.nearest(session, uuid.uuid4(), np.ones(3, np.float32), 20) == Nearest()


@ON_POSTGRESQL
def test_a_search_that_meets_the_switching_off_leaves_the_transaction_usable(
    wiring: Wiring, cast: Cast
) -> None:
    with undone(wiring.database) as session:
        space_id = space_of(session, cast, dimensions=3)
        assert pgvectors.nearest(session, space_id, np.ones(3, np.float32), 20) is None
        assert session.get(VectorSpace, space_id) is not None


@ON_POSTGRESQL
def test_it_is_not_switched_off_while_an_index_is_being_made(wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        session.execute(sa.text("CREATE SCHEMA bridgenote_vectors"))
        session.execute(sa.text("CREATE TABLE bridgenote_vectors.embeddings (position integer)"))
    with undone(wiring.database) as making:
        making.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": pgvectors.BUILD_LOCK})
        with pytest.raises(click.ClickException, match="An index is being made just now"):
            _switch_off(wiring.database)
        with wiring.database.reading() as session:
            assert pgvectors.is_on(session)
    _switch_off(wiring.database)
    with wiring.database.reading() as session:
        assert not pgvectors.is_on(session)


@ON_POSTGRESQL
def test_a_sample_is_taken_evenly_from_the_vectors_that_are_there_whatever_gaps_there_are(
    wiring: Wiring,
) -> None:
    space_id = uuid.uuid4()
    with undone(wiring.database) as session:
        session.execute(sa.text("CREATE SCHEMA bridgenote_vectors"))
        session.execute(
            sa.text("CREATE TABLE bridgenote_vectors.embeddings (space_id uuid, position integer)")
        )
        assert pgvectors.sampled(session, space_id) == (1, [])
        session.execute(
            sa.text(
                "INSERT INTO bridgenote_vectors.embeddings "
                "SELECT :space, generate_series(CAST(:first AS integer), :last)"
            ),
            [
                {"space": space_id, "first": 7, "last": 7},
                {"space": space_id, "first": 1_000_001, "last": 1_000_999},
                {"space": uuid.uuid4(), "first": 1, "last": 1_000},
            ],
        )
        step, positions = pgvectors.sampled(session, space_id)
    assert step == 3
    assert positions == list(range(1_000_002, 1_001_000, 3))


def test_versions_are_compared_as_numbers() -> None:
    assert Extension("0.10.0", None).is_recent
    assert Extension("0.4.0", "0.8.0").is_recent
    assert not Extension("0.4.4", None).is_recent


def test_vectors_are_written_as_pgvector_reads_them() -> None:
    assert pgvectors.literal(np.array([0.5, -1.0, 1e-7], np.float32)) == "[0.5,-1,1e-07]"


def test_a_restore_leaves_the_extension_out_and_nothing_else() -> None:
    listed = (
        "; Archive created at 2026-03-01\n"
        "2; 3079 16385 EXTENSION - pg_trgm \n"
        "3; 3079 16390 EXTENSION - vector \n"
        "4010; 0 0 COMMENT - EXTENSION vector \n"
        "220; 1259 16400 TABLE public vector_spaces postgres\n"
    )
    kept = _contents(listed)
    assert "vector_spaces" in kept
    assert "pg_trgm" in kept
    assert len(kept.splitlines()) == 3
