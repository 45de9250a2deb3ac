"""Vectors searched by PostgreSQL: nothing happens where nobody switched it on, and backups know nothing of it.

What runs with the extension itself is in ``tests/bench/matching.py``, for Debian's own PostgreSQL has no pgvector.
"""

import uuid

import click
import numpy as np
import pytest

from app.commands.backup.postgres import _contents
from app.commands.use_pgvector import _switch_off, _switch_on
from app.core.factcheck import pgvectors
from app.core.factcheck.pgvectors import Extension
from app.jobs import embedding
from app.wiring import Wiring


@pytest.mark.both_databases
def test_nothing_is_there_before_an_operator_switches_it_on(wiring: Wiring) -> None:
    _switch_off(wiring.database)
    with wiring.database.reading() as session:
        assert not pgvectors.is_on(session)
        assert not pgvectors.takes(session, 384)
        assert not pgvectors.is_ready(session, uuid.uuid4())
    embedding.follow_in_postgresql(wiring.database)
    with pytest.raises(click.ClickException, match="has no pgvector"):
        _switch_on(wiring.database, None)
    with pytest.raises(click.ClickException, match=r"0\.4\.4 is too old: it needs 0\.5 or newer"):
        _switch_on(wiring.database, Extension("0.6.2", "0.4.4"))
    with wiring.database.reading() as session:
        assert not pgvectors.is_on(session)


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
