"""Where a real start of the service leaves the first admin's link, and where it never does."""

import os
import pty
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.browser.live import ROOT, START_PATIENCE, answers, wait_for
from tests.faults.service import free_port
from tests.warm import Process

LINK = re.compile(r"http://127\.0\.0\.1:\d+/first-admin/([\w-]{43})")
SECRETS = {"BRIDGENOTE_SECRET_KEY": "s" * 40, "BRIDGENOTE_ENCRYPTION_KEY": "e" * 40}


@contextmanager
def _served(folder: Path, output: int, *options: str, **settings: str) -> Iterator[str]:
    """A service that writes what it says to ``output``; its address."""
    port = free_port()
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("BRIDGENOTE_")}
    own = {
        "BRIDGENOTE_DATA_DIR": str(folder / "var"),
        "BRIDGENOTE_PORT": str(port),
        "BRIDGENOTE_WEB_PROCESSES": "1",
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        **settings,
    }
    process = Process(
        "app",
        "serve",
        *options,
        cwd=folder,
        env=inherited | own,
        stdout=output,
        stderr=output,
    )
    address = f"http://127.0.0.1:{port}"

    def is_there() -> bool:
        assert process.poll() is None, "the server ended while it started"
        return answers(port)

    try:
        wait_for("the start of the server", is_there, 3 * START_PATIENCE)  # the demo is seeded first
        yield address
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(START_PATIENCE)


def test_a_log_of_production_holds_no_token_and_says_what_to_do(tmp_path: Path) -> None:
    written = tmp_path / "journal"
    with (
        written.open("wb") as output,
        _served(tmp_path, output.fileno(), BRIDGENOTE_ENVIRONMENT="production", **SECRETS) as address,
    ):
        assert "/first-admin/" not in httpx.get(f"{address}/").text
        assert httpx.get(f"{address}/first-admin/{'A' * 43}").status_code == 410
    said = written.read_text()
    assert "There is no admin yet. Create one with `python -m app create-account --role admin`" in said
    assert not LINK.search(said)
    assert '"status": 410' in said or '"status":410' in said, "requests are logged"
    assert "A" * 43 not in said


def test_a_terminal_is_shown_the_link_in_production_too(tmp_path: Path) -> None:
    ours, its = pty.openpty()
    with _served(tmp_path, its, BRIDGENOTE_ENVIRONMENT="production", **SECRETS) as address:
        said = b""

        def shown() -> str | None:
            nonlocal said
            said += os.read(ours, 4096)
            found = LINK.search(said.decode())
            return found.group(1) if found else None

        token = wait_for("the link on the terminal", shown)
        assert httpx.get(f"{address}/first-admin/{token}").status_code == 200
        assert "/first-admin/" not in httpx.get(f"{address}/").text, "the terminal alone has it"
    os.close(ours)
    os.close(its)


@pytest.mark.parametrize(("options", "has_link"), [(("--demo",), False), (("--demo", "--no-demo"), True)])
def test_the_demo_has_its_admin_and_without_it_there_is_a_link(
    tmp_path: Path, options: tuple[str, ...], has_link: bool
) -> None:
    written = tmp_path / "output"
    with written.open("wb") as output, _served(tmp_path, output.fileno(), *options) as address:
        assert ("/first-admin/" in httpx.get(f"{address}/").text) is has_link
        forwarded = httpx.get(f"{address}/", headers={"X-Forwarded-For": "127.0.0.1"})
        assert "/first-admin/" not in forwarded.text, "a proxy's header is seen although it is removed"
    said = written.read_text()
    assert bool(LINK.search(said)) is has_link
    assert ("Demo sign-ins" in said) is not has_link
