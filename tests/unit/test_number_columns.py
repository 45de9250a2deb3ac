"""Columns of numbers as bytes: they come back as they were."""

import numpy as np
import pytest

from app.core import number_columns


def test_columns_come_back_with_their_types() -> None:
    columns = [
        np.array([0, 255], "u1"),
        np.array([], "<u2"),
        np.array([70_000], "<u4"),
        np.array([-1, 2**62], "<i8"),
        np.array([0.1, 1 / 3], "<f8"),
    ]
    data = number_columns.to_bytes(columns)
    found = number_columns.from_bytes(data)
    assert [column.dtype for column in found] == [column.dtype for column in columns]
    assert [column.tolist() for column in found] == [column.tolist() for column in columns]
    assert number_columns.from_bytes(number_columns.to_bytes([])) == number_columns.from_bytes(b"") == []


@pytest.mark.parametrize(("highest", "kind"), [(255, "u1"), (256, "<u2"), (65_536, "<u4"), (2**32, "<i8")])
def test_a_column_is_as_narrow_as_its_highest_number_lets_it(highest: int, kind: str) -> None:
    narrowed = number_columns.narrowed(np.array([0, highest]))
    assert narrowed.dtype == np.dtype(kind)
    assert narrowed.tolist() == [0, highest]


def test_other_types_are_refused() -> None:
    with pytest.raises(ValueError, match="not in"):
        number_columns.to_bytes([np.array([1], "<i2")])
