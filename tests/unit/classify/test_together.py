"""Which classifiers are asked about a text: all, but for services that only help where the shipped model is unsure."""

from dataclasses import dataclass, field

import pytest

from app.core.classify import SHIPPED_MODEL, Context, Result
from app.core.classify.together import score_each


@dataclass
class Scorer:
    """A classifier that gives every text the same scores, and keeps what it was asked."""

    name: str
    scores: dict[str, float]
    local: bool = True
    only_if_unsure: bool = False
    categories: frozenset[str] = frozenset({"toxicity", "hate"})
    cost: int = 1
    asked: list[str] = field(default_factory=list)

    def score(self, texts: list[str], context: Context) -> list[Result]:
        self.asked += texts
        return [Result(scores=self.scores) for _ in texts]


def ask(shipped: dict[str, float] | None, *, only_if_unsure: bool = True) -> bool:
    """Whether a service was asked beside a shipped model with these scores (None: without one)."""
    service = Scorer("service.own", {"toxicity": 0.9}, local=False, only_if_unsure=only_if_unsure)
    others = [] if shipped is None else [Scorer(SHIPPED_MODEL, shipped)]
    # The order of the classifiers says nothing about who is asked first.
    result, *_ = score_each([service, *others], "a text", Context())
    assert result.error is None
    assert result.scores == ({"toxicity": 0.9} if service.asked else {})
    return bool(service.asked)


@pytest.mark.parametrize("score", [0.2, 0.5, 0.8])
def test_a_service_for_unsure_posts_is_asked_where_the_shipped_model_is_unsure(score: float) -> None:
    assert ask({"toxicity": score, "hate": 0.01})


@pytest.mark.parametrize("score", [0.0, 0.19, 0.81])
def test_it_is_left_out_where_the_shipped_model_is_sure_of_every_category(score: float) -> None:
    assert not ask({"toxicity": score, "hate": 0.01, "spam": 0.5})


def test_it_is_asked_where_the_shipped_model_does_not_know_the_language_or_a_category() -> None:
    assert ask({})
    assert ask({"toxicity": 0.01})
    assert ask(None)


def test_a_service_for_every_post_is_always_asked() -> None:
    assert ask({"toxicity": 0.0, "hate": 0.0}, only_if_unsure=False)
