"""Mail: requested inside a transaction, written and sent by a job after the commit.

A verb calls ``mail.ask(session, Kind.RESET, link_id=…)``; ``upkeep/mail_texts.py`` holds the texts; an adapter
implements ``Mailer``. Job arguments are ids of rows, never an e-mail address or a link's token.
"""

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from sqlalchemy.orm import Session

from app.core import outbox, texts
from app.core.errors import Invalid
from app.core.texts import gettext as _

MAIL_JOB = "send_mail"
_CONTROLS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


class Kind(StrEnum):
    """What a mail is about. The first four carry a link of the same purpose."""

    CONFIRM = "confirm"
    RESET = "reset"
    CHANGE_EMAIL = "change_email"
    INVITE = "invite"
    ADDRESS_TAKEN = "address_taken"
    EMAIL_CHANGED = "email_changed"
    PASSWORD_CHANGED = "password_changed"  # noqa: S105 - the name of a mail
    SIGN_IN_FAILURES = "sign_in_failures"
    NEW_DEVICE = "new_device"
    DIGEST = "digest"
    WEBHOOK_DISABLED = "webhook_disabled"
    ATTENTION = "attention"
    OWN_DATA = "own_data"
    PASSKEY_ADDED = "passkey_added"
    PASSKEY_REMOVED = "passkey_removed"
    PASSKEY_REFUSED = "passkey_refused"
    CODES_ON = "codes_on"
    CODES_OFF = "codes_off"
    RECOVERY_CODES_MADE = "recovery_codes_made"
    RECOVERY_CODE_USED = "recovery_code_used"
    FACTORS_RESET = "factors_reset"
    PROVIDER_CONNECTED = "provider_connected"
    PROVIDER_DISCONNECTED = "provider_disconnected"


@dataclass(frozen=True)
class Message:
    """One mail in plain text. Headers refuse line breaks, so that user input cannot add a header.

    Raises:
        Invalid: an e-mail address or a header contains a control character.
    """

    kind: Kind
    to: str
    subject: str
    text: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value in {"to": self.to, "subject": self.subject, **self.headers}.items():
            if _CONTROLS.search(value):
                raise Invalid.field(name, _("must not contain control characters"))


class MailRefused(Exception):
    """The receiving server refused this mail permanently. The text holds the status code and no e-mail address."""


class MailDelayed(Exception):
    """The mail could not be sent now. The text says why and holds no e-mail address."""


class Mailer(Protocol):
    """Sends mail to the outside."""

    def send(self, message: Message, deadline: float) -> None:
        """Send ``message`` within ``deadline`` seconds.

        Raises:
            MailRefused: permanently; do not try again.
            MailDelayed: temporarily; try again later.
        """
        ...


def ask(
    session: Session,
    kind: Kind,
    *,
    account_id: uuid.UUID | None = None,
    link_id: uuid.UUID | None = None,
    entry_id: uuid.UUID | None = None,
    sign_in_id: uuid.UUID | None = None,
    key: str | None = None,
) -> None:
    """Send a mail once this transaction commits: to the account, or to the e-mail address of the link.

    ``entry_id`` is the history entry that the mail is about, ``sign_in_id`` the session. ``key`` deduplicates: calls
    with the same key send one mail. It is written in the language that the recipient chose, else in this thread's.
    """
    args: dict[str, Any] = {"kind": kind.value, "language": texts.current().tag}
    if account_id is not None:
        args["account_id"] = str(account_id)
    if link_id is not None:
        args["link_id"] = str(link_id)
    if entry_id is not None:
        args["entry_id"] = str(entry_id)
    if sign_in_id is not None:
        args["sign_in_id"] = str(sign_in_id)
    outbox.enqueue(session, MAIL_JOB, args, community_id=None, key=key)


def one_line(text: str) -> str:
    """User input on one line without control characters, for a subject line."""
    return " ".join(_CONTROLS.sub(" ", text).split())
