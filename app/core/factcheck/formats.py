"""Files of fact-checks in any of the forms that we read: which form a file has, and its items one after the other.

The forms: JSON Lines (one object a line), one JSON document (ClaimReview, a DataFeed, ``claims:search``, a list of
rows), CSV, and a web page whose ClaimReviews stand in scripts of the type ``application/ld+json``.
"""

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from app.core.errors import Invalid
from app.core.factcheck import claim_review, columns, published, reading
from app.core.factcheck.columns import BadTable
from app.core.factcheck.published import Defaults, Fault, Found
from app.core.vocabulary import ImportFormat

PAGE_BYTES = 5_242_880
"""A web page larger than this is no article with a fact-check in it."""
UNPACKED_BYTES = 33_554_432
"""How large a compressed file may be when it is unpacked."""

_SCRIPT = re.compile(r"<script\b", re.IGNORECASE)
_SCRIPT_END = re.compile(r"</script", re.IGNORECASE)
_TYPE = re.compile(r"""\btype\s*=\s*["']?\s*application/ld\+json""", re.IGNORECASE)
_TAG_MAX = 2_000
_WRAPPING = re.compile(r"\A\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?:-->|//\s*\]\]>|\]\]>)\s*\Z")


class BadFile(Exception):
    """Nothing of the file can be read; the text is one sentence without its full stop."""


@dataclass(frozen=True)
class Reading:
    """How to read a file: its form, the columns of a CSV file, and what items have that do not say it."""

    format: ImportFormat
    defaults: Defaults = field(default_factory=Defaults)
    columns: Mapping[str, str] = field(default_factory=dict)


def unpacked(content: bytes, most: int = UNPACKED_BYTES) -> bytes:
    """Return the content of a file, unpacked if it is compressed with gzip. Raises BadFile."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    unpacker = zlib.decompressobj(wbits=31)
    try:
        plain = unpacker.decompress(content, most + 1)
    except zlib.error:
        raise BadFile("The compressed file is damaged") from None
    if len(plain) > most:
        raise BadFile(f"The compressed file is larger than {most // 1_048_576} MB when it is unpacked")
    if not unpacker.eof:
        raise BadFile("The compressed file is cut off")
    return plain


def detect(file: BinaryIO, name: str = "") -> ImportFormat:
    """The form of a file, by its name and its beginning."""
    ending = name.lower().removesuffix(".gz").rsplit(".", 1)[-1]
    beginning = file.read(65_536).removeprefix(b"\xef\xbb\xbf").lstrip()
    file.seek(0)
    if ending in ("jsonl", "ndjson"):
        return ImportFormat.JSON_LINES
    if beginning.startswith(b"<"):
        return ImportFormat.PAGE
    if beginning[:1] not in (b"{", b"["):
        is_binary = b"\x00" in beginning or not beginning
        return ImportFormat.JSON_LINES if is_binary or ending == "json" else ImportFormat.CSV
    lines = [line.strip() for line in beginning.split(b"\n") if line.strip()]
    is_lines = len(lines) > 1 and all(line.startswith(b"{") for line in lines[:2]) and lines[0].endswith(b"}")
    return ImportFormat.JSON_LINES if is_lines else ImportFormat.JSON


def read(file: BinaryIO, how: Reading) -> Iterator[Found | Fault]:
    """The items of a file in their order, and what is wrong with the others. Raises BadFile."""
    if how.format is ImportFormat.JSON_LINES:
        yield from _lines(file, how.defaults)
    elif how.format is ImportFormat.CSV:
        try:
            yield from columns.read(file, how.columns, how.defaults)
        except BadTable as bad:
            raise BadFile(str(bad)) from None
    elif how.format is ImportFormat.JSON:
        yield from _document(_parsed(file), how.defaults)
    else:
        yield from _page(file, how.defaults)


def distinct(file: BinaryIO, how: Reading) -> Iterator[Found | Fault]:
    """As ``read``, but an item whose id an earlier one has too is a fault: the first one counts."""
    seen: dict[tuple[str, str], str] = {}
    for one in read(file, how):
        if isinstance(one, Found):
            first = seen.setdefault(one.item.key, one.place)
            if first != one.place:
                yield Fault(one.place, (f"item_id is that of {first} too",))
                continue
        yield one


def _lines(file: BinaryIO, defaults: Defaults) -> Iterator[Found | Fault]:
    for number, raw in reading.numbered(file):
        place = f"line {number}"
        try:
            row = reading.parsed(raw)
            if claim_review.is_review(row):
                yield claim_review.read_review(row, defaults, place)
            else:
                yield Found(place, _row(row, defaults))
        except Invalid as refused:
            yield Fault(place, _reasons(refused))


def _row(row: Any, defaults: Defaults) -> published.Published:
    if not isinstance(row, Mapping):
        raise Invalid.field("row", "must be an object")
    return published.read(row, defaults)


def _reasons(refused: Invalid) -> tuple[str, ...]:
    return tuple(f"{problem.loc[0]} {problem.msg}" for problem in refused.problems)


def _parsed(file: BinaryIO) -> Any:
    try:
        return json.loads(file.read().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadFile("The file is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise BadFile(f"The file is malformed JSON: {_explained(error)}") from None
    except (ValueError, RecursionError):
        raise BadFile(
            "The file is not JSON that can be read: it is nested too deeply or has a huge number"
        ) from None


def _explained(error: json.JSONDecodeError) -> str:
    return f"{error.msg[:1].lower()}{error.msg[1:]} at line {error.lineno}, column {error.colno}"


def _document(document: Any, defaults: Defaults) -> Iterator[Found | Fault]:
    if claim_review.is_search(document):
        yield from claim_review.searched(document, defaults)
        return
    is_empty = True
    for one in claim_review.reviews(document, defaults):
        is_empty = False
        yield one
    if not is_empty:
        return
    rows = document if isinstance(document, list) else [document]
    if not any(isinstance(row, Mapping) and "claim" in row for row in rows):
        raise BadFile("The file is JSON, but it holds no ClaimReview, no claims and no rows with a claim")
    for number, row in enumerate(rows, start=1):
        try:
            yield Found(f"row {number}", _row(row, defaults))
        except Invalid as refused:
            yield Fault(f"row {number}", _reasons(refused))


def _page(file: BinaryIO, defaults: Defaults) -> Iterator[Found | Fault]:
    content = file.read(PAGE_BYTES + 1)
    if len(content) > PAGE_BYTES:
        raise BadFile(f"The file is a web page larger than {PAGE_BYTES // 1_048_576} MB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadFile("The page is not UTF-8") from None
    number = 0
    for number, script in enumerate(scripts(text), start=1):
        try:
            # Pages often have line breaks within strings, which only a strict reader refuses.
            document = json.loads(script, strict=False)
        except json.JSONDecodeError as error:
            yield Fault(f"script {number}", (f"its JSON-LD is malformed: {_explained(error)}",))
            continue
        except (ValueError, RecursionError):
            yield Fault(f"script {number}", ("its JSON-LD is nested too deeply or has a huge number",))
            continue
        yield from claim_review.reviews(document, defaults, f"script {number}, ")
    if number == 0:
        raise BadFile("The page has no script of the type application/ld+json, so no ClaimReview")


def scripts(page: str) -> Iterator[str]:
    """The texts of a page's JSON-LD scripts. Time is linear in the page's length, whatever is in it."""
    position = 0
    while (start := _SCRIPT.search(page, position)) is not None:
        opened = page.find(">", start.end())
        if opened < 0:
            return
        tag = page[start.start() : min(opened, start.start() + _TAG_MAX)]
        end = _SCRIPT_END.search(page, opened)
        stop = end.start() if end is not None else len(page)
        if _TYPE.search(tag):
            yield _WRAPPING.sub("", page[opened + 1 : stop])
        position = stop + 1
