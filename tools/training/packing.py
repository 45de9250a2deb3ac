"""Writes models as one file of weights, which `app.core.classify.linear` reads: the same models give the same bytes."""

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.classify.features import FEATURES_VERSION
from tools.training.examples import CATEGORIES
from tools.training.fitting import Floats, Linear

KEPT = 30_000
"""The weights kept per category, the largest ones."""
STEPS = 32_767
FIRST_DATE = (1980, 1, 1, 0, 0, 0)


def packed(
    models: Mapping[str, Linear],
    points: Mapping[str, Floats],
    curves: Mapping[str, tuple[Floats, Floats, int]],
    thresholds: Floats,
    facts: Mapping[str, Any],
) -> bytes:
    """The file's content. ``curves``: per category the shares caught and raised, and the number of abusive posts."""
    categories = [category for category in CATEGORIES if category in models]
    kept, weights, scales = [], [], []
    for category in categories:
        places, steps, scale = _quantised(models[category].weights)
        kept.append(np.packbits(places))
        weights.append(steps[places])
        scales.append(scale)
    measured = {category: curves[category][2] for category in categories}
    written = {**facts, "categories": categories, "features": FEATURES_VERSION, "measured": measured}
    arrays: dict[str, NDArray[Any]] = {
        "kept": np.stack(kept),
        "weights": np.concatenate(weights),
        "scales": np.array(scales),
        "constants": np.array([round(models[category].constant, 4) for category in categories]),
        "points": np.stack([np.round(points[category], 4) for category in categories]),
        "thresholds": thresholds,
        "caught": np.stack([np.round(curves[category][0], 4) for category in categories]),
        "raised": np.stack([np.round(curves[category][1], 6) for category in categories]),
        "facts": np.frombuffer(json.dumps(written, sort_keys=True).encode(), np.uint8),
    }
    return zipped(arrays)


def _quantised(weights: Floats) -> tuple[NDArray[np.bool_], NDArray[np.int16], float]:
    """The buckets kept, all weights in whole steps, and the size of a step.

    The heaviest weights, of the tokens for groups, links and numbers among them, are some ten times as large as most:
    16 bits hold both as they are.
    """
    # Stable, so that equal weights are kept in the order of their buckets.
    order = np.argsort(-np.abs(weights), kind="stable")[:KEPT]
    # Four digits, rounded up: the last ones differ between processors.
    largest = float(np.abs(weights[order[0]]))
    scale = float(f"{largest / STEPS * 1.001:.4g}") or 1.0
    steps = np.rint(weights / scale).astype(np.int16)
    places = np.zeros(len(weights), np.bool_)
    places[order] = True
    return places & (steps != 0), steps, scale


def zipped(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """An uncompressed .npz with fixed dates: compression and dates would differ between machines."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as file:
        for name, array in arrays.items():
            part = io.BytesIO()
            np.lib.format.write_array(part, np.ascontiguousarray(array), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", FIRST_DATE)
            entry.create_system = 3
            file.writestr(entry, part.getvalue())
    return content.getvalue()
