"""The clients in clients/: made from the document as it is now, installed as packages, and used as their READMEs say.

The generators are installed by ``scripts/clients`` the first time, which needs PyPI and the npm registry.
"""

import filecmp
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from app import __version__
from app.core.webhooks import catalogue, signing
from tests.browser.live import ROOT, running, wait_for
from tests.browser.place import API, Place, opened_place
from tests.faults.service import free_port

CALLS = Path(__file__).parent / "with_clients"
CLIENTS = ROOT / "clients"
GENERATED = ("python/bridgenote_client/generated", "typescript/src/generated")
SECRET = "a-secret-of-mine-for-webhooks"
SPAM = "Double your Bitcoin today, guaranteed profits! Send 0.1 BTC, get 0.2 back."


def run(*command: str | Path, cwd: Path = ROOT, said: str = "", **environment: str) -> str:
    """What a command prints; ``said`` is its input. One that fails fails the test with what it printed."""
    ran = subprocess.run(
        command,
        cwd=cwd,
        env=os.environ | environment,
        input=said,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, f"{command[0]} failed:\n{ran.stdout}{ran.stderr}"
    return ran.stdout


@dataclass(frozen=True)
class Package:
    """An installed client: programs that use it run in ``folder``."""

    name: str
    folder: Path
    interpreter: Path
    ending: str
    environment: dict[str, str]

    def run(self, call: str, *arguments: str, said: str = "") -> dict[str, Any]:
        """What a program of with_clients/ prints."""
        program = shutil.copy(CALLS / f"{call}.{self.ending}", self.folder)
        printed = run(self.interpreter, program, *arguments, cwd=self.folder, said=said, **self.environment)
        read: dict[str, Any] = json.loads(printed)
        return read

    def programs(self, place: Place, request_id: str) -> list[Path]:
        """The programs of the README, in order, with this community and request, and pages of one row."""
        kind = {"py": "python", "ts": "js"}[self.ending]
        texts = re.findall(
            rf"```{kind}\n(.*?)```", (CLIENTS / self.name / "README.md").read_text(), re.DOTALL
        )
        written = []
        for number, text in enumerate(texts):
            program = self.folder / f"readme-{number}.{self.ending.replace('ts', 'mjs')}"
            text = text.replace("harbour", str(place.community_id)).replace("post-1", request_id)
            text = text.replace("m-1", f"m-{request_id}")
            program.write_text(text.replace("100)", "1)").replace("100 }", "1 }"))
            written.append(program)
        return written


@dataclass
class Generated:
    """Clients made from the document of a running service, and the ``environment`` that they were made in."""

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

    @property
    def key(self) -> str:
        return self.place.client.headers["Authorization"].removeprefix("Bearer ")

    @property
    def arguments(self) -> tuple[str, str, str]:
        return self.place.service.url, self.key, str(self.place.community_id)

    @cached_property
    def python(self) -> Package:
        site = self.folder / "site"
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", site, cwd=CLIENTS / "python")
        (wheel,) = site.iterdir()
        zipfile.ZipFile(wheel).extractall(site)
        interpreter = self.environment / "bin" / "python"
        return Package("python", self.folder, interpreter, "py", {"PYTHONPATH": str(site)})

    @cached_property
    def typescript(self) -> Package:
        source, user = self.folder / "typescript-source", self.folder / "typescript-user"
        shutil.copytree(CLIENTS / "typescript", source, ignore=shutil.ignore_patterns("dist", "node_modules"))
        user.mkdir()
        (user / "package.json").write_text('{"type": "module"}')
        self.tsc("-p", source)
        npm = partial(run, self.node, *self.environment.glob("lib/python*/**/npm-cli.js"))
        offline = ("--offline", "--ignore-scripts", "--cache", self.folder / "npm-cache")
        (packed,) = json.loads(npm("pack", "--json", *offline, cwd=source))
        npm("install", "--no-audit", "--no-fund", *offline, source / packed["filename"], cwd=user)
        return Package("typescript", user, self.node, "ts", {})

    @property
    def node(self) -> Path:
        return self.environment / "bin" / "node"

    def tsc(self, *arguments: str | Path) -> None:
        run(self.node, self.environment / "node_modules" / "typescript" / "bin" / "tsc", *arguments)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory, warm_processes: None) -> Iterator[Generated]:
    folder = tmp_path_factory.mktemp("clients")
    with running(tmp_path_factory.mktemp("service")) as service, opened_place(service) as place:
        # The committed ones are for any service, so that they name none.
        document = httpx.get(f"{service.url}{API}/openapi.json").json() | {"servers": [{"url": "/"}]}
        (folder / "openapi.json").write_text(json.dumps(document))
        environment = run(ROOT / "scripts" / "clients", folder / "openapi.json", folder).strip()
        yield Generated(folder, Path(environment), place, document)


@pytest.fixture(params=["python", "typescript"])
def package(generated: Generated, request: pytest.FixtureRequest) -> Package:
    installed: Package = getattr(generated, request.param)
    return installed


def files(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.parametrize("part", GENERATED)
def test_what_is_committed_is_what_the_document_makes(generated: Generated, part: str) -> None:
    fresh, committed = generated.folder / part, CLIENTS / part
    assert files(committed) == files(fresh), "run `make clients`"
    _, differing, unreadable = filecmp.cmpfiles(committed, fresh, files(fresh), shallow=False)
    assert (differing, unreadable) == ([], []), "run `make clients`"


def test_the_clients_have_the_version_of_the_service() -> None:
    python = tomllib.loads((CLIENTS / "python" / "pyproject.toml").read_text())["project"]
    typescript = json.loads((CLIENTS / "typescript" / "package.json").read_text())
    tools = json.loads((ROOT / "tools" / "clients" / "package.json").read_text())
    assert python["version"] == typescript["version"] == __version__
    assert typescript["devDependencies"]["typescript"] == tools["devDependencies"]["typescript"]


def test_the_python_client_imports_has_every_operation_and_calls_the_service(generated: Generated) -> None:
    said = generated.python.run("call", *generated.arguments)
    assert set(generated.operations) <= {name.rpartition(".")[2] for name in said["modules"]}
    schemas = generated.document["components"]["schemas"]
    assert {name for name, schema in schemas.items() if "properties" in schema} <= set(said["models"])
    assert said["created"] == 201
    assert said["id"] == generated.place.request_uuid("from-python")
    assert "from-python" in said["actions"]
    assert said["refused"] == "request not found"


def test_the_typescript_client_type_checks_has_every_operation_and_calls_the_service(
    generated: Generated,
) -> None:
    package = generated.typescript
    said = package.run("call", *generated.arguments)
    programs = [shutil.copy(path, package.folder) for path in CALLS.glob("*.ts")]
    checked = ("--noEmit", "--strict", "--target", "es2022", "--module", "nodenext")
    generated.tsc(*checked, *programs)
    wanted = {name.replace("_", "").lower() for name in generated.operations}
    assert wanted <= {name.lower() for name in said["functions"]}
    assert said["created"] == 201
    assert said["id"] == generated.place.request_uuid("from-typescript")
    assert "from-typescript" in said["actions"]
    assert said["refused"] == "request not found"


REPEATED = (429, 500, 502, 503, 504)
"""Statuses after which a call is made again (docs/integrate/api.md, Refusals)."""
TABLE = {str(status): 3 if status in REPEATED else 1 for status in (400, 401, 403, 404, 409, 422, *REPEATED)}
"""How often a call is made that is answered so."""
CUT, BY_PROXY = "403 after a cut", "502 by a proxy"


class Refusing(BaseHTTPRequestHandler):
    """Answers a submission with the status that its ``request_id`` begins with, and counts."""

    server: "Counting"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = body["data"]["attributes"]["request_id"]
        self.server.counted[name] += 1
        if name == CUT and self.server.counted[name] == 1:
            return  # the connection ends without an answer
        self.answer(int(name[:3]), "61" if name.endswith("for long") else "0", is_page=name == BY_PROXY)

    def do_GET(self) -> None:
        self.server.counted[self.path] += 1
        self.answer(404, "0")

    def answer(self, status: int, retry_after: str, is_page: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if is_page else "application/json")
        self.send_header("Retry-After", retry_after)
        self.end_headers()
        body = b'{"detail": []}' if status == 422 else b'{"detail": "no"}'
        self.wfile.write(b"<h1>Bad gateway</h1>" if is_page else body)

    def log_message(self, *_: Any) -> None:
        pass


class Counting(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Refusing)
        self.counted: Counter[str] = Counter()


def delivered(*secrets: str, at: int = 0, **members: Any) -> tuple[str, dict[str, str]]:
    """Body and headers of a delivery that was stamped so many seconds from now."""
    stamp = int(time.time()) + at
    payload = {"event_type": "moderation.decision", "event_id": catalogue.EVENT} | members
    body = signing.sign_body(payload, secrets[0], stamp)
    return body.decode(), signing.headers_for(body, catalogue.EVENT, "x", secrets, stamp)


def deliveries() -> Iterator[tuple[str, dict[str, str], str, bool]]:
    """Body, headers and secret of deliveries, and whether they hold."""
    standard = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    members = {"request_id": "größe-😀", "confidence": 1, "z": {"b": 0.0001, "a": [None, True]}}
    for secret in (SECRET, standard, "gehört-mir-allein"):
        body, headers = delivered(secret, **members)
        yield body, headers, secret, True
        yield body, {name.upper(): value for name, value in headers.items()}, secret, True
        yield body, {}, secret, True
        yield body, headers, "another-secret", False
        yield body, {}, "another-secret", False
        yield body.replace("größe", "grösse"), headers, secret, False
        yield body.replace("größe", "grösse"), {}, secret, False
        for seconds in (-360, 360):
            old, old_headers = delivered(secret, at=seconds)
            yield old, old_headers, secret, False
            yield old, {}, secret, False
        for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
            yield body, headers | {name: "1" + headers[name]}, secret, False
            yield body, {n: v for n, v in headers.items() if n != name}, secret, name == "webhook-signature"
    body, headers = delivered("newer", SECRET, "former")
    yield from ((body, headers, secret, True) for secret in ("newer", SECRET, "former"))
    yield from ((body, {}, SECRET, False) for body in ("", "[]", "null", "1", "{}", "[" * 100_000))


def test_calls_are_repeated_by_the_table_and_deliveries_verified_by_any_signature(package: Package) -> None:
    cases = list(deliveries())
    calls = TABLE | {"429 for long": 1, "503 for long": 1, CUT: 2, BY_PROXY: 3}
    with counting() as server:
        url = f"http://127.0.0.1:{server.server_address[1]}"
        said = package.run(
            "duties", url, said=json.dumps({"calls": list(calls), "deliveries": [case[:3] for case in cases]})
        )
    # A known post is read; here it has gone meanwhile.
    assert said["statuses"] == [404 if name == "409" else int(name[:3]) for name in calls]
    assert server.counted == calls | {f"{API}/requests/409": 1}
    wrong = [case for case, holds in zip(cases, said["verified"], strict=True) if case[3] is not holds]
    assert wrong == []


@contextmanager
def counting() -> Iterator[Counting]:
    with Counting() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


class ReadmeReceiver:
    """The receiver of a README as a process, and what it prints."""

    def __init__(self, package: Package, program: Path, environment: dict[str, str]) -> None:
        self.package, self.program, self.environment = package, program, environment
        self.log = package.folder / "receiver.log"
        self.url = f"http://127.0.0.1:{environment['PORT']}/hook"

    @contextmanager
    def listening(self) -> Iterator[None]:
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [self.package.interpreter, self.program],
                cwd=self.package.folder,
                env=os.environ | self.environment,
                stdout=log.fileno(),
                stderr=log.fileno(),
            )
        try:
            wait_for("the receiver", lambda: process.poll() is not None or self.refuses_what_is_unsigned())
            assert process.poll() is None, self.log.read_text()
            yield
        finally:
            process.kill()
            process.wait()

    def refuses_what_is_unsigned(self) -> bool:
        try:
            return httpx.post(self.url, content=b"{}", timeout=60).status_code == 401
        except httpx.TransportError:
            return False

    def lines(self) -> list[str]:
        known = ("hide ", "restore ", "delete ", "warn ", "unhide ", "silence ", "to the author")
        return [line for line in self.log.read_text().splitlines() if line.startswith(known)]


def test_a_readme_leads_from_a_post_to_its_decision_and_past_an_outage(
    generated: Generated, package: Package
) -> None:
    place, request_id = generated.place, f"readme-{package.name}"
    send, receive, list_posts = package.programs(place, request_id)
    environment = package.environment | {
        "BASE": place.service.url,
        "KEY": generated.key,
        "SECRET": SECRET,
        "PORT": str(free_port()),
    }

    def run_program(program: Path) -> str:
        return run(package.interpreter, program, cwd=package.folder, **environment)

    posts = [request_id]
    receiver = ReadmeReceiver(package, receive, environment)
    hook = {"url": receiver.url, "secret": SECRET, "platform_community_server_id": place.platform_id}
    platform = {"X-Adapter-Platform": "forum"}
    webhook = place.ask("POST", "/webhooks/register", json=hook, headers=platform)["id"]
    shapes = ("moderation.decision", "moderation_action.created", "moderation_action.proposed")

    def post_of(name: str) -> dict[str, Any]:
        attributes: dict[str, Any] = place.ask("GET", f"{API}/requests/{name}")["data"]["attributes"]
        return attributes

    def action_of(name: str) -> dict[str, Any]:
        return place.action(post_of(name)["action_id"])

    def is_applied(name: str) -> bool:
        return "action_id" in post_of(name) and action_of(name)["action_state"] == "applied"

    def overturned_deletion(name: str) -> str:
        """The id of a deletion of the platform's own that is to be undone."""
        community = {"community_server_id": str(place.community_id)}
        body = {"action_type": "delete", "request_id": name, **community}
        action_id = str(place.ask("POST", f"{API}/moderation-actions", json=body)["data"]["id"])
        place.ask("PATCH", f"{API}/moderation-actions/{action_id}", json={"action_state": "overturned"})
        return action_id

    with receiver.listening():
        first, second = run_program(send), run_program(send)
        assert first.split()[0] == second.split()[0] == place.request_uuid(request_id)
        wait_for("its acknowledgement", lambda: is_applied(request_id))
        assert action_of(request_id)["platform_action_id"] == f"hide-{request_id}"
        wait_for("every event about it", lambda: not open_deliveries(place, webhook))
        for shape in shapes:
            place.ask(
                "PATCH", f"/webhooks/{webhook}", json={"events": [shape, "moderation_action.overturned"]}
            )
            posts.append(place.submit(f"{SPAM} {shape} {request_id}"))
            wait_for(shape, lambda: is_applied(posts[-1]))
        deletion = overturned_deletion(request_id)
        wait_for("the answer", lambda: place.action(deletion)["undo_state"] == "impossible")
        rationale = catalogue.sample("note.status_changed")
        assert rationale["data"]["kind"] == "rationale"
        for event in (rationale, catalogue.sample("webhook.test")):
            body = signing.sign_body(event, SECRET, int(time.time()))
            assert httpx.post(receiver.url, content=body, timeout=60).status_code == 204
        shown = run_program(list_posts)
    done = [*(f"hide {post}" for post in posts), f"restore {request_id}"]
    assert receiver.lines() == done
    assert {f"{post} COMPLETED" for post in posts} <= set(shown.splitlines()), "a page has one of them"

    assert place.client.delete(f"/webhooks/{webhook}").status_code == 204
    missed = place.submit(f"{SPAM} {request_id}")
    place.finished(missed)
    deletion = overturned_deletion(missed)
    assert not is_applied(missed)
    with receiver.listening():
        wait_for("what was missed", lambda: is_applied(missed))
        wait_for("the answer", lambda: place.action(deletion)["undo_state"] == "impossible")
    assert receiver.lines() == [*done, f"hide {missed}", f"restore {missed}"]


def open_deliveries(place: Place, webhook: str) -> list[Any]:
    query = {"filter[state]": "due"}
    due: list[Any] = place.ask("GET", f"/webhooks/{webhook}/deliveries", params=query)["data"]
    return due
