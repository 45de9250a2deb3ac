"""Names of a list's buttons and links: rows that begin alike are told apart for those who hear the list."""

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

ID_SHOWN = 6
"""Last characters of an id that stand in a name when nothing else differs."""


@dataclass(frozen=True)
class RowName:
    """What a row is called, and facts that may tell it from others of that name, the most telling first.

    An empty fact is left out. ``id`` is what differs when all facts agree.
    """

    name: str
    facts: tuple[str, ...]
    id: uuid.UUID

    @property
    def whole(self) -> str:
        """Every fact, for a row that is drawn without the others of its page."""
        return "".join(f", {fact}" for fact in self.facts if fact) + f", {_short(self.id)}"


def told_apart(rows: Sequence[RowName]) -> list[str]:
    """What to add to each name, so that no two of the page are the same; empty for most.

    A fact that all rows of one name share is left out, for it says nothing.
    """
    added = [""] * len(rows)
    most = max((len(row.facts) for row in rows), default=0)
    for place in range(most + 1):
        names = [f"{row.name}{more}".casefold() for row, more in zip(rows, added, strict=True)]
        known = Counter(names)
        facts = [_fact(row, place, most) for row in rows]
        differing = {
            name
            for name in known
            if len({fact for fact, own in zip(facts, names, strict=True) if own == name}) > 1
        }
        for index, (name, fact) in enumerate(zip(names, facts, strict=True)):
            if name in differing and fact:
                added[index] += f", {fact}"
    return added


def _fact(row: RowName, place: int, most: int) -> str:
    if place == most:
        return _short(row.id)
    return row.facts[place] if place < len(row.facts) else ""


def _short(identity: uuid.UUID) -> str:
    """The end of an id: the beginning of ours is a time, which rows of one moment share."""
    return f"id …{str(identity)[-ID_SHOWN:]}"
