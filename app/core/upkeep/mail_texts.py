"""The texts of all mails; ``fixed_mails`` has those that hold nothing but links.

Plain text: nothing to load, and nothing that reports when a mail was opened.
"""

import hashlib
import hmac
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, available_timezones

from sqlalchemy.orm import Session

from app.core import limits, texts
from app.core.mail import Kind, Message, one_line
from app.core.models import Account, AccountLink, Community, HistoryEntry, SignIn
from app.core.people import browsers, mailed_links
from app.core.raters import digests
from app.core.texts import LazyText, lazy_gettext, ngettext
from app.core.texts import gettext as _
from app.core.upkeep import attention, fixed_mails
from app.core.upkeep.attention import TITLES
from app.core.vocabulary import AttentionReason, Digest, LinkPurpose, Role

STOPPABLE = (Kind.DIGEST, Kind.ATTENTION)
"""Mails with a link that stops them."""
_WITH_LINK = frozenset({Kind.CONFIRM, Kind.RESET, Kind.CHANGE_EMAIL, Kind.INVITE})
_INVITES: Mapping[Role, LazyText] = {
    Role.RATER: lazy_gettext("%(who)s invites you to join %(community)s as a rater."),
    Role.MODERATOR: lazy_gettext("%(who)s invites you to join %(community)s as a moderator."),
    Role.OPERATOR: lazy_gettext("%(who)s invites you to join %(community)s as an operator."),
    Role.ADMIN: lazy_gettext("%(who)s invites you to join %(community)s as an admin."),
}
_DIGESTS: Mapping[Digest, LazyText] = {
    Digest.DAILY: lazy_gettext("You get this mail daily. Change that in Settings, or stop it here:"),
    Digest.WEEKLY: lazy_gettext("You get this mail weekly. Change that in Settings, or stop it here:"),
}


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
    return _message(kind, to, *fixed_mails.paragraphs(kind, mail_links.base_url, token))


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
    how = _("Open this page to accept:")
    return _message(
        Kind.INVITE,
        link.email,
        _("Join %(community)s", community=name),
        f"{invitation(link.role, who, name)} {how}",
        f"{mail_links.base_url}/join/{token}",
        _(
            "The link works once, for %(days)s days. If you do not want to join, ignore this mail.",
            days=limits.INVITATION_DAYS,
        ),
    )


def _digest(session: Session, mail_links: MailLinks, account: Account) -> Message | None:
    waiting = digests.waiting_for(session, account)
    if not waiting or account.digest is Digest.OFF:  # switched off since it was asked for
        return None
    total = sum(count for _community, count in waiting)
    stop = mail_links.unsubscribe_url(account.id, Kind.DIGEST)
    lines = "\n".join(f"{one_line(community.name)}: {texts.number(count)}" for community, count in waiting)
    return _message(
        Kind.DIGEST,
        account.email,
        ngettext("%(num)s post needs your help", "%(num)s posts need your help", total),
        _("These posts wait for members to say what should happen to them:"),
        lines,
        *_seats(session, account),
        _("Help: %(help_needed)s", help_needed=f"{mail_links.base_url}/help-needed"),
        f"{_DIGESTS[account.digest]}\n{stop}",
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
        _(
            "%(title)s in %(community)s",
            title=TITLES[AttentionReason(entry.after["attention"])],
            community=one_line(community.name),
        ),
        one_line(attention.sentence(entry.after, zone_of(account))),
        _("What to do: %(notices)s", notices=f"{mail_links.base_url}/notices"),
        _("This mail is sent once, and again only after it has become clearly better and begun again."),
        _("Operators get this mail. Change that in Settings, or stop it here:") + f"\n{stop}",
        headers=_stopped_by(stop),
    )


def _new_device(
    session: Session, mail_links: MailLinks, account: Account, sign_in_id: uuid.UUID | None
) -> Message | None:
    """The session that began in an unknown browser. None if it was pruned meanwhile."""
    sign_in = session.get(SignIn, sign_in_id) if sign_in_id is not None else None
    if sign_in is None:
        return None
    began = sign_in.created_at.astimezone(zone_of(account))
    return _message(
        Kind.NEW_DEVICE,
        account.email,
        _("A sign-in with a new browser"),
        _("Your account was signed in to with a browser that had not been used for it before:"),
        _(
            "Browser: %(browser)s\nTime: %(time)s (%(zone)s)\nWith: %(way)s",
            browser=one_line(browsers.device(sign_in.user_agent)),
            time=texts.moment(began),
            zone=began.tzname(),
            way=browsers.way(sign_in),
        ),
        _("If this was you, nothing is to be done."),
        _(
            "If it was not, choose another password at once, which signs out every browser: %(forgot)s",
            forgot=f"{mail_links.base_url}/forgot",
        ),
        _("You get at most %(most)s of these mails a day.", most=limits.NEW_DEVICE_MAILS),
    )


def _seats(session: Session, account: Account) -> list[str]:
    """The paragraph about open seats. Only in the text: subjects and headers are seen by others on the way."""
    drawn = digests.seats_of(session, account)
    if not drawn:
        return []
    lines = "\n".join(f"{one_line(community.name)}: {texts.number(count)}" for community, count in drawn)
    return [
        _(
            "You were drawn to decide some of them, as one of a few. They come first, and wait for a limited time:"
        ),
        lines,
    ]


def invitation(role: Role, who: str, community: str) -> str:
    """The sentence of an invitation: "Sam invites you to join Harbour as a moderator."."""
    return _(_INVITES[role], who=who, community=community)


def zone_of(account: Account) -> tzinfo:
    """The account's time zone; UTC if this machine does not know it."""
    return ZoneInfo(account.timezone) if account.timezone in available_timezones() else UTC


def _message(
    kind: Kind, to: str, subject: str, *paragraphs: str, headers: dict[str, str] | None = None
) -> Message:
    return Message(kind, to, subject, "\n\n".join(paragraphs) + "\n\nBridgenote\n", headers or {})
