"""The examples of docs/run/classifiers.md do what the page says: an own model's server, and an installed package."""

import json
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from socket import create_connection, create_server

import pytest

from app.adapters.services.kinds import SHIPPED, known_kinds
from app.core.outbound import AllowList
from app.core.services.kinds import ENTRY_POINTS, Answer, Connection
from app.core.services.settings import ServiceSettings, checked
from tests.stub_services import Stub, answering
from tests.unit.services.conftest import KINDS, Connect

DOCS = Path(__file__).parents[3] / "docs"
EXAMPLE = DOCS / "run" / "examples" / "bridgenote-example"


@pytest.fixture
def own_model() -> Iterator[str]:
    """The example server as the page starts it; its address."""
    with create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, DOCS / "run" / "own_model.py", str(port)], stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(200):
            try:
                create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/score"
    finally:
        process.terminate()
        process.wait()


def test_the_own_model_of_the_page_scores(own_model: str) -> None:
    allow = AllowList.parse("127.0.0.1")
    bad, good = KINDS["http"].connect(Connection(own_model, allow=allow)).ask(["Buy, buy, BUY!", "Hello"])
    assert bad == Answer({"spam": pytest.approx(0.9), "toxicity": 0.0}, "buy-counter-1", calibrated=False)
    assert good.scores["spam"] == 0.0
    code = [line for line in (DOCS / "run" / "own_model.py").read_text().splitlines() if line.strip()]
    assert len(code) - 4 <= 20  # without docstring and imports


def test_the_bodies_on_the_page_are_those_on_the_wire(stub: Stub, connect: Connect) -> None:
    page = (DOCS / "run" / "classifiers.md").read_text()
    sent, expected = (json.loads(block) for block in re.findall(r"```json\n(.*?)\n```", page, re.DOTALL))
    stub.fail(answering(expected))
    first, second = connect("http").ask(["first", "second"])
    assert {**stub.seen[0].body, "model": "as set"} == sent
    assert (first, second) == (Answer({"spam": 0.91}, "mine-7"), Answer({"spam": 0.02}, "mine-7"))


def test_an_installed_package_appears_among_the_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    written = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())
    ((name, target),) = written["project"]["entry-points"][ENTRY_POINTS].items()
    # What an installer writes for the package, and for one that is broken and one that takes a shipped name.
    folder = tmp_path / "bridgenote_example-0.1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: bridgenote-example\nVersion: 0.1.0\n")
    lines = f"{name} = {target}\nbroken = no_such_module:KIND\ntaken = app.adapters.services.own_model:KIND\n"
    (folder / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\n{lines}")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLE)
    kinds = known_kinds.__wrapped__()  # this process has looked before the package was there
    assert set(kinds) == {*(kind.name for kind in SHIPPED), "onnx", "shouting"}
    assert "broken cannot be loaded" in caplog.text
    assert "taken is no Kind" in caplog.text
    settings = checked(ServiceSettings(options={"least": "4"}), kinds["shouting"], AllowList())
    assert settings.routed == {"toxicity"}
    loud, quiet = kinds["shouting"].connect(Connection("", options=settings.options)).ask(["WHAT", "what"])
    assert (loud.scores, quiet.scores) == ({"capitals": 1.0}, {"capitals": 0.0})


def test_every_kind_is_on_the_page() -> None:
    page = (DOCS / "run" / "classifiers.md").read_text()
    assert [name for name in known_kinds() if f"| `{name}` |" not in page] == []
    (parser, _policy) = KINDS["chat_guard"].options
    assert [name for name in parser.choices if f"| `{name}` |" not in page] == []
