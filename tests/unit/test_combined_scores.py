"""Several classifiers' scores of one post, as routing gets them."""

from app.core.classify import Result
from app.core.policies.routing import CategoryRule
from app.core.requests.scorings import Scoring, combined, decided
from app.core.vocabulary import ActionTier

SPAM = CategoryRule("spam", tier2=0.55, tier1=0.95)


def _scoring(name: str, score: float, tier1: frozenset[str]) -> Scoring:
    return Scoring(name, "1", tier1, Result(scores={"spam": score}), categories=frozenset({"spam"}))


def test_a_classifier_that_may_not_act_alone_hides_none_that_may() -> None:
    rules = _scoring("rules", 0.97, frozenset({"spam"}))
    model = _scoring("model", 0.99, frozenset())
    for order in ([rules, model], [model, rules]):
        assert combined(order)["spam"].score == 0.99
        route = decided(order, [SPAM])
        assert route is not None
        assert (route.tier, route.score) == (ActionTier.IMMEDIATE, 0.97)


def test_alone_it_only_asks_people() -> None:
    route = decided(
        [_scoring("model", 0.99, frozenset()), _scoring("rules", 0.6, frozenset({"spam"}))], [SPAM]
    )
    assert route is not None
    assert (route.tier, route.score) == (ActionTier.CONSENSUS, 0.99)
