"""Migrations: the baseline makes the models' tables, and those after it go both ways with data, on both databases."""

import re
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from click.testing import CliRunner
from sqlalchemy import event

from app import migrations
from app.commands.main import cli
from app.core.communities import communities
from app.core.db import Base, Database, make_engine
from app.core.factcheck import items, search
from app.core.ids import first_id, new_id
from app.core.models import Action, Decision, Event, FactCheckItem, Removal, Request
from app.core.people import accounts, mailed_links, members
from app.core.permissions import SYSTEM
from app.core.requests import submitting
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import CategoryDraft
from app.core.upkeep import months
from app.core.upkeep.months import PARTED
from app.core.vocabulary import ActionState, ActionType, EventName, RequestStatus, Role, UndoState
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
    """Tables of others, on SQLite the indexes that only PostgreSQL has, and what goes with tables in parts."""
    if not isinstance(difference, tuple):
        return False
    kind, subject = difference[:2]
    if dialect == "postgresql" and kind == "add_fk":
        return subject.elements[0].column.table.name in PARTED
    if dialect == "postgresql" and kind == "add_constraint":
        columns = ", ".join(subject.columns.keys())
        return PARTED[subject.table.name].own == f"UNIQUE ({columns})"
    if dialect == "postgresql" and kind in ("remove_table", "remove_index") and _is_part(subject):
        return True
    if difference[0] == "add_index" and dialect == "sqlite":
        return bool(difference[1].dialect_kwargs.get("postgresql_using"))
    if difference[0] == "remove_index":
        return is_foreign(difference[1].table.name, None)
    return difference[0] == "remove_table" and is_foreign(difference[1].name, None)


def _is_part(subject: sa.Table | sa.Index) -> bool:
    name = subject.name if isinstance(subject, sa.Table) else subject.table.name
    found = re.fullmatch(r"(.+)_(first|default|\d{4}_\d\d)", name)
    return found is not None and found[1] in PARTED


SCHEMA = """
SELECT relname, relkind, attname, format_type(atttypid, atttypmod), attnotnull FROM pg_class
JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped
UNION ALL SELECT conrelid::regclass::text, contype, conname, pg_get_constraintdef(oid), convalidated
FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION ALL SELECT indrelid::regclass::text, 'i', indexrelid::regclass::text, pg_get_indexdef(indexrelid), indisvalid
FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE relnamespace = 'public'::regnamespace
UNION ALL SELECT relname, 'b', '', pg_get_expr(relpartbound, oid), relispartition FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relispartition
"""


def _schema(engine: sa.Engine) -> set[tuple[object, ...]]:
    with engine.connect() as connection:
        return {tuple(row) for row in connection.exec_driver_sql(SCHEMA)}


@pytest.fixture
def before_parts(postgres_server: postgres.Server) -> Iterator[sa.Engine]:
    """A PostgreSQL database of the version before tables in parts, with an event whose id is of a wrong clock."""
    name = postgres_server.create()
    engine = make_engine(postgres_server.url(name), connect_args={"options": "-c client_min_messages=debug1"})
    migrations.upgrade(engine)
    _write_event(engine, "c-1", new_id(), uuid.UUID(int=first_id(datetime(2031, 5, 6, tzinfo=UTC)).int + 5))
    migrations.downgrade(engine, "0072")
    yield engine
    engine.dispose()
    postgres_server.drop(name)


def _write_event(engine: sa.Engine, community: str, *event_ids: uuid.UUID) -> None:
    database = Database(engine.url.render_as_string(hide_password=False))
    with database.writing() as session:
        found = communities.find(session, "discourse", community)
        found = found or communities.open_community(session, SYSTEM, "discourse", community)
        for event_id in event_ids:
            session.add(Event(id=event_id, community_id=found.id, name=EventName.DECISION, payload={}))
    database.dispose()


def test_an_existing_database_gets_the_parts_of_a_new_one_without_being_read(
    before_parts: sa.Engine, postgres_server: postgres.Server
) -> None:
    said: list[str] = []

    def listen(connection: Any, _record: object) -> None:
        connection.add_notice_handler(lambda notice: said.append(notice.message_primary))

    event.listen(before_parts, "connect", listen)
    before_parts.dispose()
    migrations.upgrade(before_parts)
    for table in PARTED:
        implied = f'partition constraint for table "{table}_first" is implied by existing constraints'
        assert implied in said, "otherwise all of it is read under a lock that stops everyone"
    name = postgres_server.create()
    fresh = make_engine(postgres_server.url(name))
    migrations.upgrade(fresh)
    found, expected = (
        {row for row in _schema(one) if "events" not in str(row)} for one in (before_parts, fresh)
    )
    assert found == expected
    fresh.dispose()
    postgres_server.drop(name)
    with before_parts.connect() as connection:
        (first, *_) = months.parts(connection, "events")
        assert first.upper == first_id(datetime(2031, 7, 1, tzinfo=UTC)), (
            "a wrong clock's rows lie in the first part"
        )


def test_others_write_while_the_rows_are_looked_at_that_become_the_first_part(
    before_parts: sa.Engine,
) -> None:
    modes: dict[str, set[str]] = {}

    def write(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if found := re.fullmatch(r"ALTER TABLE (\w+) VALIDATE CONSTRAINT \w+", statement):
            table = found[1]
            if table in modes:
                return  # that is the migration itself, which finds it done
            with engine.connect() as connection:
                rows = connection.exec_driver_sql(
                    "SELECT mode FROM pg_locks WHERE relation = %s::regclass AND pid <> pg_backend_pid()",
                    (table,),
                )
                modes[table] = {mode for (mode,) in rows}
            if table == "events":
                _write_event(engine, "c-1", written)

    written, engine = new_id(), make_engine(before_parts.url.render_as_string(hide_password=False))
    event.listen(before_parts, "after_cursor_execute", write)
    migrations.upgrade(before_parts)
    event.remove(before_parts, "after_cursor_execute", write)
    assert modes.keys() == PARTED.keys()
    assert set().union(*modes.values()) == {"AccessShareLock", "ShareUpdateExclusiveLock"}, "no writer waits"
    with engine.connect() as connection:
        assert written in connection.scalars(sa.select(Event.id)).all()
    engine.dispose()


def test_a_migration_that_was_killed_while_it_looked_at_the_rows_goes_on(before_parts: sa.Engine) -> None:
    def kill(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if "VALIDATE CONSTRAINT scores_first" in statement:
            raise KeyboardInterrupt

    event.listen(before_parts, "after_cursor_execute", kill)
    with pytest.raises(KeyboardInterrupt):
        migrations.upgrade(before_parts)
    event.remove(before_parts, "after_cursor_execute", kill)
    assert runtime.revision(before_parts) == "0072"
    _write_event(before_parts, "c-1", new_id())
    migrations.upgrade(before_parts)
    assert runtime.revision(before_parts) == runtime.head()
    with before_parts.connect() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(Event)) == 3


def test_what_lies_in_several_parts_is_in_one_table_again(before_parts: sa.Engine) -> None:
    migrations.upgrade(before_parts)
    moments = (datetime(2031, 7, 2, tzinfo=UTC), datetime(2045, 1, 1, tzinfo=UTC))
    ids = [uuid.UUID(int=first_id(moment).int + 1) for moment in moments]
    _write_event(before_parts, "c-1", *ids)
    migrations.downgrade(before_parts, "0072")
    with before_parts.connect() as connection:
        assert set(ids) < set(connection.scalars(sa.select(Event.id)))
        assert months.parts(connection, "events") == []
        keys = sa.inspect(connection).get_foreign_keys("deliveries")
        assert "events" in {key["referred_table"] for key in keys}


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
