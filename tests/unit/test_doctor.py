"""The doctor names what is wrong, and what to do about it."""

import json
import sqlite3
from datetime import timedelta

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from app.commands.main import cli
from app.core import clock
from app.core.models import Community, Delivery, Request, SignInRules, Webhook
from app.core.outbound import AllowList
from app.core.people import providers
from app.core.people.providers import Draft
from app.core.permissions import SYSTEM
from app.core.requests import submitting
from app.core.review import conditions
from app.core.sealing import Sealer
from app.core.upkeep import attention
from app.core.vocabulary import RequestStatus
from app.core.webhooks import registrations as webhooks
from app.jobs.engine import Engine
from app.migrations import BRIDGE
from app.process import runtime
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.clocks import at
from tests.faults.service import free_port

pytestmark = pytest.mark.both_databases


def _told(monkeypatch: pytest.MonkeyPatch, wiring: Wiring, **settings: str) -> dict[tuple[str, str], str]:
    """What the doctor says, as ``{(check, state): detail and advice}``."""
    given = {
        "database_url": wiring.settings.database_url,
        "data_dir": str(wiring.settings.data_dir),
        "port": str(free_port()),
        **settings,
    }
    with monkeypatch.context() as patched:
        for name, value in given.items():
            patched.setenv(f"BRIDGENOTE_{name.upper()}", value)
        done = CliRunner().invoke(cli, ["doctor", "--json"])
    found: dict[tuple[str, str], str] = {}
    for one in json.loads(done.stdout):
        key = (one["what"], one["state"])
        found[key] = f"{found.get(key, '')} {one['detail']} → {one['advice']}"
    assert done.exit_code == int(any(state == "fail" for _, state in found))
    return found


def test_a_provider_that_cannot_be_read_and_admins_without_a_way_in_are_named(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.migrate(wiring.settings)
    assert _told(monkeypatch, wiring)["sign-in", "ok"].startswith(" 0 providers, passwords on")
    draft = Draft("Example", "https://login.example.org", "bridgenote")
    with wiring.database.writing() as session:
        providers.set_by_server(session, wiring.sealer, draft)
    assert "Example was never read" in _told(monkeypatch, wiring)["sign-in", "warn"]
    with wiring.database.writing() as session:
        row = providers.enabled(session)[0]
        providers.record_discovered(session, row.id, {"issuer": "https://login.example.org"})
    assert ("sign-in", "warn") not in _told(monkeypatch, wiring)
    with wiring.database.writing() as session:
        providers.enabled(session)[0].discovered_at = clock.now() - timedelta(days=2)
        session.add(SignInRules(id=1, passwords=False))
    said = _told(monkeypatch, wiring)["sign-in", "warn"]
    assert "Example was last read on" in said
    assert "no service admin can sign in" in said


def test_what_was_withdrawn_or_removed_is_not_counted(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.migrate(wiring.settings)
    with wiring.database.writing() as session:
        community, allow = session.get_one(Community, cast.community_id), AllowList.parse("")
        url = "https://hooks.example/a"
        webhook, _ = webhooks.register(session, SYSTEM, wiring.sealer, allow, community, url, "a secret")
    factories.scored_action(wiring, cast, factories.SPAM, "decided")
    for number in range(3):
        factories.submit(wiring, cast, request_id=f"post-{number}")
    with wiring.database.writing() as session:
        for request in session.scalars(sa.select(Request)):
            request.created_at = clock.now() - timedelta(hours=1)
        failed = session.scalars(sa.select(Request).where(Request.request_id == "post-2")).one()
        failed.status = RequestStatus.FAILED
        session.execute(sa.update(Delivery).values(state="dead", due_at=None))
    ill = _told(monkeypatch, wiring)
    assert "2 requests have waited" in ill["scoring", "warn"]
    assert "1 requests could not be scored" in ill["scoring", "warn"]
    assert "failed" in ill["deliveries", "warn"]
    with wiring.database.writing() as session:
        for request in session.scalars(sa.select(Request)):
            submitting.withdraw(session, factories.integration(cast), request)
        webhooks.remove(session, SYSTEM, webhook.id)
        session.execute(sa.update(Delivery).values(state="dead", due_at=None))
    well = _told(monkeypatch, wiring)
    assert "nothing waits" in well["scoring", "ok"]
    assert ("deliveries", "warn") not in well
    assert {state for (what, state) in well if what in ("secrets", "webhooks")} == {"ok"}


@pytest.mark.parametrize("table", runtime.UNFINISHED)
def test_a_restore_or_a_move_that_did_not_end_is_named(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    runtime.migrate(wiring.settings)
    with wiring.database.writing() as session:
        session.execute(sa.text(f"CREATE TABLE {table} (id integer)"))
    assert runtime.UNFINISHED[table].replace("; ", " → ") in _told(monkeypatch, wiring)["database", "fail"]


def test_a_service_in_order_and_one_in_disorder(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.migrate(wiring.settings)
    engine = Engine(wiring.database.engine, executor_id="web-0")
    engine._heartbeat.beat()
    engine.stop()
    well = _told(monkeypatch, wiring)
    assert {state for _, state in well} == {"ok"}, well
    assert "web-0" in well["job engine", "ok"]
    assert "none was made on this machine" in well["backup", "ok"]

    stranger = Sealer.from_secret("a key that nobody holds any more.")
    with wiring.database.writing() as session:
        community = session.get_one(Community, cast.community_id)
        allow = AllowList.parse("127.0.0.1")
        webhooks.register(session, SYSTEM, stranger, allow, community, "http://127.0.0.1/a", "a secret")
    factories.scored_action(wiring, cast, factories.SPAM)
    factories.submit(wiring, cast, request_id="late")
    long_ago = clock.now() - timedelta(hours=1)
    with wiring.database.writing() as session:
        session.execute(sa.update(Delivery).values(due_at=long_ago))
        session.execute(sa.update(Webhook).values(is_active=False))
        session.get_one(Community, cast.community_id).paused_at = clock.now() - timedelta(days=2)
        attention.update(session, cast.community_id)
        session.execute(
            sa.update(Request).where(Request.status == RequestStatus.PENDING).values(created_at=long_ago)
        )
        table = "job_heartbeats" if wiring.database.engine.dialect.name == "sqlite" else "dbos.job_heartbeats"
        session.execute(sa.text(f"UPDATE {table} SET beat_at = 0"))  # noqa: S608 - one of two
    ill = _told(
        monkeypatch,
        wiring,
        host="0.0.0.0",  # noqa: S104 - what is to be found fault with
        secret_key="short",
        trusted_proxies="0.0.0.0/0",
        smtp_host="127.0.0.1",
        smtp_port=str(free_port()),
        rate_limit_storage=f"redis://127.0.0.1:{free_port()}",
    )
    assert "where others reach them" in ill["settings", "fail"]
    assert "BRIDGENOTE_SECRET_KEY is short" in ill["secrets", "fail"]
    assert "very many addresses" in ill["proxies", "warn"]
    assert "refused" in ill["mail server", "fail"].lower()
    assert "does not answer" in ill["rate limits", "fail"]
    assert "1 do not open" in ill["sealed secrets", "fail"]
    assert ("sealed secrets", "ok") not in ill
    assert "died or hangs: web-0" in ill["job engine", "warn"]
    assert "no server or worker" in ill["job engine", "warn"]
    assert "1 requests have waited" in ill["scoring", "warn"]
    assert "for more than 5 minutes" in ill["deliveries", "fail"]
    assert "disabled: 127.0.0.1" in ill["webhooks", "warn"]
    assert "automatic actions are still paused: Harbour" in ill["communities", "warn"]


def test_an_old_backup_is_named(wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime.migrate(wiring.settings)
    is_alone = wiring.database.engine.dialect.name == "sqlite"
    keys = {name: f"0123456789 a key of {name} in production" for name in ("secret_key", "encryption_key")}
    never = _told(monkeypatch, wiring, environment="production", **keys)
    assert "none was made" in never["backup", "warn" if is_alone else "ok"], (
        "of several machines another may do it"
    )
    runtime.record_backup(wiring.settings)
    assert "0 hours old" in _told(monkeypatch, wiring)["backup", "ok"]
    at(clock.now() + conditions.BACKUP_LATE_AFTER + timedelta(hours=1))
    assert "27 hours old" in _told(monkeypatch, wiring)["backup", "warn"]


def test_a_damaged_file_and_an_open_folder_are_named(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    folder = wiring.settings.data_dir
    folder.chmod(0o755)
    # Stands for a folder without rights or room: what runs the tests may write everywhere.
    (folder / "limits.db").unlink(missing_ok=True)
    (folder / "limits.db").mkdir()
    assert "cannot be written → give it" in _told(monkeypatch, wiring)["rate limits", "fail"]
    if database_url.startswith("sqlite"):
        wiring.database.dispose()
        path = database_url.removeprefix("sqlite:///")
        with sqlite3.connect(path) as connection:
            root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'requests'").fetchone()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with open(path, "r+b") as file:
            file.seek((root[0] - 1) * 4096)
            file.write(b"\xff" * 4096)
        assert "restore" in _told(monkeypatch, wiring)["database", "fail"]
    else:
        with wiring.database.writing() as session:
            session.execute(sa.text("UPDATE alembic_version SET version_num = '0007'"))
        assert f"with version {BRIDGE} first" in _told(monkeypatch, wiring)["database", "fail"]
    assert "chmod 700" in _told(monkeypatch, wiring)["data folder", "warn"]
