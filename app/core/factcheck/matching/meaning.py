"""How near fact-checks are to a post by their vectors, in numbers that mean the same for every embeddings model.

For one model unrelated texts have a cosine of 0.0, for another of 0.8. So a cosine is compared with those that the same
post has with all other fact-checks: with their mean, and with that of the nearest, as cross-domain similarity local
scaling does (Conneau et al. 2018). Vectors that mean nothing have no item that stands out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NAMES = (
    "meaning_near",
    "meaning_lead",
    "meaning_place",
    "meaning_far_out",
    "meaning_above_nearest",
    "meaning_and_words",
)
LARGEST = 20
"""The nearest items whose mean says how near this post's nearest ones are anyway."""
LEAST = 200
"""Items below which nothing is said: among fewer it is chance how near the nearest ones are."""
_PLACE = NAMES.index("meaning_place")
_EQUAL = 1e-6


@dataclass(frozen=True)
class Background:
    """How near all items are to a post: mean and standard deviation of the cosines, and the largest, largest first."""

    mean: float
    deviation: float
    largest: Sequence[float]


def background(cosines: NDArray[np.floating]) -> Background | None:
    """The background of a post from its cosines with all items; None if they are too few."""
    if len(cosines) < LEAST:
        return None
    largest = np.sort(np.partition(cosines, -LARGEST)[-LARGEST:])[::-1].tolist()
    return Background(float(cosines.mean()), float(cosines.std()), largest)


def matrix(cosines: Floats, background: Background, post_in_both: Floats) -> Floats:
    """One row of features for each item with these cosines; ``post_in_both`` is that feature of its words."""
    largest = np.array(background.largest)
    usual = float(largest[1:].mean()) if len(largest) > 1 else background.mean
    spread = max(background.deviation, 1e-4)
    scale = max(usual - background.mean, spread)
    near = (cosines - background.mean) / scale
    places = (largest[None, :] > cosines[:, None] + _EQUAL).sum(axis=1)
    best_other = np.where(places == 0, largest[min(1, len(largest) - 1)], largest[0])
    return np.column_stack(
        [
            np.clip(near, -1, 4),
            np.clip((cosines - best_other) / scale, -1, 2),
            np.where(places < len(largest), 1.0 / (1.0 + places), 0.0),
            np.clip((cosines - background.mean) / spread, -2, 15) / 5,
            np.clip(near - 1, 0, 3),
            np.clip(near, 0, 4) * post_in_both,
        ]
    )


def is_nearest(row: Floats) -> bool:
    """Whether the item with these features is the nearest of all."""
    return bool(row[_PLACE] > 1.0 - _EQUAL)
