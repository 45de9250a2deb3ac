"""Migrations: they make the models' tables, both ways, with data, on both databases."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from app import migrations
from app.core.communities import communities
from app.core.db import Base, Database, make_engine
from app.core.models import Removal
from app.core.people import accounts, link_codes, members
from app.core.permissions import SYSTEM
from app.core.vocabulary import Role
from app.jobs.tables import is_foreign
from tests import postgres
from tests.bench.scale import migrating
from tests.bench.scale.__main__ import filled


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[sa.Engine]:
    if request.param == "sqlite":
        engine = make_engine(f"sqlite:///{tmp_path / 'empty.db'}")
        yield engine
        engine.dispose()
        return
    server: postgres.Server = request.getfixturevalue("postgres_server")
    name = server.create()
    engine = make_engine(server.url(name))
    yield engine
    engine.dispose()
    server.drop(name)


def _tables(engine: sa.Engine) -> set[str]:
    return {name for name in sa.inspect(engine).get_table_names() if not is_foreign(name, None)}


# On SQLite nobody can read which expressions an index has.
@pytest.mark.filterwarnings(
    "ignore:.*reflection of expression-based index", "ignore:.*expression-based index.*sqlite"
)
def test_the_migrated_tables_are_the_models(empty_engine: sa.Engine) -> None:
    migrations.upgrade(empty_engine)
    with empty_engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        found = compare_metadata(context, Base.metadata)
        differences = [one for one in found if not _is_known(one, empty_engine.dialect.name)]
    assert differences == []


def _is_known(difference: object, dialect: str) -> bool:
    """Tables of others, and on SQLite the indexes that only PostgreSQL has; nothing else may differ."""
    if not isinstance(difference, tuple):
        return False
    if difference[0] == "add_index" and dialect == "sqlite":
        return bool(difference[1].dialect_kwargs.get("postgresql_using"))
    return difference[0] == "remove_table" and is_foreign(difference[1].name, None)


def test_every_migration_goes_down_and_up_again_with_data(empty_engine: sa.Engine) -> None:
    migrations.upgrade(empty_engine)
    database = Database(str(empty_engine.url.render_as_string(hide_password=False)))
    with database.writing() as session:
        community = communities.open_community(session, SYSTEM, "discourse", f"c-{uuid.uuid4()}")
        account = accounts.create(session, "ann@example.org", "correct horse battery")
        link_codes.show(session, account)
        membership = accounts.give_role(session, SYSTEM, account, community.id, Role.RATER)
        members.remove(session, SYSTEM, membership.id, "Spam")
    migrations.downgrade(empty_engine, "0047")
    migrations.upgrade(empty_engine)
    with database.reading() as session:
        assert session.get(Removal, (community.id, account.id)) is not None, "read from the history"
    database.dispose()
    revisions = [r.revision for r in ScriptDirectory.from_config(migrations.config()).walk_revisions()]
    for revision in revisions[1:]:
        migrations.downgrade(empty_engine, revision)
    migrations.downgrade(empty_engine, "base")
    assert _tables(empty_engine) <= {"alembic_version"}
    migrations.upgrade(empty_engine)
    assert "moderation_actions" in _tables(empty_engine)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_full_database_of_the_version_before_is_migrated(kind: str, request: pytest.FixtureRequest) -> None:
    """With 1,000 requests here; ``python -m tests.bench.scale --migrate`` does the same with as many as you like."""
    server = request.getfixturevalue("postgres_server") if kind == "postgresql" else None
    with filled(1_000, server, is_packed=False) as (wiring, _):
        assert migrating.there_and_back(wiring)


def test_migrating_twice_changes_nothing(empty_engine: sa.Engine) -> None:
    migrations.upgrade(empty_engine)
    before = _tables(empty_engine)
    migrations.upgrade(empty_engine)
    assert _tables(empty_engine) == before


def test_there_is_one_head() -> None:
    heads = ScriptDirectory.from_config(migrations.config()).get_heads()
    assert len(heads) == 1
