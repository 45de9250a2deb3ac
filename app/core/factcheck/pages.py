"""Web pages with fact-checks: their character set, and the texts of their JSON-LD scripts."""

import codecs
import re
from collections.abc import Iterable, Iterator

from app.core.factcheck.reading import BadFile, pieces, refuse_utf16

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


def text(content: bytes) -> bytes:
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
