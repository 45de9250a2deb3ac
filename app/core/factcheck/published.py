"""One fact-check as a file gives it: its members validated, its id kept or derived, its rating understood."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from app.core import limits
from app.core.errors import Invalid
from app.core.factcheck import days, items, markup, ratings
from app.core.factcheck.items import Item
from app.core.vocabulary import ClaimRating

TITLE_MAX = 500
LANGUAGE_MAX = 16


@dataclass(frozen=True)
class Published(Item):
    """An item as a file gives it. ``meaning`` is what the rating means, also when only its number told.

    None means that we do not know: the term was read already. ``date_unread``: the beginning of a date that we cannot
    read; the item is imported without it.
    """

    date_unread: str = ""

    @property
    def rating(self) -> ClaimRating | None:
        return self.meaning


@dataclass(frozen=True)
class Fault:
    """Something in a file that cannot be imported: where it is ("line 7"), and why, one sentence each."""

    place: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """An item of a file and where it is."""

    place: str
    item: Published


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
) -> Published:
    """Validate the members of one item (see ``items.NAMES``) and return it. Members that are None are missing.

    ``meaning`` is what a rating's number means; the publisher's words win over it.

    Raises:
        Invalid: with one problem for each member that is missing or cannot be stored.
    """
    row = dict(row)
    for member, default in (("dataset_name", defaults.dataset_name), ("publisher", defaults.publisher)):
        if default and all(_is_missing(row.get(name)) for name in items.NAMES[member]):
            row[member] = default
    if isinstance(row.get("url"), str):
        row["url"] = items.address(row["url"])
    if all(row.get(name) is None for name in items.NAMES["item_id"]):
        # Of the claim as it is given: what was imported before its markup was taken away keeps its id.
        row["item_id"] = derived_id(row.get("url"), row.get("claim"))
    for member in ("claim", "rating", "publisher", "title"):
        if isinstance(row.get(member), str):
            row[member] = markup.plain(row[member])
    try:
        item = items.read(row)
    except Invalid as refused:
        # An id is needed only where none could be derived, and that is said of the claim or the address already.
        problems = [one for one in refused.problems if one.loc != ("item_id",) or row.get("item_id")]
        raise Invalid(*(problems or refused.problems)) from None
    words = ratings.by_words(item.rating_given)
    reviewed_on, date_unread = _day(row.get("reviewed_on"))
    return Published(
        item.dataset_name,
        item.item_id,
        item.claim,
        item.rating_given,
        item.url,
        item.publisher,
        meaning=words if words is not None else meaning,
        title=_text(row.get("title"), TITLE_MAX),
        language=_text(row.get("language"), LANGUAGE_MAX),
        reviewed_on=reviewed_on,
        date_unread=date_unread,
    )


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
    plain = " ".join(value.split())[:most]
    try:
        return limits.storable(plain, "title")
    except Invalid:
        return ""


def _day(value: Any) -> tuple[date | None, str]:
    """The day, and otherwise what cannot be read as one."""
    if _is_missing(value) or (isinstance(value, str) and not value.strip()):
        return None, ""
    found = days.read(value) if isinstance(value, str) else None
    given = str(value) if isinstance(value, str | int | float) else type(value).__name__
    return found, "" if found else (_text(given[:200], 40) or "?")
