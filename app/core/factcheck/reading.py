"""Files of fact-checks as bytes (docs/run/datasets.md).

Unpacking, detecting the form, character sets, lines of JSON Lines, and the JSON-LD scripts of web pages.
"""

import codecs
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO, Any, BinaryIO

from app.core import texts
from app.core.errors import Invalid
from app.core.texts import gettext as _
from app.core.vocabulary import ImportFormat

LINE_BYTES = 1_048_576
VALUES_MAX = 50_000
"""How many arrays, objects and commas a value may have that is parsed at once: small ones take 100 times their text."""
PIECE_BYTES = 262_144
EMPTY_MAX = 1_000_000
"""A file with more empty lines is no list of anything."""
SHOWN_FAULTS = 20
CHUNK = 500
"""Items per transaction, at most: others can write in between, and repeating an import changes nothing."""
PAGE_BYTES = 5_242_880
"""A web page larger than this is no article with a fact-check in it."""
UNPACKED_BYTES = 33_554_432
"""How large a compressed file may be when it is unpacked."""
_BEGINNING = 1_048_576
_META_BYTES = 4_096
"""Browsers search for the character set in at most this many bytes at the beginning."""

_SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)
_SCRIPT_END = re.compile(rb"</script", re.IGNORECASE)
_TYPE = re.compile(rb"""\btype\s*+=\s*+["']?+\s*+application/ld\+json""", re.IGNORECASE)
_TAG_MAX = 2_000
_WRAPPING = re.compile(rb"\A\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?:-->|//\s*\]\]>|\]\]>)\s*\Z")
_META = re.compile(rb"""<meta\b[^>]{0,200}?charset\s*+=\s*+["']?+\s*+([\w.:-]{1,40}+)""", re.IGNORECASE)
_XML = re.compile(rb"""\A<\?xml\b[^>]{0,200}?encoding\s*+=\s*+["']([\w.:-]{1,40}+)""")
_CODECS = re.compile(
    r"cp\d+|iso8859[-_]\d+|koi8[-_][rut]|mac[-_].+|gbk?|gb\d+|big5.*|shift_jis.*|euc[-_].+|tis[-_]620"
)
"""Python's names of character sets that contain ASCII. Others, such as ``zlib`` and ``idna``, are no character sets."""

_AS_BROWSERS = {
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
"""Names that pages give to an extension of what they mean."""


class BadFile(Exception):
    """Nothing of the file can be read; the text is one sentence without its full stop."""


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
                plain = unpacker.decompress(packed, PIECE_BYTES)
            except zlib.error:
                raise BadFile(_("The compressed file is damaged")) from None
            size += len(plain)
            if size > most:
                raise BadFile(
                    _(
                        "The compressed file is larger than %(size)s MB when it is unpacked",
                        size=most // 1_048_576,
                    )
                )
            yield plain
            packed = unpacker.unconsumed_tail
            has_more = bool(packed) or len(plain) == PIECE_BYTES
    if not unpacker.eof:
        raise BadFile(_("The compressed file is cut off"))


def read_beginning(chunks: Iterable[bytes]) -> tuple[bytes, int]:
    """The beginning of a file, whole lines of at most 1 MB if it is larger, and the size of all. Raises BadFile."""
    beginning, size, is_empty = bytearray(), 0, True
    for chunk in chunks:
        size += len(chunk)
        is_empty = is_empty and (not chunk or chunk.isspace())
        beginning += chunk[: _BEGINNING - len(beginning)]
    if is_empty:
        raise BadFile(_("The file holds no fact-checks"))
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


def numbered(lines: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """(number, content) of every line that is not empty. Of an overlong line only the beginning. Raises BadFile."""
    number = empty = 0
    while raw := lines.readline(LINE_BYTES + 1):
        number += 1
        whole = raw
        while not whole.endswith(b"\n") and len(whole) > LINE_BYTES:
            # Discard the rest of an overlong line piece by piece.
            whole = lines.readline(LINE_BYTES + 1) or b"\n"
        if not raw.isspace():
            yield number, raw
            continue
        empty += 1
        if empty > EMPTY_MAX:
            raise BadFile(_("The file has more than %(most)s empty lines", most=texts.number(EMPTY_MAX)))


def parsed(raw: bytes) -> Any:
    """The JSON value of a line. Raises Invalid."""
    if len(raw) > LINE_BYTES:
        raise Invalid.field("row", _("is longer than %(most)s bytes", most=texts.number(LINE_BYTES)))
    if sum(map(raw.count, (b"[", b"{", b","))) > VALUES_MAX:
        raise Invalid.field(
            "row",
            _(
                "is not JSON that can be read: it has more than %(most)s values",
                most=texts.number(VALUES_MAX),
            ),
        )
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Invalid.field("row", _("is not UTF-8")) from None
    except json.JSONDecodeError as error:
        said = error.msg.removesuffix(" at")
        raise Invalid.field(
            "row", _("is not JSON: %(why)s at character %(position)s", why=said, position=error.pos + 1)
        ) from None
    except (ValueError, RecursionError):
        raise Invalid.field("row", _("is not JSON that can be read")) from None


def explained(what: str, line: int, column: int) -> str:
    """The message of the JSON parser, with the line and the column of the error."""
    # Some of its words end with "at" already.
    said = what.removesuffix(" at")
    return f"{said[:1].lower()}{said[1:]} at line {line}, column {column}"


def pieces(content: bytes) -> Iterator[bytes]:
    """Content in pieces of at most ``PIECE_BYTES``."""
    for start in range(0, len(content), PIECE_BYTES):
        yield content[start : start + PIECE_BYTES]


def refuse_utf16(beginning: bytes) -> None:
    """Raise BadFile for a file of UTF-16 or UTF-32, as some spreadsheets and editors write them."""
    has_mark = beginning.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff"))
    # Without a mark, every second byte of its first signs is NUL, which no text of UTF-8 has.
    if has_mark or (len(beginning) > 3 and (beginning[0] == 0) != (beginning[1] == 0)):
        raise BadFile(_("The file is UTF-16. Save it as UTF-8"))


def page_text(content: bytes) -> bytes:
    """A page as UTF-8, whatever its own declaration says that it is. Raises BadFile."""
    refuse_utf16(content)
    if is_utf8(pieces(content)):
        return content.removeprefix(b"\xef\xbb\xbf")
    declared = _META.search(content[:_META_BYTES]) or _XML.match(content[:_META_BYTES])
    charset = codec(declared[1].decode("ascii", "replace")) if declared else None
    if charset is None:
        raise BadFile(_("The page is not UTF-8, and names no other character set that we know"))
    return b"".join(as_utf8(pieces(content), charset))


def codec(name: str) -> str | None:
    """Python's name for a character set as pages and servers write it; None for UTF-8 and for unknown ones."""
    try:
        known = codecs.lookup(name.strip(" \"'"))
    except (LookupError, ValueError):
        return None
    return _AS_BROWSERS.get(known.name, known.name) if _CODECS.fullmatch(known.name) else None


def as_utf8(chunks: Iterable[bytes], charset: str) -> Iterator[bytes]:
    """A text of this character set (see ``codec``) as UTF-8. Bytes without a meaning become U+FFFD."""
    decoder = codecs.getincrementaldecoder(charset)("replace")
    for chunk in chunks:
        yield decoder.decode(chunk).encode()
    yield decoder.decode(b"", final=True).encode()


def is_utf8(chunks: Iterable[bytes]) -> bool:
    """Whether a text is UTF-8, whatever was declared: hardly any text of another character set is by chance."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for chunk in chunks:
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def scripts(page: bytes) -> Iterator[bytes]:
    """The texts of a page's JSON-LD scripts. Time is linear in the page's length, whatever is in it."""
    position = 0
    while (start := _SCRIPT.search(page, position)) is not None:
        opened = page.find(b">", start.end())
        if opened < 0:
            return
        tag = page[start.start() : min(opened, start.start() + _TAG_MAX)]
        end = _SCRIPT_END.search(page, opened)
        stop = end.start() if end is not None else len(page)
        if _TYPE.search(tag):
            yield _WRAPPING.sub(b"", page[opened + 1 : stop])
        position = stop + 1
