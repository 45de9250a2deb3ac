"""Files of fact-checks in any of the forms that we read: which form a file has, and its items one after the other.

The forms: JSON Lines (one object a line), one JSON document (ClaimReview, a DataFeed, ``claims:search``, a list of
rows), CSV, and a web page whose ClaimReviews stand in scripts of the type ``application/ld+json``. A large document is
read twice, part by part (see ``documents``): what kind it is and what its references name, then its items.
"""

import hashlib
import io
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from app.core import texts
from app.core.errors import Invalid
from app.core.factcheck import claim_review, columns, documents, published, reading
from app.core.factcheck.documents import Malformed, Path, Unreadable
from app.core.factcheck.published import Defaults, Fault, Found
from app.core.factcheck.reading import BadFile, refuse_utf16
from app.core.texts import gettext as _
from app.core.vocabulary import ImportFormat

_NODES_ROOM = 4_000_000
"""The most characters kept of objects that other parts may refer to by ``@id``; later objects are not found."""
_PART_MB = documents.PART_BYTES // 1_048_576
_NODE = 300
"""The overhead counted for each such object, in characters."""


@dataclass(frozen=True)
class Reading:
    """How to read a file: its form, the columns of a CSV file, and the defaults of items.

    ``most``: a file with more items is refused; None: it may have any number.
    """

    format: ImportFormat
    defaults: Defaults = field(default_factory=Defaults)
    columns: Mapping[str, str] = field(default_factory=dict)
    most: int | None = None


def read(file: BinaryIO, how: Reading) -> Iterator[Found | Fault]:
    """The items of a file in their order, and what is wrong with the others. Raises BadFile."""
    refuse_utf16(file.read(4))
    file.seek(0)
    if how.format is ImportFormat.JSON_LINES:
        yield from _lines(file, how.defaults)
    elif how.format is ImportFormat.CSV:
        yield from columns.read(file, how.columns, how.defaults)
    elif how.format is ImportFormat.PAGE:
        yield from _page(file, how)
    else:
        try:
            yield from _read_document(file, how.defaults, how.most)
        except Malformed as bad:
            raise BadFile(_("The file is malformed JSON: %(why)s", why=bad)) from None
        except Unreadable as bad:
            raise BadFile(_("The file is %(why)s", why=bad)) from None


def distinct(file: BinaryIO, how: Reading) -> Iterator[Found | Fault]:
    """As ``read``, but an item whose id an earlier one has too is a fault: the first one counts."""
    seen: dict[bytes, str] = {}
    for number, one in enumerate(read(file, how), start=1):
        if how.most is not None and number > how.most:
            raise _too_many(how.most)
        if isinstance(one, Found):
            # Digests take a quarter of the memory of the ids.
            key = hashlib.blake2b("\0".join(one.item.key).encode(), digest_size=16).digest()
            first = seen.setdefault(key, one.place)
            if first != one.place:
                yield Fault(one.place, (_("item_id is that of %(first)s too", first=first),))
                continue
        yield one


def _lines(file: BinaryIO, defaults: Defaults) -> Iterator[Found | Fault]:
    for number, raw in reading.numbered(file):
        place = _("line %(number)s", number=number)
        try:
            row = reading.parsed(raw)
        except Invalid as refused:
            yield Fault(place, published.reasons(refused))
            continue
        if claim_review.is_review(row):
            yield claim_review.read_review(row, defaults, place)
        else:
            yield _of_row(row, place, defaults)


def _page(file: BinaryIO, how: Reading) -> Iterator[Found | Fault]:
    content = file.read(reading.PAGE_BYTES + 1)
    if len(content) > reading.PAGE_BYTES:
        raise BadFile(_("The file is a web page larger than %(size)s MB", size=reading.PAGE_BYTES // 1048576))
    number = 0
    for number, script in enumerate(reading.scripts(reading.page_text(content)), start=1):
        place = _("script %(number)s", number=number)
        try:
            # Pages often have line breaks within strings, which only a strict reader refuses.
            yield from _read_script(io.BytesIO(script), how.defaults, how.most, f"{place}, ")
        except Malformed as bad:
            yield Fault(place, (_("its JSON-LD is malformed: %(why)s", why=bad),))
        except Unreadable as bad:
            yield Fault(place, (_("its JSON-LD is %(why)s", why=bad),))
    if number == 0:
        raise BadFile(_("The page has no script of the type application/ld+json, so no ClaimReview"))


@dataclass
class _Survey:
    """What a document holds. ``nodes``: its objects that others may refer to, by their ``@id``."""

    has_reviews: bool = False
    has_claims: bool = False
    has_rows: bool = False
    nodes: dict[str, Any] = field(default_factory=dict)
    room: int = _NODES_ROOM


def _read_document(file: BinaryIO, defaults: Defaults, most: int | None) -> Iterator[Found | Fault]:
    """The items of a document. ``most``: how many parts a large one may have.

    Raises:
        BadFile: it holds no items, or too many.
        Unreadable: it cannot be read (on).
    """
    whole = _whole(file, is_strict=True)
    if whole is not None:
        yield from _small(whole[0], defaults)
        return
    survey = _survey(file, most, is_strict=True)
    if survey.has_claims:
        yield from _claims(file, defaults)
    elif survey.has_reviews:
        yield from _reviews(file, survey, defaults)
    elif survey.has_rows:
        yield from _rows(file, defaults)
    else:
        raise _nothing()


def _read_script(file: BinaryIO, defaults: Defaults, most: int | None, where: str) -> Iterator[Found | Fault]:
    """The ClaimReviews of a web page's script, which may have line breaks within texts. Raises as ``read``."""
    whole = _whole(file, is_strict=False)
    if whole is not None:
        yield from claim_review.reviews(whole[0], defaults, where)
    else:
        yield from _reviews(file, _survey(file, most, is_strict=False), defaults, where, is_strict=False)


def _too_large() -> tuple[str, ...]:
    return (_("it is larger than %(size)s MB, or has too many values", size=_PART_MB),)


def _too_many(most: int) -> BadFile:
    return BadFile(
        _(
            "The file holds more than %(most)s fact-checks. Split it, or let the command line import it",
            most=texts.number(most),
        )
    )


def _nothing() -> BadFile:
    return BadFile(_("The file is JSON, but it holds no ClaimReview, no claims and no rows with a claim"))


def _whole(file: BinaryIO, *, is_strict: bool) -> tuple[Any] | None:
    """The document if it is small, parsed at once."""
    walk = documents.parts(file, is_strict=is_strict)
    path, value = next(walk, ((0,), None))
    if path:
        return None
    for _part in walk:
        # The rest is read too: nothing may follow the document.
        pass
    return (value,)


def _small(document: Any, defaults: Defaults) -> Iterator[Found | Fault]:
    if claim_review.is_search(document):
        yield from claim_review.searched(document["claims"], defaults)
        return
    is_empty = True
    for one in claim_review.reviews(document, defaults):
        is_empty = False
        yield one
    if not is_empty:
        return
    rows = document if isinstance(document, list) else [document]
    if not any(isinstance(row, Mapping) and "claim" in row for row in rows):
        raise _nothing()
    for number, row in enumerate(rows, start=1):
        yield _of_row(row, _("row %(number)s", number=number), defaults)


def _of_row(row: Any, place: str, defaults: Defaults) -> Found | Fault:
    """A row of a list of items, or the line of a file."""
    try:
        if not isinstance(row, Mapping):
            raise Invalid.field("row", _("must be an object"))
        return Found(place, published.read(row, defaults))
    except Invalid as refused:
        return Fault(place, published.reasons(refused))


def _parts(file: BinaryIO, *, is_strict: bool = True) -> Iterator[tuple[Path, Any]]:
    file.seek(0)
    return documents.parts(file, is_strict=is_strict)


def _survey(file: BinaryIO, most: int | None, *, is_strict: bool) -> _Survey:
    survey = _Survey()
    for number, (path, value) in enumerate(_parts(file, is_strict=is_strict), start=1):
        if most is not None and number > most:
            raise _too_many(most)
        survey.has_claims |= path[0] == "claims" and (len(path) > 1 or isinstance(value, list))
        survey.has_rows |= isinstance(path[0], int) and isinstance(value, Mapping) and "claim" in value
        found, nodes = claim_review.collected(value)
        survey.has_reviews |= bool(found)
        for name, node in nodes.items():
            kept = {} if claim_review.is_review(node) else claim_review.referable(node)
            cost = _NODE + len(name) + sum(len(text) for text in kept.values() if isinstance(text, str))
            if kept and cost <= survey.room:
                survey.room -= cost
                survey.nodes.setdefault(name, kept)
    return survey


def _claims(file: BinaryIO, defaults: Defaults) -> Iterator[Found | Fault]:
    opened = -1
    for path, value in _parts(file):
        if path[0] != "claims":
            continue
        if len(path) == 1:
            yield from claim_review.searched(value, defaults)
        elif len(path) == 2:
            yield from claim_review.searched([value], defaults, first=int(path[1]) + 1)
        elif path[1] != opened:
            opened = int(path[1])
            yield Fault(_("claim %(number)s", number=opened + 1), _too_large())


def _reviews(
    file: BinaryIO, survey: _Survey, defaults: Defaults, where: str = "", *, is_strict: bool = True
) -> Iterator[Found | Fault]:
    number = 0
    for path, value in _parts(file, is_strict=is_strict):
        if path[-1] in ("@type", "type") and claim_review.is_review({"@type": value}):
            # The object itself was too large for one part.
            number += 1
            yield Fault(where + _("review %(number)s", number=number), _too_large())
        found, nodes = claim_review.collected(value)
        for review in found:
            number += 1
            known = ChainMap(nodes, survey.nodes)
            yield claim_review.read_review(
                review, defaults, where + _("review %(number)s", number=number), known
            )


def _rows(file: BinaryIO, defaults: Defaults) -> Iterator[Found | Fault]:
    opened = -1
    for path, value in _parts(file):
        number = int(path[0]) + 1
        if len(path) == 1:
            yield _of_row(value, _("row %(number)s", number=number), defaults)
        elif number != opened:
            opened = number
            yield Fault(_("row %(number)s", number=number), _too_large())
