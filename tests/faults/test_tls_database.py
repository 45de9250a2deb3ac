"""PostgreSQL on another machine, as docs/run/several-machines.md sets it up: a role of its own, and TLS alone."""

import re
import shutil
from contextlib import suppress
from pathlib import Path

import psycopg
import sqlalchemy as sa

from app.commands.backup import backups
from app.core.db import Database
from app.process import runtime
from app.settings import Settings
from tests import certificates, postgres
from tests.faults.waiting import eventually

PAGE = Path(__file__).parents[2] / "docs" / "run" / "several-machines.md"
PASSWORD = "5f0c"


def _documented(pattern: str, **replacements: str) -> str:
    match = re.search(pattern, PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert match is not None
    text = match[1].replace("PASSWORD '", "password '").replace("PASSWORD", PASSWORD)
    for old, new in replacements.items():
        assert old in text
        text = text.replace(old, new)
    return text


def _admit(server: postgres.Server, folder: Path) -> Path:
    """Switch on TLS, and let in the documented role and the superuser of the tests. Return the certificate."""
    certificate = certificates.write(folder / "server.pem")
    own = server.folder / "own.pem"
    shutil.copy(certificate, own)
    rules = server.folder / "data" / "pg_hba.conf"
    documented = _documented(r"^(hostssl .*?)$", **{"10.0.0.0/24": "127.0.0.1/32"})
    rules.write_text(f"{documented}\nhost all postgres 127.0.0.1/32 trust\n")
    own.chmod(0o600)
    with suppress(PermissionError):  # not root: the server is ours, and so is the file
        shutil.chown(own, rules.owner())
    with server.admin() as connection:
        for setting, value in (("ssl", "on"), ("ssl_cert_file", own), ("ssl_key_file", own)):
            connection.execute(f"ALTER SYSTEM SET {setting} = '{value}'")
        connection.execute("SELECT pg_reload_conf()")
    return certificate


def test_the_documented_role_reaches_its_database_by_tls_and_in_no_other_way(tmp_path: Path) -> None:
    with postgres.running() as server:
        certificate = _admit(server, tmp_path)
        with server.admin() as connection:
            for statement in _documented(r"^```sql\n(.*?)```").split(";"):
                if statement.strip():
                    connection.execute(statement)
        changes = {"db.internal:5432": f"127.0.0.1:{server.port}", "/etc/bridgenote-ca.crt": str(certificate)}
        url = _documented(r"BRIDGENOTE_DATABASE_URL='(.*?)'", **changes)
        eventually(lambda: _enters(url), "the role is let in by TLS")
        assert not _enters(re.sub(r"\?.*", "?sslmode=disable", url))
        settings = Settings(
            _env_file=None, environment="test", data_dir=tmp_path / "var", database_url=url
        ).ready()
        assert runtime.migrate(settings) == runtime.head()
        database = Database(settings.sqlalchemy_url)
        with database.reading() as session:
            assert session.scalar(sa.text("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"))
            extensions = session.scalars(sa.text("SELECT extname FROM pg_extension")).all()
        database.dispose()
        assert "pg_trgm" in extensions, "the owner may create it"
        assert backups.back_up(settings, tmp_path / "backup") > 10_000


def _enters(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=60).close()
    except psycopg.OperationalError:
        return False
    return True
