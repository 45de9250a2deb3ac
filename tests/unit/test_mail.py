"""Mail over real SMTP: protected as asked, retried or given up, and never more in the log than a code."""

import socket
import ssl
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, Session

from app.adapters.mail import FolderMailer, SmtpMailer, as_email, remove_mails
from app.core.errors import Invalid
from app.core.mail import Kind, MailDelayed, MailRefused, Message
from app.core.models import AccountLink
from app.core.people import credentials, mailed_links, passwords
from app.core.vocabulary import LinkPurpose
from app.jobs.registry import give_up
from app.wiring import Wiring
from tests import certificates
from tests.inline_engine import InlineEngine

SENDER = "Bridgenote <bridgenote@example.org>"
MESSAGE = Message(Kind.RESET, "ann@example.org", "Grüße", "Two lines\nof tëxt.")


@dataclass
class Inbox:
    """A mail server's end: what it was handed, and what it answers instead when told."""

    mails: list[EmailMessage] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    was_tls: list[bool] = field(default_factory=list)
    users: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    async def handle_RCPT(self, _s: Any, _x: Session, envelope: Envelope, to: str, _o: list[str]) -> str:
        if self.answers:
            return self.answers.pop(0).format(to=to)
        envelope.rcpt_tos.append(to)
        return "250 OK"

    async def handle_DATA(self, _server: Any, session: Session, envelope: Envelope) -> str:
        assert isinstance(envelope.content, bytes)
        self.raw.append(envelope.content)
        self.mails.append(message_from_bytes(envelope.content, policy=default))
        self.was_tls.append(session.ssl is not None)
        return "250 OK"

    def check(self, _server: Any, _session: Any, _envelope: Any, _how: str, given: Any) -> AuthResult:
        self.users.append(given.login.decode())
        return AuthResult(
            success=given.password == b"right password", handled=given.password == b"right password"
        )


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that nobody signed but itself, with its key."""
    return certificates.write(tmp_path_factory.mktemp("certificate") / "both.pem")


Serve = Callable[..., tuple[Inbox, SmtpMailer]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server, with STARTTLS and sign-in when given a certificate; the mailer that speaks to it."""
    running: list[Controller] = []

    def begin(certificate: Path | None = None, **mailer: Any) -> tuple[Inbox, SmtpMailer]:
        inbox, options = Inbox(), dict[str, Any]()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if certificate is not None:
            context.load_cert_chain(certificate)
        if mailer.get("security") == "tls":
            options = {"ssl_context": context}
        elif certificate is not None:
            options = {
                "tls_context": context,
                "require_starttls": True,
                "auth_required": True,
                "authenticator": inbox.check,
            }
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        options["enable_SMTPUTF8"] = True
        controller = Controller(inbox, hostname="127.0.0.1", port=port, **options)
        controller.start()
        running.append(controller)
        given = {"security": "none", "sender": SENDER} | mailer
        return inbox, SmtpMailer("127.0.0.1", port, **given)

    yield begin
    for controller in running:
        controller.stop()


def test_mail_goes_out_under_tls_and_after_signing_in_or_not_at_all(serve: Serve, certificate: Path) -> None:
    trusted = ssl.create_default_context(cafile=str(certificate))
    secured = {"security": "starttls", "username": "bridge", "password": "right password"}
    inbox, mailer = serve(certificate, **secured, context=trusted)
    mailer.send(MESSAGE, 5)
    (mail,) = inbox.mails
    assert inbox.was_tls == [True]
    assert inbox.users == ["bridge"]
    assert (mail["To"], mail["From"], mail["Subject"]) == ("ann@example.org", SENDER, "Grüße")
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail.get_content().replace("\r\n", "\n").strip() == "Two lines\nof tëxt."

    wrong, mailer = serve(certificate, **secured | {"password": "wrong password"}, context=trusted)
    with pytest.raises(MailDelayed, match=r"refused the user name or password \(535\)") as refused:
        mailer.send(MESSAGE, 5)
    assert "wrong password" not in str(refused.value)
    unknown, mailer = serve(certificate, **secured)
    with pytest.raises(MailDelayed, match="certificate that does not hold"):
        mailer.send(MESSAGE, 5)
    plain, mailer = serve(None, security="starttls")
    with pytest.raises(MailDelayed, match="does not offer"):
        mailer.send(MESSAGE, 5)
    assert wrong.mails == unknown.mails == plain.mails == []
    whole, mailer = serve(certificate, security="tls", context=trusted)
    mailer.send(MESSAGE, 5)
    assert len(whole.mails) == 1, "its server speaks nothing but TLS"


def test_a_refusal_is_for_good_or_for_now_by_its_code_and_keeps_the_address_to_itself(serve: Serve) -> None:
    inbox, mailer = serve()
    inbox.answers = ["550 5.1.1 <{to}> is nobody here", "451 4.7.1 {to}: come back later"]
    with pytest.raises(MailRefused, match=r"answered 550 5\.1\.1$") as for_good:
        mailer.send(MESSAGE, 5)
    with pytest.raises(MailDelayed, match=r"answered 451 4\.7\.1$") as for_now:
        mailer.send(MESSAGE, 5)
    assert "ann" not in f"{for_good.value}{for_now.value}"
    mailer.send(MESSAGE, 5)
    assert len(inbox.mails) == 1


def test_a_server_that_is_gone_or_says_nothing_costs_no_more_than_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]

        def drip() -> None:
            connection, _ = silent.accept()
            with connection:
                for _ in range(1_200):
                    try:
                        connection.sendall(b"220-wait\r\n")
                    except OSError:
                        return
                    time.sleep(0.05)

        thread = threading.Thread(target=drip)
        thread.start()
        began = time.monotonic()
        with pytest.raises(MailDelayed, match="cannot be reached"):
            SmtpMailer("127.0.0.1", port, "none", SENDER).send(MESSAGE, 0.3)
        assert time.monotonic() - began < 30, "whoever waited for the drips to end would need a minute"
        thread.join()
    with pytest.raises(MailDelayed, match="cannot be reached"):
        SmtpMailer("127.0.0.1", port, "none", SENDER).send(MESSAGE, 5)


@pytest.mark.parametrize("to", ["ann@example.org\r\nBcc: eve@example.org", "ann@example.org\x00"])
def test_nothing_typed_adds_a_header(to: str) -> None:
    with pytest.raises(Invalid, match="control characters"):
        Message(Kind.CONFIRM, to, "Subject", "Text")
    with pytest.raises(Invalid, match="control characters"):
        Message(Kind.CONFIRM, "ann@example.org", f"Join {to}", "Text")


def test_a_long_address_in_a_header_stays_one_that_programs_can_follow(serve: Serve, tmp_path: Path) -> None:
    stop = f"<https://moderation.example.org/unsubscribe/{'x' * 80}>"
    message = Message(Kind.DIGEST, "ann@example.org", "S", "Text", {"List-Unsubscribe": stop})
    FolderMailer(tmp_path, SENDER).send(message, 5)
    (file,) = tmp_path.iterdir()
    assert f"List-Unsubscribe: {stop}\r\n" in file.read_bytes().decode()
    inbox, mailer = serve()
    mailer.send(message, 5)
    assert f"List-Unsubscribe: {stop}\r\n".encode() in inbox.raw[0]


def test_a_name_beyond_ascii_goes_where_the_server_takes_it(serve: Serve) -> None:
    inbox, mailer = serve()
    mailer.send(Message(Kind.DIGEST, "änn@example.org", "S", "T"), 5)
    assert "To: änn@example.org".encode() in inbox.raw[0]


def test_addresses_that_no_mail_can_carry_are_given_up() -> None:
    assert as_email(Message(Kind.CONFIRM, "ann@bücher.example", "S", "T"), SENDER)["To"] == (
        "ann@xn--bcher-kva.example"
    )
    assert as_email(Message(Kind.CONFIRM, "ann@straße.example", "S", "T"), SENDER)["To"] == (
        "ann@xn--strae-oqa.example"
    ), "not strasse.example, which may be somebody else's"
    for bad in ("ann@", "a b@example.org", "<ann@example.org>", "ann@example.org, eve@example.org"):
        with pytest.raises(MailRefused):
            as_email(Message(Kind.CONFIRM, bad, "S", "T"), SENDER)


def test_a_mail_put_off_is_written_anew_and_only_the_mail_holds_its_token(
    wiring: Wiring, jobs: InlineEngine, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    inbox, wiring.mailer = serve()
    hashed = passwords.hash_password("correct horse battery")
    with wiring.database.writing() as session:
        credentials.sign_up(session, "ann@example.org", "Ann", hashed)
    (job,) = jobs.jobs()
    assert job.args.keys() == {"kind", "link_id", "language"}
    inbox.answers = ["450 4.2.0 greylisted"]
    with pytest.raises(MailDelayed):
        jobs.run_all()
    with wiring.database.reading() as session:
        (first,) = session.scalars(sa.select(AccountLink.token_hash))
    jobs.run_all()
    (mail,) = inbox.mails
    token = mail.get_content().split("/confirm/")[1].split()[0]
    with wiring.database.reading() as session:
        link = session.scalars(sa.select(AccountLink)).one()
        assert link.sent_at is not None
        assert link.token_hash not in {first, token}
        assert mailed_links.find(session, token, LinkPurpose.CONFIRM).id == link.id
        with pytest.raises(mailed_links.LinkOver):
            mailed_links.find(session, token, LinkPurpose.RESET)
    assert jobs.run_all() == 0

    with wiring.database.writing() as session:
        credentials.request_reset(session, "ann@example.org")
    inbox.answers = ["550 5.1.1 no such user {to}"]
    caplog.clear()
    jobs.run_all()
    with wiring.database.reading() as session:
        given_up = session.scalars(sa.select(AccountLink).where(AccountLink.purpose == "reset")).one()
        assert given_up.failed_at is not None
    assert "550 5.1.1" in caplog.text
    assert "ann" not in caplog.text
    with wiring.database.writing() as session:
        credentials.send_again(session, "ann@example.org")
    (never,) = jobs.jobs()
    give_up(wiring, never.name, never.args, MailDelayed("for an hour"))
    with wiring.database.reading() as session:
        assert session.get_one(AccountLink, uuid.UUID(never.args["link_id"])).failed_at is not None
    inbox.answers = ["550 no"]
    with wiring.database.writing() as session:
        credentials.request_reset(session, "nobody@example.org")
    jobs.run_all()
    assert len(inbox.mails) == 1, "an address without account gets nothing"
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(AccountLink).where(AccountLink.email == "nobody@example.org")) is None


def test_without_a_mail_server_mail_is_a_file_that_the_log_names(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="bridgenote.mail")
    FolderMailer(tmp_path / "mail", SENDER).send(MESSAGE, 5)
    (file,) = (tmp_path / "mail").iterdir()
    assert str(file) in caplog.text
    assert file.stat().st_mode & 0o077 == 0
    assert message_from_bytes(file.read_bytes(), policy=default)["To"] == "ann@example.org"


def test_mails_of_an_erased_address_go_and_those_of_another_domain_stay(tmp_path: Path) -> None:
    erased, other = "ann@straße.example", "ann@strasse.example"
    for address in (erased, other, "änn@example.org"):
        FolderMailer(tmp_path, SENDER).send(Message(Kind.DIGEST, address, "S", "Text"), 5)
    assert remove_mails(tmp_path, [erased], "") == 1
    left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert other.encode() in left
    assert b"xn--strae-oqa.example" not in left
    assert remove_mails(tmp_path, ["änn@example.org"], "") == 1
