"""The fact-checks that are nearest to a post by their vectors, searched in the memory of this process."""

import threading
import uuid
from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from app.core.models import FactCheckVector, VectorSpace
from app.core.services.embedding import Vector

SPACES = 4
"""Spaces that a process keeps in memory, the most recently used ones: 100,000 vectors of 384 numbers take 154 MB."""
_READ_AT_ONCE = 5_000


@dataclass
class _Space:
    """The vectors of one space as rows of a matrix; a row whose item has a newer vector is replaced in its place."""

    dimensions: int
    lock: threading.Lock = field(default_factory=threading.Lock)
    position: int = 0
    ids: list[uuid.UUID] = field(default_factory=list)
    places: dict[uuid.UUID, int] = field(default_factory=dict)
    matrix: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    def read(self, session: Session, space_id: uuid.UUID) -> None:
        """Read what was stored since the last time."""
        if not self.ids:
            whole = sa.select(sa.func.count()).where(FactCheckVector.space_id == space_id)
            self._make_room(session.scalar(whole) or 0)
        while True:
            rows = session.execute(
                sa.select(FactCheckVector.position, FactCheckVector.item_id, FactCheckVector.vector)
                .where(FactCheckVector.space_id == space_id, FactCheckVector.position > self.position)
                .order_by(FactCheckVector.position)
                .limit(_READ_AT_ONCE)
            ).all()
            self._make_room(len(rows))
            for position, item_id, vector in rows:
                self._put(item_id, np.frombuffer(vector, dtype="<f2"))
                self.position = position
            if len(rows) < _READ_AT_ONCE:
                return

    def _make_room(self, more: int) -> None:
        needed = len(self.ids) + more
        if needed > len(self.matrix):
            larger = np.zeros((max(needed, len(self.matrix) * 3 // 2), self.dimensions), np.float32)
            if self.ids:
                larger[: len(self.ids)] = self.matrix[: len(self.ids)]
            self.matrix = larger

    def _put(self, item_id: uuid.UUID, vector: NDArray[np.float16]) -> None:
        place = self.places.get(item_id)
        if place is None:
            place = self.places[item_id] = len(self.ids)
            self.ids.append(item_id)
        # A text without a vector is as near to every post as one of another topic.
        self.matrix[place] = vector if len(vector) == self.dimensions else 0.0

    def nearest(self, vector: Vector, most: int) -> list[uuid.UUID]:
        near = self.matrix[: len(self.ids)] @ vector
        best = np.argpartition(-near, most)[:most] if len(near) > most else np.arange(len(near))
        best = best[near[best] > 0]
        return [self.ids[place] for place in best[np.lexsort((best, -near[best]))]]


class Vectors:
    """The vectors of the spaces in use, shared by the threads of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spaces: OrderedDict[uuid.UUID, _Space] = OrderedDict()

    def nearest(self, session: Session, space_id: uuid.UUID, vector: Vector, most: int) -> list[uuid.UUID]:
        """The items whose vectors are nearest to this one, nearest first; also some that are gone by now."""
        dimensions = session.scalar(sa.select(VectorSpace.dimensions).where(VectorSpace.id == space_id))
        if not dimensions or len(vector) != dimensions:
            return []
        space = self._space(space_id, dimensions)
        with space.lock:
            space.read(session, space_id)
            return space.nearest(vector, most)

    def _space(self, space_id: uuid.UUID, dimensions: int) -> _Space:
        with self._lock:
            space = self._spaces.setdefault(space_id, _Space(dimensions))
            self._spaces.move_to_end(space_id)
            while len(self._spaces) > SPACES:
                self._spaces.popitem(last=False)
            return space
