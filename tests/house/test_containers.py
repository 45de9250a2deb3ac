"""The image and compose.yaml, as far as it can be told without building them; `make image-check` does that."""

import os
import re
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.settings import Settings
from tests.house.source import ROOT

START = ROOT / "deploy" / "container" / "bridgenote"
NAMES = ("BRIDGENOTE_SECRET_KEY", "BRIDGENOTE_ENCRYPTION_KEY")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """In which `python` prints both secrets and what it was asked for."""
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\necho "${NAMES[0]} ${NAMES[1]} $*"\n')
    python.chmod(0o755)
    data = tmp_path / "data"
    data.mkdir()
    return {"PATH": f"{python.parent}:{os.environ['PATH']}", "BRIDGENOTE_DATA_DIR": str(data)}


def _start(environment: dict[str, str], *arguments: str) -> list[str]:
    return subprocess.check_output([START, *arguments], env=environment, text=True).split()


def test_a_container_makes_its_secrets_once(environment: dict[str, str]) -> None:
    secret, encryption, *asked = _start(environment, "doctor", "--json")
    assert asked == ["-m", "app", "doctor", "--json"]
    assert secret != encryption
    Settings(environment="production", secret_key=secret, encryption_key=encryption)
    kept = sorted(Path(environment["BRIDGENOTE_DATA_DIR"]).iterdir())
    assert [path.name for path in kept] == sorted(NAMES)
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}
    assert _start(environment, "serve")[:2] == [secret, encryption]


def test_containers_that_start_at_once_share_their_secrets(environment: dict[str, str]) -> None:
    with ThreadPoolExecutor(8) as pool:
        started = list(pool.map(lambda _: tuple(_start(environment, "serve")[:2]), range(24)))
    assert len(set(started)) == 1
    assert len(list(Path(environment["BRIDGENOTE_DATA_DIR"]).iterdir())) == 2


def test_a_secret_that_is_set_is_taken_and_not_kept(environment: dict[str, str]) -> None:
    mine = "a secret of mine that is long enough".replace(" ", "-")
    secret, encryption, *_ = _start(environment | {NAMES[0]: mine}, "serve")
    assert secret == mine
    assert encryption != mine
    assert [path.name for path in Path(environment["BRIDGENOTE_DATA_DIR"]).iterdir()] == [NAMES[1]]


def test_what_the_image_copies_is_there_and_let_in() -> None:
    let_in = re.findall(r"^!(.+)$", (ROOT / ".containerignore").read_text(), re.MULTILINE)
    copied = re.findall(r"^COPY (?!--from)(\S+) ", (ROOT / "Containerfile").read_text(), re.MULTILINE)
    assert "app" in copied
    assert [path for path in copied if not (ROOT / path).exists()] == []
    assert [
        path for path in copied if not any(path == one or path.startswith(f"{one}/") for one in let_in)
    ] == []


def test_compose_names_only_settings_and_no_secret() -> None:
    composed: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
    settings = {f"BRIDGENOTE_{name.upper()}" for name in Settings.model_fields}
    ours = {name: one for name, one in composed["services"].items() if "bridgenote" in one["image"]}
    assert set(ours) == {"bridgenote", "server", "worker", "passwords"}
    for name, service in ours.items():
        assert service["read_only"], name
        named = {key for key in service.get("environment", {}) if key.startswith("BRIDGENOTE_")}
        assert named <= settings, name
        assert not named & set(NAMES), name
    assert [name for name, one in composed["services"].items() if "profiles" not in one] == ["bridgenote"]
    assert composed["services"]["worker"]["deploy"]["replicas"] == 2
