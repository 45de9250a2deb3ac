"""The fact-checks that are nearest to a post by their vectors, searched in the memory of this process."""

import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from app.core.factcheck.matching.features import Background, background
from app.core.models import FactCheckVector, VectorSpace
from app.core.services.pool import Vector

BYTES_MAX = 512 * 1024 * 1024
"""Memory that a process gives to vectors: the spaces that were used longest ago leave it.

100,000 vectors of 384 numbers take about 180 MB. A space that is larger alone is not loaded, and its community's
posts are matched by their words alone.
"""
_ROW_BYTES = 256
"""What a row takes beside its numbers: the id of its item, and where it is."""
_READ_AT_ONCE = 5_000


def size(rows: int, dimensions: int) -> int:
    """The bytes that ``rows`` vectors take in memory."""
    # Four bytes a number: NumPy multiplies numbers of two bytes many times slower.
    return rows * (dimensions * 4 + _ROW_BYTES)


def _no_cosines(ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, float]:
    return {}


@dataclass(frozen=True)
class Nearest:
    """The items nearest to a post, nearest first. ``is_whole``: all vectors that are stored were searched.

    ``background``: how near all are; None where they are too few. ``cosines``: how near the asked ones are, without
    those that have no vector.
    """

    ids: Sequence[uuid.UUID] = ()
    is_whole: bool = True
    background: Background | None = None
    cosines: Callable[[Collection[uuid.UUID]], Mapping[uuid.UUID, float]] = _no_cosines


@dataclass
class _Space:
    """The vectors of one space as rows of a matrix; a row whose item has a newer vector is replaced in its place."""

    dimensions: int
    position: int = 0
    ids: list[uuid.UUID] = field(default_factory=list)
    places: dict[uuid.UUID, int] = field(default_factory=dict)
    matrix: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    @property
    def bytes_used(self) -> int:
        return size(len(self.matrix), self.dimensions)

    def reserve(self, rows: int) -> None:
        larger = np.zeros((rows, self.dimensions), np.float32)
        if self.ids:
            larger[: len(self.ids)] = self.matrix[: len(self.ids)]
        self.matrix = larger

    def read(self, session: Session, space_id: uuid.UUID) -> bool:
        """Read what was stored since the last time. False: it takes more memory than there is for it."""
        newer = (
            sa.select(FactCheckVector.position, FactCheckVector.item_id, FactCheckVector.vector)
            .where(FactCheckVector.space_id == space_id)
            .order_by(FactCheckVector.position)
            .limit(_READ_AT_ONCE)
        )
        while rows := session.execute(newer.where(FactCheckVector.position > self.position)).all():
            needed = len(self.ids) + sum(row.item_id not in self.places for row in rows)
            if size(needed, self.dimensions) > BYTES_MAX:
                return False
            if needed > len(self.matrix):
                self.reserve(max(needed, len(self.matrix) * 9 // 8))
            for position, item_id, packed in rows:
                vector = np.frombuffer(packed, dtype="<f2")
                if item_id not in self.places:
                    self.places[item_id] = len(self.ids)
                    self.ids.append(item_id)
                # A text without a vector is as near to every post as one of another topic.
                self.matrix[self.places[item_id]] = vector if len(vector) == self.dimensions else 0.0
                self.position = position
        return True

    def nearest(self, vector: Vector, most: int) -> Nearest:
        near = self.matrix[: len(self.ids)] @ vector
        best = np.argpartition(near, -most)[-most:] if len(near) > most else np.arange(len(near))
        best = best[near[best] > 0]
        best = best[np.lexsort((best, -near[best]))]

        def cosines(ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, float]:
            # One that was read after this search has a place behind the others.
            asked = ((item_id, self.places.get(item_id, len(near))) for item_id in ids)
            found = {item_id: float(near[place]) for item_id, place in asked if place < len(near)}
            return {item_id: cosine for item_id, cosine in found.items() if cosine != 0}

        seen = near if np.count_nonzero(near) == len(near) else near[near != 0]
        return Nearest([self.ids[place] for place in best], True, background(seen), cosines)


class Vectors:
    """The vectors of the spaces in use, shared by the threads of a process; one thread reads and searches at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spaces: OrderedDict[uuid.UUID, _Space] = OrderedDict()

    def held(self) -> list[uuid.UUID]:
        """The spaces in memory, the one that was used longest ago first."""
        with self._lock:
            return list(self._spaces)

    def nearest(self, session: Session, space_id: uuid.UUID, vector: Vector, most: int) -> Nearest:
        """The items whose vectors are nearest to this one, nearest first; also some that are gone by now.

        There are none for a space that is deleted or too large for the memory.
        """
        with self._lock:
            dimensions = self._present(session, space_id)
            if not dimensions or len(vector) != dimensions:
                return Nearest()
            if space_id not in self._spaces and not self._begin(session, space_id, dimensions):
                return Nearest()
            space = self._spaces[space_id]
            self._spaces.move_to_end(space_id)
            if not space.read(session, space_id):
                # Vectors that were deleted since may fill it: the next post begins again with what is stored then.
                del self._spaces[space_id]
                return Nearest(is_whole=False)
            self._keep_to_size()
            return space.nearest(vector, most)

    def _present(self, session: Session, space_id: uuid.UUID) -> int | None:
        """The dimensions of a space, None if it is deleted. Deleted spaces leave the memory."""
        rows = session.execute(
            sa.select(VectorSpace.id, VectorSpace.dimensions).where(
                VectorSpace.id.in_({space_id, *self._spaces})
            )
        )
        present: dict[uuid.UUID, int] = {found: dimensions for found, dimensions in rows}
        for gone in self._spaces.keys() - present.keys():
            del self._spaces[gone]
        return present.get(space_id)

    def _begin(self, session: Session, space_id: uuid.UUID, dimensions: int) -> bool:
        """Make room for a space. False: it is too large."""
        rows = session.scalar(sa.select(sa.func.count()).where(FactCheckVector.space_id == space_id)) or 0
        if size(rows, dimensions) > BYTES_MAX:
            return False
        space = self._spaces[space_id] = _Space(dimensions)
        space.reserve(rows)
        self._keep_to_size()
        return True

    def _keep_to_size(self) -> None:
        """Drop the spaces that were used longest ago until the others, the newest at least, fit in."""
        while len(self._spaces) > 1 and sum(space.bytes_used for space in self._spaces.values()) > BYTES_MAX:
            self._spaces.popitem(last=False)
