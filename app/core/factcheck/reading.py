"""JSON Lines: files with one JSON object a line, read line by line whatever their size (docs/run/datasets.md)."""

import json
from collections.abc import Iterator
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
