"""Several classifiers' scores of one post, as routing gets them."""

from app.core.classify import Context, Result
from app.core.classify.corpus import SAMPLES
from app.core.classify.seed import SeedClassifier
from app.core.requests.scorings import Scoring, decided
from app.core.thresholds.routing import CategoryRule
from app.core.vocabulary import ActionTier

SPAM = CategoryRule("spam", tier2=0.55, tier1=0.95)
NAMES = frozenset({"spam"})


def test_the_shipped_model_never_outdoes_a_rule_that_is_sure_enough_to_act() -> None:
    model = SeedClassifier()
    texts = [
        *SAMPLES["spam_certain"],
        "WIN FREE MONEY NOW! " * 40,
        "You won a prize, click http://a.example " * 40,
    ]
    for result in model.score(texts, Context(language="en")):
        assert max(result.scores.values()) <= 0.95
        rules = Scoring("rules", "1", NAMES, Result(scores={"spam": 0.9501}), categories=NAMES)
        by_model = Scoring("model", "1", model.tier1_categories, result, categories=model.categories)
        for order in ([rules, by_model], [by_model, rules]):
            route = decided(order, [SPAM])
            assert route is not None
            assert (route.tier, route.score) == (ActionTier.IMMEDIATE, 0.9501)


def test_alone_it_only_asks_people() -> None:
    model = Scoring("model", "1", frozenset(), Result(scores={"spam": 0.99}), categories=NAMES)
    route = decided([model], [SPAM])
    assert route is not None
    assert (route.tier, route.score) == (ActionTier.CONSENSUS, 0.99)
