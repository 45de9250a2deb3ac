"""Deliveries reach the address that was vetted, under the name that was asked for, or nothing at all."""

import socket
import threading

import pytest

from app.adapters.net import Guarded
from app.adapters.webhook_sender import HttpSender
from app.core.outbound import AllowList
from tests.unit.webhook_sender.conftest import PUBLIC, Names, Switchboard, Timed, http, replying

ENOUGH = 5.0
SHORT = 0.5
GRACE = 20.0
"""Whoever waited for these receivers to end would need a minute; a busy machine may need seconds."""
HOST = "receiver.example"
URL = f"https://{HOST}/hooks"
NOTHING_ALLOWED = AllowList.parse("")

thanking = replying(http(200, b"thanks"))


@pytest.fixture
def tls_receiver(receive, authority):
    """A receiver with a certificate for ``receiver.example``, and the names it was asked for."""

    def start(host=HOST, answer=thanking):
        wrap, asked = authority.serving(host)
        return receive(answer, wrap), asked

    return start


def test_a_public_name_is_reached_at_its_vetted_address_with_sni_and_host_kept(tls_receiver, authority):
    receiver, asked = tls_receiver()
    names, switchboard = Names([PUBLIC]), Switchboard(receiver.port)
    sender = HttpSender(NOTHING_ALLOWED, Guarded(names, switchboard, authority.trusting()))

    outcome = sender.send(URL, b"{}", {}, ENOUGH)

    assert outcome.delivered
    assert outcome.excerpt == "thanks"
    assert switchboard.dialled == [(PUBLIC, 443)]
    assert asked == [HOST]
    assert receiver.requests[0][1]["Host"] == HOST


def test_a_name_that_rebinds_after_the_lookup_is_still_reached_where_it_was_vetted(tls_receiver, authority):
    receiver, _ = tls_receiver()
    names, switchboard = Names([PUBLIC], ["127.0.0.1"]), Switchboard(receiver.port)
    sender = HttpSender(NOTHING_ALLOWED, Guarded(names, switchboard, authority.trusting()))

    first, second = (sender.send(URL, b"{}", {}, ENOUGH) for _ in range(2))

    assert first.delivered
    assert second.error == "address not allowed: 127.0.0.1"
    assert names.asked == [(HOST, 443), (HOST, 443)], "one lookup for each attempt, no more"
    assert switchboard.dialled == [(PUBLIC, 443)]


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["10.1.2.3"],
        ["169.254.169.254"],
        ["::1"],
        ["::ffff:10.0.0.1"],
        ["64:ff9b::a00:1"],
        ["fe80::1%eth0"],
        [PUBLIC, "10.0.0.1"],
        ["10.0.0.1", PUBLIC],
        ["2606:2800:21f:cb07:6820:80da:af6b:8b2c", "fd00::1"],
        ["not an address"],
    ],
)
def test_no_connection_is_made_when_any_address_of_the_name_is_forbidden(trap, addresses):
    switchboard = Switchboard(trap.port)
    outcome = HttpSender(NOTHING_ALLOWED, Guarded(Names(addresses), switchboard)).send(URL, b"{}", {}, ENOUGH)
    assert outcome.status is None
    assert outcome.error.startswith("address not allowed: ")
    assert not outcome.permanent, "the name's owner may mend its record before the next attempt"
    assert switchboard.dialled == []
    assert not trap.caught()


def test_the_real_resolver_and_the_real_dial_refuse_this_machine(trap):
    sender = HttpSender(AllowList.parse("127.0.0.1:1"))
    for url in (
        f"http://127.0.0.1:{trap.port}/",
        f"https://127.0.0.1:{trap.port}/",
        f"http://localhost:{trap.port}/",
        f"http://[::1]:{trap.port}/",
    ):
        outcome = sender.send(url, b"{}", {}, ENOUGH)
        assert outcome.error.startswith("bad address: ")
        assert outcome.permanent
    assert not trap.caught()


def test_an_allowed_host_is_reached_over_plain_http_at_a_private_address(receive):
    receiver = receive(replying(http(200)))
    sender = HttpSender(AllowList.parse(f"inside.test:{receiver.port}"), Guarded(Names(["127.0.0.1"])))
    assert sender.send(f"http://inside.test:{receiver.port}/", b"{}", {}, ENOUGH).delivered
    assert receiver.requests[0][1]["Host"] == f"inside.test:{receiver.port}"


def test_an_address_that_refuses_gives_way_to_the_next(receive):
    receiver = receive(replying(http(200)))

    def choosy(address, port, seconds):
        if address == "203.0.113.1":
            raise ConnectionRefusedError
        return socket.create_connection(("127.0.0.1", port), seconds)

    names = Names(["203.0.113.1", "203.0.113.2"])
    sender = HttpSender(AllowList.parse("inside.test"), Guarded(names, choosy))
    assert sender.send(f"http://inside.test:{receiver.port}/", b"{}", {}, ENOUGH).delivered


@pytest.mark.parametrize("spelling", ["[::1]", "[0:0:0:0:0:0:0:1]"])
def test_an_ipv6_literal_is_dialled_however_it_is_spelled(receive, spelling):
    receiver = receive(replying(http(200)))
    switchboard = Switchboard(receiver.port)
    sender = HttpSender(AllowList.parse("[::1]"), Guarded(dial=switchboard))
    assert sender.send(f"http://{spelling}:8080/", b"{}", {}, ENOUGH).delivered
    assert switchboard.dialled == [("::1", 8080)]


@pytest.mark.parametrize(
    "failure",
    [socket.gaierror(socket.EAI_NONAME, "Name or service not known"), UnicodeError("label too long"), []],
)
def test_a_name_without_addresses_is_a_dns_failure_to_retry(failure):
    outcome = HttpSender(NOTHING_ALLOWED, Guarded(Names(failure))).send(URL, b"{}", {}, ENOUGH)
    assert outcome.error.startswith("dns: ")
    assert not outcome.permanent


def test_a_name_server_that_hangs_costs_the_deadline_and_holds_one_thread_per_name(receive):
    receiver = receive(replying(http(200)))
    release, asked = threading.Event(), []

    def hanging(host, port):
        asked.append(host)
        if host == "stuck.test":
            release.wait(60)
        return ["127.0.0.1"]

    sender = HttpSender(AllowList.parse("stuck.test,quick.test"), Guarded(hanging))
    try:
        for _ in range(3):
            with Timed() as attempt:
                outcome = sender.send(f"http://stuck.test:{receiver.port}/", b"{}", {}, SHORT)
            assert outcome.error == "timeout: dns"
            assert outcome.timed_out
            assert attempt.seconds < SHORT + GRACE
        assert asked == ["stuck.test"]
        assert sender.send(f"http://quick.test:{receiver.port}/", b"{}", {}, ENOUGH).delivered
    finally:
        release.set()


def test_a_certificate_for_another_name_is_refused_before_anything_is_sent(tls_receiver, authority):
    receiver, _ = tls_receiver(host="someone-else.example")
    sender = HttpSender(
        NOTHING_ALLOWED, Guarded(Names([PUBLIC]), Switchboard(receiver.port), authority.trusting())
    )
    outcome = sender.send(URL, b"{}", {}, ENOUGH)
    assert outcome.error.startswith("tls: ")
    assert HOST in outcome.error
    assert not outcome.permanent
    assert receiver.requests == []


def test_a_certificate_of_an_unknown_authority_is_refused(tls_receiver):
    receiver, _ = tls_receiver()
    outcome = HttpSender(NOTHING_ALLOWED, Guarded(Names([PUBLIC]), Switchboard(receiver.port))).send(
        URL, b"{}", {}, ENOUGH
    )
    assert outcome.error.startswith("tls: ")
    assert receiver.requests == []


def test_a_public_address_in_the_url_needs_a_certificate_for_that_address(tls_receiver, authority):
    receiver, _ = tls_receiver(host=PUBLIC)
    switchboard = Switchboard(receiver.port)
    sender = HttpSender(NOTHING_ALLOWED, Guarded(Names(OSError("unused")), switchboard, authority.trusting()))
    assert sender.send(f"https://{PUBLIC}:8443/", b"{}", {}, ENOUGH).delivered
    assert switchboard.dialled == [(PUBLIC, 8443)]


def dripping_handshake(connection, receiver):
    connection.sendall(b"\x16\x03\x03\x40\x00")  # the head of a record of 16 KB
    receiver.drip(connection, b"a")


def silent(connection, receiver):
    receiver.closing.wait(60)


@pytest.mark.parametrize("answer", [silent, dripping_handshake])
def test_a_handshake_without_end_costs_the_deadline_and_no_more(receive, authority, answer):
    receiver = receive(answer)
    sender = HttpSender(
        NOTHING_ALLOWED, Guarded(Names([PUBLIC]), Switchboard(receiver.port), authority.trusting())
    )
    with Timed() as attempt:
        outcome = sender.send(URL, b"{}", {}, SHORT)
    assert outcome.error == "timeout: tls"
    assert attempt.seconds < SHORT + GRACE


@pytest.mark.parametrize("wire", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b""])
def test_a_server_that_speaks_no_tls_is_a_tls_failure(receive, authority, wire):
    def plain(connection, receiver):
        connection.recv(65_536)
        connection.sendall(wire)

    receiver = receive(plain)
    sender = HttpSender(
        NOTHING_ALLOWED, Guarded(Names([PUBLIC]), Switchboard(receiver.port), authority.trusting())
    )
    outcome = sender.send(URL, b"{}", {}, ENOUGH)
    assert outcome.error.startswith("tls: ")
    assert not outcome.permanent


def test_a_hanging_answer_inside_tls_costs_the_deadline_and_no_more(tls_receiver, authority):
    def hanging(connection, receiver):
        receiver.read_request(connection)
        receiver.closing.wait(60)

    receiver, _ = tls_receiver(answer=hanging)
    sender = HttpSender(
        NOTHING_ALLOWED, Guarded(Names([PUBLIC]), Switchboard(receiver.port), authority.trusting())
    )
    with Timed() as attempt:
        outcome = sender.send(URL, b"{}", {}, SHORT)
    assert outcome.error == "timeout"
    assert attempt.seconds < SHORT + GRACE
