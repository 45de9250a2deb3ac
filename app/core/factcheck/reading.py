"""JSON Lines: files with one JSON object a line, read line by line whatever their size (decision 0019)."""

import json
from collections.abc import Iterator
from typing import IO, Any

from app.core.errors import Invalid

LINE_BYTES = 1_048_576
SHOWN_FAULTS = 20
CHUNK = 500
"""Items per transaction, at most: others can write in between, and repeating an import changes nothing."""


def numbered(lines: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """(number, content) of every line that is not empty. Of an overlong line only the beginning."""
    number = 0
    while raw := lines.readline(LINE_BYTES + 1):
        number += 1
        whole = raw
        while not whole.endswith(b"\n") and len(whole) > LINE_BYTES:
            # Discard the rest of an overlong line piece by piece.
            whole = lines.readline(LINE_BYTES + 1) or b"\n"
        if raw.strip():
            yield number, raw


def parsed(raw: bytes) -> Any:
    """The JSON value of a line. Raises Invalid."""
    if len(raw) > LINE_BYTES:
        raise Invalid.field("row", f"is longer than {LINE_BYTES:,} bytes")
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Invalid.field("row", "is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise Invalid.field("row", f"is not JSON: {error.msg} at character {error.pos + 1}") from None
    except (ValueError, RecursionError):
        raise Invalid.field("row", "is not JSON that can be read") from None
