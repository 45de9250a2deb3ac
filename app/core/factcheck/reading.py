"""Parts of files: lines of JSON Lines, character sets, and the JSON-LD scripts of web pages (docs/run/datasets.md)."""

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import IO, Any

from app.core.errors import Invalid

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
_META_BYTES = 4_096
"""Browsers look for the character set in at most this many bytes at the beginning."""

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
            raise BadFile(f"The file has more than {EMPTY_MAX:,} empty lines")


def parsed(raw: bytes) -> Any:
    """The JSON value of a line. Raises Invalid."""
    if len(raw) > LINE_BYTES:
        raise Invalid.field("row", f"is longer than {LINE_BYTES:,} bytes")
    if sum(map(raw.count, (b"[", b"{", b","))) > VALUES_MAX:
        raise Invalid.field("row", f"is not JSON that can be read: it has more than {VALUES_MAX:,} values")
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Invalid.field("row", "is not UTF-8") from None
    except json.JSONDecodeError as error:
        said = error.msg.removesuffix(" at")
        raise Invalid.field("row", f"is not JSON: {said} at character {error.pos + 1}") from None
    except (ValueError, RecursionError):
        raise Invalid.field("row", "is not JSON that can be read") from None


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
        raise BadFile("The file is UTF-16. Save it as UTF-8")


def page_text(content: bytes) -> bytes:
    """A page as UTF-8, whatever its own declaration says that it is. Raises BadFile."""
    refuse_utf16(content)
    if is_utf8(pieces(content)):
        return content.removeprefix(b"\xef\xbb\xbf")
    declared = _META.search(content[:_META_BYTES]) or _XML.match(content[:_META_BYTES])
    charset = codec(declared[1].decode("ascii", "replace")) if declared else None
    if charset is None:
        raise BadFile("The page is not UTF-8, and names no other character set that we know")
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
