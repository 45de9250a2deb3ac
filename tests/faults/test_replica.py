"""A real streaming replica: what is read from it, and what when it lags, is away or is no replica of this database."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from app import migrations
from app.application import create_app
from app.commands.doctor.examination import examine
from app.core import replica as replicas
from app.core.db import make_engine
from app.core.models import Account, Membership
from app.core.people import accounts, keys, sessions
from app.core.permissions import SYSTEM
from app.core.vocabulary import KeyTemplate, Role
from app.jobs.registry import register_all
from app.process import replica_reads, runtime
from app.settings import Settings
from app.wiring import Wiring, wire
from tests import postgres
from tests.api.conftest import submission
from tests.cast import Cast, Person, assemble
from tests.faults.waiting import eventually
from tests.inline_engine import InlineEngine

FAR = 3600.0
"""A lag that no replica of these tests has: so a paused one is read, old as it is."""


@dataclass
class Place:
    """The application over a database and its replica."""

    primary: postgres.Server
    replica: postgres.Server
    wiring: Wiring
    app: Flask
    cast: Cast

    @property
    def examined(self) -> replicas.Replica:
        assert self.wiring.database.replica is not None
        return self.wiring.database.replica

    def browser(self, person: Person) -> FlaskClient:
        with self.wiring.database.writing() as session:
            token = sessions.begin(session, session.get_one(Account, person.account_id), "Test")
        client = self.app.test_client()
        client.set_cookie("bridgenote", token)
        return client

    def join(self, name: str) -> uuid.UUID:
        """Let a new member join, by another process as it were; the id of the membership."""
        with self.wiring.database.writing() as session:
            account = accounts.create(
                session,
                f"{uuid.uuid4().hex}@example.org",
                "a long password",
                display_name=name,
                confirmed=True,
            )
            return accounts.give_role(session, SYSTEM, account, self.cast.community_id, Role.RATER).id

    def on_replica(self) -> psycopg.Connection:
        return self.replica.admin()

    def catch_up(self) -> None:
        """Return once the replica has all that was written, and is read."""
        self.examine()
        eventually(lambda: self.examine() == replicas.State(0.0), "the replica caught up")

    def examine(self) -> replicas.State:
        """What it is found to be now, not up to a second ago."""
        self.examined._until = 0.0
        return self.examined.state()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Nothing more is replayed within."""
        self.catch_up()
        with self.on_replica() as connection:
            connection.execute("SELECT pg_wal_replay_pause()")
            eventually(
                lambda: (
                    connection.execute("SELECT pg_get_wal_replay_pause_state()").fetchone() == ("paused",)
                ),
                "it is paused",
            )
            try:
                yield
            finally:
                connection.execute("SELECT pg_wal_replay_resume()")


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[postgres.Server, postgres.Server]]:
    with (
        postgres.running(postgres.REPLICATING) as primary,
        postgres.replica_of(primary) as replica,
    ):
        yield primary, replica


def _settings(folder: Path, url: str, replica_url: str) -> Settings:
    return Settings(
        _env_file=None,
        environment="test",
        rate_limit_enabled=False,
        data_dir=folder / "var",
        database_url=url,
        replica_url=replica_url,
    ).ready()


@pytest.fixture
def place(
    servers: tuple[postgres.Server, postgres.Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    primary, replica = servers
    name = primary.create()
    engine = make_engine(primary.url(name))
    migrations.upgrade(engine)
    InlineEngine(engine).prepare()
    engine.dispose()
    wiring = wire(_settings(tmp_path, primary.url(name), replica.url(name)))
    jobs = InlineEngine(wiring.database.engine)
    register_all(jobs, wiring)
    wiring.attach(jobs)
    cast = assemble(wiring.database)
    made = Place(primary, replica, wiring, create_app(wiring, "test"), cast)
    monkeypatch.setattr(replicas, "MOST_LAG", FAR)
    made.catch_up()
    yield made
    wiring.database.dispose()
    primary.drop(name)


def test_what_is_marked_is_read_from_the_replica_and_nothing_else(place: Place) -> None:
    admin, readers = place.browser(place.cast.admin), {"headers": place.cast.read_only_headers}
    with place.paused():
        member = place.join("Newcomer")
        answer = place.app.test_client().post(
            "/api/public/v1/requests", json=submission("just-now"), headers=place.cast.headers
        )
        assert answer.status_code == 201
        assert "Newcomer" not in admin.get("/people").text
        assert "Newcomer" in admin.get(f"/people/{member}").text, "a page from which one acts is never old"
        assert "Newcomer" not in admin.get("/history/settings.csv").text, "it is read while it is sent"
        for call, is_old in ((readers, True), ({"headers": place.cast.headers}, False)):
            listed = place.app.test_client().get("/api/public/v1/requests", **call).get_json()["data"]
            assert [row["attributes"]["request_id"] for row in listed] == ([] if is_old else ["just-now"])
            one = place.app.test_client().get("/api/public/v1/requests/just-now", **call)
            assert one.status_code == 200
    place.catch_up()
    assert "Newcomer" in admin.get("/people").text
    listed = place.app.test_client().get("/api/public/v1/requests", **readers).get_json()["data"]
    assert len(listed) == 1


def test_every_marked_page_answers_from_the_replica_and_none_writes(place: Place) -> None:
    admin = place.browser(place.cast.admin)
    place.join("Somebody")
    place.catch_up()
    marked = {
        rule.rule
        for rule in place.app.url_map.iter_rules()
        if getattr(place.app.view_functions[rule.endpoint], "may_be_old", False)
        and rule.rule.count("/api/") + rule.rule.count("/webhooks") == 0
    }
    assert {"/history", "/history.csv", "/insights", "/people", "/deliveries"} <= marked
    read: list[sa.Connection] = []
    sa.event.listen(place.examined.engine, "begin", read.append)
    for path in sorted(marked):
        read.clear()
        answer = admin.get(path, query_string={"table": "categories"} if path == "/insights.csv" else None)
        assert (answer.status_code, answer.is_streamed or bool(answer.data)) == (200, True), path
        assert read, f"{path} reads the replica"
    form = admin.get("/thresholds").text
    token = form.partition('name="csrf_token" value="')[2].partition('"')[0]
    read.clear()
    answer = admin.post("/thresholds", data={"csrf_token": token, "preview": "1"})
    assert answer.status_code in {200, 422}
    assert read, "a what-if reads the replica"


def test_nothing_is_decided_where_the_replica_is_read(place: Place) -> None:
    with place.wiring.database.may_be_old() as is_old:
        assert is_old
        with pytest.raises(RuntimeError, match="where the replica is read"), place.wiring.database.writing():
            pass
    with place.wiring.database.writing() as session, place.wiring.database.reading() as beside:
        for one in (session, beside):
            assert one.scalar(sa.text("SELECT pg_is_in_recovery()")) is False


def test_who_has_just_written_reads_the_database_itself(place: Place) -> None:
    admin, colleague = place.browser(place.cast.admin), place.browser(place.cast.operator)
    with place.wiring.database.writing() as session:
        found = session.scalars(
            sa.select(Membership).where(Membership.account_id == place.cast.operator.account_id)
        )
        found.one().role = Role.ADMIN
    with place.paused():
        page = admin.get("/people").text
        token = page.partition('name="csrf_token" value="')[2].partition('"')[0]
        done = admin.post(
            "/people/invite", data={"csrf_token": token, "email": "new@example.net", "role": "rater"}
        )
        assert done.status_code in {200, 303}
        (cookie,) = [
            line for line in done.headers.getlist("Set-Cookie") if line.startswith("bridgenote-wrote=")
        ]
        assert f"Max-Age={replica_reads.WROTE_SECONDS};" in cookie
        assert "new@example.net" in admin.get("/people").text
        assert "new@example.net" not in colleague.get("/people").text
        admin.delete_cookie("bridgenote-wrote")  # as the browser does by itself
        assert "new@example.net" not in admin.get("/people").text
    place.catch_up()
    assert "new@example.net" in colleague.get("/people").text


def test_a_right_that_is_gone_is_gone_at_once(place: Place) -> None:
    admin = place.browser(place.cast.admin)
    assert admin.get("/people").status_code == 200
    with place.paused(), place.wiring.database.writing() as session:
        mine = session.scalars(
            sa.select(Membership).where(Membership.account_id == place.cast.admin.account_id)
        )
        mine.one().role = Role.RATER
        session.commit()
        assert admin.get("/people").status_code == 403


def test_a_replica_that_is_killed_costs_no_answer_and_comes_back_by_itself(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = place.browser(place.cast.admin)
    with place.wiring.database.writing() as session:
        key = keys.mint(session, SYSTEM, "All", KeyTemplate.METRICS, None).text
    metrics = {"Authorization": f"Bearer {key}"}
    runtime.migrate(place.wiring.settings)
    place.catch_up()
    assert _found(place) == ("ok", "0.0 s behind, and read")
    assert "bridgenote_replica_is_read 1.0" in admin.get("/metrics", headers=metrics).text
    monkeypatch.setattr(replicas, "EXAMINED_EVERY", FAR)
    place.examine()  # so it is believed to be well when it is asked
    place.replica.stop()
    try:
        place.join("Newcomer")
        answer = admin.get("/people")
        assert (answer.status_code, "Newcomer" in answer.text) == (200, True)
        assert place.examined.state().why_not == "failed while it was read"
        assert place.examine().why_not == "cannot be reached"
        assert admin.get("/people").status_code == 200
        assert _found(place)[0] == "warn"
        assert "cannot be reached; everything is read from the database itself" in _found(place)[1]
        assert admin.get("/readyz").get_json()["checks"]["replica"] == "not read: cannot be reached"
        assert "bridgenote_replica_is_read 0.0" in admin.get("/metrics", headers=metrics).text
    finally:
        place.replica.start()
    monkeypatch.setattr(replicas, "TRIED_EVERY", 0.1)
    eventually(lambda: not place.examined.state().why_not, "it is read again")


def test_a_replica_that_lags_more_than_ten_seconds_is_not_read_until_it_has_caught_up(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = place.browser(place.cast.admin)
    monkeypatch.undo()
    assert replicas.MOST_LAG == 10.0
    with place.paused():
        place.join("Newcomer")
        assert "Newcomer" not in admin.get("/people").text
        eventually(lambda: place.examined.state().why_not.startswith("lags 1"), "it lags too much")
        state = place.examined.state()
        assert state.lag is not None
        assert state.lag > 10
        assert "Newcomer" in admin.get("/people").text
        assert _found(place)[0] == "warn"
    eventually(lambda: not place.examined.state().why_not, "it is read again")


def test_a_replica_with_an_older_schema_and_what_is_no_replica_are_not_read(
    place: Place, tmp_path: Path
) -> None:
    with place.paused():
        with place.wiring.database.writing() as session:
            session.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
        assert place.examine().why_not == f"is at version {runtime.head()}, the database at 9999"
    place.catch_up()
    own = place.wiring.settings.database_url
    other = wire(_settings(tmp_path / "other", own, own))
    try:
        assert other.database.replica is not None
        assert other.database.replica.state().why_not == "is no streaming replica of this database"
    finally:
        other.database.dispose()


def test_an_ordinary_role_may_ask_all_that_is_asked(place: Place) -> None:
    role = f"r{uuid.uuid4().hex}"
    own = sa.make_url(place.wiring.settings.database_url)
    with place.primary.admin() as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")
        connection.execute(f'ALTER DATABASE "{own.database}" OWNER TO {role}')
    with place.wiring.database.writing() as session:
        session.execute(sa.text(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"))
    place.catch_up()
    theirs = [
        make_engine(sa.make_url(url).set(username=role).render_as_string())
        for url in (place.wiring.settings.replica_url, place.wiring.settings.database_url)
    ]
    assert replicas.Replica(*theirs).state() == replicas.State(0.0)
    for engine in theirs:
        engine.dispose()


def _found(place: Place) -> tuple[str, str]:
    (found,) = [one for one in examine(place.wiring.settings) if one.what == "replica"]
    return found.state.value, found.detail
