"""Migrations: the baseline makes the models' tables, and those after it go both ways with data, on both databases."""

import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from click.testing import CliRunner

from app import migrations
from app.commands.main import cli
from app.core.communities import communities
from app.core.db import Base, Database, make_engine
from app.core.factcheck import items, search
from app.core.ids import new_id
from app.core.models import Action, Decision, FactCheckItem, Removal, Request
from app.core.people import accounts, mailed_links, members
from app.core.permissions import SYSTEM
from app.core.requests import submitting
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import CategoryDraft
from app.core.vocabulary import ActionState, ActionType, RequestStatus, Role, UndoState
from app.jobs.tables import is_foreign
from app.process import runtime
from tests import postgres
from tests.unit.test_matching import item
from tools.bench.scale import migrating
from tools.bench.scale.__main__ import filled


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
    if difference[0] == "remove_index":
        return is_foreign(difference[1].table.name, None)
    return difference[0] == "remove_table" and is_foreign(difference[1].name, None)


def test_every_migration_goes_down_and_up_again_with_data(empty_engine: sa.Engine) -> None:
    migrations.upgrade(empty_engine)
    database = Database(str(empty_engine.url.render_as_string(hide_password=False)))
    with database.writing() as session:
        community = communities.open_community(session, SYSTEM, "discourse", f"c-{uuid.uuid4()}")
        account = accounts.create(session, "ann@example.org", "correct horse battery")
        mailed_links.show_code(session, account)
        items.keep(session, [item("Drinking seawater cures the common cold within a day.", 1)])
        items.hide(session, session.scalars(sa.select(FactCheckItem.id)).all())
        items.keep(session, [item("The moon landing was filmed in a studio in Nevada.", 2)])
        membership = accounts.give_role(session, SYSTEM, account, community.id, Role.RATER)
        members.remove(session, SYSTEM, membership.id, "Spam")
        draft = CategoryDraft("spam", 0.5, author_text="Please do not advertise.")
        threshold_sets.set_category(session, SYSTEM, community.id, draft, "In our words")
        submission = submitting.Submission("post-1", "ann", "A pear tree grows by the pond.")
        request = submitting.submit(session, SYSTEM, community.id, submission).request
        session.info.pop("jobs", None)
        overturned = Action(
            community_id=community.id,
            request_id=request.id,
            action_type=ActionType.DELETE,
            action_state=ActionState.OVERTURNED,
            decided_verb="delete",
            undo_state=UndoState.PROPOSED,
        )
        session.add(overturned)
    database.dispose()
    tables = _tables(empty_engine)
    for revision in _revisions()[1:]:
        migrations.downgrade(empty_engine, revision)
    assert runtime.revision(empty_engine) == migrations.BASELINE
    migrations.upgrade(empty_engine)
    assert _tables(empty_engine) == tables
    with database.reading() as session:
        assert session.get(Removal, (community.id, account.id)) is not None
        action = session.get_one(Action, overturned.id)
        assert (action.action_state, action.undo_state) == (ActionState.OVERTURNED, None)
        texts = {
            one.name: one.author_text for one in threshold_sets.current(session, community.id).categories
        }
        assert texts["spam"] is None
        kept = session.scalars(sa.select(FactCheckItem.id).where(FactCheckItem.retired_at.is_(None))).one()
        found = search.find(session, "they filmed the moon landing in a studio in Nevada", community.id)
        assert found is not None
        assert found.item_id == kept
        assert (
            search.find(session, "drinking seawater cures the common cold within a day", community.id) is None
        )
    database.dispose()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_full_database_of_the_version_before_is_migrated(kind: str, request: pytest.FixtureRequest) -> None:
    """With 1,000 requests here; ``python -m tools.bench.scale --migrate`` does the same with as many as you like.

    The version before is the baseline: without a migration after it, this only looks at the database.
    """
    server = request.getfixturevalue("postgres_server") if kind == "postgresql" else None
    with filled(1_000, server) as (wiring, _):
        assert migrating.there_and_back(wiring)


def test_what_was_completed_before_gets_the_time_of_its_decision_or_of_its_scores(
    empty_engine: sa.Engine,
) -> None:
    migrations.upgrade(empty_engine)
    database = Database(str(empty_engine.url.render_as_string(hide_password=False)))
    created, scored, decided = (datetime(2026, 3, 1, hour, tzinfo=UTC) for hour in (10, 11, 12))
    expected = {"decided": decided, "quiet": scored, "exempt": created, "waits": None}
    with database.writing() as session:
        community = communities.open_community(session, SYSTEM, "discourse", "forum-1")
        for request_id, completed_at in expected.items():
            request = Request(
                id=new_id(),
                community_id=community.id,
                request_id=request_id,
                requested_by="somebody",
                status=RequestStatus.COMPLETED if completed_at else RequestStatus.IN_PROGRESS,
                content="A post",
                content_sha256="0" * 64,
                scored_at=scored if request_id in ("decided", "quiet") else None,
                created_at=created,
                updated_at=created,
            )
            session.add(request)
            session.flush()
            if request_id == "decided":
                action = Action(
                    community_id=community.id,
                    request_id=request.id,
                    action_type=ActionType.HIDE,
                    action_state=ActionState.APPLIED,
                    decided_verb="hide",
                )
                session.add(action)
                session.flush()
                session.add(
                    Decision(
                        community_id=community.id,
                        request_id=request.id,
                        action_id=action.id,
                        decision="hide",
                        tier=1,
                        confidence=0.9,
                        decided_at=decided,
                    )
                )
    database.dispose()
    migrations.downgrade(empty_engine, "0065")
    migrations.upgrade(empty_engine)
    with database.reading() as session:
        rows = session.execute(sa.select(Request.request_id, Request.completed_at))
        assert {request_id: completed_at for request_id, completed_at in rows} == expected
    database.dispose()


def test_a_migration_says_which_large_table_the_start_waits_for(
    empty_engine: sa.Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    migrations.upgrade(empty_engine)
    database = Database(str(empty_engine.url.render_as_string(hide_password=False)))
    with database.writing() as session:
        community = communities.open_community(session, SYSTEM, "discourse", f"c-{uuid.uuid4()}")
        account = accounts.create(session, "ann@example.org", "correct horse battery")
        accounts.give_role(session, SYSTEM, account, community.id, Role.RATER)
    database.dispose()
    migrations.downgrade(empty_engine, migrations.BASELINE)
    monkeypatch.setattr(migrations, "LARGE", 0)
    caplog.set_level("WARNING", "app.migrations")
    migrations.upgrade(empty_engine)
    lines = [record.getMessage() for record in caplog.records]
    said = [line for line in lines if "ix_memberships_community_id_role" in line]
    assert len(said) == 2
    assert "Making index" in said[0]
    assert "of memberships in" in said[1]
    assert not any("ix_notes_status" in line for line in lines), "no note is there"


def test_migrating_twice_changes_nothing(empty_engine: sa.Engine) -> None:
    migrations.upgrade(empty_engine)
    before = _tables(empty_engine)
    migrations.upgrade(empty_engine)
    assert _tables(empty_engine) == before


def test_all_migrations_follow_the_baseline_one_after_the_other() -> None:
    script = ScriptDirectory.from_config(migrations.config())
    assert len(script.get_heads()) == 1
    assert script.get_bases() == [migrations.BASELINE]
    assert _revisions() == sorted(_revisions(), reverse=True)


@pytest.mark.parametrize(
    ("revision", "said"),
    [
        ("0001", f"at version 0001. Upgrade with version {migrations.BRIDGE} first, then with this one."),
        ("0059", f"at version 0059. Upgrade with version {migrations.BRIDGE} first, then with this one."),
        ("9999", "at version 9999. This code does not know it: install the version that made it"),
        ("1975ea83b712", "at version 1975ea83b712. This code does not know it"),
    ],
)
@pytest.mark.parametrize("command", ["migrate", "serve", "worker", "verify-history"])
def test_a_database_that_no_migration_leads_from_is_told_the_way(
    revision: str, said: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIDGENOTE_DATA_DIR", str(tmp_path))
    with closing(sqlite3.connect(tmp_path / "bridgenote.db")) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
        connection.execute("INSERT INTO alembic_version VALUES (?)", (revision,))
        connection.commit()
    result = CliRunner().invoke(cli, [command])
    assert (result.exit_code, said in result.output) == (1, True), result.output


def _revisions() -> list[str]:
    """Newest first."""
    script = ScriptDirectory.from_config(migrations.config())
    return [revision.revision for revision in script.walk_revisions()]
