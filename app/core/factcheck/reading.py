"""Files of fact-checks, one JSON object a line: read and checked before anything is kept (decision 0019)."""

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
"""Items of one transaction: others may write in between, and repeating an import repeats nothing."""


@dataclass
class Reading:
    """What a file holds: the items of its good lines, and what is wrong with the others, by line."""

    items: list[Item] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    bad_lines: int = 0


def read(lines: IO[bytes]) -> Reading:
    """Every line of a file, read and checked; empty lines are passed over."""
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
            # The rest of an endless line is read away, a piece at a time.
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


def unknown_ratings(found: Sequence[Item]) -> Counter[str]:
    """Ratings in words that we do not know, with how many items have them; such items are kept as they are."""
    return Counter(item.rating_given for item in found if item.rating is None)
