"""Medians and other quantiles of numbers, by nearest rank."""

import math
from collections.abc import Sequence
from typing import TypeVar

Number = TypeVar("Number", int, float)


def nearest(values: Sequence[Number], share: float) -> Number | None:
    """The smallest of the sorted values with at least that share of them at or below it; None without values."""
    return values[math.ceil(share * len(values) - 1e-6) - 1] if values else None
