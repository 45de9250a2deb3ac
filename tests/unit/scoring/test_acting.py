"""Notes that act on a post: what they need where no camps are found, where camps are hard to tell, and in full."""

from dataclasses import replace

import numpy as np
import pytest

from app.core.scoring import (
    BLIND_MARGIN,
    BLIND_RATINGS,
    RULES,
    Facts,
    Model,
    Rater,
    Regime,
    Scores,
    Sums,
    Verdict,
    decide,
    score,
    score_full,
    slug_of,
)
from app.core.vocabulary import NoteStatus
from tests.unit.scoring.communities import community

NMR = NoteStatus.NEEDS_MORE_RATINGS
CRH = NoteStatus.CURRENTLY_RATED_HELPFUL
WARM = Model(Regime.WARM, mu=0.2, rho_intercept=0.5, rho_factor=0.1, axis=True)
BLIND = replace(WARM, axis=False)
FULL_SIZE = (120, 240, 9000)


def _rated(model: Model, factors: list[float], value: float = 1.0) -> Sums:
    sums = Sums.zero()
    for factor in factors:
        sums = sums.plus(model, Rater(factor=factor), value)
    return sums


def _decided(sums: Sums, model: Model, was: NoteStatus = NMR, *, acting: bool = True) -> Verdict:
    verdict = decide(sums, model, was=was, acting=acting)
    assert verdict is not None
    assert verdict.rule in RULES
    return verdict


def test_without_camps_five_votes_of_one_mind_show_a_note_and_do_not_act() -> None:
    five = _rated(BLIND, [0.0] * 5)
    assert _decided(five, BLIND, acting=False).status is CRH
    waits = _decided(five, BLIND)
    assert (waits.status, waits.rule) == (NMR, "warm:no-camps@1")
    assert _decided(_rated(BLIND, [0.0] * (BLIND_RATINGS - 1)), BLIND).rule == "warm:no-camps@1"
    assert _decided(_rated(BLIND, [0.0] * BLIND_RATINGS), BLIND).status is CRH
    assert _decided(five, BLIND, CRH).rule == "warm:kept", "what acted already is not undone by it"


def test_without_camps_what_acts_needs_a_wider_margin() -> None:
    sums = _rated(BLIND, [0.0] * 20)
    score = _decided(sums, BLIND).intercept
    for above, status in ((BLIND_MARGIN, CRH), (BLIND_MARGIN - 1e-6, NMR)):
        model = replace(BLIND, helpful_at=score - above)
        assert _decided(sums, model).status is status
        assert _decided(sums, model, acting=False).status is CRH


def test_the_less_the_camps_are_told_apart_the_more_acting_asks_of_the_weaker_side() -> None:
    sums = _rated(WARM, [-0.5] * 9 + [0.5] * 5)
    assert _decided(sums, WARM).status is CRH
    assert _decided(sums, replace(WARM, separation=0.7)).status is CRH
    waits = _decided(sums, replace(WARM, separation=0.3))
    assert (waits.status, waits.rule) == (NMR, "warm:unbalanced@2")
    assert _decided(sums, replace(WARM, separation=0.3), acting=False).status is CRH
    even = _rated(WARM, [-0.5] * 8 + [0.5] * 8)
    assert _decided(even, replace(WARM, separation=0.0)).status is CRH


def test_a_crowd_of_one_camp_does_not_act_by_the_few_of_it_who_stand_on_the_other_side() -> None:
    crowd = _rated(WARM, [-0.5] * 210 + [0.4] * 30)
    assert _decided(crowd, WARM).rule == "warm:unbalanced@2"
    assert _decided(crowd, WARM, acting=False).status is CRH


def test_a_status_kept_with_an_earlier_code_still_has_its_sentence() -> None:
    assert RULES["warm:unbalanced"].endswith("one of the sides.")
    assert RULES["warm:unbalanced@2"] != RULES["warm:unbalanced"]
    assert [slug_of(rule) for rule in ("warm:unbalanced", "warm:unbalanced@2", "cold:helpful")] == [
        "unbalanced",
        "unbalanced",
        "helpful",
    ]


def _full(seed: int = 7) -> tuple[Scores, Scores, list[int]]:
    """A large community scored with no acting notes, and with every third one acting."""
    columns = community(*FULL_SIZE, seed=seed).columns
    acting = list(range(0, FULL_SIZE[1], 3))
    plain, scores = score(*columns), score(*columns, Facts(acting=np.array(acting)))
    assert plain.regime is scores.regime is Regime.FULL
    return plain, scores, acting


def test_in_the_full_regime_only_notes_that_act_are_judged_by_the_acting_model() -> None:
    plain, scores, acting = _full()
    others = ~np.isin(scores.note_ids, acting)
    assert scores.statuses[others].tolist() == plain.statuses[others].tolist()
    assert np.array_equal(scores.sums[others], plain.sums[others])
    assert np.array_equal(scores.intercepts[others], plain.intercepts[others])
    assert all(rule.startswith("warm:") for rule in scores.rules[~others])
    assert all(rule.startswith("full:") for rule in scores.rules[others])


def test_the_full_algorithm_itself_knows_no_acting_model() -> None:
    columns = community(*FULL_SIZE, seed=7).columns
    plain = score_full(*columns)
    scores = score_full(*columns, Facts(acting=np.arange(0, FULL_SIZE[1], 3)))
    assert scores.model.acting is None
    assert scores.statuses.tolist() == plain.statuses.tolist()
    assert scores.rules.tolist() == plain.rules.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_what_acts_in_full_meets_what_acts_in_warm_and_no_less_does(seed: int) -> None:
    _, scores, acting = _full(seed)
    model = scores.model.acting
    assert model is not None
    assert model.regime is Regime.WARM
    places = np.flatnonzero(np.isin(scores.note_ids, acting))
    assert CRH in scores.statuses[places]
    for place in places.tolist():
        verdict = decide(scores.sums_of(place), model, was=NMR, acting=True)
        assert verdict is not None
        assert (verdict.status, verdict.rule) == (scores.statuses[place], scores.rules[place])


def test_growing_into_the_full_regime_makes_no_community_blinder() -> None:
    acts = {Regime.WARM: 0, Regime.FULL: 0}
    for seed in range(4):
        note, rater, value = community(*FULL_SIZE, seed=seed).columns
        facts = Facts(acting=np.arange(FULL_SIZE[1]))
        full = score(note, rater, value, facts)
        few = note < 199  # with one note fewer than full asks for the same ratings are scored warm
        warm = score(note[few], rater[few], value[few], facts)
        for scores in (full, warm):
            acts[scores.regime] += int(np.count_nonzero(scores.statuses[scores.note_ids < 199] == CRH))
    assert acts[Regime.FULL] >= 0.95 * acts[Regime.WARM] > 0


def test_a_rating_more_gives_the_sums_of_a_new_tally_under_the_acting_model() -> None:
    note, rater, value = community(*FULL_SIZE, seed=7).columns
    facts = Facts(acting=np.arange(0, FULL_SIZE[1], 3))
    scores = score(note, rater, value, facts)
    places = {int(one): place for place, one in enumerate(scores.rater_ids.tolist())}
    for target in (0, 3, 6):
        sums = Sums.zero()
        for who, given in zip(rater[note == target].tolist(), value[note == target].tolist(), strict=True):
            sums = sums.plus(scores.model.for_note(acting=True), scores.rater(places[who]), given)
        kept = scores.sums_of(int(np.flatnonzero(scores.note_ids == target)[0]))
        assert sums.to_list() == pytest.approx(kept.to_list(), abs=1e-9)


def test_an_acting_model_is_stored_and_read_again() -> None:
    _, scores, _ = _full()
    stored = scores.model.to_json()
    assert Model.from_json(stored) == scores.model
    changed = scores.model.with_settings(7, 0.5)
    assert changed.acting is not None
    assert (changed.acting.min_ratings, changed.acting.helpful_at) == (7, 0.5)
    before = {name: one for name, one in stored.items() if name not in {"acting", "separation", "of_acting"}}
    assert Model.from_json(before).acting is None, "fits made before have none"
