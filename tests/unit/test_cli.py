"""The command line, as its users meet it: what is printed, what changed, and the exit status."""

import logging
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result
from sqlalchemy.orm import Session

from app.commands import main as cli
from app.commands.opening import opened_wiring
from app.core import clock
from app.core.communities import communities
from app.core.db import Database
from app.core.history import chain
from app.core.models import Account, ApiKey, Category, Community, HistoryEntry, Request, RetentionMark
from app.core.people import accounts, credentials, keys
from app.core.permissions import SYSTEM
from app.core.requests import submitting
from app.core.thresholds import threshold_sets
from app.core.vocabulary import RequestStatus, Role, Verb
from app.jobs.upkeep import export_heads as export
from app.process import runtime
from app.settings import Settings
from tests.warm import Process

ROOT = Path(__file__).parents[2]
KEY = re.compile(r"bnk_[0-9a-f]{12}_[A-Za-z0-9_-]{43}")
HARBOUR = ("--platform", "discourse", "--community", "forum-1")
ACCOUNT = ("create-account", "--email", "sam@example.org", "--password", "correct horse battery")

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """Commands set logging up for a process of their own."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers, root.level = handlers, level


@pytest.fixture
def folder(tmp_path: Path, sqlite_template: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a migrated, empty database; commands run in it."""
    made = tmp_path / "var"
    made.mkdir()
    (made / "bridgenote.db").write_bytes(sqlite_template.read_bytes())
    monkeypatch.setenv("BRIDGENOTE_DATA_DIR", str(made))
    return made


@pytest.fixture
def run(folder: Path) -> Run:
    """Run a command in this process."""

    def run_command(*words: str, stdin: str | None = None) -> Result:
        result = CliRunner().invoke(cli.cli, words, input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert "Traceback" not in result.output
        return result

    return run_command


@pytest.fixture
def database(folder: Path) -> Iterator[Database]:
    made = Database(f"sqlite:///{folder / 'bridgenote.db'}")
    yield made
    made.dispose()


def _environment(folder: Path, **given: str) -> dict[str, str]:
    return {**os.environ, "BRIDGENOTE_DATA_DIR": str(folder), "PYTHONUNBUFFERED": "1", **given}


def _command(folder: Path, *words: str, **given: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, which has the modules imported already."""
    process = Process(
        "app",
        *words,
        cwd=ROOT,
        env=_environment(folder, **given),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        said, errors = process.communicate(240)
    finally:
        process.kill()
    return subprocess.CompletedProcess(words, process.wait(), said, errors)


def _started(folder: Path, *words: str, **given: str) -> subprocess.CompletedProcess[str]:
    """Run a command as its users do: in an interpreter that starts with it."""
    return subprocess.run(
        [sys.executable, "-m", "app", *words],
        cwd=ROOT,
        env=_environment(folder, **given),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


# Keys.


def test_the_last_line_of_mint_key_is_a_key_that_opens_every_community(run: Run, database: Database) -> None:
    result = run("mint-key", "--name", "Forum", "--template", "adapter")
    assert result.exit_code == 0
    text = result.stdout.splitlines()[-1]
    assert KEY.fullmatch(text)
    with database.reading() as session:
        key = keys.authenticate(session, text)
        assert key is not None
        assert (key.everywhere, key.may_open_communities) == (True, True)


def test_a_sign_in_link_is_for_service_admins_alone(run: Run, database: Database) -> None:
    assert run(*ACCOUNT).exit_code == 0
    result = run("sign-in-link", "sam@example.org")
    assert result.exit_code == 1
    assert "sam@example.org" in result.stderr
    assert run(*ACCOUNT[:2], "ana@example.org", *ACCOUNT[3:], "--role", "admin").exit_code == 0
    result = run("sign-in-link", "Ana@Example.org")
    assert result.exit_code == 0
    address, token = result.stdout.strip().split("/sign-in/link/")
    assert address.startswith("http")
    with database.writing() as session:
        assert credentials.use_sign_in_link(session, token).email == "ana@example.org"


def test_the_factors_of_who_lost_them_are_removed(run: Run, database: Database) -> None:
    account_id = uuid.UUID(run(*ACCOUNT).stdout.strip())
    assert run("migrate").exit_code == 0  # the tables of jobs too
    reset = ("reset-sign-in", "Sam@example.org", "--reason", "Called them back")
    assert "no second factor" in run(*reset).stderr
    with database.writing() as session:
        session.get_one(Account, account_id).totp_since = clock.now()
    done = run(*reset)
    assert done.exit_code == 0, done.output
    assert run("reset-sign-in", "unknown@example.org", "--reason", "x").exit_code == 1
    assert run(*reset[:2]).exit_code == 2
    with database.reading() as session:
        assert session.get_one(Account, account_id).totp_since is None


def test_a_key_for_named_communities_acts_in_those_and_opens_the_unknown_ones(
    run: Run, database: Database
) -> None:
    words = ("mint-key", "--name", "Forum", "--template", "read-only")
    result = run(*words, *HARBOUR, "--platform", "discord", "--community", "guild-7")
    assert result.exit_code == 0
    with database.reading() as session:
        key = keys.authenticate(session, result.stdout.splitlines()[-1])
        assert key is not None
        assert not key.everywhere
        opened = {
            (c.platform, c.platform_community_server_id): c.id for c in session.scalars(sa.select(Community))
        }
        assert set(opened) == {("discourse", "forum-1"), ("discord", "guild-7")}
        assert key.communities == set(opened.values())


def test_one_platform_serves_several_communities(run: Run, database: Database) -> None:
    result = run("mint-key", "--name", "F", "--template", "adapter", *HARBOUR, "--community", "forum-2")
    assert result.exit_code == 0
    with database.reading() as session:
        assert set(session.scalars(sa.select(Community.platform))) == {"discourse"}


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("mint-key", "--name", "F", "--template", "superuser"), "--template"),
        (("mint-key", "--template", "adapter"), "--name"),
        (("mint-key", "--name", "", "--template", "adapter"), "--name"),
        (("mint-key", "--name", "F", "--template", "adapter", "--community", "forum-1"), "--platform"),
        (("mint-key", "--name", "F", "--template", "adapter", "--platform", "discourse"), "--community"),
        (
            (
                "mint-key",
                "--name",
                "F",
                "--template",
                "adapter",
                "--platform",
                "Not A Platform",
                "--community",
                "x",
            ),
            "--platform",
        ),
        (("mint-key", "--name", "F", "--template", "adapter", "--days", "0"), "--days"),
        ((*ACCOUNT, "--role", "emperor"), "--role"),
        ((*ACCOUNT, "--role", "moderator"), "--community"),
        ((*ACCOUNT, "--community", "forum-1"), "--platform"),
        (("create-account", "--email", "sam", "--password", "correct horse battery"), "--email"),
        (("create-account", "--email", "sam@example.org", "--password", "short"), "--password"),
        (("create-account", "--email", "sam@example.org", "--password", "password1"), "--password"),
        (("set-category", *HARBOUR, "--name", "spam"), "--tier2"),
        (("set-category", *HARBOUR, "--name", "spam", "--tier2", "much"), "--tier2"),
        (("set-category", *HARBOUR, "--name", "spam", "--tier2", "1.5"), "--tier2"),
        (("set-category", *HARBOUR, "--name", "spam", "--tier2", "nan"), "--tier2"),
        (("set-category", *HARBOUR, "--name", "spam", "--tier2", "0.8", "--tier1", "0.5"), "--tier2"),
        (("set-category", *HARBOUR, "--name", "spam", "--tier2", "0.8", "--tier1", "-1"), "--tier1"),
        (("set-category", *HARBOUR, "--name", "Spam!", "--tier2", "0.8"), "--name"),
        (
            ("set-category", *HARBOUR, "--name", "spam", "--tier2", "0.8", "--tier2-action", "explode"),
            "--tier2-action",
        ),
        (("set-category", *HARBOUR, "--name", "spam", "--tier2", "0.8", "--reason", " "), "--reason"),
        (
            ("set-category", *HARBOUR, "--name", "spam", "--tier2", "0.8", "--author-text", "x" * 2_001),
            "--author-text",
        ),
        (("set-category", "--name", "spam", "--tier2", "0.8"), "--platform"),
        (("serve", "--port", "99999"), "--port"),
        (("no-such-command",), "no-such-command"),
    ],
)
def test_misuse_exits_with_2_names_the_option_and_changes_nothing(
    run: Run, database: Database, words: tuple[str, ...], named: str
) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert named in result.stderr
    with database.reading() as session:
        for model in (Account, ApiKey, Community):
            assert session.scalar(sa.select(sa.func.count()).select_from(model)) == 0


# Accounts.


def test_create_account_prints_the_id_of_an_account_that_can_sign_in(run: Run, database: Database) -> None:
    result = run(*ACCOUNT, "--role", "moderator", *HARBOUR)
    assert result.exit_code == 0
    with database.reading() as session:
        account = accounts.verify_credentials(session, "sam@example.org", "correct horse battery")
        assert result.stdout.splitlines()[-1] == str(account.id)
        community = communities.find(session, "discourse", "forum-1")
        assert community is not None
        actor = accounts.actor_for(accounts.get(session, account.id))
        assert actor.role_in(community.id) is Role.MODERATOR
        assert not actor.service_admin


def test_an_admin_without_a_community_is_admin_everywhere(run: Run, database: Database) -> None:
    assert run(*ACCOUNT, "--role", "admin").exit_code == 0
    with database.reading() as session:
        assert session.scalars(sa.select(Account.service_admin)).one()


def test_an_admin_of_a_community_is_admin_there_alone(run: Run, database: Database) -> None:
    assert run(*ACCOUNT, "--role", "admin", *HARBOUR).exit_code == 0
    with database.reading() as session:
        assert not session.scalars(sa.select(Account.service_admin)).one()


def test_a_password_can_come_from_standard_input(run: Run, database: Database) -> None:
    result = run("create-account", "--email", "sam@example.org", "--password", "-", stdin="from a pipe\n")
    assert result.exit_code == 0
    with database.reading() as session:
        assert accounts.verify_credentials(session, "sam@example.org", "from a pipe")


def test_an_address_that_has_an_account_fails_with_1(run: Run) -> None:
    assert run(*ACCOUNT).exit_code == 0
    again = run(*ACCOUNT)
    assert again.exit_code == 1
    assert "already has an account" in again.stderr


# Categories.


def _category(database: Database, name: str) -> Category:
    with database.reading() as session:
        community = communities.find(session, "discourse", "forum-1")
        assert community is not None
        return next(
            one for one in threshold_sets.current(session, community.id).categories if one.name == name
        )


def test_set_category_writes_a_new_version_and_keeps_what_is_not_given(run: Run, database: Database) -> None:
    words = ("set-category", *HARBOUR, "--name", "spam", "--tier2")
    assert run(*words, "0.4", "--tier1", "0.9", "--tier1-action", "delete").exit_code == 0
    first = _category(database, "spam")
    assert (first.tier2, first.tier1, first.tier1_action, first.tier2_action) == (
        0.4,
        0.9,
        Verb.DELETE,
        Verb.HIDE,
    )
    told = ("--author-text", "Please do not advertise.")
    assert run(*words, "0.5", "--tier2-action", "notify", *told).exit_code == 0
    second = _category(database, "spam")
    assert second.author_text == "Please do not advertise."
    assert (second.tier2, second.tier1, second.tier1_action) == (0.5, None, Verb.DELETE)
    assert (second.tier2_action, second.severity) == (Verb.NOTIFY, first.severity)
    assert run(*words, "0.6").exit_code == 0
    assert _category(database, "spam").author_text == "Please do not advertise."
    assert run(*words, "0.6", "--author-text", "").exit_code == 0
    assert _category(database, "spam").author_text is None


def test_set_category_adds_a_category_of_ones_own(run: Run, database: Database) -> None:
    assert run("set-category", *HARBOUR, "--name", "off_topic", "--tier2", "0.7").exit_code == 0
    assert _category(database, "off_topic").tier2 == 0.7
    assert _category(database, "threat").tier2 == 0.55


# History.


def test_verify_history_tells_that_all_is_well(run: Run) -> None:
    run("set-category", *HARBOUR, "--name", "spam", "--tier2", "0.4")
    result = run("verify-history")
    assert result.exit_code == 0
    assert "forum-1" in result.stdout
    assert "unbroken" in result.stdout


def test_verify_history_names_the_first_altered_entry_and_exits_with_1(
    run: Run, folder: Path, database: Database
) -> None:
    for tier2 in ("0.4", "0.5", "0.6"):
        run("set-category", *HARBOUR, "--name", "spam", "--tier2", tier2)
    with database.reading() as session:
        entries = session.scalars(sa.select(HistoryEntry).order_by(HistoryEntry.number)).all()
    with sqlite3.connect(folder / "bridgenote.db") as connection:
        for entry in entries[2:]:
            connection.execute("UPDATE history SET what = 'nothing.happened' WHERE id = ?", (entry.id.hex,))
    connection.close()
    result = run("verify-history")
    assert result.exit_code == 1
    assert f"entry {entries[2].number} " in result.stdout
    assert str(entries[2].id) in result.stdout


def test_verify_history_goes_on_where_it_was_killed(
    run: Run, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tier2 in ("0.4", "0.5", "0.6", "0.7"):
        run("set-category", *HARBOUR, "--name", "spam", "--tier2", tier2)
    with database.reading() as session:
        (last,) = session.scalars(
            sa.select(sa.func.max(HistoryEntry.number)).group_by(HistoryEntry.community_id)
        ).all()
    monkeypatch.setattr(chain, "STRETCH", 2)
    walk, read = chain.stretch, []

    def killed(session: Session, community_id: uuid.UUID, number: int, previous: str) -> chain.Stretch:
        read.append((session, number))
        if number == 2:
            raise KeyboardInterrupt
        return walk(session, community_id, number, previous)

    monkeypatch.setattr(chain, "stretch", killed)
    assert run("verify-history").exit_code != 0
    with database.reading() as session:
        assert session.scalars(sa.select(RetentionMark.verified_number)).all() == [2]
    monkeypatch.setattr(chain, "stretch", walk)
    assert f": {last - 2} new entries, unbroken" in run("verify-history", "--only-new").stdout
    assert f": {last} entries, unbroken" in run("verify-history").stdout
    assert ": 0 new entries, unbroken" in run("verify-history", "--only-new").stdout
    assert len({id(session) for session, _ in read}) == len(read) == 2, "each stretch has its own transaction"


def test_verify_history_compares_with_the_exported_heads(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder / "heads"
    monkeypatch.setenv("BRIDGENOTE_HISTORY_HEADS_FILE", str(file))
    run("set-category", *HARBOUR, "--name", "spam", "--tier2", "0.4")
    with opened_wiring() as wiring:
        export(wiring)
    assert run("verify-history", "--expect", str(file)).exit_code == 0
    with sqlite3.connect(folder / "bridgenote.db") as connection:
        (newest,) = connection.execute("SELECT id FROM history ORDER BY number DESC LIMIT 1").fetchone()
        connection.execute("DELETE FROM history_texts WHERE entry_id = ?", (newest,))
        connection.execute("DELETE FROM history WHERE id = ?", (newest,))
        connection.execute("DELETE FROM retention_marks")
    connection.close()
    assert run("verify-history").exit_code == 0
    result = run("verify-history", "--expect", str(file))
    assert result.exit_code == 1
    assert re.search(
        r"forum-1\): unlike the exported heads: entry \d+, exported on [\d-]+, is missing", result.stdout
    )
    file.write_text("no heads\n")
    result = run("verify-history", "--expect", str(file))
    assert result.exit_code == 2
    assert "line 1" in result.stderr


# Settings and what stands below.


def test_settings_shows_values_and_masks_secrets(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIDGENOTE_SECRET_KEY", "the-secret-of-secrets")
    monkeypatch.setenv("BRIDGENOTE_DATABASE_URL", "postgresql://anna:opensesame@db.example/bridgenote")
    monkeypatch.setenv("BRIDGENOTE_UNDO_SECONDS", "7")
    shown = run("settings").stdout
    assert "the-secret-of-secrets" not in shown
    assert "opensesame" not in shown
    assert "db.example" in shown
    (line,) = [line for line in shown.splitlines() if "BRIDGENOTE_UNDO_SECONDS" in line]
    assert re.search(r"\b7\b.*\b10\b", line)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BRIDGENOTE_PORT", "70000"),
        ("BRIDGENOTE_ENVIRONMENT", "holiday"),
        ("BRIDGENOTE_DATABASE_URL", "not a url"),
        ("BRIDGENOTE_DATABASE_URL", "oracle9://localhost/x"),
        ("BRIDGENOTE_RATE_LIMIT_KEY", "now and then"),
        ("BRIDGENOTE_TRUSTED_PROXIES", "10.0.0.300"),
        ("BRIDGENOTE_WEBHOOK_RETRY_DELAYS", "soon"),
    ],
)
def test_a_bad_setting_exits_with_2_and_is_named(
    run: Run, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    result = run("migrate")
    assert result.exit_code == 2
    assert name in result.stderr


def test_production_without_secrets_is_refused_naming_the_setting(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIDGENOTE_ENVIRONMENT", "production")
    result = run("migrate")
    assert result.exit_code == 2
    assert "BRIDGENOTE_SECRET_KEY" in result.stderr


@pytest.mark.parametrize("command", [("migrate",), ("verify-history",), ("serve",), ("worker",), ACCOUNT])
def test_an_unreachable_database_fails_with_1_and_one_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("BRIDGENOTE_DATABASE_URL", f"postgresql://anna:opensesame@127.0.0.1:{_free_port()}/x")
    monkeypatch.setattr(runtime, "START_SECONDS", 0.5)
    result = run(*command)
    assert result.exit_code == 1
    assert "database cannot be used" in result.stderr
    assert "opensesame" not in result.output


def test_a_data_folder_that_cannot_be_made_fails_with_1(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIDGENOTE_DATA_DIR", str(folder / "bridgenote.db" / "below-a-file"))
    assert run("migrate").exit_code == 1


def test_doctor_tells_what_is_well_and_what_is_not(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("BRIDGENOTE_PORT", str(_free_port()))
        assert run("doctor").exit_code == 0
        monkeypatch.setenv("BRIDGENOTE_PORT", str(taken.getsockname()[1]))
        result = run("doctor")
    assert result.exit_code == 1
    assert re.search(r"fail  port: .*in use", result.stdout)
    assert "ok    database" in result.stdout


def test_the_demonstration_is_refused_where_others_could_sign_in(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIDGENOTE_HOST", "0.0.0.0")  # noqa: S104 - the very address that must be refused
    result = run("seed", "--demo")
    assert result.exit_code == 1
    assert "loopback" in result.stderr


def test_seeding_twice_says_that_nothing_was_done(run: Run, database: Database) -> None:
    assert "local/main" in run("seed").stdout
    result = run("seed", "--demo")
    assert result.exit_code == 0
    assert "not empty" in result.stdout
    with database.reading() as session:
        assert session.scalars(sa.select(Community.platform)).all() == ["local"]


def test_help_lists_every_command(run: Run) -> None:
    shown = run("--help").stdout
    for name in (
        "backup",
        "create-account",
        "doctor",
        "erase-user",
        "migrate",
        "mint-key",
        "reset-sign-in",
        "restore",
        "rotate-encryption-key",
        "seed",
        "serve",
        "set-category",
        "settings",
        "simulate",
        "verify-draw",
        "verify-history",
        "worker",
    ):
        assert f"  {name} " in shown
        assert run(name, "--help").exit_code == 0


# In processes of their own.

in_processes = pytest.mark.usefixtures("warm_processes")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def _running(folder: Path, *words: str, until: str, **given: str) -> Iterator[Process]:
    """A command that stays, once it has printed ``until``; what is still there at the end is killed."""
    log = folder.parent / f"{words[0]}-{_free_port()}.log"
    with log.open("w") as output:
        process = Process(
            "app",
            *words,
            cwd=ROOT,
            env=_environment(folder, **given),
            stdout=output.fileno(),
            stderr=output.fileno(),
        )
    try:
        _wait(lambda: until in log.read_text() or process.poll() is not None, log)
        assert process.poll() is None, log.read_text()
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def _wait(condition: Callable[[], bool], log: Path | None = None, seconds: float = 240.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, log.read_text() if log is not None else "it did not happen"
        time.sleep(0.05)


@in_processes
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serve_on_a_fresh_folder_scores_what_a_key_minted_meanwhile_submits_and_ends_cleanly(
    tmp_path: Path, number: signal.Signals
) -> None:
    folder, port = tmp_path / "var", _free_port()
    url = f"http://127.0.0.1:{port}"
    with _running(folder, "serve", "--port", str(port), until=url) as server:
        minted = _command(folder, "mint-key", "--name", "Forum", "--template", "adapter", *HARBOUR)
        assert (minted.returncode, minted.stderr) == (0, "")
        submission = {
            "request_id": "post-1",
            "requested_by": "anna",
            "community_server_id": "forum-1",
            "original_message_content": "The ferry leaves at seven.",
        }
        answer = httpx.post(
            f"{url}/api/public/v1/requests",
            headers={"Authorization": f"Bearer {minted.stdout.splitlines()[-1]}"},
            json={"data": {"type": "requests", "attributes": submission}},
            timeout=60,
        )
        assert answer.status_code == 201
        database = Database(f"sqlite:///{folder / 'bridgenote.db'}")
        _wait(lambda: _statuses(database) == [RequestStatus.COMPLETED])
        database.dispose()
        server.send_signal(number)
        assert server.wait(timeout=360) == 0


def _statuses(database: Database) -> list[RequestStatus]:
    with database.reading() as session:
        return list(session.scalars(sa.select(Request.status)))


@in_processes
def test_a_taken_port_fails_with_1_before_anything_is_served(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = _command(tmp_path / "var", "serve", "--port", str(port))
    assert result.returncode == 1
    assert str(port) in result.stderr
    assert "Traceback" not in result.stderr


@in_processes
def test_workers_take_names_of_their_own_and_do_what_others_left(tmp_path: Path) -> None:
    folder = tmp_path / "var"
    settings = Settings(_env_file=None, data_dir=folder).ready()
    with runtime.opened(settings) as wiring, wiring.database.writing() as session:
        community = communities.open_community(session, SYSTEM, "discourse", "forum-1")
        submission = submitting.Submission("post-1", "anna", "The ferry leaves at seven.")
        submitting.submit(session, SYSTEM, community.id, submission)
    database = Database(settings.sqlalchemy_url)
    with (
        _running(folder, "worker", until="worker-0 is at work") as first,
        _running(folder, "worker", until="worker-1 is at work") as second,
    ):
        _wait(lambda: _statuses(database) == [RequestStatus.COMPLETED])
        for process in (first, second):
            process.send_signal(signal.SIGTERM)
        assert [process.wait(timeout=360) for process in (first, second)] == [0, 0]
    database.dispose()


@in_processes
def test_a_command_on_an_unmigrated_folder_migrates_it_first(tmp_path: Path) -> None:
    result = _started(tmp_path / "fresh", "mint-key", "--name", "Forum", "--template", "metrics")
    assert result.returncode == 0
    assert KEY.fullmatch(result.stdout.splitlines()[-1])
    assert _command(tmp_path / "fresh", "doctor", BRIDGENOTE_PORT=str(_free_port())).returncode == 0


def test_misuse_of_the_program_itself_leaves_no_traceback(tmp_path: Path) -> None:
    result = _started(tmp_path, "set-category", *HARBOUR, "--name", "spam", "--tier2", "2")
    assert result.returncode == 2
    assert result.stdout == ""
    assert "--tier2" in result.stderr
    assert "Traceback" not in result.stderr
