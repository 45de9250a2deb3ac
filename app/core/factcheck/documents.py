"""JSON documents of any size, read part by part with bounded memory.

A value that is small is parsed whole and is one part. A larger array or object is opened: its members are parts, or are
opened themselves. So a feed of a hundred thousand reviews is as many parts, and an article is one.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, Never

from app.core.factcheck.reading import VALUES_MAX, explained

PART_BYTES = 1_048_576
DEPTH_MAX = 100
OPENED_MAX = 10
"""How deeply arrays and objects larger than a part may be nested: finding the end of each scans its beginning again."""
_BOM = b"\xef\xbb\xbf"
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{},]', re.DOTALL)
_SCALAR = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[^\s,:"\[\]{}]++', re.DOTALL)
_SPACE = re.compile(rb"[ \t\r\n]*+")
_CONTINUED = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 that begin no character."""

Path = tuple[str | int, ...]
"""Where a part is: the names and the positions (from 0) that lead to it. Empty: it is the whole document."""


class Unreadable(Exception):
    """A document cannot be read; the text says what it is: "not UTF-8"."""


class Malformed(Unreadable):
    """It is not JSON; the text says what is wrong and where."""


def parts(file: BinaryIO, *, is_strict: bool = True) -> Iterator[tuple[Path, Any]]:
    """The parts of a document in their order. ``is_strict``: line breaks within texts are refused.

    Raises:
        Unreadable: at the part that cannot be read; those before it were given.
    """
    reader = _Reader(file, is_strict)
    yield from reader.value(())
    if reader.sign():
        reader.refuse("Extra data")


class _Reader:
    """A position in the file, and a buffer of what follows it: more than ``PART_BYTES``, unless the file ends."""

    def __init__(self, file: BinaryIO, is_strict: bool) -> None:
        self._file = file
        self._is_strict = is_strict
        self._data = file.read(PART_BYTES)
        self._at = self._start = len(_BOM) if self._data.startswith(_BOM) else 0
        self._before = 0
        self._is_last = False

    def value(self, path: Path) -> Iterator[tuple[Path, Any]]:
        """The parts of the value at this place, which moves behind it."""
        first = self.sign()
        if first not in (b"[", b"{"):
            yield path, self._scalar()
            return
        end = self._end(DEPTH_MAX - len(path))
        if end is not None:
            yield path, self._parsed(end)
            return
        if len(path) == OPENED_MAX:
            raise Unreadable(
                f"not JSON that can be read: more than {OPENED_MAX} large lists or objects are within each other"
            )
        self._at += 1
        closing = b"]" if first == b"[" else b"}"
        number = 0
        while self.sign() != closing or number:
            name = number if first == b"[" else self._name()
            yield from self.value((*path, name))
            number += 1
            if self.sign() == closing:
                break
            self._expect(b",", "Expecting ',' delimiter")
        self._at += 1

    def sign(self) -> bytes:
        """The next byte that is not white space; empty at the end of the file."""
        while True:
            self._fill()
            self._at = _SPACE.match(self._data, self._at).end()  # type: ignore[union-attr]  # it matches nothing too
            if self._at < len(self._data) or self._is_last:
                self._fill()
                return self._data[self._at : self._at + 1]

    def refuse(self, what: str, at: int | None = None) -> Never:
        """Raise Malformed. ``at``: the place in the piece, if not the present one."""
        raise Malformed(explained(what, *self._position(self._before + (self._at if at is None else at))))

    def _fill(self) -> None:
        while not self._is_last and len(self._data) - self._at <= PART_BYTES:
            more = self._file.read(PART_BYTES)
            self._is_last = not more
            self._before += self._at
            self._data, self._at = self._data[self._at :] + more, 0

    def _end(self, depth_max: int) -> int | None:
        """Where the array or object at this place ends; None if it is too large for one part."""
        depth = values = 0
        for token in _TOKEN.finditer(self._data, self._at, self._at + PART_BYTES):
            sign = self._data[token.start()]
            if sign in b"[{":
                depth += 1
                values += 1
            elif sign in b"]}":
                depth -= 1
                if not depth:
                    return token.end()
            elif sign == ord(","):
                values += 1
            if depth > depth_max:
                raise Unreadable(
                    f"not JSON that can be read: it is nested too deeply, more than {DEPTH_MAX} levels"
                )
            if values > VALUES_MAX:
                return None
        # It has no end: the parser says what is missing.
        return len(self._data) if self._is_last and len(self._data) - self._at <= PART_BYTES else None

    def _scalar(self) -> Any:
        found = _SCALAR.match(self._data, self._at, self._at + PART_BYTES)
        if found is None and self._data[self._at : self._at + 1] == b'"':
            if len(self._data) - self._at < PART_BYTES:
                self.refuse("Unterminated string starting at")
            raise Unreadable(f"too large: it has a text of more than {PART_BYTES // 1_048_576} MB")
        if found is None:
            self.refuse("Expecting value")
        return self._parsed(found.end())

    def _name(self) -> str:
        if self.sign() != b'"':
            self.refuse("Expecting property name enclosed in double quotes")
        name = str(self._scalar())
        self.sign()
        self._expect(b":", "Expecting ':' delimiter")
        return name

    def _expect(self, sign: bytes, what: str) -> None:
        if self._data[self._at : self._at + 1] != sign:
            self.refuse(what)
        self._at += 1

    def _parsed(self, end: int) -> Any:
        raw = self._data[self._at : end]
        try:
            text = raw.decode()
            value = json.loads(text, strict=self._is_strict)
        except UnicodeDecodeError:
            raise Unreadable("not UTF-8") from None
        except json.JSONDecodeError as error:
            self.refuse(error.msg, self._at + len(text[: error.pos].encode()))
        except (ValueError, RecursionError):
            raise Unreadable("not JSON that can be read: it has a huge number") from None
        self._at = end
        return value

    def _position(self, offset: int) -> tuple[int, int]:
        """The line and the column, in characters, of a place in the file, each from 1."""
        self._file.seek(self._start)
        line, column, rest = 1, 1, offset - self._start
        while rest > 0 and (piece := self._file.read(min(rest, PART_BYTES))):
            rest -= len(piece)
            line += piece.count(b"\n")
            *before, last = piece.rsplit(b"\n", 1)
            column = (1 if before else column) + len(last.translate(None, _CONTINUED))
        return line, column
