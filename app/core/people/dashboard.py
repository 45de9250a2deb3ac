"""How the dashboard looks and behaves for a person: preferences, and the single keys.

Keys that answer (1, 2, 3), lead to a page after G, or open the help stay as they are; a person may press others instead
of the rest.
"""

import uuid
from collections.abc import Mapping
from typing import TypedDict, Unpack
from zoneinfo import available_timezones

from sqlalchemy.orm import Session

from app.core import limits, texts
from app.core.errors import Invalid, Problem
from app.core.models import Account
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import MediaVeil

THEMES = ("system", "light", "dark")
KEYS: Mapping[str, str] = {
    "j": lazy_gettext("Next row"),
    "k": lazy_gettext("Previous row"),
    "x": lazy_gettext("Tick the row"),
    "n": lazy_gettext("Next post"),
    "p": lazy_gettext("Previous post"),
    "v": lazy_gettext("Show or hide the content"),
    "c": lazy_gettext("Claim or Confirm"),
    "f": lazy_gettext("Force-publish"),
    "d": lazy_gettext("Dismiss"),
    "o": lazy_gettext("Overturn"),
    "t": lazy_gettext("Template"),
    "a": lazy_gettext("Assign"),
    "i": lazy_gettext("The author’s last posts"),
    "r": lazy_gettext("Report the post"),
    "s": lazy_gettext("Skip"),
    "u": lazy_gettext("Undo"),
    "w": lazy_gettext("Write a note"),
    "/": lazy_gettext("Search"),
}
"""What each key does that can be changed, by the key it has at first."""
FIXED = "123?g"


def shown_as(key: str) -> str:
    """A key as pages show it: a capital letter where it has one that stands for no other letter."""
    capital = key.upper()
    return capital if len(capital) == 1 and capital.lower() == key.lower() else key


def keys_in_force(account: Account) -> dict[str, str]:
    """The keys that this person presses instead, by the key that each has at first.

    Without those that mean something else by now, because a key was added after the person chose.
    """
    chosen = {key: new for key, new in account.key_bindings.items() if key in KEYS}
    while clashing := [key for key, new in chosen.items() if new in KEYS.keys() - chosen.keys()]:
        del chosen[clashing[0]]
    return chosen


def bind_keys(account: Account, pressed: Mapping[str, str]) -> None:
    """Set the keys that this person presses, by the key that each has at first. What is left out gets that key again.

    Raises:
        Invalid: no key, one that cannot be used, or one for two things; with a problem for each.
    """
    chosen = {key: shown_as(pressed.get(key, key)).lower() for key in KEYS}
    problems = []
    taken: dict[str, str] = {}
    for key, new in chosen.items():
        problem = ""
        if len(new) != 1 or not new.isprintable() or new.isspace():
            problem = _("must be a single letter, digit or sign")
        elif new in FIXED:
            problem = _("cannot be %(key)s, which has a meaning of its own", key=new.upper())
        elif new in taken:
            problem = _(
                "cannot be %(key)s, which is “%(meaning)s”", key=new.upper(), meaning=KEYS[taken[new]]
            )
        if problem:
            problems.append(Problem("value_error", (key,), problem, new[:20]))
        taken.setdefault(new, key)
    if problems:
        raise Invalid(*problems)
    account.key_bindings = {key: new for key, new in chosen.items() if new != key}


class Preferences(TypedDict, total=False):
    """What ``set_preferences`` takes. ``None``: as the browser asks, or as the community has set."""

    theme: str
    language: str | None
    timezone: str
    undo_seconds: int | None
    shortcuts: bool
    content_warnings: bool
    media_veil: MediaVeil
    attention_mail: bool


def set_preferences(account: Account, **chosen: Unpack[Preferences]) -> None:
    """Set how the dashboard looks and behaves for this account; what is not given stays.

    Raises:
        Invalid: unknown theme, language or timezone, or ``undo_seconds`` out of range.
    """
    if (theme := chosen.get("theme", "system")) not in THEMES:
        raise Invalid.field("theme", _("must be one of %(choices)s", choices=", ".join(THEMES)), theme)
    language = chosen.get("language")
    if language is not None and language not in texts.NAMES:
        raise Invalid.field(
            "language", _("must be one of %(choices)s", choices=", ".join(texts.NAMES)), language
        )
    if (timezone := chosen.get("timezone", "UTC")) not in available_timezones():
        raise Invalid.field("timezone", _("must be a timezone such as Europe/Paris"), timezone)
    least, most = limits.UNDO_SECONDS
    seconds = chosen.get("undo_seconds")
    if seconds is not None and not least <= seconds <= most:
        raise Invalid.field(
            "undo_seconds",
            _("must be a whole number from %(least)s to %(most)s", least=least, most=most),
            seconds,
        )
    for name, value in chosen.items():
        setattr(account, name, value)


def choose_row_height(session: Session, account_id: uuid.UUID, *, roomy: bool) -> None:
    """Show rows of the moderators' lists with two lines of a post, or with one."""
    account = session.get(Account, account_id)
    if account is not None:
        account.roomy_rows = roomy


def stop_attention_mail(session: Session, account_id: uuid.UUID) -> None:
    """Stop mail about what needs an operator. Repeated calls and unknown accounts change nothing."""
    account = session.get(Account, account_id)
    if account is not None:
        account.attention_mail = False
