"""The fetcher of feeds: conditional requests, redirects that are vetted, caps and deadlines, on real sockets."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from app.adapters.feed_fetcher import HttpFeedFetcher
from app.adapters.net import Guarded
from app.core.factcheck.feed_fetches import Fetched
from app.core.outbound import AllowList
from tests.unit.webhook_sender.conftest import Receiver, http, replying

Start = Callable[..., Receiver]


@pytest.fixture
def server() -> Iterator[Start]:
    with ExitStack() as stack:

        def start(answer: Any) -> Receiver:
            receiver = Receiver(answer if callable(answer) else replying(answer))
            stack.callback(receiver.close)
            return receiver

        yield start


def fetch(url: str, etag: str | None = None, modified: str | None = None, **options: Any) -> Fetched:
    allow = options.pop("allow", "127.0.0.1")
    fetcher = HttpFeedFetcher(AllowList.parse(allow), **{"deadline": 1.0, "most": 2_097_152, **options})
    return fetcher.fetch(url, etag, modified)


def test_content_comes_with_its_validators_and_an_unchanged_feed_is_not_sent_again(server: Start) -> None:
    stamp = "Mon, 01 Jun 2026 10:00:00 GMT"
    fresh = server(http(200, b"[1]", ETag='"a"', Last_Modified=stamp))
    got = fetch(fresh.url)
    assert (got.content, got.is_new, got.etag, got.last_modified, got.problem) == (
        b"[1]",
        True,
        '"a"',
        stamp,
        "",
    )
    head = fresh.requests[0][1]
    assert "If-None-Match" not in head
    assert "If-Modified-Since" not in head

    for given, charset in (
        ("text/html; charset=Windows-1251", "windows-1251"),
        ("text/html", ""),
        ("x;charset=", ""),
    ):
        assert fetch(server(http(200, b"x", Content_Type=given)).url).charset == charset

    unchanged = server(http(304))
    got = fetch(unchanged.url, '"a"', stamp)
    assert (got.is_new, got.content, got.problem) == (False, b"", "")
    head = unchanged.requests[0][1]
    assert (head["If-None-Match"], head["If-Modified-Since"]) == ('"a"', stamp)


def test_redirects_are_followed_and_each_is_vetted_like_the_first_address(server: Start) -> None:
    target = server(http(200, b"there"))
    assert fetch(server(http(302, Location=target.url)).url).content == b"there"
    for location, problem in (
        ("http://10.0.0.1/", "It redirects to http://10.0.0.1/, which must start with https://."),
        ("https://169.254.169.254/x", "which must not name a private or reserved address."),
        ("https://[::1]/", "which must not name a private or reserved address."),
        ("file:///etc/passwd", "which must start with https://."),
        ("http://127.0.0.2:80/", "which must start with https://."),
    ):
        assert fetch(server(http(301, Location=location)).url).problem.endswith(problem), location
    turning = server(
        lambda connection, receiver: replying(http(302, Location=receiver.url))(connection, receiver)
    )
    assert fetch(turning.url).problem == "It redirects more than 5 times."
    assert turning.connections == 6


def test_a_name_that_leads_into_the_internal_network_is_never_connected_to(server: Start) -> None:
    inside = server(http(200, b"secret"))
    dialled: list[str] = []

    def dial(address: str, port: int, seconds: float) -> Any:
        dialled.append(address)
        raise OSError

    got = fetch(
        "https://feeds.example.org/", guarded=Guarded(lambda host, port: ["93.184.215.14", "10.0.0.5"], dial)
    )
    assert got.problem == "It cannot be reached: address not allowed: 10.0.0.5."
    # The redirect names a host whose address is private: it is refused after it is resolved, too.
    outside = server(http(302, Location="https://rebound.example.org/"))
    got = fetch(outside.url, guarded=Guarded(lambda host, port: ["127.0.0.1"]))
    assert got.problem == "It cannot be reached: address not allowed: 127.0.0.1."
    assert (dialled, inside.connections) == ([], 0)


def _drip(connection: Any, receiver: Any) -> None:
    receiver.read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    receiver.drip(connection, b" ")


def _endless(connection: Any, receiver: Any) -> None:
    receiver.read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    for _ in range(64):
        connection.sendall(b"x" * 65_536)


def test_what_is_too_slow_too_large_or_no_answer_is_a_sentence(server: Start) -> None:
    began = time.monotonic()
    assert fetch(server(_drip).url, deadline=0.3).problem == (
        "It was not answered completely within 0.3 seconds."
    )
    assert time.monotonic() - began < 30, "whoever waited for the end of the drips would need a minute"
    assert fetch(server(_endless).url, deadline=60).problem == "It is larger than 2 MB."
    announced = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"
    assert fetch(server(announced).url).problem == "It is larger than 2 MB."
    assert fetch(server(http(500, b"oops")).url).problem == "It answered 500."
    assert fetch(server(http(200, b"x", Content_Encoding="br")).url).problem.endswith("not asked for: br.")
    assert "broken" in fetch(server(b"SSH-2.0-OpenSSH_9\r\n").url).problem
    assert "connection refused" in fetch("http://127.0.0.1:1/", allow="127.0.0.1:1").problem
