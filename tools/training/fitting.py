"""One logistic regression per category over hashed features, each source weighted by the root of its size."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize

from app.core.classify import features
from app.core.classify.corpus import Example
from tools.training.examples import CATEGORIES

Floats = NDArray[np.float64]

STRENGTH = 2.0
"""How much the examples count against the preference for small weights."""
STEPS = 100
SOURCE_WEIGHTS: Mapping[str, float] = {"paradetox": 0.3, "madlibs": 0.3, "openai_moderation": 3.0}
"""Sources that count for less than the root of their size: profanity-heavy, or made of few phrases; and one for more:
the only posts by others about harming oneself and about sex are in it."""
OWN_WEIGHT = 0.7
"""The same, for the sections of the own corpus."""
LOOKALIKES = (
    "identity",
    "negated",
    "counter_quote",
    "figures",
    "games",
    "machines",
    "look_violent",
    "family",
    "praise",
    "quoted_abuse",
    "lookup",
)
"""Sections of harmless sentences that look harmful; they count double."""
NOISY: Mapping[tuple[str, str], float] = {("davidson", "hate"): 0.5}
"""Harmless labels, by source and category, that count for less because they are known to be noisy."""
BORROWED: Mapping[tuple[str, str], float] = {("hate", "toxicity"): 0.2}
"""Shares of one category's weights that are added to another's: few sets label hate, many label abuse."""


@dataclass(frozen=True)
class Linear:
    """The weights of a category by bucket, and its constant."""

    weights: Floats
    constant: float

    def logits(self, matrix: "sp.csr_matrix[np.float64]") -> Floats:
        return np.asarray(matrix @ self.weights, np.float64) + self.constant


def matrix_of(texts: Sequence[str]) -> "sp.csr_matrix[np.float64]":
    """One row of features per text; of a long text only its first part."""
    lengths, buckets, values = [0], [], []
    for text in texts:
        found, value = features.vectorise(features.chunks(text)[0])
        lengths.append(len(found))
        buckets.append(found.astype(np.int32))
        values.append(value)
    return sp.csr_matrix(
        (np.concatenate(values), np.concatenate(buckets), np.cumsum(lengths)),
        shape=(len(texts), features.BUCKETS),
    )


def fit_all(
    matrix: "sp.csr_matrix[np.float64]", examples: Sequence[Example], chosen: NDArray[np.bool_]
) -> dict[str, Linear]:
    """A model per category that has both labels among the chosen examples."""
    fitted = {}
    for category in CATEGORIES:
        labels = labels_of(examples, category)
        rows = np.flatnonzero((labels >= 0) & chosen)
        if len(np.unique(labels[rows])) == 2:
            weights = _example_weights(category, [examples[int(row)] for row in rows], labels[rows])
            fitted[category] = _fit(matrix[rows], labels[rows], weights)
    for (category, lender), share in BORROWED.items():
        if category in fitted and lender in fitted:
            own, lent = fitted[category], fitted[lender]
            fitted[category] = Linear(
                own.weights + share * lent.weights, own.constant + share * lent.constant
            )
    return fitted


def labels_of(examples: Sequence[Example], category: str) -> NDArray[np.int64]:
    """1, 0, or -1 where the label is unknown."""
    return np.array([example.labels.get(category, -1) for example in examples], np.int64)


def _example_weights(category: str, examples: Sequence[Example], labels: NDArray[np.int64]) -> Floats:
    """Weights with mean 1: the root of a source's size shared by its examples, both labels balanced half way."""
    # The sections of the own corpus are sources of their own: each is about one kind of sentence.
    sources = np.array([example.source for example in examples])
    weights = np.ones(len(examples))
    for source in np.unique(sources):
        of_source = sources == source
        count = int(of_source.sum())
        weights[of_source] = _source_weight(str(source)) / np.sqrt(count)
        weights[of_source & (labels == 0)] *= NOISY.get((source, category), 1.0)
    weights[labels == 1] *= np.sqrt(weights[labels == 0].sum() / weights[labels == 1].sum())
    return np.asarray(weights * (len(weights) / weights.sum()), np.float64)


def _source_weight(source: str) -> float:
    if not source.startswith("own:"):
        return SOURCE_WEIGHTS.get(source, 1.0)
    looks_harmful = source.removeprefix("own:benign.").startswith(LOOKALIKES)
    return 2.0 if looks_harmful else OWN_WEIGHT


def _fit(matrix: "sp.csr_matrix[np.float64]", labels: NDArray[np.int64], weights: Floats) -> Linear:
    """Minimise ``STRENGTH * sum(weight * log-loss) + |w|^2 / 2``; the constant is free."""
    transposed = matrix.T.tocsr()
    signs = np.where(labels == 1, 1.0, -1.0)

    def loss(parameters: Floats) -> tuple[float, Floats]:
        own = parameters[:-1]
        margins = signs * (matrix @ own + parameters[-1])
        pull = -signs * weights / (1.0 + np.exp(np.clip(margins, -500.0, 500.0)))
        value = STRENGTH * float(weights @ np.logaddexp(0.0, -margins)) + 0.5 * float(own @ own)
        return value, np.append(STRENGTH * (transposed @ pull) + own, STRENGTH * pull.sum())

    found = minimize(
        loss,
        np.zeros(matrix.shape[1] + 1),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": STEPS, "ftol": 1e-7, "maxcor": 8},
    )
    return Linear(found.x[:-1], float(found.x[-1]))
