"""Routing is pure and strictly greater (docs/integrate/api.md)."""

import pytest

from app.core.thresholds.routing import CategoryRule, Scored, decide, raise_to
from app.core.vocabulary import ActionTier, Verb

SPAM = CategoryRule("spam", tier2=0.55, tier1=0.95, severity=10)
THREAT = CategoryRule("threat", tier2=0.55, severity=70)
T1, T2 = ActionTier.IMMEDIATE, ActionTier.CONSENSUS


@pytest.mark.parametrize(
    ("score", "tier"),
    [(0.55, None), (0.5501, T2), (0.95, T2), (0.9501, T1), (1.0, T1), (0.0, None)],
)
def test_a_score_must_exceed_its_threshold(score: float, tier: ActionTier | None) -> None:
    route = decide({"spam": Scored(score)}, [SPAM])
    assert (route.tier if route else None) is tier


def test_a_category_with_only_tier_2_never_acts_by_itself() -> None:
    route = decide({"threat": Scored(1.0)}, [THREAT])
    assert route is not None
    assert route.tier is T2


def test_tier_1_beats_tier_2_and_then_the_severer_category_wins() -> None:
    route = decide({"spam": Scored(0.99), "threat": Scored(0.99)}, [THREAT, SPAM])
    assert route is not None
    assert (route.category, route.tier) == ("spam", T1)
    route = decide({"spam": Scored(0.9), "threat": Scored(0.6)}, [SPAM, THREAT])
    assert route is not None
    assert route.category == "threat"


def test_between_equals_the_wider_margin_wins() -> None:
    rules = [CategoryRule("a", 0.5), CategoryRule("b", 0.6)]
    route = decide({"a": Scored(0.7), "b": Scored(0.9)}, rules)
    assert route is not None
    assert route.category == "b"


def test_uncalibrated_scores_reach_tier_2_at_most() -> None:
    route = decide({"spam": Scored(1.0, calibrated=False)}, [SPAM])
    assert route is not None
    assert route.tier is T2


def test_disabled_and_unknown_categories_route_nowhere() -> None:
    off = CategoryRule("spam", tier2=0.1, enabled=False)
    assert decide({"spam": Scored(1.0), "unheard_of": Scored(1.0)}, [off]) is None


def test_the_verb_is_the_tiers_own() -> None:
    rule = CategoryRule("spam", tier2=0.5, tier1=0.9, tier1_action=Verb.DELETE, tier2_action=Verb.FLAG)
    high, low = decide({"spam": Scored(0.95)}, [rule]), decide({"spam": Scored(0.6)}, [rule])
    assert high is not None
    assert low is not None
    assert (high.verb, low.verb) == (Verb.DELETE, Verb.FLAG)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("sure", "unsure", "tier", "score"),
    [
        (0.9, 0.93, ActionTier.IMMEDIATE, 0.9),
        (0.9, 0.85, ActionTier.IMMEDIATE, 0.9),
        (0.8, 0.93, ActionTier.CONSENSUS, 0.93),
        (0.3, 0.93, ActionTier.CONSENSUS, 0.93),
        (0.3, 0.4, None, None),
    ],
)
def test_a_higher_score_that_may_not_act_keeps_no_lower_one_from_acting(
    sure: float, unsure: float, tier: ActionTier | None, score: float | None, turned: bool
) -> None:
    rule = CategoryRule("spam", tier2=0.55, tier1=0.85)
    scores: dict[str, Scored] = {}
    given = [Scored(0.1), Scored(sure), Scored(unsure, calibrated=False)]
    for scored in reversed(given) if turned else given:
        raise_to(scores, "spam", scored)
    assert scores["spam"].score == max(sure, unsure)
    route = decide(scores, [rule])
    assert (route.tier, route.score) == (tier, score) if route is not None else tier is None
