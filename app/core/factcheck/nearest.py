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
    """The bytes that so many vectors take in memory."""
    # Four bytes a number: NumPy multiplies numbers of two bytes many times slower.
    return rows * (dimensions * 4 + _ROW_BYTES)


def _no_cosines(ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, float]:
    return {}


@dataclass(frozen=True)
class Nearest:
    """The items nearest to a post, nearest first. ``is_whole``: they were chosen from all vectors that are stored.

    ``background``: how near all are; None where they are too few. ``cosines``: how near the asked ones are, without
    those that have no vector.
    """

    ids: Sequence[uuid.UUID] = ()
    is_whole: bool = True
    background: Background | None = None
    cosines: Callable[[Collection[uuid.UUID]], Mapping[uuid.UUID, float]] = _no_cosines


@dataclass
class _Space:
    """The vectors of one space as rows of a matrix; a row whose item has a newer vector is replaced in its place.

    ``reading`` is held by the thread that reads from the database, ``lock`` only while rows are put or searched: so
    posts are compared with what is in memory while more is read.
    """

    dimensions: int
    reading: threading.Lock = field(default_factory=threading.Lock)
    lock: threading.Lock = field(default_factory=threading.Lock)
    is_loaded: bool = False
    position: int = 0
    ids: list[uuid.UUID] = field(default_factory=list)
    places: dict[uuid.UUID, int] = field(default_factory=dict)
    matrix: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    @property
    def bytes_used(self) -> int:
        return size(max(len(self.ids), len(self.matrix)), self.dimensions)

    def read(self, session: Session, space_id: uuid.UUID) -> bool:
        """Read what was stored since the last time. False: it takes more memory than there is for it."""
        while True:
            rows = session.execute(
                sa.select(FactCheckVector.position, FactCheckVector.item_id, FactCheckVector.vector)
                .where(FactCheckVector.space_id == space_id, FactCheckVector.position > self.position)
                .order_by(FactCheckVector.position)
                .limit(_READ_AT_ONCE)
            ).all()
            if rows:
                needed = len(self.ids) + sum(row.item_id not in self.places for row in rows)
                if size(needed, self.dimensions) > BYTES_MAX:
                    return False
                with self.lock:
                    self.make_room(needed)
                    for position, item_id, vector in rows:
                        self._put(item_id, np.frombuffer(vector, dtype="<f2"))
                        self.position = position
            if len(rows) < _READ_AT_ONCE:
                self.is_loaded = True
                return True

    def clear(self) -> None:
        with self.lock:
            self.is_loaded, self.position = False, 0
            self.ids, self.places = [], {}
            self.matrix = np.zeros((0, 0), np.float32)

    def make_room(self, needed: int) -> None:
        if needed > len(self.matrix):
            larger = np.zeros((max(needed, len(self.matrix) * 9 // 8), self.dimensions), np.float32)
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

    def nearest(self, vector: Vector, most: int, is_whole: bool) -> Nearest:
        near = self.matrix[: len(self.ids)] @ vector
        best = np.argpartition(near, -most)[-most:] if len(near) > most else np.arange(len(near))
        best = best[near[best] > 0]
        best = best[np.lexsort((best, -near[best]))]
        places = self.places

        def cosines(ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, float]:
            # One that was read after this search has a place behind the others.
            asked = ((item_id, places.get(item_id, len(near))) for item_id in ids)
            found = {item_id: float(near[place]) for item_id, place in asked if place < len(near)}
            return {item_id: cosine for item_id, cosine in found.items() if cosine != 0}

        seen = near if np.count_nonzero(near) == len(near) else near[near != 0]
        return Nearest([self.ids[place] for place in best], is_whole, background(seen), cosines)


class Vectors:
    """The vectors of the spaces in use, shared by the threads of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spaces: OrderedDict[uuid.UUID, _Space] = OrderedDict()

    def held(self) -> list[uuid.UUID]:
        """The spaces in memory, the one that was used longest ago first."""
        with self._lock:
            return list(self._spaces)

    def nearest(self, session: Session, space_id: uuid.UUID, vector: Vector, most: int) -> Nearest:
        """The items whose vectors are nearest to this one, nearest first; also some that are gone by now.

        There are none for a space that is too large for the memory.
        """
        dimensions = self._present(session, space_id)
        if not dimensions or len(vector) != dimensions:
            return Nearest()
        with self._lock:
            space = self._spaces.setdefault(space_id, _Space(dimensions))
            self._spaces.move_to_end(space_id)
        # While another thread reads what is new, posts are compared with what is there, if that is anything.
        is_whole = space.reading.acquire(blocking=not space.is_loaded)
        if is_whole:
            try:
                if not self._read(session, space_id, space):
                    return Nearest()
            finally:
                space.reading.release()
        with space.lock:
            return space.nearest(vector, most, is_whole)

    def _present(self, session: Session, space_id: uuid.UUID) -> int | None:
        """The dimensions of a space, None if it is deleted. Deleted spaces leave the memory."""
        held = self.held()
        rows = session.execute(
            sa.select(VectorSpace.id, VectorSpace.dimensions).where(VectorSpace.id.in_({space_id, *held}))
        )
        present: dict[uuid.UUID, int] = {found: dimensions for found, dimensions in rows}
        for gone in set(held) - present.keys():
            self.drop(gone)
        return present.get(space_id)

    def _read(self, session: Session, space_id: uuid.UUID, space: _Space) -> bool:
        """Read what is stored of a space and not in memory. False: the space is too large, and leaves the memory."""
        for _ in range(2):
            if not space.is_loaded:
                whole = sa.select(sa.func.count()).where(FactCheckVector.space_id == space_id)
                rows = session.scalar(whole) or 0
                if size(rows, space.dimensions) > BYTES_MAX:
                    break
                self._make_room(space_id, size(rows, space.dimensions))
                space.make_room(rows)
            if space.read(session, space_id):
                self._make_room(space_id, space.bytes_used)
                return True
            # Vectors that were deleted meanwhile may fill it: read once more what is stored now.
            space.clear()
        self.drop(space_id)
        return False

    def _make_room(self, space_id: uuid.UUID, needed: int) -> None:
        """Drop the spaces that were used longest ago until this one, which needs so many bytes, fits in."""
        with self._lock:
            others = [other for other in self._spaces if other != space_id]
            used = needed + sum(self._spaces[other].bytes_used for other in others)
            for other in others:
                if used <= BYTES_MAX:
                    return
                used -= self._spaces.pop(other).bytes_used

    def drop(self, space_id: uuid.UUID) -> None:
        """Let a space leave the memory, if it is there."""
        with self._lock:
            self._spaces.pop(space_id, None)
