"""Mail: asked for in a transaction, written and sent by a job once it has committed.

A verb says ``mail.ask(session, Kind.RESET, link_id=…)``; ``letters`` has the words; an adapter is the ``Mailer``. Job
arguments name rows, never an address or a link's token.
"""

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from sqlalchemy.orm import Session

from app.core import outbox
from app.core.errors import Invalid

MAIL_JOB = "send_mail"
_CONTROLS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


class Kind(StrEnum):
    """What a mail is about. The first four carry a link of that purpose."""

    CONFIRM = "confirm"
    RESET = "reset"
    CHANGE_EMAIL = "change_email"
    INVITE = "invite"
    ADDRESS_TAKEN = "address_taken"
    EMAIL_CHANGED = "email_changed"
    PASSWORD_CHANGED = "password_changed"  # noqa: S105 - the name of a mail
    DIGEST = "digest"
    WEBHOOK_DISABLED = "webhook_disabled"


@dataclass(frozen=True)
class Message:
    """One mail in plain text. Headers take no line breaks, so nothing that people typed can add one.

    Raises:
        Invalid: a control character in an address or a header.
    """

    kind: Kind
    to: str
    subject: str
    text: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value in {"to": self.to, "subject": self.subject, **self.headers}.items():
            if _CONTROLS.search(value):
                raise Invalid.field(name, "must not contain control characters")


class MailRefused(Exception):
    """The receiving server will never take this mail; the text names its status code and no address."""


class MailDelayed(Exception):
    """It could not be sent now; the text says why and names no address."""


class Mailer(Protocol):
    """Whoever hands mail on."""

    def send(self, message: Message, deadline: float) -> None:
        """Hand it on within ``deadline`` seconds.

        Raises:
            MailRefused: for good.
            MailDelayed: for now.
        """
        ...


def ask(
    session: Session,
    kind: Kind,
    *,
    account_id: uuid.UUID | None = None,
    link_id: uuid.UUID | None = None,
    key: str | None = None,
) -> None:
    """Have a mail sent once this transaction commits: to the account, or to the address of the link.

    ``key`` makes it one mail however often it is asked for.
    """
    args: dict[str, Any] = {"kind": kind.value}
    if account_id is not None:
        args["account_id"] = str(account_id)
    if link_id is not None:
        args["link_id"] = str(link_id)
    outbox.enqueue(session, MAIL_JOB, args, community_id=None, key=key)


def one_line(text: str) -> str:
    """Text that people typed, fit for a subject."""
    return " ".join(_CONTROLS.sub(" ", text).split())
