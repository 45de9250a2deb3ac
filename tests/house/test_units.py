"""The systemd units of deploy/systemd: systemd knows every line of them, and what they start is there."""

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click

from app.commands.main import Commands, cli
from tests.house.source import ROOT

UNITS = sorted((ROOT / "deploy" / "systemd").iterdir())
PYTHON = "/srv/bridgenote/.venv/bin/python"
SHARED = ("User", "WorkingDirectory", "EnvironmentFile", "UMask", "ProtectSystem", "NoNewPrivileges")
"""What every service says alike, so that none has more rights than the others or writes files that they cannot read."""


def _read(unit: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, delimiters="=", comment_prefixes="#")
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(unit)
    return parser


def test_services_start_what_is_there_with_the_same_rights() -> None:
    services = {unit.stem: _read(unit)["Service"] for unit in UNITS if unit.suffix == ".service"}
    commands = set(Commands().list_commands(click.Context(cli)))
    for name, service in services.items():
        started = re.search(rf"{PYTHON} -m app ([a-z-]+)", service["ExecStart"])
        assert started is not None, name
        assert started[1] in commands, name
    assert len({tuple(service[key] for key in SHARED) for service in services.values()}) == 1
    assert {name for name, service in services.items() if service.get("Type") == "oneshot"} == {
        unit.stem for unit in UNITS if unit.suffix == ".timer"
    }


def test_a_missed_timer_runs_later() -> None:
    for unit in UNITS:
        if unit.suffix == ".timer":
            timer = _read(unit)
            assert timer["Timer"]["Persistent"] == "true"
            assert timer["Timer"]["OnCalendar"]
            assert timer["Install"]["WantedBy"] == "timers.target"


def test_systemd_has_nothing_to_say_about_them(tmp_path: Path) -> None:
    """Where there is no systemd, what it would check first: sections, and keys of one word."""
    for unit in UNITS:
        (tmp_path / unit.name).write_text(unit.read_text().replace(PYTHON, sys.executable))
        parsed = _read(unit)
        assert set(parsed) - {"DEFAULT"} <= {"Unit", "Service", "Timer", "Install"}
        assert all(re.fullmatch(r"[A-Z][A-Za-z]+", key) for section in parsed.values() for key in section)
    program = shutil.which("systemd-analyze")
    if program is not None:
        verify = [program, "verify", "--man=no", *sorted(tmp_path.iterdir())]
        said = subprocess.run(verify, capture_output=True, text=True, check=False)
        assert (said.returncode, said.stderr) == (0, "")
