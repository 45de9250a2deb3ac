"""Sending mail: over SMTP, or into a folder where no mail server is set."""

import contextlib
import logging
import os
import re
import secrets
import smtplib
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8, EmailPolicy
from email.utils import format_datetime, make_msgid, parseaddr
from pathlib import Path
from typing import Any, Literal

from app.core import clock
from app.core.mail import MailDelayed, MailRefused, Message

log = logging.getLogger("bridgenote.mail")

Security = Literal["starttls", "tls", "none"]
_ENHANCED = re.compile(rb"^[245]\.\d{1,3}\.\d{1,3}\b")

_ADDRESS = re.compile(r'[^\s<>()\[\],;:\\"@]+@[^\s<>()\[\],;:\\"@]+')
"""Nothing that a header would read as more than one address, or as a comment. Quoted names are nobody's today."""


class _Form(EmailPolicy):
    """Text in lines as long as RFC 5322 lets them be, so that whoever opens the file can follow a link.

    The address in ``List-Unsubscribe`` is not folded: that would encode it beyond recognition.
    """

    def fold_binary(self, name: str, value: Any) -> bytes:
        if name == "List-Unsubscribe":
            return f"{name}: {value}\r\n".encode("ascii")
        return (SMTPUTF8 if self.utf8 else SMTP).fold_binary(name, value)


_FORM = _Form(linesep="\r\n", max_line_length=990, cte_type="7bit")


def as_email(message: Message, sender: str) -> EmailMessage:
    """The message in the form of RFC 5322. ``sender`` is an address, with a name before it or without.

    Raises:
        MailRefused: the address is none that a mail can carry.
    """
    name, address = parseaddr(sender)
    domain = address.rpartition("@")[2]
    try:
        made = EmailMessage(policy=_FORM)
        made["From"] = _address(address, name)
        made["To"] = _address(message.to)
        made["Subject"] = message.subject
        made["Date"] = format_datetime(clock.now())
        made["Message-ID"] = make_msgid(domain=domain or "localhost")
        made["Auto-Submitted"] = "auto-generated"
        for header, value in message.headers.items():
            made[header] = value
        made.set_content(message.text)
    except (ValueError, UnicodeError, IndexError):
        raise MailRefused("its address or a header is none that a mail can carry") from None
    return made


def _address(written: str, name: str = "") -> Address:
    if not _ADDRESS.fullmatch(written):
        raise ValueError("not an address")
    user, _, domain = written.rpartition("@")
    ascii_domain = domain if domain.isascii() else domain.encode("idna").decode("ascii")
    return Address(name, user, ascii_domain)


@dataclass(frozen=True)
class FolderMailer:
    """Writes each mail into a file of ``folder`` that its owner alone can read; the log names it."""

    folder: Path
    sender: str

    def send(self, message: Message, deadline: float) -> None:
        made = as_email(message, self.sender)
        stamp = clock.now().strftime("%Y%m%dT%H%M%S%fZ")
        path = self.folder / f"{stamp}-{message.kind}-{secrets.token_hex(3)}.eml"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(made.as_bytes())
        except OSError as error:
            raise MailDelayed(f"{path} cannot be written: {error.strerror}") from None
        log.info("No mail server is set: a mail (%s) is in %s", message.kind, path)


@dataclass(frozen=True)
class SmtpMailer:
    """Hands mail to one server. ``security`` starttls never goes on in the clear when the server cannot.

    ``context`` None checks the server's certificate against the system's authorities.
    """

    host: str
    port: int
    security: Security
    sender: str
    username: str = ""
    password: str = ""
    context: ssl.SSLContext | None = None

    def send(self, message: Message, deadline: float) -> None:
        made = as_email(message, self.sender)
        try:
            with self._connected(deadline) as server:
                server.send_message(made)
        except smtplib.SMTPRecipientsRefused as error:
            raise self._of_code(*next(iter(error.recipients.values()))) from None
        except smtplib.SMTPDataError as error:
            raise self._of_code(error.smtp_code, error.smtp_error) from None
        except smtplib.SMTPNotSupportedError as error:
            raise self._of_missing(error) from None
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
        """Connect and sign in, and send nothing. Raises OSError or ``smtplib.SMTPException``."""
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
        # The library's own limit starts anew with each read: a server that drips would hold us for ever.
        watch = threading.Timer(deadline, _hang_up, (server,))
        watch.daemon = True
        watch.start()
        try:
            # ``_host`` is what STARTTLS checks the certificate against; ``connect`` alone leaves it empty.
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

    def _of_code(self, code: int, said: bytes | str) -> Exception:
        """What a refused recipient or content means. What the server said may name the address: only codes stay."""
        text = f"{self._who} answered {_code(code, said)}"
        return MailRefused(text) if 500 <= code < 600 else MailDelayed(text)

    def _of_missing(self, error: smtplib.SMTPNotSupportedError) -> Exception:
        if "SMTPUTF8" in str(error):
            return MailRefused(f"{self._who} takes no address with letters beyond ASCII")
        return MailDelayed(f"{self._who} does not offer what the settings ask for: {error}")


def _hang_up(server: smtplib.SMTP) -> None:
    sock = server.sock
    if sock is not None:
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


def _code(code: int, said: bytes | str) -> str:
    raw = said if isinstance(said, bytes) else said.encode("utf-8", "replace")
    enhanced = _ENHANCED.match(raw)
    return f"{code} {enhanced.group().decode()}" if enhanced else str(code)


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it took too long"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__
