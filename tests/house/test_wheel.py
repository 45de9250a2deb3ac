"""The wheel, installed in an environment of its own: all that the service needs is in it, and one version."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from app import __version__
from app.core.people import keys
from app.core.permissions import SYSTEM
from app.core.vocabulary import KeyTemplate
from app.process import runtime
from app.settings import Settings
from tests.faults.service import free_port
from tests.faults.waiting import eventually
from tests.house.source import ROOT

SPAM = "Double your Bitcoin today, guaranteed profits! Send 0.1 BTC, get 0.2 back."
API = "/api/public/v1"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True
    )
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def bridgenote(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of the installed wheel. Its dependencies are those that are installed here, to download nothing."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=True)
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv is not None:
        install = [
            uv,
            "pip",
            "install",
            "-q",
            "--python",
            folder / "bin" / "python",
            "--no-deps",
            "--offline",
        ]
    else:
        install = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            folder / "bin" / "python",
            "install",
            "-q",
            "--no-deps",
        ]
    subprocess.run([*install, wheel], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin" / "bridgenote"


def test_everything_of_the_service_is_in_the_wheel_and_nothing_else(wheel: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "app", "static", "templates"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    expected = {
        path if path.startswith("app/") else f"app/{path}" for path in tracked if (ROOT / path).exists()
    }
    assert len(expected) > 600
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == expected


@pytest.fixture
def served(bridgenote: Path, tmp_path: Path) -> Iterator[str]:
    """The address of the installed service, which runs in a folder without a checkout."""
    port = free_port()
    environment = _environment(tmp_path) | {"BRIDGENOTE_PORT": str(port)}
    with (tmp_path / "serve.log").open("wb") as log:
        process = subprocess.Popen(
            [bridgenote, "serve"], cwd=tmp_path, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    url = f"http://127.0.0.1:{port}"
    try:
        eventually(lambda: process.poll() is not None or _answers(url), "the installed service answers")
        assert process.poll() is None, (tmp_path / "serve.log").read_text()
        yield url
    finally:
        process.terminate()
        process.wait(60)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


def _environment(folder: Path) -> dict[str, str]:
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("BRIDGENOTE_", "PYTHON"))
    }
    return inherited | {"BRIDGENOTE_DATA_DIR": str(folder / "var"), "BRIDGENOTE_WEB_PROCESSES": "1"}


def test_the_installed_service_takes_a_post_and_decides_and_states_one_version(
    bridgenote: Path, wheel: Path, served: str, tmp_path: Path
) -> None:
    settings = Settings(_env_file=None, environment="test", data_dir=tmp_path / "var").ready()
    with runtime.opened(settings) as wiring, wiring.database.writing() as session:
        adapter, reader = (
            keys.mint(session, SYSTEM, "Wheel", template, None).text
            for template in (KeyTemplate.ADAPTER, KeyTemplate.METRICS)
        )
    with httpx.Client(base_url=served, timeout=60) as client:
        client.headers["Authorization"] = f"Bearer {adapter}"
        where = {"platform": "forum", "platform_community_server_id": "harbour"}
        community = client.get(f"{API}/community-servers/lookup", params=where).json()["data"]["id"]
        attributes = {"request_id": "one", "requested_by": "ann", "community_server_id": community}
        body = {"type": "requests", "attributes": attributes | {"original_message_content": SPAM}}
        created = client.post(f"{API}/requests", json={"data": body})
        assert created.status_code == 201, created.text

        def action() -> str | None:
            read: str | None = client.get(f"{API}/requests/one").json()["data"]["attributes"].get("action_id")
            return read

        eventually(lambda: action() is not None, "the post is decided")
        decided = client.get(f"{API}/moderation-actions/{action()}").json()["data"]["attributes"]
        assert (decided["action_type"], decided["action_state"]) == ("hide", "proposed")
        assert client.get("/sign-in").text.count("<form") > 0, "templates are there"
        assert client.get("/static/js/app.js").status_code == 200
        document = client.get(f"{API}/openapi.json").json()
        metrics = client.get("/metrics", headers={"Authorization": f"Bearer {reader}"}).text
    (built,) = (
        sample.labels["version"]
        for family in text_string_to_metric_families(metrics)
        for sample in family.samples
        if sample.name == "bridgenote_build_info"
    )
    stated = subprocess.run(
        [bridgenote, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert {
        "wheel": wheel.name.split("-")[1],
        "openapi.json": document["info"]["version"],
        "--version": stated.split()[-1],
        "build_info": built,
    } == dict.fromkeys(("wheel", "openapi.json", "--version", "build_info"), __version__)
