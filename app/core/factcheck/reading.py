"""Files of fact-checks, one JSON object per line: parsed and validated before anything is stored (decision 0019)."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

from app.core.errors import Invalid
from app.core.factcheck import items
from app.core.factcheck.items import Item

LINE_BYTES = 1_048_576
SHOWN_FAULTS = 20
CHUNK = 500
"""Items per transaction: others can write in between, and repeating an import changes nothing."""


@dataclass
class Reading:
    """The content of a file: the items of its valid lines, and the problems of the others, by line."""

    items: list[Item] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    bad_lines: int = 0


def read(lines: IO[bytes]) -> Reading:
    """Parse and validate every line of a file; empty lines are skipped."""
    reading = Reading()
    seen: dict[tuple[str, str], int] = {}
    for number, raw in _numbered(lines):
        try:
            item = _item(raw)
            if item.key in seen:
                raise Invalid.field("item_id", f"is that of line {seen[item.key]} too")
        except Invalid as refused:
            reading.bad_lines += 1
            reading.faults += [
                f"line {number}: {problem.loc[0]} {problem.msg}" for problem in refused.problems
            ]
            continue
        seen[item.key] = number
        reading.items.append(item)
    return reading


def _numbered(lines: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    number = 0
    while raw := lines.readline(LINE_BYTES + 1):
        number += 1
        whole = raw
        while not whole.endswith(b"\n") and len(whole) > LINE_BYTES:
            # Discard the rest of an overlong line piece by piece.
            whole = lines.readline(LINE_BYTES + 1) or b"\n"
        if raw.strip():
            yield number, raw


def _item(raw: bytes) -> Item:
    if len(raw) > LINE_BYTES:
        raise Invalid.field("row", f"is longer than {LINE_BYTES:,} bytes")
    try:
        row = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Invalid.field("row", "is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise Invalid.field("row", f"is not JSON: {error.msg} at character {error.pos + 1}") from None
    except (ValueError, RecursionError):
        raise Invalid.field("row", "is not JSON that can be read") from None
    return items.read(row)


def unknown_ratings(items_read: Sequence[Item]) -> Counter[str]:
    """Rating terms that we do not know, with the number of items that have them; such items are stored anyway."""
    return Counter(item.rating_given for item in items_read if item.rating is None)
