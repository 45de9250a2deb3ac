"""The draw: from a seed and a list of people to an order of people. Pure, so that anybody can repeat it.

A person's place is their profile id encrypted with AES-256 under the seed, as a number: lower comes first. The cipher
is a random permutation for everybody who does not know the seed, so each order of people is equally likely, two
people never have the same place, and nobody's place depends on who else is on the list (docs/moderate/panels.md).
"""

import hashlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

SEED_BYTES = 32
ENTRY_BYTES = 17
"""A person in a roll or a shortlist: an id of 16 bytes and a side."""
Places = np.ndarray[tuple[int, int], np.dtype[np.unsignedinteger]]
AT_FIRST = 72
"""How many people of each side a shortlist holds: twice the most seats that a panel can have."""


class Side(IntEnum):
    """A person's side of the community's axis (docs/develop/consensus.md), as a byte of a roll."""

    UNKNOWN = 0
    ONE = 1
    OTHER = 2


@dataclass(frozen=True)
class Order:
    """People of each side in the order of the draw. ``is_all``: the whole roll is in it."""

    sides: Mapping[Side, Sequence[uuid.UUID]]
    is_all: bool

    @property
    def people(self) -> Mapping[uuid.UUID, Side]:
        return {person: side for side, people in self.sides.items() for person in people}


def written(people: Iterable[tuple[uuid.UUID, Side]]) -> bytes:
    """The bytes of a roll: first all ids, sorted, then the sides in the same order.

    So the same people always have the same digest.
    """
    listed = sorted((person.bytes, side) for person, side in people)
    return b"".join(identity for identity, _ in listed) + bytes(side for _, side in listed)


def digest(raters: bytes) -> str:
    return hashlib.sha256(raters).hexdigest()


def places(seed: bytes, ids: bytes) -> Places:
    """The places of people from their ids, 16 bytes each: two 64-bit numbers, the more significant one first."""
    # ECB encrypts each block alone, which is what makes a place depend on one id and the seed only.
    encryptor = Cipher(algorithms.AES256(seed), modes.ECB()).encryptor()  # noqa: S305
    # All blocks are whole, so that nothing is left for ``finalize``.
    return np.frombuffer(encryptor.update(ids), ">u8").reshape(-1, 2)


def order(seed: bytes, raters: bytes, *, first: int | None = AT_FIRST) -> Order:
    """The order of the people in a roll, the ``first`` of each side; None: all of them.

    If no side is known, or only people of one side could be drawn, all are of the side ``UNKNOWN``.
    """
    count = len(raters) // ENTRY_BYTES
    ids, sides = raters[: 16 * count], np.frombuffer(raters, np.uint8, offset=16 * count)
    if not all((sides == side).any() for side in (Side.ONE, Side.OTHER)):
        sides = np.zeros(count, np.uint8)
    high, low = (column.astype(np.uint64) for column in places(seed, ids).T)
    ordered, is_all = {}, True
    for side in Side:
        chosen = np.flatnonzero(sides == side)
        if first is not None and len(chosen) > first:
            # Of 100,000 people a full sort would take longer than to encrypt their ids.
            chosen, is_all = chosen[np.argpartition(high[chosen], first)[: first + 1]], False
        chosen = chosen[np.lexsort((low[chosen], high[chosen]))][:first]
        ordered[side] = [uuid.UUID(bytes=ids[16 * place : 16 * place + 16]) for place in chosen.tolist()]
    return Order(ordered, is_all)


def packed(found: Order) -> bytes:
    """An order as the bytes of a shortlist; the first byte says whether it is all."""
    return bytes([found.is_all]) + b"".join(
        person.bytes + bytes([side]) for side, people in found.sides.items() for person in people
    )


def unpacked(shortlist: bytes) -> Order:
    sides: dict[Side, list[uuid.UUID]] = {side: [] for side in Side}
    for start in range(1, len(shortlist), ENTRY_BYTES):
        sides[Side(shortlist[start + 16])].append(uuid.UUID(bytes=shortlist[start : start + 16]))
    return Order(sides, bool(shortlist[0]))


def next_side(
    left: Mapping[Side, Sequence[uuid.UUID]], seated: Mapping[Side, int], seed: bytes
) -> Side | None:
    """From which side the next person comes: the one with fewer seats; None if no one is left.

    Of two sides with as many seats, the seed says which is first. People whose side is not known come when neither
    side has anybody left.
    """
    first = Side.ONE if seed[-1] % 2 else Side.OTHER
    known = [side for side in (Side.ONE, Side.OTHER) if left[side]]
    if known:
        return min(known, key=lambda side: (seated.get(side, 0), side is not first))
    return Side.UNKNOWN if left[Side.UNKNOWN] else None
