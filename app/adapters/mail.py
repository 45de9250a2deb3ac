"""Sends mail over SMTP, or writes it to a folder if no mail server is set."""

import contextlib
import logging
import os
import re
import secrets
import smtplib
import socket
import ssl
import threading
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import SMTP, SMTPUTF8, EmailPolicy, default
from email.utils import format_datetime, make_msgid, parseaddr
from pathlib import Path
from typing import Any, Literal

from app.core import clock, limits
from app.core.mail import Kind, MailDelayed, MailRefused, Message, one_line

log = logging.getLogger("bridgenote.mail")

Security = Literal["starttls", "tls", "none"]
_ENHANCED = re.compile(rb"^[245]\.\d{1,3}\.\d{1,3}\b")

_ADDRESS = re.compile(r'[^\s<>()\[\],;:\\"@]+@[^\s<>()\[\],;:\\"@]+')
"""One plain address: no list of addresses and no comment. Quoted local parts are not supported; nobody uses them."""


class _Form(EmailPolicy):
    """Policy with lines as long as RFC 5322 allows, so that links in the file stay whole.

    The URL in ``List-Unsubscribe`` is not folded, because folding would encode it.
    """

    def fold_binary(self, name: str, value: Any) -> bytes:
        if name == "List-Unsubscribe":
            return f"{name}: {value}\r\n".encode("ascii")
        return (SMTPUTF8 if self.utf8 else SMTP).fold_binary(name, value)


_FORM = _Form(linesep="\r\n", max_line_length=990, cte_type="7bit")


def as_email(message: Message, sender: str) -> EmailMessage:
    """Convert the message to RFC 5322 form. ``sender`` is an address, with or without a name before it.

    Raises:
        MailRefused: the address is not valid in a mail header.
    """
    name, address = parseaddr(sender)
    domain = address.rpartition("@")[2]
    try:
        email = EmailMessage(policy=_FORM)
        email["From"] = _address(address, name)
        email["To"] = _address(message.to)
        email["Subject"] = message.subject
        email["Date"] = format_datetime(clock.now())
        email["Message-ID"] = make_msgid(domain=domain or "localhost")
        email["Auto-Submitted"] = "auto-generated"
        for header, value in message.headers.items():
            email[header] = value
        email.set_content(message.text)
    except (ValueError, UnicodeError, IndexError):
        raise MailRefused("its address or a header is none that a mail can carry") from None
    return email


def _address(written: str, name: str = "") -> Address:
    if not _ADDRESS.fullmatch(written):
        raise ValueError("not an address")
    user, _, domain = limits.ascii_email(written).rpartition("@")
    return Address(name, user, domain)


@dataclass(frozen=True)
class FolderMailer:
    """Writes each mail to a file in ``folder`` that only its owner can read, and logs the file's name."""

    folder: Path
    sender: str

    def send(self, message: Message, deadline: float) -> None:
        email = as_email(message, self.sender)
        stamp = clock.now().strftime("%Y%m%dT%H%M%S%fZ")
        path = self.folder / f"{stamp}-{message.kind}-{secrets.token_hex(3)}.eml"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(email.as_bytes())
        except OSError as error:
            raise MailDelayed(f"{path} cannot be written: {error.strerror}") from None
        log.info("No mail server is set: a mail (%s) is in %s", message.kind, path)


def _as_sent(email: str) -> str:
    """The address as mails have it. Not folded: two domains, or two people, could become one."""
    try:
        return limits.ascii_email(email)
    except UnicodeError:
        return email


def remove_mails(folder: Path, emails: Collection[str], name: str) -> int:
    """Delete the mails in this folder that went to a person, and their invitations of others. Return how many."""
    removed, theirs = 0, {_as_sent(email) for email in emails}
    # In whichever language an invitation is, its first paragraph names the person who invites.
    inviting = re.compile(rf"(?<!\w){re.escape(one_line(name))}(?!\w)")
    for path in folder.glob("*.eml"):
        try:
            mail = BytesParser(policy=default).parsebytes(path.read_bytes())
            words = mail.get_content() if mail.get_content_type() == "text/plain" else ""
            to = _as_sent(parseaddr(str(mail["To"]))[1])
            invites = name and f"-{Kind.INVITE}-" in path.name and inviting.search(words.partition("\n\n")[0])
            if to in theirs or invites:
                path.unlink()
                removed += 1
        except FileNotFoundError:
            pass  # another erasure removed it
        except OSError as error:
            log.warning("A mail to an erased person could not be removed: %s: %s", path, error.strerror)
    return removed


@dataclass(frozen=True)
class SmtpMailer:
    """Sends mail through one server. With ``security`` starttls, it never falls back to an unencrypted connection.

    With ``context`` None the server's certificate is checked against the system's authorities.
    """

    host: str
    port: int
    security: Security
    sender: str
    username: str = ""
    password: str = ""
    context: ssl.SSLContext | None = None

    def send(self, message: Message, deadline: float) -> None:
        email = as_email(message, self.sender)
        try:
            with self._connected(deadline) as server:
                server.send_message(email)
        except smtplib.SMTPRecipientsRefused as error:
            raise self._error_for_code(*next(iter(error.recipients.values()))) from None
        except smtplib.SMTPDataError as error:
            raise self._error_for_code(error.smtp_code, error.smtp_error) from None
        except smtplib.SMTPNotSupportedError as error:
            raise self._error_for_unsupported(error) from None
        except smtplib.SMTPAuthenticationError as error:
            raise MailDelayed(f"{self._who} refused the user name or password ({error.smtp_code})") from None
        except smtplib.SMTPResponseException as error:
            raise MailDelayed(f"{self._who} answered {_code(error.smtp_code, error.smtp_error)}") from None
        except ssl.SSLCertVerificationError as error:
            raise MailDelayed(
                f"{self._who} has a certificate that does not hold: {error.verify_message}"
            ) from None
        except ssl.SSLError as error:
            raise MailDelayed(f"{self._who} speaks no TLS as expected: {error.reason}") from None
        except (OSError, smtplib.SMTPException) as error:
            raise MailDelayed(f"{self._who} cannot be reached: {_reason(error)}") from None

    def check(self, deadline: float) -> None:
        """Connect and sign in without sending. Raises OSError or ``smtplib.SMTPException``."""
        with self._connected(deadline):
            pass

    @property
    def _who(self) -> str:
        return f"the mail server {self.host}:{self.port}"

    @contextlib.contextmanager
    def _connected(self, deadline: float) -> Iterator[smtplib.SMTP]:
        context = self.context or ssl.create_default_context()
        server: smtplib.SMTP
        if self.security == "tls":
            server = smtplib.SMTP_SSL(timeout=deadline, context=context)
        else:
            server = smtplib.SMTP(timeout=deadline)
        # smtplib's timeout starts again with each read, so a server that sends slowly could hold us for ever.
        watch = threading.Timer(deadline, _hang_up, (server,))
        watch.daemon = True
        watch.start()
        try:
            # STARTTLS checks the certificate against ``_host``; ``connect`` alone leaves it empty.
            server._host = self.host  # type: ignore[attr-defined]
            server.connect(self.host, self.port)
            if self.security == "starttls":
                server.starttls(context=context)
            if self.username:
                server.login(self.username, self.password)
            yield server
            with contextlib.suppress(smtplib.SMTPException, OSError):
                server.quit()
        finally:
            watch.cancel()
            server.close()

    def _error_for_code(self, code: int, reply: bytes | str) -> Exception:
        """Return the error for a refused recipient or content, with only the codes: the reply may name the address."""
        text = f"{self._who} answered {_code(code, reply)}"
        return MailRefused(text) if 500 <= code < 600 else MailDelayed(text)

    def _error_for_unsupported(self, error: smtplib.SMTPNotSupportedError) -> Exception:
        if "SMTPUTF8" in str(error):
            return MailRefused(f"{self._who} takes no address with letters beyond ASCII")
        return MailDelayed(f"{self._who} does not offer what the settings ask for: {error}")


def _hang_up(server: smtplib.SMTP) -> None:
    sock = server.sock
    if sock is not None:
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


def _code(code: int, reply: bytes | str) -> str:
    raw = reply if isinstance(reply, bytes) else reply.encode("utf-8", "replace")
    enhanced = _ENHANCED.match(raw)
    return f"{code} {enhanced.group().decode()}" if enhanced else str(code)


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it took too long"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__
