"""Clients that others' tools generate from the served document: complete, importable, and able to call the service.

The generators are installed by ``scripts/clients`` the first time, which needs PyPI and the npm registry.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.browser.live import ROOT, running
from tests.browser.place import Place, opened_place

CALLS = Path(__file__).parent / "with_clients"


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """What a command prints. One that fails fails the test with what it said."""
    ran = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, f"{command[0]} failed:\n{ran.stdout}{ran.stderr}"
    return ran.stdout


@dataclass
class Generated:
    """The clients in ``folder``, the ``environment`` that they were made in, and the service that they are for."""

    folder: Path
    environment: Path
    place: Place
    document: dict[str, Any]

    @property
    def operations(self) -> list[str]:
        return [
            operation["operationId"]
            for item in self.document["paths"].values()
            for operation in item.values()
        ]

    def call(self, *command: str | Path) -> dict[str, Any]:
        key = self.place.client.headers["Authorization"].removeprefix("Bearer ")
        printed = run(*command, self.place.service.url, key, str(self.place.community_id))
        read: dict[str, Any] = json.loads(printed)
        return read


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory, warm_processes: None) -> Iterator[Generated]:
    folder = tmp_path_factory.mktemp("clients")
    with running(tmp_path_factory.mktemp("service")) as service, opened_place(service) as place:
        document = httpx.get(f"{service.url}/api/public/v1/openapi.json").json()
        (folder / "openapi.json").write_text(json.dumps(document))
        environment = run(ROOT / "scripts" / "clients", folder / "openapi.json", folder).strip()
        yield Generated(folder, Path(environment), place, document)


def test_a_python_client_imports_has_every_operation_and_calls_the_service(generated: Generated) -> None:
    call = shutil.copy(CALLS / "call.py", generated.folder / "python")
    said = generated.call(generated.environment / "bin" / "python", call)
    assert set(generated.operations) <= {name.rpartition(".")[2] for name in said["modules"]}
    schemas = generated.document["components"]["schemas"]
    assert {name for name, schema in schemas.items() if "properties" in schema} <= set(said["models"])
    assert said["created"] == 201
    assert said["id"] == generated.place.request_uuid("from-python")
    assert "from-python" in said["actions"]
    assert said["refused"] == "request not found"


def test_a_typescript_client_type_checks_has_every_operation_and_calls_the_service(
    generated: Generated,
) -> None:
    folder, node = generated.folder / "typescript", generated.environment / "bin" / "node"
    call = shutil.copy(CALLS / "call.ts", folder)
    run(node, generated.environment / "node_modules" / "typescript" / "bin" / "tsc", "-p", folder)
    said = generated.call(node, call)
    wanted = {name.replace("_", "").lower() for name in generated.operations}
    assert wanted <= {name.lower() for name in said["functions"]}
    assert said["created"] == 201
    assert said["id"] == generated.place.request_uuid("from-typescript")
    assert "from-typescript" in said["actions"]
    assert said["refused"] == "request not found"
