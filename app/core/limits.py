"""Limits of values and of how many there may be. The API's schemas and the dashboard's forms read them here."""

import json
import re
import string
import unicodedata
from collections.abc import Mapping
from typing import Any, NamedTuple

import idna

from app.core import texts
from app.core.errors import Invalid
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext

CONTENT_MAX = 50_000
SUMMARY_MAX = 5_000
FORM_SUMMARY_MAX = 1_000
DESCRIPTION_MAX = 5_000
POLICY_TEXT_MAX = 20_000
ID_MAX = 255
NAME_MAX = 255
PASSKEY_NAME_MAX = 100
REASON_MAX = 2_000
REPORT_MAX = 2_000
MUTE_DAYS_MAX = 365
"""For how many days at most the reports of a person may count nothing."""
METADATA_MAX_BYTES = 65_536
DATASET_NAME_MAX = 100
DATASET_ITEM_MAX = 36
DATASET_FILE_BYTES = 5_242_880
DATASET_FILE_TOO_LARGE = lazy_gettext(
    "The file must be at most 5 MB. Compress it with gzip, or let the command line import it"
)
PLATFORM_PATTERN = r"^[a-z0-9_-]{1,50}$"
CATEGORY_PATTERN = r"^[a-z][a-z0-9_]{0,39}$"
BODY_MAX_BYTES = 1_048_576
BATCH_MAX = 100
"""How many submissions one call may carry."""
BATCH_MAX_BYTES = 4 * BODY_MAX_BYTES
SCORES_BODY_MAX_BYTES = 8 * BODY_MAX_BYTES
"""Bodies of calls for scores, which hold many texts."""
PASSWORD_MIN = 8
PASSWORD_MAX = 1_000
CLAIM_MINUTES = 10
REOPEN_DAYS = 30
UNDO_SECONDS = (10, 60)
"""The shortest and longest undo time, in seconds, that moderators may choose for their own decisions."""
BREAK_AFTER = 30
"""After how many answers on one day a rater is offered a break."""
BREAK_AFTER_SEVERE = 10
"""After how many answers about severe posts on one day a break is offered, unless the rater has set another number."""
BREAK_AFTER_SEVERE_MAX = 100
LANGUAGES_MAX = 20
LINK_CODE_MINUTES = 10
CONFIRM_HOURS = 24
RESET_MINUTES = 10
PASSKEY_MINUTES = 5
SECOND_FACTOR_MINUTES = 10
INVITATION_DAYS = 7
FIRST_ADMIN_MINUTES = 60
SIGN_IN_LINK_MINUTES = 15
KEPT_AWAY_MAX = 65_536
"""Characters of a form, as JSON, that are kept while a person is away at a sign-in provider."""
NEW_DEVICE_MAILS = 5
SIGN_IN_FAILURES = 50
"""After how many failed sign-ins to an account on one day its owner is mailed."""
WRONG_CODES = 50
"""How many wrong codes of a second factor may be entered for an account on one day; a known device has its own 50."""
BULK_MAX = 50
MATCHING_MAX = 100
WAVE_MAX = 500
"""Most posts alike that one decision decides; the others stay in the queue."""
TRUST_LEVEL_MAX = 100
SOURCES_MAX = 10
SOURCE_MAX = 2_048
ATTACHMENTS_MAX = 10
ATTACHMENTS_WITH_FLAT_MAX = ATTACHMENTS_MAX + 2
"""With those of the attributes ``attachment_url`` and ``embedded_image_url``."""
ATTACHMENT_URL_MAX = 2_048
ATTACHMENT_URL_PATTERN = r"^https://[^\x00-\x20/?#@\\]+([/?#][^\x00-\x20]*)?$"
"""Without ``\\s``, which regular expressions of other languages read differently."""
ALT_MAX = 2_000
FILENAME_MAX = 255
PASSKEY_NAME_MAX = 100
SIDE_MAX = 2**31 - 1
SIZE_MAX = 2**53
IMAGE_BYTES = 10 * 1024 * 1024
VIDEO_BYTES = 50 * 1024 * 1024
PREVIEW_BYTES = 40_000
PIXELS_MAX = 40_000_000
"""The largest picture that is decoded, in pixels."""
PICTURE_SIDE_MAX = 20_000
PICTURE_RATIO_MAX = 100
"""How many times longer than the other one side of a picture may be."""
SECRET_MIN = 8
SECRET_MAX = 500

INT64_MAX = 2**63 - 1


FACT_COUNTED = 1_000
"""Counts that rules may ask for stop here: posts of one author, or of one site, within a day."""
FACT_ALIKE = 100
"""Counts of posts alike stop here."""
FACT_HOURS = 876_000
"""The largest age of an account that rules may ask for: a hundred years."""
STRIKE_POINTS_MAX = 10
"""The most points that one strike has."""


class Most(NamedTuple):
    """How many of a thing there may be. ``rule`` says it with ``%(number)s``; ``remedy`` makes room for another."""

    number: int
    rule: str
    remedy: str


WEBHOOKS = Most(
    20, lazy_gettext("a community has at most %(number)s webhooks"), lazy_gettext("remove one first")
)
KEYS = Most(
    100,
    lazy_gettext("a community has at most %(number)s live API keys of its own"),
    lazy_gettext("revoke one first"),
)
GROUP_ROLES = Most(
    100,
    lazy_gettext("a community has at most %(number)s groups with a role"),
    lazy_gettext("remove one first"),
)
PROVISIONED = Most(
    100_000,
    lazy_gettext("a sign-in provider has at most %(number)s people by SCIM"),
    lazy_gettext("delete one first"),
)
PROVIDER_GROUPS = Most(
    2_000,
    lazy_gettext("a sign-in provider has at most %(number)s groups by SCIM"),
    lazy_gettext("delete one first"),
)
INVITATIONS = Most(
    200,
    lazy_gettext("a community has at most %(number)s open invitations"),
    lazy_gettext("withdraw one first"),
)
CATEGORIES = Most(
    50, lazy_gettext("a community has at most %(number)s categories"), lazy_gettext("remove one first")
)
RULES = Most(
    2_000,
    lazy_gettext("a community has at most %(number)s rules of its own"),
    lazy_gettext("remove one first"),
)
SERVICES = Most(
    20,
    lazy_gettext("a community has at most %(number)s connected services"),
    lazy_gettext("remove one first"),
)
REASONS = Most(
    200, lazy_gettext("a community has at most %(number)s reasons in use"), lazy_gettext("retire one first")
)
FEEDS = Most(
    50,
    lazy_gettext("a community has at most %(number)s feeds of fact-checks"),
    lazy_gettext("remove one first"),
)
IMPORTS = Most(
    5,
    lazy_gettext("a community has at most %(number)s imports that are not finished"),
    lazy_gettext("import or discard one first"),
)
SHARED_FILTERS = Most(
    100,
    lazy_gettext("a community has at most %(number)s shared filters, queues included"),
    lazy_gettext("delete one first"),
)
OWN_FILTERS = Most(
    30,
    lazy_gettext("a moderator has at most %(number)s filters in one community"),
    lazy_gettext("delete one first"),
)
AUTHOR_NOTES = Most(
    200,
    lazy_gettext("a community has at most %(number)s versions of the note about one author"),
    lazy_gettext("take it back instead"),
)
STRIKES = Most(
    200,
    lazy_gettext("a community has at most %(number)s strikes that were added by hand to one author"),
    lazy_gettext("lift one instead"),
)
CITED_PAGES = Most(
    20,
    lazy_gettext("a community has at most %(number)s pages that drafted notes may cite"),
    lazy_gettext("remove one first"),
)
LINK_CODES = Most(
    1,
    lazy_gettext("an account has at most %(number)s code that links a profile"),
    lazy_gettext("a new one replaces it"),
)
LINKED_PROFILES = Most(
    10, lazy_gettext("an account has at most %(number)s linked profiles"), lazy_gettext("unlink one first")
)
PASSKEYS = Most(
    20, lazy_gettext("an account has at most %(number)s passkeys"), lazy_gettext("remove one first")
)
PROVIDERS = Most(
    20, lazy_gettext("the service has at most %(number)s sign-in providers"), lazy_gettext("remove one first")
)
OPEN_REPORTS = Most(
    200,
    lazy_gettext("a reporter has at most %(number)s open reports in one community"),
    lazy_gettext("withdraw one first"),
)
SCORED_TEXTS = Most(
    100,
    lazy_gettext("a call for scores has at most %(number)s texts"),
    lazy_gettext("send the others in another call"),
)
COUNTED = tuple(one for one in globals().copy().values() if isinstance(one, Most))
"""Everything that people can multiply, as ``docs/run/settings.md`` lists it."""


def room(most: Most, present: int, field: str) -> None:
    """Raise Invalid if with ``present`` there is no room for one more.

    The caller counts under the lock of the community (``db.serialise``), so that two at once cannot both fit.
    """
    if present >= most.number:
        rule = _(most.rule, number=texts.number(most.number))
        problem = _("cannot be added: %(rule)s; %(remedy)s", rule=rule, remedy=most.remedy)
        raise Invalid.field(field, problem)


def threshold(name: str, value: float) -> float:
    """Return ``value`` if it is a valid threshold: a number from 0.0 to 1.0 (docs/integrate/api.md)."""
    if not 0.0 <= value <= 1.0:
        raise Invalid.field(name, _("must be a number from 0.0 to 1.0"), value)
    return value


def thresholds(tier1: float | None, tier2: float) -> None:
    """Check that Tier 2 is at most Tier 1; ``tier1`` None: the category has only a Tier 2 (docs/integrate/api.md)."""
    threshold("tier2", tier2)
    if tier1 is not None:
        threshold("tier1", tier1)
        if tier2 > tier1:
            raise Invalid.field(
                "tier2",
                _("must be less than or equal to Tier 1 (%(tier1)s)", tier1=texts.short(tier1)),
                tier2,
            )


def platform(value: str, field: str = "platform") -> str:
    """Return ``value`` if it is a platform identifier: 1 to 50 of ``a-z 0-9 _ -`` (docs/integrate/api.md)."""
    if not re.fullmatch(PLATFORM_PATTERN[1:-1], value):
        raise Invalid.field(field, _("must be 1 to 50 characters of a-z, 0-9, _ or -"), value)
    return value


def category_name(value: str, field: str = "name") -> str:
    if not re.fullmatch(CATEGORY_PATTERN[1:-1], value):
        raise Invalid.field(
            field, _("must be lower case letters, digits and _, starting with a letter"), value
        )
    return value


def foreign_id(value: str, field: str) -> str:
    """Return an id of the integration's platform unchanged: 1 to 255 characters, no NUL (docs/integrate/api.md)."""
    if not value:
        raise Invalid.field(field, _("must not be empty"), value)
    if len(value) > ID_MAX:
        raise Invalid.field(field, _("must be at most %(most)s characters", most=ID_MAX), value[:50] + "…")
    storable(value, field)
    return value


def may_be_stored_id(reference: str) -> bool:
    """Whether a stored id could equal ``reference``. If not, callers skip the query: the row cannot exist."""
    return len(reference) <= ID_MAX and "\x00" not in reference


def storable(value: str, field: str) -> str:
    """Return ``value`` if databases can store it as text: no NUL, no lone surrogate."""
    if "\x00" in value:
        raise Invalid.field(field, _("must not contain NUL characters"))
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Invalid.field(field, _("must not contain lone surrogates")) from None
    return value


def storable_tree(value: Any, field: str) -> None:
    """Check that every string of a JSON value, including the keys, is storable."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            storable(item, field)
        elif isinstance(item, Mapping):
            waiting.extend([*item.keys(), *item.values()])
        elif isinstance(item, list):
            waiting.extend(item)


def json_object(value: Mapping[str, Any], field: str) -> None:
    """Check a free-form JSON object: storable, at most 64 KB as JSON (docs/integrate/api.md)."""
    storable_tree(value, field)
    written = json.dumps(value, ensure_ascii=False)
    if len(written.encode("utf-8", "surrogatepass")) > METADATA_MAX_BYTES:
        raise Invalid.field(field, _("must be at most %(size)s KB", size=METADATA_MAX_BYTES // 1024))


def text(value: str, field: str, most: int, least: int = 1) -> str:
    """Return free text of ``least`` to ``most`` characters; with ``least`` above 0 it must not be blank."""
    storable(value, field)
    if len(value) > most:
        raise Invalid.field(
            field,
            _(
                "must be at most %(most)s characters; it has %(count)s",
                most=texts.number(most),
                count=texts.number(len(value)),
            ),
        )
    if least and not value.strip():
        raise Invalid.field(field, _("must not be blank"), value[:50])
    return value


def source(value: str, field: str = "sources") -> str:
    """Return a URL that a note cites: https with a host (docs/develop/design-system.md)."""
    storable(value, field)
    if len(value) > SOURCE_MAX:
        raise Invalid.field(
            field,
            _("must be at most %(most)s characters each", most=texts.number(SOURCE_MAX)),
            value[:50] + "…",
        )
    if not re.fullmatch(r"https://[^\s/?#@\\]+\.[^\s/?#@\\.]+([/?#]\S*)?", value):
        raise Invalid.field(
            field,
            _("must each be an address that begins with https://; %(url)s is not", url=value[:50]),
            value,
        )
    return value


def attachment_url(value: str, field: str = "url") -> str:
    """Return an attachment's URL: https with a host, without a user name or spaces (docs/integrate/attachments.md)."""
    storable(value, field)
    if len(value) > ATTACHMENT_URL_MAX:
        raise Invalid.field(
            field,
            _("must be at most %(most)s characters", most=texts.number(ATTACHMENT_URL_MAX)),
            value[:50] + "…",
        )
    if not re.fullmatch(ATTACHMENT_URL_PATTERN[1:-1], value):
        raise Invalid.field(field, _("must be an address that begins with https://"), value[:200])
    return value


EMAIL_MAX = 254
UNCONFIRMED = ".unconfirmed.invalid"
"""Ends the stored address of a member who never proved to own it. RFC 6761 reserves ``.invalid``: no
mail can reach it, and no address that a person enters is equal to it.
"""
_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def email(value: str, field: str = "email") -> str:
    """Return the e-mail address in the normalised form that is stored and compared.

    The domain is normalised by IDNA 2008 and UTS 46 and kept in Unicode. Of the part before it, only ASCII letters are
    lower-cased: case folding would turn "ß" into "ss", which is another mailbox. This checks only the bare minimum;
    the edges validate the full syntax.
    """
    typed = value.strip()
    local, _at, domain = unicodedata.normalize("NFC", typed[: EMAIL_MAX + 1]).rpartition("@")
    try:
        if not domain.isascii() or "xn--" in domain.lower():
            domain = idna.decode(idna.encode(domain, uts46=True))
    except idna.IDNAError:
        raise Invalid.field(field, _("must be an e-mail address"), value) from None
    address = f"{local}@{domain}".translate(_ASCII_LOWER)
    is_whole = local and domain and len(typed) <= EMAIL_MAX and len(address) <= EMAIL_MAX
    if not is_whole or any(c.isspace() for c in address) or address.endswith(UNCONFIRMED):
        raise Invalid.field(field, _("must be an e-mail address"), value)
    return storable(address, field)


def ascii_email(address: str) -> str:
    """The address with its domain in ASCII (IDNA 2008), as mail servers want it.

    Raises:
        UnicodeError: the domain is not valid.
    """
    local, _at, domain = address.rpartition("@")
    return address if domain.isascii() else f"{local}@{idna.encode(domain, uts46=True).decode('ascii')}"
