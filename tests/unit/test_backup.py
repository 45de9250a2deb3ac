"""A backup made while people write is whole; restored, it tells of nothing that was decided again."""

import contextlib
import os
import shutil
import sqlite3
import threading
from collections import Counter
from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from pydantic import SecretStr

from app import migrations
from app.commands.backup import backups, postgres, signature
from app.commands.main import cli
from app.core import clock
from app.core.db import Base, Database
from app.core.errors import Conflict, Invalid
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import (
    Account,
    Action,
    Community,
    Delivery,
    Hold,
    Notice,
    OwnDataFile,
    Request,
    SignIn,
    Webhook,
)
from app.core.outbound import AllowList
from app.core.people import accounts, key_admin, keys, sessions
from app.core.permissions import SYSTEM
from app.core.review import holds
from app.core.vocabulary import ActionVerb, DeliveryState, KeyTemplate, RequestStatus
from app.core.webhooks import deliveries
from app.core.webhooks import registrations as webhooks
from app.jobs.engine import Engine
from app.process import runtime
from app.process.runtime import RESTORE_UNFINISHED, Unfinished
from app.settings import Settings
from app.wiring import Wiring
from tests import factories
from tests import postgres as servers
from tests.cast import Cast

pytestmark = pytest.mark.both_databases

SECRET = "a secret of the receiver"


@pytest.fixture
def empty(request: pytest.FixtureRequest, database_url: str, wiring: Wiring, tmp_path: Path) -> Settings:
    """Where to restore to: a database of the same kind, with nothing in it, and the same encryption key."""
    if database_url.startswith("sqlite"):
        url = f"sqlite:///{tmp_path}/elsewhere/restored.db"
    else:
        server: servers.Server = request.getfixturevalue("postgres_server")
        url = server.url(server.create())
    return Settings(
        _env_file=None,
        environment="test",
        data_dir=tmp_path / "other",
        database_url=url,
        encryption_key=wiring.settings.encryption_key,
    ).ready()


def _scene(wiring: Wiring, cast: Cast) -> None:
    """One decision to be sent, one held, one post that waits to be scored, somebody signed in."""
    runtime.migrate(wiring.settings)
    with wiring.database.writing() as session:
        community = session.get_one(Community, cast.community_id)
        allow = AllowList.parse("127.0.0.1")
        webhooks.register(session, SYSTEM, wiring.sealer, allow, community, "http://127.0.0.1/hook", SECRET)
        sessions.begin(session, session.get_one(Account, cast.moderator.account_id), "browser")
    factories.scored_action(wiring, cast, factories.SPAM, "spam")
    action_id = factories.scored_action(wiring, cast, request_id="reviewed")
    with wiring.database.writing() as session:
        moderator = accounts.actor_for(accounts.get(session, cast.moderator.account_id))
        action = session.get_one(Action, action_id)
        holds.hold(
            session, moderator, ActionVerb.DISMISS, action=action, reason=Reason("It is fine"), seconds=0
        )
    factories.submit(wiring, cast, request_id="waiting")
    engine = Engine(wiring.database.engine, executor_id="scene")
    with wiring.database.writing() as session:
        engine.enqueue(session, "score_request", {"request_id": "x"})
    engine.stop()


def _rows(database: Database) -> Counter[str]:
    with database.reading() as session:
        tables = Base.metadata.tables.values()
        return Counter(
            {one.name: session.scalar(sa.select(sa.func.count()).select_from(one)) or 0 for one in tables}
        )


def test_a_round_trip_under_writes(wiring: Wiring, cast: Cast, empty: Settings, tmp_path: Path) -> None:
    _scene(wiring, cast)
    before, ended = _rows(wiring.database), threading.Event()

    def write() -> None:
        number = 0
        while not ended.is_set():
            factories.submit(wiring, cast, request_id=f"meanwhile-{number}")
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    file = tmp_path / "backup"
    try:
        for _ in range(2):
            assert backups.back_up(wiring.settings, file) == file.stat().st_size > 10_000
    finally:
        ended.set()
        writer.join()
    assert file.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir() if "unfinished" in one.name] == []
    key = wiring.settings.encryption_key.get_secret_value().encode()
    assert key not in file.read_bytes()

    done = backups.restore(empty, file)

    assert (done.broken, done.sealed, done.revision) == ([], 0, runtime.head())
    assert done.suspended.deliveries > 0
    assert (done.suspended.holds, done.suspended.sign_ins) == (1, 1)
    assert done.suspended.requests > 1
    restored = Database(empty.sqlalchemy_url)
    rows = _rows(restored)
    for table in ("requests", "moderation_actions", "decisions", "events", "deliveries", "accounts"):
        assert rows[table] >= before[table], table
    with restored.reading() as session:
        assert session.scalars(sa.select(Delivery.state).distinct()).all() == [DeliveryState.PARKED]
        assert session.scalars(sa.select(Hold)).all() == []
        assert session.scalar(sa.select(Notice.account_id)) == cast.moderator.account_id
        assert session.scalars(sa.select(SignIn).where(SignIn.ended_at.is_(None))).all() == []
        by_status = Counter(session.scalars(sa.select(Request.status)))
        assert by_status[RequestStatus.PENDING] == 0
        assert by_status[RequestStatus.FAILED] == done.suspended.requests
        webhook = session.scalars(sa.select(Webhook)).one()
        assert wiring.sealer.open(webhook.secret, str(webhook.id)) == SECRET
        assert history.verify(session, cast.community_id)[1] is None
    engine = Engine(restored.engine, executor_id="test")
    assert engine.counts() == {"waiting": 0, "delayed": 0, "running": 0, "dead": 0}
    engine.stop()
    with restored.writing() as session:
        parked = session.scalars(sa.select(Delivery.id)).first()
        assert parked is not None
        deliveries.replay(session, SYSTEM, parked)
    # While somebody uses it, it cannot be replaced; then not without being asked to; then it can.
    with pytest.raises(Conflict, match="in use"):
        backups.restore(empty, file, force=True)
    restored.dispose()
    with pytest.raises(Conflict, match="--force"):
        backups.restore(empty, file)
    assert backups.restore(empty, file, force=True).suspended == done.suspended


def test_what_is_no_whole_backup_is_refused_and_changes_nothing(
    wiring: Wiring, cast: Cast, empty: Settings, tmp_path: Path
) -> None:
    runtime.migrate(wiring.settings)
    file, broken = tmp_path / "backup", tmp_path / "broken"
    backups.back_up(wiring.settings, file)
    size = file.stat().st_size
    broken.write_bytes(file.read_bytes()[: size * 2 // 3])
    with pytest.raises((Conflict, Invalid)):
        backups.restore(empty, broken)
    broken.write_text("not a backup at all")
    with pytest.raises(Invalid, match="no backup"):
        backups.restore(empty, broken)
    other = "postgresql://127.0.0.1:1/x" if empty.database_url.startswith("sqlite") else "sqlite:///x.db"
    with pytest.raises(Invalid, match="is a backup of"):
        backups.restore(empty.model_copy(update={"database_url": other}), file)
    with wiring.database.writing() as session:
        session.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    backups.back_up(wiring.settings, broken)
    with pytest.raises(Conflict, match="9999"):
        backups.restore(empty, broken)
    unwritable = tmp_path / "nowhere" / "file"
    with pytest.raises(FileNotFoundError):
        backups.back_up(wiring.settings, unwritable)
    assert backups.restore(empty, file).broken == []


def test_a_backup_that_our_key_did_not_sign_is_refused_unless_one_goes_on(
    wiring: Wiring, cast: Cast, empty: Settings, tmp_path: Path
) -> None:
    runtime.migrate(wiring.settings)
    file, forged = tmp_path / "backup", tmp_path / "forged"
    backups.back_up(wiring.settings, file)
    whole = file.read_bytes()
    stranger = empty.model_copy(update={"encryption_key": SecretStr("another key of 32 characters, no less")})
    middle = whole.index(b"operator@example.org") if b"operator@example.org" in whole else len(whole) // 2
    for content in (
        whole[: signature.content_size(file)],
        whole[:-1] + bytes([whole[-1] ^ 1]),
        whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        whole + b"x",
    ):
        forged.write_bytes(content)
        with pytest.raises(Invalid, match=r"signature|signed"):
            backups.restore(empty, forged)
    with pytest.raises(Invalid, match="not signed with this encryption key"):
        backups.restore(stranger, file)
    rotated = stranger.model_copy(update={"previous_encryption_key": wiring.settings.encryption_key})
    assert backups.restore(rotated, file).broken == []
    forged.write_bytes(whole[: signature.content_size(file)])
    assert backups.restore(empty, forged, force=True, unsigned=True).broken == []


def test_a_restore_names_who_may_do_everything(
    wiring: Wiring, cast: Cast, empty: Settings, tmp_path: Path
) -> None:
    runtime.migrate(wiring.settings)
    with wiring.database.writing() as session:
        session.get_one(Account, cast.moderator.account_id).service_admin = True
        session.get_one(Account, cast.operator.account_id).service_admin = True
        session.get_one(Account, cast.operator.account_id).disabled_at = clock.now()
        revoked = keys.mint(session, SYSTEM, "Lost", KeyTemplate.METRICS, [cast.community_id]).key
        key_admin.revoke(session, SYSTEM, revoked.id)
    backups.back_up(wiring.settings, tmp_path / "backup")
    powers = backups.restore(empty, tmp_path / "backup").powers
    assert powers.admins == [
        "admin@example.org, admin of Harbour forum",
        "moderator@example.org, admin of the service",
    ]
    assert [line.partition(", ")[2] for line in powers.keys] == [
        "Forum adapter",
        "Metrics",
        "Other adapter",
        "Reader",
    ]


def test_files_of_own_data_are_in_no_backup(
    wiring: Wiring, cast: Cast, empty: Settings, tmp_path: Path
) -> None:
    runtime.migrate(wiring.settings)
    content = os.urandom(5_000)
    with wiring.database.writing() as session:
        session.add(OwnDataFile(account_id=cast.rater.account_id, made_at=clock.now(), content=content))
    backups.back_up(wiring.settings, tmp_path / "backup")
    assert content[:100] not in (tmp_path / "backup").read_bytes()
    backups.restore(empty, tmp_path / "backup", force=True)
    restored = Database(empty.sqlalchemy_url)
    with restored.reading() as session:
        assert session.scalars(sa.select(OwnDataFile.id)).all() == []
        assert session.get(Account, cast.rater.account_id) is not None
    restored.dispose()
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(OwnDataFile.content)).all() == [content]


def test_a_backup_of_an_older_version_is_migrated(empty: Settings, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    old = Database(empty.sqlalchemy_url)
    migrations.upgrade(old.engine, migrations.BASELINE)
    old.dispose()
    backups.back_up(empty, tmp_path / "old")
    assert backups.restore(empty, tmp_path / "old", force=True).revision == runtime.head()


def test_a_backup_from_before_the_baseline_names_the_version_to_restore_it_with(
    empty: Settings, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    old = Database(empty.sqlalchemy_url)
    migrations.upgrade(old.engine)
    with old.writing() as session:
        session.execute(sa.text("UPDATE alembic_version SET version_num = '0007'"))
    old.dispose()
    backups.back_up(empty, tmp_path / "old")
    with pytest.raises(Conflict, match=f"version 0007. Restore it with version {migrations.BRIDGE}, then"):
        backups.restore(empty, tmp_path / "old", force=True)


def test_a_restore_that_was_killed_half_way_is_not_served(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    server: servers.Server = request.getfixturevalue("postgres_server")
    settings = Settings(
        _env_file=None,
        environment="test",
        data_dir=tmp_path,
        database_url=server.url(server.create()),
    ).ready()
    database = Database(settings.sqlalchemy_url)
    with database.writing() as session:
        session.execute(sa.text(f"CREATE TABLE {RESTORE_UNFINISHED} (id integer)"))
    with pytest.raises(Unfinished, match="restore FILE"):
        runtime.migrate(settings)
    database.dispose()


def test_programs_older_than_the_server_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Conflict, match=r"pg_dump is of version \d+ and the server of 99: install"):
        postgres._program("pg_dump", 99)
    with pytest.raises(Conflict, match="The program pg_dumb is missing"):
        postgres._program("pg_dumb", 15)


def test_programs_that_run_what_a_dump_smuggles_in_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "pg_dump"
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setattr(postgres.glob, "glob", lambda _pattern: [])
    for version, is_safe in (
        *(("12.22", False), ("13.21", False), ("13.22", True), ("14.18", False), ("14.19", True)),
        *(("15.13", False), ("15.14 (Debian 15.14-0+deb12u1)", True), ("16.9", False), ("16.10", True)),
        *(("17.5", False), ("17.6", True), ("18beta1", True), ("18.0", True)),
    ):
        program.write_text(f"#!/bin/sh\necho 'pg_dump (PostgreSQL) {version}'\n")
        program.chmod(0o700)
        if is_safe:
            assert postgres._program("pg_dump", 12) == str(program), version
        else:
            with pytest.raises(Conflict, match="CVE-2025-8714"):
                postgres._program("pg_dump", 12)
    program.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 17.5'\n")
    with pytest.raises(Conflict, match=r"version 17.5, .* install version 16.10, 17.6 or newer"):
        postgres._program("pg_dump", 16)


def test_what_commands_write_is_for_their_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIDGENOTE_DATA_DIR", str(tmp_path / "var"))
    before = os.umask(0o022)
    try:
        for command in (["seed"], ["backup", str(tmp_path / "file")], ["rotate-encryption-key"]):
            assert CliRunner().invoke(cli, command).exit_code == 0
        assert os.umask(0o022) == 0o022
        with (tmp_path / "key.txt").open("w") as output, contextlib.redirect_stdout(output):
            arguments = ["mint-key", "--name", "Forum", "--template", "adapter"]
            cli.main(arguments, standalone_mode=False)
    finally:
        os.umask(before)
    made = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name for path in made} >= {"bridgenote.db", "file", "encryption_key", "key.txt"}
    assert {path.name: oct(path.stat().st_mode & 0o077) for path in made} == {one.name: "0o0" for one in made}


def test_the_commands_say_what_they_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIDGENOTE_DATA_DIR", str(tmp_path / "var"))
    runner, file = CliRunner(), tmp_path / "file"
    assert runner.invoke(cli, ["seed"]).exit_code == 0
    said = runner.invoke(cli, ["backup", str(file)])
    assert (said.exit_code, "encryption key is not in it" in said.output) == (0, True)
    assert (tmp_path / "var" / "last_backup").stat().st_mtime >= file.stat().st_mtime, (
        "for metrics and doctor"
    )
    refused = runner.invoke(cli, ["restore", str(file)])
    assert (refused.exit_code, "--force" in refused.output) == (1, True)
    shutil.rmtree(tmp_path / "var")
    refused = runner.invoke(cli, ["restore", str(file)])
    assert (refused.exit_code, "not signed with this encryption key" in refused.output) == (2, True)
    said = runner.invoke(cli, ["restore", str(file), "--unsigned"])
    assert said.exit_code == 0, said.output
    assert "There are no admins now" in said.output
    assert "Restored, at version" in said.output
    assert "backup.restored" in said.stderr, "a security event"
    assert os.stat(tmp_path / "var" / "bridgenote.db").st_mode & 0o777 == 0o600
    with sqlite3.connect(tmp_path / "var" / "bridgenote.db") as connection:
        assert connection.execute("SELECT count(*) FROM communities").fetchone() == (1,)
