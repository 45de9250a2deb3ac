"""What receivers answer, from the ordinary to the hostile, and what we make of it."""

import gzip
import hashlib
import hmac
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.adapters.webhook_sender import HttpSender
from app.core.outbound import AllowList
from app.core.webhooks.signing import headers_for, sign_body, verify_body
from tests.unit.webhook_sender.conftest import Timed, http, replying

SECRET = "shared with the receiver"
ENOUGH = 5.0
SHORT = 0.5
GRACE = 20.0
"""Whoever waited for these receivers to end would need a minute; a busy machine may need seconds."""
"""Seconds by which a busy machine may overrun: a deadline that does not hold overruns by much more."""


def test_a_delivery_arrives_byte_for_byte_with_signatures_that_hold(receive, sender):
    receiver = receive(replying(http(200, b"thanks")))
    at = int(time.time())
    body = sign_body({"event_id": "e-1", "decision": "hide", "request_id": "κόσμος"}, SECRET, at)
    headers = headers_for(body, "e-1", "moderation.decision", [SECRET], at)

    outcome = sender.send(receiver.url + "?a=1", body, headers, ENOUGH)

    assert outcome.delivered
    assert (outcome.status, outcome.excerpt, outcome.error) == (200, "thanks", None)
    line, received_headers, received = receiver.requests[0]
    assert line == "POST /hooks?a=1 HTTP/1.1"
    assert received == body
    by_hand = hmac.new(SECRET.encode(), received, hashlib.sha256).hexdigest()
    lowered = {name.lower(): value for name, value in received_headers.items()}
    assert lowered["x-webhook-signature"] == f"sha256={by_hand}"
    assert lowered["host"] == f"127.0.0.1:{receiver.port}"
    assert lowered["accept-encoding"] == "identity"
    assert lowered["user-agent"] == "Bridgenote-Webhooks/1"
    assert lowered["webhook-id"] == "e-1"
    assert verify_body(received, SECRET, at)["decision"] == "hide"


def test_an_ordinary_http_server_is_served(httpserver, sender):
    httpserver.expect_oneshot_request("/hooks", method="POST", data="{}").respond_with_json({"ok": True})
    outcome = sender.send(httpserver.url_for("/hooks"), b"{}", {"Content-Type": "application/json"}, ENOUGH)
    assert outcome.delivered
    assert json.loads(outcome.excerpt) == {"ok": True}


@pytest.mark.parametrize(
    ("status", "delivered", "permanent"),
    [
        (200, True, False),
        (202, True, False),
        (204, True, False),
        (301, False, False),
        (400, False, True),
        (401, False, True),
        (404, False, True),
        (410, False, True),
        (429, False, False),
        (500, False, False),
        (503, False, False),
    ],
)
def test_the_status_decides_between_delivered_retry_and_final(receive, sender, status, delivered, permanent):
    outcome = sender.send(receive(replying(http(status))).url, b"{}", {}, ENOUGH)
    assert outcome.status == status
    assert (outcome.delivered, outcome.permanent) == (delivered, permanent)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(receive, sender, trap, status):
    elsewhere = f"http://127.0.0.1:{trap.port}/"
    outcome = sender.send(receive(replying(http(status, Location=elsewhere))).url, b"{}", {}, ENOUGH)
    assert outcome.status == status
    assert not outcome.delivered
    assert not trap.caught()


@pytest.mark.parametrize(
    ("status", "written", "seconds"),
    [
        (429, "7", 7),
        (503, "0", 0),
        (429, "3600", 600),
        (429, "99999999999999999999", None),
        (429, "-5", None),
        (429, "1.5", None),
        (429, "soon", None),
        (429, "٣", None),
        (200, "7", None),
    ],
)
def test_retry_after_is_heard_when_it_makes_sense(receive, sender, status, written, seconds):
    wire = http(status).replace(b"\r\n\r\n", b"\r\nRetry-After: " + written.encode() + b"\r\n\r\n")
    outcome = sender.send(receive(replying(wire)).url, b"{}", {}, ENOUGH)
    assert outcome.status == status
    assert outcome.retry_after == seconds


def hanging(connection, receiver):
    receiver.read_request(connection)
    receiver.closing.wait(60)


def dripping_head(connection, receiver):
    receiver.read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    receiver.drip(connection, b"X-Drip: 1\r\n")


def dripping_continues(connection, receiver):
    receiver.read_request(connection)
    receiver.drip(connection, b"HTTP/1.1 100 Continue\r\n\r\n")


def deaf(connection, receiver):
    receiver.closing.wait(60)


@pytest.mark.parametrize("answer", [hanging, dripping_head, dripping_continues, deaf])
def test_a_receiver_that_gives_no_answer_costs_the_deadline_and_no_more(receive, sender, answer):
    receiver = receive(answer)
    with Timed() as attempt:
        outcome = sender.send(receiver.url, b"{}" * 2_000_000, {}, SHORT)
    assert outcome.status is None
    assert outcome.error == "timeout"
    assert outcome.timed_out
    assert not outcome.permanent
    assert outcome.milliseconds >= SHORT * 1000 - 50
    assert attempt.seconds < SHORT + GRACE


def test_a_server_that_never_accepts_costs_the_deadline_and_no_more(sender):
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        port = listener.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        try:
            for each in waiting:
                each.setblocking(False)
                each.connect_ex(("127.0.0.1", port))
            with Timed() as attempt:
                outcome = sender.send(f"http://127.0.0.1:{port}/", b"{}", {}, SHORT)
        finally:
            for each in waiting:
                each.close()
    assert outcome.timed_out
    assert outcome.status is None
    assert attempt.seconds < SHORT + GRACE


def endless_body(connection, receiver):
    receiver.read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
    receiver.sent = 0
    while not receiver.closing.is_set():
        receiver.sent += connection.send(b"a" * 65_536)


def test_a_gigabyte_is_not_read(receive, sender):
    receiver = receive(endless_body)
    outcome = sender.send(receiver.url, b"{}", {}, ENOUGH)
    receiver.close()
    assert outcome.delivered
    assert outcome.excerpt == "a" * 1024
    assert receiver.sent < 64 * 1024 * 1024


def dripping_body(connection, receiver):
    receiver.read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    receiver.drip(connection, b"1\r\na\r\n")


def test_a_body_without_end_does_not_hold_a_delivery_whose_status_is_known(receive, sender):
    with Timed() as attempt:
        outcome = sender.send(receive(dripping_body).url, b"{}", {}, 30.0)
    assert outcome.delivered
    assert set(outcome.excerpt) == {"a"}
    assert attempt.seconds < 1.0 + GRACE


def endless_head(connection, receiver):
    receiver.read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not receiver.closing.is_set():
        connection.sendall(b"X-Filler: " + b"a" * 60_000 + b"\r\n")


def test_a_head_without_end_is_a_broken_answer(receive, sender):
    outcome = sender.send(receive(endless_head).url, b"{}", {}, ENOUGH)
    assert outcome.status is None
    assert outcome.error.startswith("broken answer")
    assert not outcome.permanent


def test_a_gzip_bomb_stays_packed(receive, sender):
    bomb = gzip.compress(b"\0" * 20_000_000)
    outcome = sender.send(receive(replying(http(200, bomb, Content_Encoding="gzip"))).url, b"{}", {}, ENOUGH)
    assert outcome.delivered
    assert "not unpacked: gzip" in outcome.excerpt
    assert len(outcome.excerpt) < 200


@pytest.mark.parametrize(
    "wire",
    [
        b"",
        b"HTTP/1.1 20",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: minus\r\n\r\n",
        b"HTTP/1.1 999999 OK\r\n\r\n",
        b"\0\0\0\r\n\r\n",
    ],
)
def test_half_an_answer_or_none_is_a_failure_to_retry(receive, sender, wire):
    outcome = sender.send(receive(replying(wire)).url, b"{}", {}, ENOUGH)
    assert outcome.status is None
    assert outcome.error.startswith(("broken answer: ", "connection failed: "))
    assert outcome.error.isprintable()
    assert not outcome.delivered
    assert not outcome.permanent


def test_an_answer_that_breaks_off_in_its_body_counts_by_its_status(receive, sender):
    half = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf of"
    outcome = sender.send(receive(replying(half)).url, b"{}", {}, ENOUGH)
    assert outcome.delivered
    assert outcome.excerpt == "half of"


def test_a_switch_of_protocols_is_no_delivery(receive, sender):
    wire = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: chat\r\nConnection: upgrade\r\n\r\n\x81\x05hello"
    outcome = sender.send(receive(replying(wire)).url, b"{}", {}, ENOUGH)
    assert not outcome.delivered
    assert not outcome.permanent


def test_nobody_at_the_port_is_a_refused_connection(sender):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    outcome = sender.send(f"http://127.0.0.1:{port}/", b"{}", {}, ENOUGH)
    assert (outcome.status, outcome.error) == (None, "connection refused")
    assert not outcome.permanent
    assert not outcome.timed_out


def test_an_early_answer_to_a_body_nobody_reads_is_heard(receive, sender):
    def hasty(connection, receiver):
        connection.recv(1024)
        connection.sendall(http(413, b"too much"))
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65_536):
            pass

    outcome = sender.send(receive(hasty).url, b"{}" * 500_000, {}, ENOUGH)
    assert outcome.status == 413
    assert outcome.permanent


def test_the_excerpt_of_a_hostile_body_is_safe_to_store(receive, sender):
    wire = http(500, b"fine\0\x1b[31m\r\nforged: line \xff\xfe " + "\u202egpj.exe".encode())
    outcome = sender.send(receive(replying(wire)).url, b"{}", {}, ENOUGH)
    assert outcome.excerpt.startswith("fine")
    assert not set(outcome.excerpt) & set("\0\x1b\r\n\u202e")


def test_the_proxy_environment_is_ignored(receive, trap, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{trap.port}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    sender = HttpSender(AllowList.parse("127.0.0.1"))
    assert sender.send(receive(replying(http(200))).url, b"{}", {}, ENOUGH).delivered
    assert not trap.caught()


def test_a_header_that_would_break_the_request_is_a_failure_and_no_exception(receive, sender):
    receiver = receive(replying(http(200)))
    for value in ("a\r\nX-Injected: 1", "κόσμος"):
        outcome = sender.send(receiver.url, b"{}", {"X-Webhook-Event": value}, ENOUGH)
        assert outcome.status is None
        assert outcome.error
    assert receiver.requests == []


def test_one_sender_serves_many_threads_while_one_receiver_hangs(receive, sender):
    slow, quick = receive(hanging), receive(replying(http(200)))
    with ThreadPoolExecutor(12) as threads:
        stuck = [threads.submit(sender.send, slow.url, b"{}", {}, 3.0) for _ in range(4)]
        healthy = [threads.submit(sender.send, quick.url, str(n).encode(), {}, ENOUGH) for n in range(60)]
        assert all(each.result().delivered for each in healthy)
        assert not any(each.done() for each in stuck)
        assert all(each.result().timed_out for each in stuck)
    assert sorted(int(body) for _, _, body in quick.requests) == list(range(60))
