"""Columns of numbers as bytes: what thousands of rows would hold, in one value of a database's row."""

from collections.abc import Sequence
from typing import Any

import numpy as np

Column = np.ndarray[Any, np.dtype[Any]]
_TYPES = tuple(np.dtype(name) for name in ("u1", "<u2", "<u4", "<i8", "<f8"))
_HEAD = np.dtype([("type", "u1"), ("length", "<u4")])


def narrowed(column: Column) -> Column:
    """The column of whole numbers from 0 on in the narrowest type that holds the highest of them."""
    highest = int(column.max()) if len(column) else 0
    narrowest = next((kind for kind in _TYPES[:3] if highest <= np.iinfo(kind).max), _TYPES[3])
    return column.astype(narrowest)


def to_bytes(columns: Sequence[Column]) -> bytes:
    """The columns one after the other, each with its type and length; at most 255 of them.

    Raises:
        ValueError: a column is of a type that is not kept: bytes, whole numbers of 16, 32 or 64 bits, and floats.
    """
    heads = np.array([(_TYPES.index(column.dtype), len(column)) for column in columns], _HEAD)
    return b"".join([bytes([len(columns)]), heads.tobytes(), *(column.tobytes() for column in columns)])


def from_bytes(data: bytes) -> list[Column]:
    """The columns of ``to_bytes``; none of no bytes. They cannot be written to."""
    if not data:
        return []
    heads = np.frombuffer(data, _HEAD, count=data[0], offset=1)
    place = 1 + heads.nbytes
    columns: list[Column] = []
    for kind, length in heads.tolist():
        columns.append(np.frombuffer(data, _TYPES[kind], count=length, offset=place))
        place += columns[-1].nbytes
    return columns
