"""Jobs that send mail, and the job that requests digests."""

import logging
import uuid
from datetime import timedelta
from typing import Any

from app.core import clock, texts
from app.core.mail import Kind, MailRefused
from app.core.people import credentials, mailed_links, sessions, sign_in_steps
from app.core.raters import digests
from app.core.upkeep import mail_texts
from app.jobs.bodies import part, repeat
from app.wiring import Wiring

log = logging.getLogger("bridgenote.mail")

MAIL_ATTEMPTS = 12
"""About an hour: mail servers with greylisting accept the mail by then."""
DEADLINE = 30.0
KEPT = timedelta(days=30)


def send(
    wiring: Wiring,
    kind: str,
    account_id: str | None = None,
    link_id: str | None = None,
    entry_id: str | None = None,
    sign_in_id: str | None = None,
    language: str = texts.SOURCE,
) -> None:
    """Write one mail, send it outside of any transaction, and record the state of its link.

    ``language``: that of the person who asked for it, in which it is written to a recipient who chose none.

    Raises:
        MailDelayed: not now; the engine tries again.
    """
    link = uuid.UUID(link_id) if link_id else None
    account = uuid.UUID(account_id) if account_id else None
    with wiring.database.writing() as session:
        own = mail_texts.recipient_language(session, account, link)
        with texts.chosen(wiring.languages.get(own or language)):
            message = mail_texts.write(
                session,
                wiring.mail_links,
                Kind(kind),
                account_id=account,
                link_id=link,
                entry_id=uuid.UUID(entry_id) if entry_id else None,
                sign_in_id=uuid.UUID(sign_in_id) if sign_in_id else None,
            )
    if message is None:
        return
    try:
        wiring.mailer.send(message, DEADLINE)
    except MailRefused as refusal:
        log.warning("A mail (%s) was given up: %s", kind, refusal)
        give_up(wiring, {"link_id": link_id})
        return
    if link is not None:
        with wiring.database.writing() as session:
            mailed_links.record_sent(session, link)


def give_up(wiring: Wiring, args: dict[str, Any]) -> None:
    """Mark the link of a mail that could not be sent, so that the page of the person who asked for it says so."""
    if args.get("link_id"):
        with wiring.database.writing() as session:
            mailed_links.record_failed(session, uuid.UUID(args["link_id"]))


def send_digests(wiring: Wiring) -> None:
    """Request the digests that are due, each in its own transaction."""
    after: uuid.UUID | None = None
    while True:
        with wiring.database.reading() as session:
            batch = digests.due(session, after)
        for account_id in batch:
            with part(f"the digest of account {account_id}"), wiring.database.writing() as session:
                digests.send(session, account_id)
        if len(batch) < digests.BATCH:
            return
        after = batch[-1]


def prune(wiring: Wiring) -> None:
    """Delete links and sessions that ended a month ago, accounts that were not confirmed within a month, and
    sign-ins that were not finished."""
    limit = clock.now() - KEPT
    longest = timedelta(hours=wiring.settings.session_hours)
    with part("removing sessions that ended"):
        repeat(wiring.database, lambda session: sessions.prune(session, limit - longest))
    with part("removing sign-ins that were not finished"):
        repeat(wiring.database, sign_in_steps.prune)
    with part("removing links that ended"):
        repeat(wiring.database, lambda session: mailed_links.prune(session, limit))
    with part("removing accounts that were not confirmed"):
        repeat(
            wiring.database,
            lambda session: credentials.prune_unconfirmed(session, limit) == credentials.BATCH,
        )
