"""The documented nginx before two servers: one dies and requests go on; a one-time link is in no log."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from flask import Flask

from app.settings import Settings
from tests import certificates
from tests.faults.service import Service, free_port
from tests.faults.waiting import eventually

EXAMPLE = Path(__file__).parents[2] / "deploy" / "nginx" / "bridgenote.conf"
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin") or "nginx"
"""`make test` installs it; without it these tests fail."""
TOKEN = "a-token-that-opens-an-account"


class Proxy:
    """The example, changed only in its addresses, certificate and files."""

    def __init__(self, folder: Path, servers: list[int]) -> None:
        self.port, self.log, self.errors = free_port(), folder / "bridgenote.log", folder / "error.log"
        text = EXAMPLE.read_text()
        for name, number in zip(("10.0.0.11:8000", "10.0.0.12:8000"), servers, strict=True):
            text = text.replace(name, f"127.0.0.1:{number}")
        text = re.sub(r"^ +listen \[::\].*\n", "", text, flags=re.MULTILINE)
        text = text.replace("listen 80;", f"listen 127.0.0.1:{free_port()};")
        text = text.replace("listen 443 ssl;", f"listen 127.0.0.1:{self.port} ssl;")
        text = text.replace("/etc/letsencrypt/live/moderation.example.org", str(folder))
        text = text.replace("/var/log/nginx", str(folder))
        (folder / "bridgenote.conf").write_text(text)
        temporary = "\n".join(
            f"{kind}_temp_path {folder}/{kind};"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        user = "user root;" if os.getuid() == 0 else ""
        self.configuration = folder / "nginx.conf"
        self.configuration.write_text(
            f"{user}\nworker_processes 1;\ndaemon off;\npid {folder}/nginx.pid;\nerror_log {self.errors} info;\n"
            f"events {{}}\nhttp {{\n{temporary}\ninclude {folder}/bridgenote.conf;\n}}\n"
        )
        shutil.copy(certificates.write(folder / "fullchain.pem"), folder / "privkey.pem")
        self.command = [NGINX, "-e", str(self.errors), "-c", str(self.configuration)]
        self.process = subprocess.Popen(self.command)
        eventually(self.log.exists, "nginx has begun")

    def get(self, path: str, **headers: str) -> httpx.Response:
        return httpx.get(
            f"https://127.0.0.1:{self.port}{path}",
            headers={"Host": "moderation.example.org", **headers},
            verify=False,  # noqa: S501 - its certificate is its own
            timeout=60,
        )

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()


@pytest.fixture
def servers(database_url: str, tmp_path: Path) -> Iterator[list[Service]]:
    """Two servers of one service, over one database."""
    with ExitStack() as stack:
        found = []
        for number in (1, 2):
            settings = Settings(
                _env_file=None,
                environment="test",
                data_dir=tmp_path / f"machine-{number}",
                database_url=database_url,
                port=free_port(),
                encryption_key="one key for both, as documented.",
            ).ready()
            own = {
                "BRIDGENOTE_SECRET_KEY": "another key for both machines here",
                "BRIDGENOTE_PUBLIC_URL": "https://moderation.example.org",
                "BRIDGENOTE_TRUSTED_PROXIES": "127.0.0.1",
                "BRIDGENOTE_WEB_PROCESSES": "1",
                "BRIDGENOTE_JOBS_IN_PROCESS": "false",
            }
            service = Service(settings, tmp_path / f"serve-{number}.log", environment=own)
            stack.callback(service.end)
            service.launch()
            found.append(service)
        for service in found:
            eventually(service.answers, "the server answers")
        yield found


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_one_of_two_servers_dies_and_no_link_is_logged(servers: list[Service], tmp_path: Path) -> None:
    folder = tmp_path / "nginx"
    folder.mkdir()
    proxy = Proxy(folder, [service.settings.port for service in servers])
    ports = {f"127.0.0.1:{service.settings.port}" for service in servers}
    try:
        checked = subprocess.run([*proxy.command, "-t"], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr

        def ask() -> None:
            """Ask for pages with a token in the path, the query or the Referer, as a person with a link does."""
            assert proxy.get("/readyz").status_code == 200
            for word in ("confirm", "first-admin", "join", "reset"):
                assert proxy.get(f"/{word}/{TOKEN}").status_code < 500
            proxy.get(f"/unsubscribe/{'0' * 8}-0000-4000-8000-{'0' * 12}/{TOKEN}")
            referer = f"https://moderation.example.org/join/{TOKEN}"
            assert proxy.get(f"/sign-in?next=/join/{TOKEN}", Referer=referer).status_code == 200

        ask()
        eventually(
            lambda: ports <= set(re.findall(r"127\.0\.0\.1:\d+", proxy.log.read_text())), "both were asked"
        )
        servers[0].kill()
        for _ in range(3):
            ask()
        # nginx writes the line of a request after its answer.
        eventually(lambda: len(proxy.log.read_text().splitlines()) >= 4 * 7, "the log has each request")
        lines = proxy.log.read_text().splitlines()
    finally:
        proxy.end()
    assert len(lines) == 4 * 7
    assert any(ports <= set(re.findall(r"127\.0\.0\.1:\d+", line)) for line in lines), (
        "one asked, then the other"
    )
    assert '"GET /join/-" ' in "\n".join(lines)
    assert '"GET /sign-in" ' in "\n".join(lines)
    written = "".join(file.read_text() for file in folder.glob("*.log"))
    assert TOKEN not in written


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_the_log_leaves_out_every_link_of_the_service(app: Flask) -> None:
    match = re.search(r"\(\?<link>([\w|-]+)\)", EXAMPLE.read_text())
    assert match is not None
    links = {rule.rule.split("/")[1] for rule in app.url_map.iter_rules() if "token" in rule.arguments}
    assert set(match[1].split("|")) == links
