"""Names of rows, unique on a page for screen reader users, who hear the buttons and links of similar rows."""

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

ID_SHOWN = 6
"""How many characters of an id a name shows when nothing else differs."""


@dataclass(frozen=True)
class RowName:
    """A row's name, and facts that distinguish it from rows with the same name; the most useful fact comes first.

    An empty fact is left out. ``id`` is used when all facts are equal.
    """

    name: str
    facts: tuple[str, ...]
    id: uuid.UUID

    @property
    def whole(self) -> str:
        """All facts as text, for a row that is rendered without the other rows of its page."""
        return "".join(f", {fact}" for fact in self.facts if fact) + f", {_short(self.id)}"


def distinguish(rows: Sequence[RowName]) -> list[str]:
    """Return the text to add to each name so that all names of the page differ; an empty string for most.

    A fact that all rows with the same name share is left out, because it does not distinguish them.
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
    """The end of an id. Our ids begin with a timestamp, which rows of the same moment share."""
    return f"id …{str(identity)[-ID_SHOWN:]}"
