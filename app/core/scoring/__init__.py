"""Note scoring: arrays of ratings in, scores and statuses out (docs/develop/consensus.md).

It uses no database, no clock and no randomness.
"""

from app.core.scoring.arrays import BoolArray, FloatArray, IntArray
from app.core.scoring.axis import AxisTest, Camps
from app.core.scoring.model import Facts, Model, Rater
from app.core.scoring.rounds import Scores, score, score_full
from app.core.scoring.rules import FOR_BELOW, decide
from app.core.scoring.sums import Counts, Sides, Sums
from app.core.scoring.verdict import (
    BLIND_MARGIN,
    BLIND_RATINGS,
    GRAVE_MARGIN,
    HELPFUL_AT,
    INERTIA,
    MIN_RATINGS,
    RULES,
    VALUES,
    Regime,
    Verdict,
    not_helpful_at,
    shown,
    slug_of,
)
from app.core.scoring.viewpoints import Camp, Mark, Strip, strip

__all__ = [
    "BLIND_MARGIN",
    "BLIND_RATINGS",
    "FOR_BELOW",
    "GRAVE_MARGIN",
    "HELPFUL_AT",
    "INERTIA",
    "MIN_RATINGS",
    "RULES",
    "VALUES",
    "AxisTest",
    "BoolArray",
    "Camp",
    "Camps",
    "Counts",
    "Facts",
    "FloatArray",
    "IntArray",
    "Mark",
    "Model",
    "Rater",
    "Regime",
    "Scores",
    "Sides",
    "Strip",
    "Sums",
    "Verdict",
    "decide",
    "not_helpful_at",
    "score",
    "score_full",
    "shown",
    "slug_of",
    "strip",
]
