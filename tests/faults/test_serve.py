"""The server keeps answering: slow clients, ends, deaths."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from app.core.db import Database
from app.jobs.engine import Engine
from app.process.worker import MAX_BODY
from tests.faults.engine_app import Ran
from tests.faults.serve_app import LARGEST
from tests.faults.waiting import eventually
from tests.warm import Process


class Server:
    """A running server process and its address."""

    def __init__(
        self,
        folder: Path,
        port: int = 0,
        processes: int = 1,
        trusted_proxies: str = "",
        jobs_url: str | None = None,
    ) -> None:
        arguments = [port, processes, trusted_proxies, folder, *([jobs_url] if jobs_url is not None else [])]
        self.process = Process(
            "tests.faults.serve_app", *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.url)
        assert parts.hostname is not None
        assert parts.port is not None
        return parts.hostname, parts.port

    def get(self, path: str = "/", **options: object) -> httpx.Response:
        return httpx.get(self.url + path, timeout=60, **options)  # type: ignore[arg-type]

    def seen(self, **options: object) -> dict[str, object]:
        found: dict[str, object] = self.get(**options).json()
        return found

    def end(self, how: signal.Signals) -> tuple[int, str]:
        """Exit code and what was written to the error stream."""
        self.process.send_signal(how)
        return self.ended()

    def ended(self) -> tuple[int, str]:
        """As ``end``, of a server that was told to end already: a second signal could meet it on its last way
        out, where Python has given the signals back to the system, which kills."""
        _, errors = self.process.communicate(timeout=120)
        return self.process.returncode, errors


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    with ExitStack() as stack:

        def make(**options: object) -> Server:
            server = Server(tmp_path, **options)  # type: ignore[arg-type]
            stack.callback(server.process.communicate)
            stack.callback(server.process.terminate)
            stack.callback((tmp_path / "gate").touch)
            return server

        yield make


@pytest.fixture
def jobs_database(jobs_file: Path, tmp_path: Path) -> Iterator[Database]:
    """On SQLite alone: what the server adds to the engine does not depend on the database."""
    shutil.copyfile(jobs_file, tmp_path / "jobs.db")
    database = Database(f"sqlite:///{tmp_path}/jobs.db")
    yield database
    database.dispose()


def half_sent(server: Server, text: bytes) -> socket.socket:
    client = socket.create_connection(server.address)
    client.sendall(text)
    return client


@pytest.mark.parametrize(
    "start_of_request",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc",
    ],
    ids=["heads", "bodies"],
)
def test_a_client_is_answered_beside_thirty_that_send_half_a_request(
    start: Callable[..., Server], start_of_request: bytes
) -> None:
    server = start()
    with ExitStack() as stack:
        for _ in range(30):
            stack.enter_context(half_sent(server, start_of_request))
        assert server.get().status_code == 200


def test_sigterm_lets_a_running_request_finish(start: Callable[..., Server], tmp_path: Path) -> None:
    server = start()
    answers: list[httpx.Response] = []
    client = threading.Thread(target=lambda: answers.append(server.get("/gated")))
    client.start()
    eventually((tmp_path / "begun").exists, "the request began")
    with half_sent(server, b"GET / HTTP/1.1\r\n"):
        server.process.terminate()
        eventually(lambda: is_refused(server), "nobody is let in any more")
        (tmp_path / "gate").touch()
        client.join()
        code, errors = server.ended()
    assert answers[0].status_code == 200
    assert (code, errors) == (0, "")
    assert list(tmp_path.glob("stopped-*"))


REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def rest(client: socket.socket) -> bytes:
    """Everything until the server closes. A reset or a hang raises."""
    client.settimeout(60)
    return b"".join(iter(lambda: client.recv(4096), b""))


def answered(client: socket.socket) -> bytes:
    """One whole answer, on a connection that stays."""
    answer = b""
    while not answer.endswith(b"}"):
        part = client.recv(4096)
        assert part, answer
        answer += part
    return answer


def test_who_was_let_in_by_the_kernel_alone_is_answered_after_sigterm(
    start: Callable[..., Server], tmp_path: Path
) -> None:
    server = start()
    gated = b"GET /gated HTTP/1.1\r\nHost: x\r\n\r\n"
    with ExitStack() as stack:
        # Both threads work and a third request waits, so the server takes nobody more.
        busy = [stack.enter_context(half_sent(server, gated)) for _ in range(3)]
        eventually((tmp_path / "begun").exists, "a request began")
        time.sleep(0.5)
        waiting = [stack.enter_context(half_sent(server, REQUEST)) for _ in range(20)]
        server.process.terminate()
        eventually(lambda: is_refused(server), "nobody is let in any more")
        (tmp_path / "gate").touch()
        answers = [rest(client) for client in busy + waiting]
        assert {answer.partition(b"\r\n")[0] for answer in answers} == {b"HTTP/1.1 200 OK"}
        assert all(b"\r\nConnection: close\r\n" in answer for answer in answers)
        assert server.ended() == (0, "")


def test_a_request_that_is_on_its_way_at_sigterm_is_answered(start: Callable[..., Server]) -> None:
    server = start()
    with half_sent(server, b"") as silent, half_sent(server, REQUEST[:20]) as half:
        assert server.get().status_code == 200
        server.process.terminate()
        eventually(lambda: is_refused(server), "nobody is let in any more")
        silent.sendall(REQUEST)
        half.sendall(REQUEST[20:])
        for answer in (rest(silent), rest(half)):
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
            assert b"\r\nConnection: close\r\n" in answer
        assert server.ended() == (0, "")


@pytest.mark.parametrize("pause", [0, 0.02, 0.2])
def test_a_kept_connection_is_answered_or_closed_cleanly_at_sigterm(
    start: Callable[..., Server], pause: float
) -> None:
    server = start()
    with ExitStack() as stack:
        kept = [stack.enter_context(half_sent(server, REQUEST)) for _ in range(10)]
        for client in kept:
            assert answered(client).startswith(b"HTTP/1.1 200 OK")
        server.process.terminate()
        for client in kept:
            time.sleep(pause)
            client.sendall(REQUEST)
        for client in kept:
            answer = rest(client)
            assert answer == b"" or answer.count(b"HTTP/1.1 200 OK") == 1
        assert server.ended() == (0, "")


def test_a_request_that_never_ends_does_not_keep_the_server(start: Callable[..., Server]) -> None:
    server = start()
    with half_sent(server, REQUEST[:20]) as half:
        assert server.get().status_code == 200
        server.process.terminate()
        assert rest(half) == b"", "it is closed, or reading would have timed out"
        assert server.ended() == (0, "")


def is_refused(server: Server) -> bool:
    try:
        socket.create_connection(server.address).close()
    except ConnectionRefusedError:
        return True
    return False


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_server_ends_cleanly_and_tells_the_application(
    start: Callable[..., Server], tmp_path: Path, how: signal.Signals
) -> None:
    server = start(processes=2)
    slots: set[object] = set()
    # A worker that is still starting has nothing to tell the application.
    eventually(lambda: slots.add(server.seen()["slot"]) or slots == {0, 1}, "both workers answered")
    with httpx.Client() as kept_alive:
        assert kept_alive.get(server.url).status_code == 200
        assert server.end(how) == (0, "")
    assert len(list(tmp_path.glob("stopped-*"))) == 2


def test_a_killed_worker_comes_back_in_its_slot(start: Callable[..., Server]) -> None:
    server = start(processes=2)
    slots: dict[object, object] = {}

    def look() -> None:
        found = server.seen()
        slots[found["slot"]] = found["pid"]

    eventually(lambda: look() or set(slots) == {0, 1}, "both workers answered")
    before = dict(slots)
    with pytest.raises(httpx.RemoteProtocolError):
        server.get("/crash")
    eventually(lambda: look() or slots != before, "a new worker answered")
    assert set(slots) == {0, 1}
    assert sum(slots[slot] == before[slot] for slot in (0, 1)) == 1


def test_the_job_of_a_killed_worker_runs_again_in_the_worker_that_replaces_it(
    start: Callable[..., Server], tmp_path: Path, jobs_database: Database
) -> None:
    server = start(jobs_url=jobs_database.engine.url.render_as_string())
    ran = Ran(tmp_path)
    engine = Engine(jobs_database.engine, executor_id="outside")
    with jobs_database.writing() as session:
        engine.enqueue(session, "hold", {"text": "x"})
    engine.stop()
    eventually(ran.lines, "the job began")
    first = server.seen()["pid"]
    with pytest.raises(httpx.RemoteProtocolError):
        server.get("/crash")
    eventually(lambda: len(ran.lines()) == 2, "the job began again")
    second = server.seen()["pid"]
    (tmp_path / "gate").touch()
    eventually(lambda: len(ran.lines()) == 3, "the job ended")
    assert ran.lines() == [f"begun x web-0 {first}", f"begun x web-0 {second}", "done x web-0"]
    code, _ = server.end(signal.SIGTERM)  # the error stream tells of the killed worker
    assert code == 0


def test_a_job_that_does_not_end_does_not_keep_the_server_from_ending(
    start: Callable[..., Server], tmp_path: Path, jobs_database: Database
) -> None:
    server = start(jobs_url=jobs_database.engine.url.render_as_string())
    engine = Engine(jobs_database.engine, executor_id="outside")
    with jobs_database.writing() as session:
        engine.enqueue(session, "hold", {"text": "x"})
    eventually(Ran(tmp_path).lines, "the job began")
    code, errors = server.end(signal.SIGTERM)
    assert code == 0
    assert "jobs still at work" in errors
    assert "SIGKILL" not in errors
    assert engine.counts()["running"] == 1  # claimed: it runs again after a restart
    engine.stop()


def test_a_taken_port_is_one_line_and_exit_code_1(start: Callable[..., Server], tmp_path: Path) -> None:
    port = start().address[1]
    second = Server(tmp_path, port=port)
    _, errors = second.process.communicate(timeout=120)
    assert second.process.returncode == 1
    assert errors == f"Cannot listen on 127.0.0.1, port {port}: Address already in use\n"


def test_forwarded_headers_count_from_trusted_peers_only(start: Callable[..., Server]) -> None:
    claims = {"X-Forwarded-For": "198.51.100.7", "X-Forwarded-Proto": "https"}
    believed = start(trusted_proxies="10.0.0.0/8, 127.0.0.1").seen(headers=claims)
    doubted = start(trusted_proxies="10.0.0.0/8").seen(headers=claims)
    assert (believed["address"], believed["scheme"]) == ("198.51.100.7", "https")
    assert (doubted["address"], doubted["scheme"], doubted["forwarded"]) == ("127.0.0.1", "http", [])


def test_limits_and_silence(start: Callable[..., Server], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)  # a run of the tests has it from its script
    server = start()
    assert server.seen()["blas"] == "1"
    posted = httpx.post(server.url, content=b"x" * LARGEST)
    assert posted.json()["length"] == LARGEST
    broken = server.get("/raise")
    assert broken.status_code == 500
    assert "secret" not in broken.text
    assert "server" not in posted.headers


def _chunked(body: bytes) -> Iterator[bytes]:
    yield from (body[start : start + 100_000] for start in range(0, len(body), 100_000))


@pytest.mark.parametrize("size", [MAX_BODY + 500_000, 60_000_000])
@pytest.mark.parametrize("declared", [True, False], ids=["declared", "chunked"])
def test_a_sender_of_far_too_much_reads_the_applications_own_refusal(
    start: Callable[..., Server], size: int, declared: bool
) -> None:
    server = start()
    body = b"x" * size
    answer = httpx.post(server.url, content=body if declared else _chunked(body), timeout=60)
    assert answer.status_code == 413
    told = answer.json()
    assert told["got"] == 0
    assert told["declared"] == size if declared else told["declared"] >= MAX_BODY
    assert server.get().status_code == 200


def test_a_crowd_of_silent_clients_keeps_nobody_out_and_costs_little(start: Callable[..., Server]) -> None:
    server = start()
    pid = int(str(server.seen()["pid"]))
    before = _resident_megabytes(pid)
    with ExitStack() as stack:
        for number in range(600):
            crowd = half_sent(
                server, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 20_000
            )
            stack.enter_context(crowd)
            if number % 100 == 0:
                assert server.get().status_code == 200
        assert server.get().status_code == 200
        assert _resident_megabytes(pid) - before < 30


def _resident_megabytes(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024**2


def test_a_sender_that_waits_for_leave_is_refused_before_it_sends(start: Callable[..., Server]) -> None:
    server = start()
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000000\r\nExpect: 100-continue\r\n\r\n"
    with half_sent(server, head) as client:
        client.settimeout(60)
        answer = b"".join(iter(lambda: client.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_the_rest_of_a_refused_body_is_no_request(start: Callable[..., Server]) -> None:
    server = start()
    hidden = b"GET /crash HTTP/1.1\r\nHost: x\r\n\r\n"
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (MAX_BODY + 1)
    with half_sent(server, head + hidden) as client:
        client.settimeout(60)
        client.sendall(hidden)
        answer = b"".join(iter(lambda: client.recv(4096), b""))
    assert answer.count(b"HTTP/1.1") == 1


_LATE_IMPORTS = """
import os, sys
from app.process import startup
from app.settings import Settings

def serve_http(*, load_app, **_):
    forked = set(sys.modules)
    load_app(0)
    print(*sorted(name for name in set(sys.modules) - forked if name.startswith("app.")), flush=True)
    os._exit(0)

startup.serve_http = serve_http
startup.serve(Settings(_env_file=None, environment="test", data_dir=sys.argv[1]).ready())
"""


def test_a_process_that_is_forked_imports_nothing_of_ours_itself(tmp_path: Path) -> None:
    """What it imports itself is in memory once for each process (docs/run/operations.md)."""
    done = subprocess.run(
        [sys.executable, "-c", _LATE_IMPORTS, tmp_path], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "\n"), done.stderr
