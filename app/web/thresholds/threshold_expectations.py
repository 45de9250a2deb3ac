"""What the shipped classifiers are expected to do at a threshold, as measured when they were made."""

from collections.abc import Sequence

from app.core.classify import Classifier
from app.core.classify.seed import SeedClassifier
from app.web.filters import percent

FEW = 100
"""Below this number of posts, the sentence says that few were measured."""


def expectation(classifiers: Sequence[Classifier], category: str, threshold: str) -> str | None:
    """A sentence for the Thresholds page, or None: unknown category, no valid threshold, other classifiers.

    ``threshold`` is what the field holds.
    """
    model = next((classifier for classifier in classifiers if isinstance(classifier, SeedClassifier)), None)
    curve = model.curve(category) if model is not None else None
    try:
        value = float(threshold)
    except ValueError:
        return None
    if curve is None or not 0.0 <= value <= 1.0:
        return None
    caught, raised = curve.shares_at(value)
    few = f" Measured on {curve.posts} posts only." if curve.posts < FEW else ""
    return (
        f"On sources it had not seen, this Tier 2 asked people about some {percent(caught)} of such posts "
        f"and {_small(raised)} of ordinary talk.{few}"
    )


def _small(share: float) -> str:
    return "less than 0.1 %" if share < 0.001 else percent(share, 1)
