"""The texts of all mails. Plain text: nothing to load, and nothing that reports when a mail was opened."""

import hashlib
import hmac
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from zoneinfo import ZoneInfo, available_timezones

from sqlalchemy.orm import Session

from app.core import limits
from app.core.mail import Kind, Message, one_line
from app.core.models import Account, AccountLink, Community, HistoryEntry, SignIn
from app.core.people import browsers, mailed_links
from app.core.raters import digests
from app.core.upkeep.attention import TITLES
from app.core.vocabulary import AttentionReason, LinkPurpose, Role

STOPPABLE = (Kind.DIGEST, Kind.ATTENTION)
"""Mails with a link that stops them."""
_WITH_LINK = frozenset({Kind.CONFIRM, Kind.RESET, Kind.CHANGE_EMAIL, Kind.INVITE})
_IGNORE = "If this was not you, ignore this mail: nothing happens then."
_CONFIRM_LIMIT = f"The link works once, for {limits.CONFIRM_HOURS} hours."
_NOT_YOU = "If this was not you, choose a new password now: {url}/forgot"
_TEXTS: Mapping[Kind, tuple[str, ...]] = {
    Kind.CONFIRM: (
        "Confirm your email address",
        "A Bridgenote account was created with this address, probably by you. "
        "Open this page and press the button:",
        "{url}/confirm/{token}",
        _CONFIRM_LIMIT,
        _IGNORE,
    ),
    Kind.RESET: (
        "Choose a new password",
        "A new password was requested for your account, probably by you. Choose one here:",
        "{url}/reset/{token}",
        f"The link works once, for {limits.RESET_MINUTES} minutes.",
        _IGNORE,
    ),
    Kind.CHANGE_EMAIL: (
        "Confirm your new email address",
        "You asked to sign in with this address from now on. Open this page and press the button:",
        "{url}/confirm/{token}",
        _CONFIRM_LIMIT,
        _IGNORE,
    ),
    Kind.EMAIL_CHANGED: (
        "Your email address was changed",
        "Your account was moved to another email address. You can no longer sign in with this one.",
        "If this was not you, write to the operators of {url} at once.",
    ),
    Kind.ADDRESS_TAKEN: (
        "You already have an account",
        "An account was requested for this address, probably by you. You already have one.",
        "Sign in: {url}/sign-in",
        "Forgot your password? {url}/forgot",
        _IGNORE,
    ),
    Kind.PASSWORD_CHANGED: (
        "Your password was changed",
        "The password of your account was changed, and every other browser was signed out.",
        "If this was not you, choose a new password now: {url}/forgot",
    ),
    Kind.SIGN_IN_FAILURES: (
        "Many failed attempts to sign in",
        f"{limits.SIGN_IN_FAILURES} attempts to sign in to your account have failed within a day. On the devices "
        "where you signed in before, you can still sign in.",
        "If these attempts were not yours, and your password is short or you use it elsewhere, choose another one: "
        "{url}/.well-known/change-password",
        "You get this mail at most once a day.",
    ),
    Kind.WEBHOOK_DISABLED: (
        "A webhook was disabled",
        "Deliveries to a webhook of yours failed for so long, or its receiver said so often that it is gone, that "
        "nothing is sent to it any more. What is due waits until you enable it.",
        "See which one, and why: {url}/notices",
    ),
    Kind.OWN_DATA: (
        "What is kept of you is ready",
        "The file that you asked for, with all that is kept of you, is ready. Sign in and fetch it here:",
        "{url}/settings/my-data",
        "It is kept for a day.",
    ),
    Kind.PASSKEY_ADDED: (
        "A passkey was added to your account",
        "You can sign in with a new passkey from now on. See which ones you have: {url}/security",
        _NOT_YOU,
    ),
    Kind.PASSKEY_REMOVED: (
        "A passkey was removed from your account",
        "It signs nobody in any more. See which ones you have: {url}/security",
        _NOT_YOU,
    ),
    Kind.PASSKEY_REFUSED: (
        "A passkey of yours was refused",
        "A sign-in with a passkey of yours was refused, because the passkey counted fewer uses than at its last "
        "sign-in. That is a sign of a copied passkey. It signs nobody in any more.",
        "Remove it, and add another one: {url}/security",
    ),
    Kind.PROVIDER_CONNECTED: (
        "Your account is connected with a sign-in provider",
        "You can sign in with an account of your organisation from now on. See which: {url}/settings",
        _NOT_YOU,
    ),
    Kind.PROVIDER_DISCONNECTED: (
        "Your account is no longer connected with a sign-in provider",
        "That account of your organisation signs nobody in any more. See which are left: {url}/settings",
        _NOT_YOU,
    ),
    Kind.CODES_ON: (
        "Codes were set up for your account",
        "Signing in with your password asks for a code of your app from now on. See {url}/security",
        _NOT_YOU,
    ),
    Kind.CODES_OFF: (
        "Codes were switched off for your account",
        "Signing in does not ask for a code of your app any more. See {url}/security",
        _NOT_YOU,
    ),
    Kind.RECOVERY_CODES_MADE: (
        "Your account has new recovery codes",
        "Recovery codes were made for your account. Earlier ones do not work any more. See {url}/security",
        _NOT_YOU,
    ),
    Kind.RECOVERY_CODE_USED: (
        "A recovery code of yours was used",
        "One of your recovery codes was used in the place of a code or a passkey. It does not work again. See how "
        "many are left, or make new ones: {url}/security",
        _NOT_YOU,
    ),
    Kind.FACTORS_RESET: (
        "Your passkeys and codes were removed",
        "An administrator of the service removed your passkeys, your codes and your recovery codes, so that you can "
        "sign in with your password alone. Set them up again: {url}/security",
        "If you did not ask for this, write to the operators of {url} at once.",
    ),
}
"""The subject and the paragraphs of each mail that holds nothing but links."""


@dataclass(frozen=True)
class MailLinks:
    """The base URL of links (``https://host``, no slash at the end), and the key that signs unsubscribe links."""

    base_url: str
    key: bytes

    def unsubscribe_token(self, account_id: uuid.UUID, kind: Kind = Kind.DIGEST) -> str:
        """A signature that authorises stopping one kind of mail. It allows nothing else, so it never expires."""
        purpose = b"unsubscribe:" if kind is Kind.DIGEST else f"unsubscribe {kind}:".encode()
        return hmac.new(self.key, purpose + account_id.bytes, hashlib.sha256).hexdigest()[:40]

    def unsubscribe_url(self, account_id: uuid.UUID, kind: Kind) -> str:
        return f"{self.base_url}/unsubscribe/{account_id}/{self.unsubscribe_token(account_id, kind)}"

    def unsubscribes_from(self, account_id: uuid.UUID, token: str) -> Kind | None:
        """The kind of mail that this token stops; None if it is not valid."""
        given = token.encode("utf-8", "surrogatepass")
        return next(
            (
                kind
                for kind in STOPPABLE
                if hmac.compare_digest(self.unsubscribe_token(account_id, kind).encode(), given)
            ),
            None,
        )


def recipient_language(
    session: Session, account_id: uuid.UUID | None, link_id: uuid.UUID | None
) -> str | None:
    """The language that the recipient of a mail chose, or None."""
    link = session.get(AccountLink, link_id) if link_id is not None else None
    of = account_id or (link.account_id if link is not None else None)
    account = session.get(Account, of) if of is not None else None
    return account.language if account is not None else None


def write(
    session: Session,
    mail_links: MailLinks,
    kind: Kind,
    *,
    account_id: uuid.UUID | None = None,
    link_id: uuid.UUID | None = None,
    entry_id: uuid.UUID | None = None,
    sign_in_id: uuid.UUID | None = None,
) -> Message | None:
    """Write a mail, with a new token if it carries a link. None when there is nothing to send any more."""
    if kind in _WITH_LINK:
        minted = mailed_links.mint(session, link_id) if link_id is not None else None
        return _with_link(session, mail_links, kind, *minted) if minted else None
    if kind is Kind.EMAIL_CHANGED:
        link = session.get(AccountLink, link_id) if link_id is not None else None
        return (
            _fixed(mail_links, kind, link.previous_email)
            if link is not None and link.previous_email
            else None
        )
    account = session.get(Account, account_id) if account_id is not None else None
    if account is None or account.disabled_at is not None or account.confirmed_at is None:
        return None
    if kind is Kind.ATTENTION:
        return _attention(session, mail_links, account, entry_id)
    if kind is Kind.NEW_DEVICE:
        return _new_device(session, mail_links, account, sign_in_id)
    if kind is Kind.DIGEST:
        return _digest(session, mail_links, account)
    return _fixed(mail_links, kind, account.email)


def _fixed(mail_links: MailLinks, kind: Kind, to: str, token: str = "") -> Message:
    subject, *paragraphs = _TEXTS[kind]
    return _message(
        kind, to, subject, *(text.format(url=mail_links.base_url, token=token) for text in paragraphs)
    )


def _with_link(
    session: Session, mail_links: MailLinks, kind: Kind, link: AccountLink, token: str
) -> Message | None:
    if link.purpose is LinkPurpose.RESET and link.account_id is None:
        # A reset for an e-mail address without an account: it took the same time as any other, and ends here.
        session.delete(link)
        return None
    return (
        _invitation(session, mail_links, link, token)
        if kind is Kind.INVITE
        else _fixed(mail_links, kind, link.email, token)
    )


def _invitation(session: Session, mail_links: MailLinks, link: AccountLink, token: str) -> Message | None:
    community = session.get(Community, link.community_id) if link.community_id else None
    if community is None or link.role is None:
        return None
    inviter = session.get(Account, link.invited_by_id) if link.invited_by_id else None
    who = one_line(inviter.display_name) if inviter else "Bridgenote"
    name = one_line(community.name)
    return _message(
        Kind.INVITE,
        link.email,
        f"Join {name}",
        f"{who} invites you to join {name} as {with_article(link.role)}. Open this page to accept:",
        f"{mail_links.base_url}/join/{token}",
        f"The link works once, for {limits.INVITATION_DAYS} days. If you do not want to join, ignore this mail.",
    )


def _digest(session: Session, mail_links: MailLinks, account: Account) -> Message | None:
    waiting = digests.waiting_for(session, account)
    if not waiting:
        return None
    total = sum(count for _, count in waiting)
    stop = mail_links.unsubscribe_url(account.id, Kind.DIGEST)
    lines = "\n".join(f"{one_line(community.name)}: {count}" for community, count in waiting)
    return _message(
        Kind.DIGEST,
        account.email,
        "1 post needs your help" if total == 1 else f"{total} posts need your help",
        f"These posts wait for members to say what should happen to them:\n\n{lines}",
        *_seats(session, account),
        f"Help: {mail_links.base_url}/help-needed",
        f"You get this mail {account.digest}. Change that in Settings, or stop it here:\n{stop}",
        headers=_stopped_by(stop),
    )


def _stopped_by(url: str) -> dict[str, str]:
    """The headers of a mail that a mail program can stop (RFC 8058)."""
    return {"List-Unsubscribe": f"<{url}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}


def _attention(
    session: Session, mail_links: MailLinks, account: Account, entry_id: uuid.UUID | None
) -> Message | None:
    """What wants an operator. None if the account has switched these mails off since."""
    entry = session.get(HistoryEntry, entry_id) if entry_id is not None else None
    community = session.get(Community, entry.community_id) if entry is not None else None
    if entry is None or community is None or not account.attention_mail:
        return None
    stop = mail_links.unsubscribe_url(account.id, Kind.ATTENTION)
    return _message(
        Kind.ATTENTION,
        account.email,
        f"{TITLES[AttentionReason(entry.after['attention'])]} in {one_line(community.name)}",
        f"{one_line(entry.cause)}.",
        f"What to do: {mail_links.base_url}/notices",
        "This mail is sent once, and again only after it has become clearly better and begun again.",
        f"Operators get this mail. Change that in Settings, or stop it here:\n{stop}",
        headers=_stopped_by(stop),
    )


def _new_device(
    session: Session, mail_links: MailLinks, account: Account, sign_in_id: uuid.UUID | None
) -> Message | None:
    """The session that began in an unknown browser. None if it was pruned meanwhile."""
    sign_in = session.get(SignIn, sign_in_id) if sign_in_id is not None else None
    if sign_in is None:
        return None
    zone = ZoneInfo(account.timezone) if account.timezone in available_timezones() else UTC
    began = sign_in.created_at.astimezone(zone)
    return _message(
        Kind.NEW_DEVICE,
        account.email,
        "A sign-in with a new browser",
        "Your account was signed in to with a browser that had not been used for it before:",
        f"Browser: {one_line(browsers.device(sign_in.user_agent))}\nTime: {began:%d %b %Y, %H:%M} "
        f"({began.tzname()})\nWith: {browsers.way(sign_in)}",
        "If this was you, nothing is to be done.",
        "If it was not, choose another password at once, which signs out every browser: "
        f"{mail_links.base_url}/forgot",
        f"You get at most {limits.NEW_DEVICE_MAILS} of these mails a day.",
    )


def _seats(session: Session, account: Account) -> list[str]:
    """The paragraph about open seats. Only in the text: subjects and headers are seen by others on the way."""
    drawn = digests.seats_of(session, account)
    if not drawn:
        return []
    lines = "\n".join(f"{one_line(community.name)}: {count}" for community, count in drawn)
    return [
        "You were drawn to decide some of them, as one of a few. They come first, and wait for a limited time:\n\n"
        f"{lines}"
    ]


def with_article(role: Role) -> str:
    return f"an {role}" if role.value[0] in "aeiou" else f"a {role}"


def _message(
    kind: Kind, to: str, subject: str, *paragraphs: str, headers: dict[str, str] | None = None
) -> Message:
    return Message(kind, to, subject, "\n\n".join(paragraphs) + "\n\nBridgenote\n", headers or {})
