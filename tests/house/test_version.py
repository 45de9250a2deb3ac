"""The version is stated once, in ``app/__init__.py``; whatever shows it reads it there."""

import tomllib

from click.testing import CliRunner
from flask.testing import FlaskClient

from app import __version__
from app.commands.main import cli
from tests.house.source import ROOT


def test_the_package_takes_its_version_from_the_code() -> None:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert pyproject["project"]["dynamic"] == ["version"]
    assert pyproject["tool"]["hatch"]["version"] == {"path": "app/__init__.py"}


def test_the_command_line_and_the_interface_state_it(client: FlaskClient) -> None:
    assert CliRunner().invoke(cli, ["--version"]).output == f"bridgenote {__version__}\n"
    document = client.get("/api/public/v1/openapi.json").get_json()
    assert document["info"]["version"] == __version__


def test_the_changelog_begins_with_it() -> None:
    headings = [line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("## ")]
    assert headings[headings[0] == "## Unreleased"] == f"## {__version__}"
