"""A move from SQLite to PostgreSQL takes everything along, and what waited goes on; interrupted, it begins again."""

import hashlib
import os
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from app.commands.backup import moving
from app.commands.backup.backups import broken_histories
from app.core.db import Base, Database
from app.core.errors import Conflict
from app.core.factcheck import search
from app.core.history.reason import Reason
from app.core.models import Action, Community, Delivery, FactCheckItem, Hold, Request
from app.core.outbound import AllowList
from app.core.permissions import SYSTEM
from app.core.review import holds
from app.core.vocabulary import ActionVerb, DeliveryState, RequestStatus
from app.core.webhooks import registrations as webhooks
from app.demo import seed
from app.jobs.engine import Engine
from app.jobs.registry import register_all
from app.process import runtime, startup
from app.process.runtime import MOVE_UNFINISHED, Unfinished
from app.settings import Settings
from app.wiring import Wiring, wire
from tests import factories, postgres
from tests.cast import Cast, assemble
from tests.faults.dispatcher_receiver import SECRET, Receiver
from tests.faults.service import Service, free_port
from tests.faults.waiting import eventually
from tests.inline_engine import InlineEngine
from tests.warm import Process
from tools.bench.scale.fill import Filler


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture
def target(postgres_server: postgres.Server) -> Iterator[str]:
    """The name of an empty database."""
    name = postgres_server.create()
    yield name
    postgres_server.drop(name)


@pytest.fixture
def old(sqlite_cast: tuple[Path, Cast], tmp_path: Path) -> Settings:
    """A service on SQLite that has only the cast."""
    return _old(sqlite_cast[0], tmp_path)


@pytest.fixture
def new(old: Settings, postgres_server: postgres.Server, target: str) -> Settings:
    """The same service on PostgreSQL."""
    return old.model_copy(update={"database_url": postgres_server.url(target)})


def _old(template: Path, folder: Path) -> Settings:
    path = folder / "old.db"
    shutil.copyfile(template, path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE inline_jobs")
    settings = Settings(
        _env_file=None,
        environment="test",
        data_dir=folder / "var",
        database_url=f"sqlite:///{path}",
        port=free_port(),
    ).ready()
    runtime.migrate(settings)
    return settings


def _digest(settings: Settings) -> str:
    return hashlib.sha256(moving.file_of(settings).read_bytes()).hexdigest()


def _change(settings: Settings, statement: str) -> None:
    with closing(sqlite3.connect(moving.file_of(settings))) as connection, connection:
        connection.execute(statement)


def _contents(database: Database) -> dict[str, dict[tuple[Any, ...], tuple[Any, ...]]]:
    """Every row of our tables, by its key; of JSON also whether it is NULL, which Python reads as it reads null."""
    found = {}
    with database.reading() as session:
        for table in Base.metadata.sorted_tables:
            nulls = [column.is_(sa.null()) for column in table.columns if isinstance(column.type, sa.JSON)]
            rows = session.execute(sa.select(*table.primary_key.columns, *table.columns, *nulls)).all()
            width = len(table.primary_key.columns)
            found[table.name] = {tuple(row[:width]): tuple(row[width:]) for row in rows}
    return found


class Scene:
    """The demo, some hundred posts in every state, and in one community all that can be on its way."""

    def __init__(self, template: Path, folder: Path, url: str) -> None:
        self.settings = _old(template, folder)
        wiring = wire(self.settings)
        inline = InlineEngine(wiring.database.engine)
        inline.prepare()
        register_all(inline, wiring)
        wiring.attach(inline)
        keep = startup.keep_picture(wiring)
        assert seed.seed(wiring.database, wiring.classifiers, wiring.sealer, folder, keep) is not None
        self.cast = assemble(wiring.database)
        with wiring.database.writing() as session:
            community = session.get_one(Community, self.cast.community_id)
            allow = AllowList.parse("127.0.0.1")
            webhook, _ = webhooks.register(session, SYSTEM, wiring.sealer, allow, community, url, SECRET)
            self.webhook_id = webhook.id
        for number in range(5):
            factories.scored_action(wiring, self.cast, factories.SPAM, f"spam-{number}")
        reviewed = factories.scored_action(wiring, self.cast, request_id="reviewed")
        Filler(wiring.database, self.cast, 300).run()
        wiring.database.dispose()
        _change(self.settings, "DROP TABLE inline_jobs")
        with runtime.opened(self.settings) as wiring:
            self._leave_waiting(wiring, reviewed)

    def _leave_waiting(self, wiring: Wiring, reviewed: Any) -> None:
        """Posts to be scored, and a decision to be carried out, as jobs of the real engine."""
        for number in range(5):
            factories.submit(wiring, self.cast, request_id=f"waiting-{number}")
        with wiring.database.writing() as session:
            action, moderator = session.get_one(Action, reviewed), factories.moderator(self.cast)
            reason = Reason("It is fine")
            holds.hold(session, moderator, ActionVerb.DISMISS, action=action, reason=reason, seconds=0)

    def deliveries(self, database: Database) -> dict[str, DeliveryState]:
        """What the webhook gets, by the id of the event."""
        with database.reading() as session:
            rows = session.execute(
                sa.select(Delivery.event_id, Delivery.state).where(Delivery.webhook_id == self.webhook_id)
            )
            return {str(event_id): state for event_id, state in rows}

    def has_gone_on(self, database: Database) -> bool:
        """Whether all that waited has run and was sent."""
        with database.reading() as session:
            unscored = sa.select(Request.id).where(Request.status == RequestStatus.PENDING)
            waits = session.scalars(unscored).first() or session.scalars(sa.select(Hold.id)).first()
        return not waits and set(self.deliveries(database).values()) == {DeliveryState.DELIVERED}


def test_everything_is_moved_and_what_waited_goes_on(
    sqlite_template: Path, postgres_server: postgres.Server, target: str, receiver: Receiver, tmp_path: Path
) -> None:
    scene = Scene(sqlite_template, tmp_path, receiver.url)
    old = Database(scene.settings.sqlalchemy_url)
    contents, due = _contents(old), scene.deliveries(old)
    engine = Engine(old.engine, executor_id="test")
    waiting = engine.counts()
    engine.stop()
    old.dispose()
    assert set(due.values()) == {DeliveryState.DUE}
    assert waiting["waiting"] + waiting["delayed"] == 6
    before = _digest(scene.settings)

    new = scene.settings.model_copy(update={"database_url": postgres_server.url(target)})
    moved = moving.move(scene.settings, new)

    assert moved.rows > 5_000
    assert moved.broken == []
    assert _digest(scene.settings) == before, "the old file is as it was"
    database = Database(new.sqlalchemy_url)
    for table, rows in _contents(database).items():
        assert rows == contents[table], table
    assert len(contents["requests"]) > 350
    engine = Engine(database.engine, executor_id="test")
    assert engine.counts() == waiting
    engine.stop()
    with database.reading() as session:
        # Were there a sequence, it would have to be set after the rows are copied.
        assert session.scalars(sa.text("SELECT sequencename FROM pg_sequences")).all() == []
        claims = session.scalars(sa.select(FactCheckItem).where(FactCheckItem.retired_at.is_(None))).all()
        assert claims
        matched = search.find(session, claims[0].claim, claims[0].community_id)
        assert matched is not None
        assert matched.item_id == claims[0].id

    assert receiver.event_ids == []
    service = Service(new, tmp_path / "serve.log")
    try:
        service.start()
        eventually(lambda: scene.has_gone_on(database), "jobs run and events are delivered")
    finally:
        service.end()
    sent = receiver.event_ids
    assert sorted(sent) == sorted(scene.deliveries(database)), "each was sent once"
    assert set(due) < set(sent)
    with database.reading() as session:
        assert broken_histories(session) == {}
    database.dispose()


def test_a_move_that_was_killed_begins_again(
    old: Settings, new: Settings, postgres_server: postgres.Server, target: str, tmp_path: Path
) -> None:
    environment = {
        **os.environ,
        "BRIDGENOTE_DATA_DIR": str(old.data_dir),
        "BRIDGENOTE_DATABASE_URL": old.database_url,
    }

    def start() -> Process:
        with (tmp_path / "said").open("wb") as said:
            command = ("app", "move-to", new.database_url)
            return Process(*command, env=environment, stdout=said, stderr=said, start_new_session=True)

    def others() -> dict[int, str | None]:
        """Which connections to the new database are not ours, and what they wait for."""
        rows = admin.execute(
            "SELECT pid, wait_event_type FROM pg_stat_activity "
            "WHERE datname = %s AND pid <> ALL(%s) AND backend_type = 'client backend'",
            [target, ours],
        ).fetchall()
        seen.update(pid for pid, _ in rows)
        return dict(rows)

    def has(table: str) -> bool:
        return watch.execute("SELECT to_regclass(%s)", [table]).fetchone() != (None,)

    ours: list[int] = []
    seen: set[int] = set()
    url = postgres_server.url(target).replace("postgresql+psycopg", "postgresql")
    process = start()
    with postgres_server.admin() as admin:
        # Only with its first connection it wants the database for itself.
        eventually(lambda: others() and len(seen) > 1, "the move has marked the database")
        with psycopg.connect(url, autocommit=True) as watch:
            ours.append(watch.info.backend_pid)
            eventually(lambda: has(MOVE_UNFINISHED) and has("rater_days"), "the tables are made")
            with watch.transaction():
                watch.execute("LOCK TABLE rater_days IN SHARE MODE")
                eventually(
                    lambda: "Lock" in others().values(), "the move has copied all tables up to this one"
                )
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            eventually(lambda: not others(), "the server has noticed")
            assert watch.execute("SELECT count(*) FROM accounts").fetchone() == (0,)
    with pytest.raises(Unfinished, match="run `move-to` again"):
        runtime.migrate(new)

    again = start()

    assert again.wait(240) == 0, (tmp_path / "said").read_text()
    said = (tmp_path / "said").read_text()
    assert "Set BRIDGENOTE_DATABASE_URL to the new database" in said
    assert str(old.data_dir) in said
    databases = [Database(settings.sqlalchemy_url) for settings in (old, new)]
    contents = [_contents(database) for database in databases]
    assert contents[0] == contents[1]
    for database in databases:
        database.dispose()
    assert runtime.migrate(new) == runtime.head()


def test_a_database_that_holds_something_else_is_refused(
    old: Settings, new: Settings, postgres_server: postgres.Server, target: str
) -> None:
    url = postgres_server.url(target).replace("postgresql+psycopg", "postgresql")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA shop")
        connection.execute("CREATE TABLE shop.orders (id integer)")
        connection.execute("INSERT INTO shop.orders VALUES (7)")
    with pytest.raises(Conflict, match=f"{target} holds tables, and no unfinished move made them"):
        moving.move(old, new)
    with psycopg.connect(url, autocommit=True) as connection:
        assert connection.execute("SELECT id FROM shop.orders").fetchall() == [(7,)]
        assert connection.execute("SELECT to_regclass(%s)", [MOVE_UNFINISHED]).fetchone() == (None,)
        with pytest.raises(Conflict, match="in use by 1 other connection"):
            moving.move(old, new)


def test_a_service_that_runs_is_not_moved(old: Settings, new: Settings, tmp_path: Path) -> None:
    service = Service(old, tmp_path / "serve.log")
    try:
        service.start()
        with pytest.raises(Conflict, match="in use: end every server, worker and command"):
            moving.move(old, new)
    finally:
        service.end()
    assert moving.move(old, new).broken == []


def test_the_old_database_is_locked_during_a_move(old: Settings, new: Settings) -> None:
    refused: list[str] = []

    def write(_what: str, _rows: int, _total: int | None) -> None:
        with closing(sqlite3.connect(moving.file_of(old), timeout=0)) as connection:
            try:
                connection.execute("SELECT count(*) FROM requests")
            except sqlite3.OperationalError as error:
                refused.append(str(error))

    moving.move(old, new, write)
    assert len(refused) > 70
    assert set(refused) == {"database is locked"}


def test_what_cannot_be_moved_is_named(old: Settings, new: Settings) -> None:
    with closing(sqlite3.connect(moving.file_of(old))) as connection:
        kept = connection.serialize()
    for change, said in (
        (
            "UPDATE communities SET name = 'a' || char(0) WHERE name = 'Harbour forum'",
            r'the row of communities whose "id" is [0-9a-f]{32}: .*NUL',
        ),
        (
            "UPDATE communities SET name = printf('%300d', 1) WHERE name = 'Mountain forum'",
            r'name of the row of communities whose "id" is [0-9a-f]{32}: value too long for type .*\(255\)',
        ),
        (
            "UPDATE memberships SET community_id = printf('%032d', 7)",
            r"A row of memberships refers to one that is missing: .*00000007",
        ),
        ("CREATE TABLE orders (id INTEGER PRIMARY KEY)", "tables that are not ours: orders"),
        ("UPDATE alembic_version SET version_num = '0060'", "at version 0060, .*: run `migrate` first"),
        (
            "UPDATE dbos_migrations SET version = 100",
            "job tables are at version 100, .*: run `migrate` first",
        ),
    ):
        _change(old, change)
        with pytest.raises(Conflict, match=said):
            moving.move(old, new)
        moving.file_of(old).write_bytes(kept)
    assert moving.move(old, new).broken == [], "after it was put right, the same database can be filled"
    with pytest.raises(Conflict, match="no unfinished move made them"):
        moving.move(old, new)


def test_a_history_that_was_altered_before_is_moved_and_named(old: Settings, new: Settings) -> None:
    _change(old, "UPDATE history SET what = 'nothing.happened' WHERE number = 1")
    database = Database(old.sqlalchemy_url)
    with database.reading() as session:
        known = broken_histories(session)
    database.dispose()
    assert known
    assert moving.move(old, new).broken == list(known)
