"""One fact-check as a file gives it: its members validated, its id kept or derived, its rating understood."""

import hashlib
import html
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from app.core import limits
from app.core.errors import Invalid, Problem
from app.core.factcheck import ratings
from app.core.factcheck.items import Item
from app.core.texts import gettext as _
from app.core.vocabulary import ClaimRating

CLAIM_MAX = 5_000
TITLE_MAX = 500
LANGUAGE_MAX = 16
NAMES: Mapping[str, tuple[str, ...]] = {
    "claim": ("claim",),
    "rating": ("rating",),
    "url": ("url",),
    "publisher": ("publisher",),
    "dataset_name": ("dataset_name", "dataset"),
    "item_id": ("item_id", "dataset_item_id"),
}
"""The members of a row that every item has, each with the names it may have."""
_LIMITS = {
    "claim": CLAIM_MAX,
    "rating": 255,
    "url": limits.SOURCE_MAX,
    "publisher": 255,
    "dataset_name": limits.DATASET_NAME_MAX,
    "item_id": limits.DATASET_ITEM_MAX,
}
_SPACE = re.compile(r"\s")
_URL = re.compile(r"https?://[^\s/?#@\\<>\"]+([/?#][^\s<>\"]*)?", re.ASCII)

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_INLINE = "a|abbr|b|bdi|bdo|cite|code|del|dfn|em|font|i|ins|kbd|mark|q|s|small|span|strike|strong|sub|sup|time|u|wbr"
_BLOCK = (
    "article|aside|blockquote|br|caption|center|dd|div|dl|dt|figcaption|figure|footer|form|h[1-6]|header|hr|iframe|"
    "img|li|main|nav|ol|p|pre|script|section|style|table|tbody|td|tfoot|th|thead|tr|ul|video"
)
_ATTRIBUTES = r"""(?:\s++[\w:-]++\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'<>]++))*+\s*+/?+"""
_MARKUP_CHARS = 50_000
"""Longer texts are too long for every member of a fact-check, and stay as they are."""
_TAG = re.compile(rf"</?(?:(?:{_INLINE})|({_BLOCK})){_ATTRIBUTES}>", re.IGNORECASE)

_DATE_CHARS = 64
_MONTHS = (
    "january jan januar jänner janvier janv enero ene gennaio gen janeiro januari января",
    "february feb februar février févr fevr febrero febbraio fevereiro fev februari февраля",
    "march mar märz mrz mars marzo março marco maart mrt марта",
    "april apr avril avr abril abr aprile апреля",
    "may mai mayo maggio mag maio mei мая",
    "june jun juni juin junio giugno giu junho июня",
    "july jul juli juillet juil julio luglio lug julho июля",
    "august aug août aout agosto ago augustus августа",
    "september sep sept septembre septiembre settembre set setembro сентября",
    "october oct oktober okt octobre octubre ottobre ott outubro out октября",
    "november nov novembre noviembre novembro ноября",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro desember декабря",
)
_MONTH = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()}
_BEFORE = r"(?:[^\W\d_]{2,12}+[.,]{0,2}\s+)??"
"""A day of the week, or a word such as "Item"."""
_ORDINAL = r"(?:st|nd|rd|th|er|º|ª|\.)?"
_YEAR_FIRST = re.compile(r"(\d{4})\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})(?!\d)")
_DAY_FIRST = re.compile(_BEFORE + r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d)")
_EITHER_FIRST = re.compile(_BEFORE + r"(\d{1,2})[-/](\d{1,2})[-/](\d{4})(?!\d)")
_DAY_AND_NAME = re.compile(
    _BEFORE
    + rf"(\d{{1,2}}){_ORDINAL}[\s-]*(?:(?:of|de)\s+)?([^\W\d_]{{3,12}})[.,]{{0,2}}[\s-]*(?:del?\s+)?(\d{{4}})(?!\d)",
    re.IGNORECASE,
)
_NAME_AND_DAY = re.compile(
    rf"{_BEFORE}([^\W\d_]{{3,12}})\.?\s+(\d{{1,2}}){_ORDINAL},?\s+(\d{{4}})(?!\d)", re.IGNORECASE
)


@dataclass(frozen=True)
class Fault:
    """Something in a file that cannot be imported: where it is ("line 7"), and why, one sentence each."""

    place: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """An item of a file and where it is."""

    place: str
    item: Item


@dataclass(frozen=True)
class Defaults:
    """What items have that do not say it themselves; empty: they must say it."""

    dataset_name: str = ""
    publisher: str = ""


def read(
    row: Mapping[str, Any],
    defaults: Defaults,
    *,
    meaning: ClaimRating | None = None,
) -> Item:
    """Validate the members of one item (see ``NAMES``) and return it. Members that are None are missing.

    Unknown members are ignored. ``meaning`` is what a rating's number means; the publisher's words win over it.

    Raises:
        Invalid: with one problem for each member that is missing or cannot be stored.
    """
    row = dict(row)
    for member, default in (("dataset_name", defaults.dataset_name), ("publisher", defaults.publisher)):
        if default and all(_is_missing(row.get(name)) for name in NAMES[member]):
            row[member] = default
    if isinstance(row.get("url"), str):
        row["url"] = address(row["url"])
    if all(row.get(name) is None for name in NAMES["item_id"]):
        # Of the claim as it is given: what was imported before its markup was taken away keeps its id.
        row["item_id"] = derived_id(row.get("url"), row.get("claim"))
    for member in ("claim", "rating", "publisher", "title"):
        if isinstance(row.get(member), str):
            row[member] = plain(row[member])
    problems: list[Problem] = []
    values: dict[str, str] = {}
    for member, names in NAMES.items():
        try:
            values[member] = _member(row, member, names)
        except Invalid as refused:
            problems += refused.problems
    if problems:
        # An id is needed only where none could be derived, and that is said of the claim or the address already.
        raise Invalid(
            *([one for one in problems if one.loc != ("item_id",) or row.get("item_id")] or problems)
        )
    words = ratings.by_words(values["rating"])
    reviewed_on, date_unread = _day(row.get("reviewed_on"))
    return Item(
        values["dataset_name"],
        values["item_id"],
        values["claim"],
        values["rating"],
        values["url"],
        values["publisher"],
        meaning=words if words is not None else meaning,
        title=_text(row.get("title"), TITLE_MAX),
        language=_text(row.get("language"), LANGUAGE_MAX),
        reviewed_on=reviewed_on,
        date_unread=date_unread,
    )


def _member(row: Mapping[Any, Any], member: str, names: Sequence[str]) -> str:
    values = {name: row[name] for name in names if row.get(name) is not None}
    if not values:
        raise Invalid.field(member, _("is missing"))
    if len(set(map(repr, values.values()))) > 1:
        given = list(values)
        raise Invalid.field(
            member, _("differs between %(names)s and %(last)s", names=", ".join(given[:-1]), last=given[-1])
        )
    value = next(iter(values.values()))
    if not isinstance(value, str):
        raise Invalid.field(member, _("must be text"), value)
    limits.text(value, member, _LIMITS[member])
    if member == "url":
        if _SPACE.search(value):
            raise Invalid.field(
                member, _("must not contain a space or a line break; write a space as %%20"), value[:50]
            )
        if not _URL.fullmatch(value):
            raise Invalid.field(
                member, _("must be an address that begins with https:// or http://"), value[:50]
            )
    return value


def address(given: str) -> str:
    """An address without the white space around it, its scheme in small letters."""
    bare = given.strip()
    scheme, separator, rest = bare.partition("://")
    return f"{scheme.lower()}{separator}{rest}" if separator and scheme.isalpha() else bare


def reasons(refused: Invalid) -> tuple[str, ...]:
    """Why an item is refused, one sentence for each of its members."""
    return tuple(f"{problem.loc[0]} {problem.msg}" for problem in refused.problems)


def derived_id(url: Any, claim: Any) -> str | None:
    """An id made from the address and the claim: the same in every file, however often it is imported.

    One article may check several claims, so its address alone is not enough. None when either is missing.
    """
    if not (isinstance(url, str) and url.strip() and isinstance(claim, str) and claim.strip()):
        return None
    return short_id(f"{url.strip()}\n{' '.join(claim.split()).casefold()}")


def short_id(given: str) -> str:
    """An id of 32 characters made from a longer one."""
    return hashlib.sha256(given.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _is_missing(value: Any) -> bool:
    return value is None or value == ""


def _text(value: Any, most: int) -> str:
    # These members only help readers, so a strange one does not keep the item out.
    if not isinstance(value, str):
        return ""
    shown = " ".join(value.split())[:most]
    try:
        return limits.storable(shown, "title")
    except Invalid:
        return ""


def _day(value: Any) -> tuple[date | None, str]:
    """The day, and otherwise what cannot be read as one."""
    if _is_missing(value) or (isinstance(value, str) and not value.strip()):
        return None, ""
    found = read_date(value) if isinstance(value, str) else None
    given = str(value) if isinstance(value, str | int | float) else type(value).__name__
    return found, "" if found else (_text(given[:200], 40) or "?")


def plain(text: str) -> str:
    """The text without markup: entities decoded once, then tags taken away.

    "<" and "&" stay as they are where they are no markup, as in "5 < 6", "AT&T" and "<b and c>".
    """
    if len(text) > _MARKUP_CHARS or ("&" not in text and "<" not in text):
        return text
    decoded = _ENTITY.sub(lambda found: html.unescape(found[0]), text)
    # What blocks keep apart stays apart: "one<br>two".
    bare = _TAG.sub(lambda found: " " if found[1] else "", decoded)
    return text if bare == text else " ".join(bare.split())


def read_date(given: str) -> date | None:
    """The day that a text names, or None. "03/04/2024" is not read: either number may be the month."""
    written = unicodedata.normalize("NFC", " ".join(given.split()))[:_DATE_CHARS]
    for parse in (datetime.fromisoformat, date.fromisoformat):
        for text in (written[:32], written[:10]):
            try:
                found = parse(text)
            except ValueError:
                continue
            return found.date() if isinstance(found, datetime) else found
    for year, month, day in _dates(written):
        try:
            return date(year, month, day)
        except ValueError:
            continue
    return None


def _dates(written: str) -> Iterator[tuple[int, int, int]]:
    if found := _YEAR_FIRST.match(written):
        yield int(found[1]), int(found[2]), int(found[3])
    if found := _DAY_FIRST.match(written):
        yield int(found[3]), int(found[2]), int(found[1])
    if found := _EITHER_FIRST.match(written):
        first, second, year = int(found[1]), int(found[2]), int(found[3])
        if first > 12 or first == second:
            yield year, second, first
        elif second > 12:
            yield year, first, second
    if found := _DAY_AND_NAME.match(written):
        yield int(found[3]), _MONTH.get(found[2].casefold(), 0), int(found[1])
    if found := _NAME_AND_DAY.match(written):
        yield int(found[3]), _MONTH.get(found[1].casefold(), 0), int(found[2])
