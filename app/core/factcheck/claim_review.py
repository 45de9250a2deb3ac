"""Fact-checks as their publishers mark them up: schema.org ClaimReview, and Google's Fact Check ``claims:search``.

A document may hold ClaimReview objects anywhere: alone, in a list, under ``@graph``, in a DataFeed, in an article. An
author or a claim may be named by its ``@id`` only and stand elsewhere in the document.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from app.core import limits
from app.core.errors import Invalid
from app.core.factcheck import published, ratings
from app.core.factcheck.published import Defaults, Fault, Found
from app.core.texts import gettext as _
from app.core.vocabulary import ClaimRating

TYPE = "ClaimReview"
_READ = ("name", "alternateName", "text", "url", "ratingValue", "worstRating", "bestRating")
_INSIDE = ("itemReviewed", "reviewRating", "author", "publisher")


def is_review(value: Any) -> bool:
    """Whether a JSON value is a ClaimReview object."""
    if not isinstance(value, Mapping):
        return False
    types = value.get("@type", value.get("type"))
    return any(
        isinstance(one, str) and one.rsplit("/", 1)[-1].rsplit(":", 1)[-1] == TYPE
        for one in (types if isinstance(types, list) else [types])
    )


def is_search(value: Any) -> bool:
    """Whether a JSON value is an answer of Google's ``claims:search``."""
    return isinstance(value, Mapping) and isinstance(value.get("claims"), list)


def reviews(document: Any, defaults: Defaults, where: str = "") -> Iterator[Found | Fault]:
    """The ClaimReview objects of a document in their order. ``where`` is put before each place: "script 2, "."""
    found, nodes = collected(document)
    for number, review in enumerate(found, start=1):
        yield read_review(review, defaults, where + _("review %(number)s", number=number), nodes)


def searched(claims: Sequence[Any], defaults: Defaults, first: int = 1) -> Iterator[Found | Fault]:
    """The reviews of the claims of an answer of ``claims:search``; ``first``: the number of the first of these."""
    for number, claim in enumerate(claims, start=first):
        listed = claim.get("claimReview") if isinstance(claim, Mapping) else None
        if not isinstance(claim, Mapping) or not isinstance(listed, list) or not listed:
            yield Fault(_("claim %(number)s", number=number), (_("it has no claimReview"),))
            continue
        for position, review in enumerate(listed, start=1):
            place = (
                _("claim %(number)s", number=number)
                if len(listed) == 1
                else _("claim %(number)s, review %(review)s", number=number, review=position)
            )
            if not isinstance(review, Mapping):
                yield Fault(place, (_("it must be an object"),))
                continue
            publisher = review.get("publisher")
            names = publisher if isinstance(publisher, Mapping) else {}
            yield _read(
                place,
                {
                    "claim": claim.get("text"),
                    "rating": review.get("textualRating"),
                    "url": review.get("url"),
                    "publisher": names.get("name") or names.get("site") or _host(review.get("url")),
                    "title": review.get("title"),
                    "language": review.get("languageCode"),
                    "reviewed_on": review.get("reviewDate"),
                },
                defaults,
            )


def read_review(
    review: Mapping[str, Any], defaults: Defaults, place: str, nodes: Mapping[str, Any] | None = None
) -> Found | Fault:
    """Read one ClaimReview object; ``nodes`` are the objects of its document by ``@id``."""
    nodes = nodes or {}
    claim = _object(review.get("itemReviewed"), nodes)
    rating = _object(review.get("reviewRating"), nodes)
    given, meaning = _rating(rating)
    url = _plain(review.get("url")) or _plain(claim.get("url")) or _address(review.get("@id"))
    author = _object(review.get("author"), nodes)
    publisher = _object(review.get("publisher"), nodes) or _object(review.get("sourceOrganization"), nodes)
    return _read(
        place,
        {
            "claim": _plain(review.get("claimReviewed"))
            or _plain(claim.get("text"))
            or _plain(claim.get("name")),
            "rating": given,
            "url": url,
            "publisher": _plain(author.get("name"))
            or _plain(publisher.get("name"))
            or defaults.publisher
            or _host(url),
            "item_id": _id(review),
            "title": _plain(review.get("headline")) or _plain(review.get("name")),
            "language": _plain(review.get("inLanguage")) or _language(review.get("claimReviewed")),
            "reviewed_on": _plain(review.get("datePublished")) or _plain(review.get("dateModified")),
        },
        defaults,
        meaning,
    )


def _read(
    place: str, row: Mapping[str, Any], defaults: Defaults, meaning: ClaimRating | None = None
) -> Found | Fault:
    # Publishers' pages have stray spaces and line breaks in almost every member.
    row = {name: " ".join(value.split()) if isinstance(value, str) else value for name, value in row.items()}
    try:
        return Found(place, published.read({k: v or None for k, v in row.items()}, defaults, meaning=meaning))
    except Invalid as refused:
        return Fault(place, published.reasons(refused))


def collected(document: Any) -> tuple[list[Mapping[str, Any]], dict[str, Any]]:
    """All ClaimReview objects in the order of the document, and all objects by ``@id``. Any depth of nesting."""
    found: list[Mapping[str, Any]] = []
    nodes: dict[str, Any] = {}
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(reversed(value))
        elif isinstance(value, Mapping):
            name = value.get("@id")
            # A reference is an object with nothing but its @id.
            if isinstance(name, str) and len(value) > 1:
                nodes.setdefault(name, value)
            if is_review(value):
                found.append(value)
                waiting.extend(value[inner] for inner in _INSIDE if inner in value)
            else:
                waiting.extend(reversed(list(value.values())))
    return found, nodes


def referable(node: Mapping[str, Any]) -> dict[str, Any]:
    """What a review reads of an object that it refers to by its ``@id``."""
    kept = {name: value for name in _READ if isinstance(value := node.get(name), str | int | float)}
    return {} if not kept else {"@id": node["@id"], **kept}


def _object(value: Any, nodes: Mapping[str, Any]) -> Mapping[str, Any]:
    """An object that is given as itself, as the first of a list, by its ``@id``, or as its name alone."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, Mapping):
        name = value.get("@id")
        if len(value) == 1 and isinstance(name, str):
            value = nodes.get(name)
        return value if isinstance(value, Mapping) else {}
    if isinstance(value, str):
        known = nodes.get(value)
        return known if isinstance(known, Mapping) else {"name": value}
    return {}


def _plain(value: Any) -> str | None:
    """A text that is given as itself, as the first of a list, or as JSON-LD's ``{"@value": …}``."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, Mapping):
        value = value.get("@value") or value.get("alternateName") or value.get("@id")
    return value if isinstance(value, str) and value.strip() else None


def _language(value: Any) -> str | None:
    return _plain(value.get("@language")) if isinstance(value, Mapping) else None


def _rating(rating: Mapping[str, Any]) -> tuple[str | None, ClaimRating | None]:
    """The publisher's own words, and what the number of the rating means."""
    value, worst, best = (rating.get(name) for name in ("ratingValue", "worstRating", "bestRating"))
    meaning = ratings.by_number(value, worst, best)
    given = _plain(rating.get("alternateName")) or _plain(rating.get("name"))
    if given is None and isinstance(value, str) and value.strip() and meaning is None:
        given = value
    if given is None and meaning is not None:
        given = f"{_shown(value)} on a scale from {_shown(worst, '1')} to {_shown(best, '5')}"
    return given, meaning


def _shown(value: Any, missing: str = "") -> str:
    return (
        missing if value is None or value == "" else f"{value:g}" if isinstance(value, float) else str(value)
    )


def _id(review: Mapping[str, Any]) -> str | None:
    """The id that the publisher gives, shortened when it is too long to be stored."""
    given = review.get("identifier")
    if isinstance(given, Mapping):
        given = given.get("value")
    name = _plain(given) or (str(given) if isinstance(given, int) and not isinstance(given, bool) else None)
    name = name or _plain(review.get("@id"))
    # "_:b0" is a blank node's name: it means something only within its document.
    if name is None or name.startswith("_:"):
        return None
    return name if len(name) <= limits.DATASET_ITEM_MAX else published.short_id(name)


def _address(value: Any) -> str | None:
    is_one = isinstance(value, str) and published.address(value).startswith(("https://", "http://"))
    return value if is_one else None


def _host(url: Any) -> str | None:
    try:
        return urlsplit(url).hostname if isinstance(url, str) else None
    except ValueError:
        return None
