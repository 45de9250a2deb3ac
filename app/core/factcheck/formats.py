"""Files of fact-checks in any of the forms that we read: which form a file has, and its items one after the other.

The forms: JSON Lines (one object a line), one JSON document (ClaimReview, a DataFeed, ``claims:search``, a list of
rows), CSV, and a web page whose ClaimReviews stand in scripts of the type ``application/ld+json``.
"""

import hashlib
import io
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import BinaryIO

from app.core.errors import Invalid
from app.core.factcheck import claim_review, columns, document_items, published, reading
from app.core.factcheck.documents import Malformed, Unreadable
from app.core.factcheck.published import Defaults, Fault, Found
from app.core.factcheck.reading import BadFile, refuse_utf16
from app.core.vocabulary import ImportFormat

UNPACKED_BYTES = 33_554_432
"""How large a compressed file may be when it is unpacked."""
_BEGINNING = 1_048_576


@dataclass(frozen=True)
class Reading:
    """How to read a file: its form, the columns of a CSV file, and the defaults of items.

    ``most``: a file with more items is refused; None: it may have any number.
    """

    format: ImportFormat
    defaults: Defaults = field(default_factory=Defaults)
    columns: Mapping[str, str] = field(default_factory=dict)
    most: int | None = None


def unpacked(pieces: Iterable[bytes], most: int = UNPACKED_BYTES) -> Iterator[bytes]:
    """The content of a file piece by piece, unpacked if it is compressed with gzip. Raises BadFile."""
    waiting = iter(pieces)
    first = next(waiting, b"")
    if not first.startswith(b"\x1f\x8b"):
        yield first
        yield from waiting
        return
    unpacker = zlib.decompressobj(wbits=31)
    size = 0
    for piece in chain((first,), waiting):
        packed, has_more = piece, True
        while has_more and not unpacker.eof:
            try:
                plain = unpacker.decompress(packed, reading.PIECE_BYTES)
            except zlib.error:
                raise BadFile("The compressed file is damaged") from None
            size += len(plain)
            if size > most:
                raise BadFile(
                    f"The compressed file is larger than {most // 1_048_576} MB when it is unpacked"
                )
            yield plain
            packed = unpacker.unconsumed_tail
            has_more = bool(packed) or len(plain) == reading.PIECE_BYTES
    if not unpacker.eof:
        raise BadFile("The compressed file is cut off")


def read_beginning(chunks: Iterable[bytes]) -> tuple[bytes, int]:
    """The beginning of a file, whole lines of at most 1 MB if it is larger, and the size of all. Raises BadFile."""
    beginning, size, is_empty = bytearray(), 0, True
    for chunk in chunks:
        size += len(chunk)
        is_empty = is_empty and (not chunk or chunk.isspace())
        beginning += chunk[: _BEGINNING - len(beginning)]
    if is_empty:
        raise BadFile("The file holds no items")
    if size > len(beginning):
        # Old spreadsheets end lines with a carriage return alone.
        del beginning[max(beginning.rfind(b"\n"), beginning.rfind(b"\r")) + 1 or len(beginning) :]
    return bytes(beginning), size


def detect(file: BinaryIO, name: str = "") -> ImportFormat:
    """The form of a file, by its name and its beginning. Raises BadFile."""
    ending = name.lower().removesuffix(".gz").rsplit(".", 1)[-1]
    beginning = file.read(65_536)
    refuse_utf16(beginning)
    beginning = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()
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
            yield from document_items.read(file, how.defaults, how.most)
        except Malformed as bad:
            raise BadFile(f"The file is malformed JSON: {bad}") from None
        except Unreadable as bad:
            raise BadFile(f"The file is {bad}") from None


def distinct(file: BinaryIO, how: Reading) -> Iterator[Found | Fault]:
    """As ``read``, but an item whose id an earlier one has too is a fault: the first one counts."""
    seen: dict[bytes, str] = {}
    for number, one in enumerate(read(file, how), start=1):
        if how.most is not None and number > how.most:
            raise document_items.too_many(how.most)
        if isinstance(one, Found):
            # Digests take a quarter of the memory of the ids.
            key = hashlib.blake2b("\0".join(one.item.key).encode(), digest_size=16).digest()
            first = seen.setdefault(key, one.place)
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
                yield Found(place, document_items.read_row(row, defaults))
        except Invalid as refused:
            yield Fault(place, published.reasons(refused))


def _page(file: BinaryIO, how: Reading) -> Iterator[Found | Fault]:
    content = file.read(reading.PAGE_BYTES + 1)
    if len(content) > reading.PAGE_BYTES:
        raise BadFile(f"The file is a web page larger than {reading.PAGE_BYTES // 1_048_576} MB")
    number = 0
    for number, script in enumerate(reading.scripts(reading.page_text(content)), start=1):
        place = f"script {number}"
        try:
            # Pages often have line breaks within strings, which only a strict reader refuses.
            yield from document_items.read_reviews(io.BytesIO(script), how.defaults, how.most, f"{place}, ")
        except Malformed as bad:
            yield Fault(place, (f"its JSON-LD is malformed: {bad}",))
        except Unreadable as bad:
            yield Fault(place, (f"its JSON-LD is {bad}",))
    if number == 0:
        raise BadFile("The page has no script of the type application/ld+json, so no ClaimReview")
