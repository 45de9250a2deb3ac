"""Simulated votes under attack: repeatable, honest about what is attacked, and our method as the service has it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from app.core.scoring import GRAVE_MARGIN, Rater, Regime, Sums, decide
from app.core.vocabulary import NoteStatus
from tests.once import Shared
from tools.bench.consensus import command, trials
from tools.bench.consensus.attacks import CAMP, Attack, strike
from tools.bench.consensus.command import simulate_consensus
from tools.bench.consensus.drawn import Drawable, DrawnReview, Who
from tools.bench.consensus.methods import Outcome, bayes, majority
from tools.bench.consensus.population import (
    HOURS,
    NO,
    UNSURE,
    YES,
    Community,
    Content,
    People,
    Truth,
    Votes,
    community,
    truth_of,
)
from tools.bench.consensus.results import Cell, Method, Report, wilson
from tools.bench.consensus.review import Review
from tools.bench.consensus.trials import SINCE, VOTERS, Plan, is_past, past_of, run

UNRATED = NoteStatus.NEEDS_MORE_RATINGS
SMALL = Plan(
    trials=1,
    raters=60,
    items=100,
    shares=(0.3,),
    stages=(),
    balances=(),
    crowds=(),
    united_stages=(),
    united_crowds=(),
    large=0,
)
TINY = Plan(
    trials=1,
    raters=20,
    items=30,
    shares=(0.3,),
    stages=((20, 30, 8.0),),
    balances=(0.2,),
    crowds=((20, 15, 120),),
    united_stages=((20, 30, 8.0),),
    united_crowds=((20, 15, 120),),
    large_raters=30,
    large_items=30,
    large_shares=(0.3,),
)
HALF = HOURS / 2


@pytest.fixture
def in_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer communities of each size, and fewer notes of each crowd, than a figure needs that is to be believed."""
    monkeypatch.setattr(trials, "STAGE_ITEMS", 30)
    monkeypatch.setattr(trials, "CROWD_NOTES", 60)


@pytest.fixture(scope="module")
def report(shared: Shared) -> Report:
    return shared.once("consensus", lambda: run(SMALL, lambda _: None))


def _cell(report: Report, attack: Attack | None) -> Cell:
    return next(cell for cell in report.cells if cell.attack is attack)


def _past(here: Community) -> Review:
    review = Review(here.people, here.content)
    review.hear(here.votes.where(here.votes.at < HALF))
    return review


def test_the_same_seed_gives_the_same_report_and_another_another() -> None:
    plan = replace(SMALL, raters=20, items=30)
    first = run(plan, lambda _: None)
    assert run(plan, lambda _: None) == first
    assert run(replace(plan, seed=2), lambda _: None) != first


def test_left_in_peace_all_three_mostly_act_rightly(report: Report) -> None:
    quiet = _cell(report, None).measured
    assert quiet[Method.OURS].wrongful.share <= 0.05
    assert quiet[Method.OURS].missed.share <= 0.6
    assert quiet[Method.MAJORITY].missed.share <= 0.1


def test_a_pile_on_carries_a_majority_but_not_us(report: Report) -> None:
    attacked = _cell(report, Attack.PILE_ON).measured
    assert attacked[Method.MAJORITY].wrongful.share > 0.4
    assert attacked[Method.OURS].wrongful.share <= 0.1
    assert attacked[Method.OURS].wrongful.of == attacked[Method.MAJORITY].wrongful.of > 10


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"), [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (1, 100, 0.0018, 0.0545)]
)
def test_intervals_are_those_of_wilson(hits: int, of: int, low: float, high: float) -> None:
    assert wilson(hits, of) == pytest.approx((low, high), abs=5e-5)
    assert wilson(of - hits, of) == pytest.approx((1 - high, 1 - low), abs=5e-5)


def test_nothing_seen_says_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def test_content_is_what_the_camps_expected_votes_make_it() -> None:
    quality, slant = np.array([0.9, 0.1, 0.5, 0.5]), np.array([0.0, 0.0, 0.4, 0.0])
    assert truth_of(quality, slant).tolist() == [Truth.BAD, Truth.FINE, Truth.DIVISIVE, Truth.BETWEEN]


@pytest.mark.parametrize(
    ("attack", "level", "truths"),
    [
        (Attack.PILE_ON, YES, {Truth.FINE, Truth.DIVISIVE}),
        (Attack.NEUTRAL, UNSURE, {Truth.BAD}),
        (Attack.PROTECT, NO, {Truth.BAD}),
    ],
)
def test_the_organised_of_one_camp_vote_alike_on_their_targets_alone(
    attack: Attack, level: int, truths: set[Truth]
) -> None:
    here = community(np.random.default_rng(4), 60, 60)
    struck = strike(np.random.default_rng(5), here, attack, 0.3, HALF)
    assert set(here.content.truth[struck.targets].tolist()) == truths
    assert (here.content.opened[struck.targets] >= HALF).all()
    now, before = _by_pair(struck.community), _by_pair(here)
    changed = {pair: vote for pair, vote in now.items() if before.get(pair) != vote}
    assert set(changed.values()) == {level}
    assert {item for item, _ in changed} <= set(np.flatnonzero(struck.targets).tolist())
    who = sorted({rater for _, rater in changed})
    assert len(who) == round(0.3 * 60)
    assert set(here.people.camp[who].tolist()) == {CAMP}


def _by_pair(here: Community) -> dict[tuple[int, int], int]:
    votes = here.votes
    pairs = zip(votes.item.tolist(), votes.rater.tolist(), strict=True)
    found = dict(zip(pairs, votes.level.tolist(), strict=True))
    assert len(found) == len(votes)
    return found


@pytest.mark.parametrize("attack", [Attack.PILE_ON, Attack.FALSE_RECORD])
def test_who_answers_only_when_drawn_says_nothing_about_targets_before(attack: Attack) -> None:
    here = community(np.random.default_rng(3), 40, 40)
    dice = np.random.default_rng(4)
    struck = strike(dice, here, attack, 0.3, SINCE, rushed=True, volunteering=False)
    votes = struck.community.votes
    theirs = np.isin(votes.rater, struck.organised)
    assert theirs.any()
    assert struck.targets.any()
    assert not struck.targets[votes.item[theirs]].any()


def test_a_vote_decides_exactly_where_the_service_would_decide() -> None:
    here = community(np.random.default_rng(7), 60, 90)
    past = _past(here)
    assert past.model.regime is Regime.WARM
    later = here.votes.where(here.votes.at >= HALF).where(slice(0, 20))
    outcome, heard = _one_after_the_other(past, later)
    review = past.fork(here.people)
    review.hear(later)
    assert len(review.counted) - len(past.counted) == heard
    assert outcome
    assert {item: review.outcome[item] for item in outcome} == outcome


def _one_after_the_other(past: Review, votes: Votes) -> tuple[dict[int, int], int]:
    """What each vote decides, by the functions that a request calls, and how many votes are heard."""
    outcome: dict[int, int] = {}
    sums: dict[int, Sums] = {}
    heard = 0
    raters = past.raters
    for item, who, level in zip(votes.item.tolist(), votes.rater.tolist(), votes.level.tolist(), strict=True):
        if past.outcome[item] != Outcome.OPEN or item in outcome:
            continue
        heard += 1
        rater = Rater(float(raters.intercept[who]), float(raters.factor[who]), bool(raters.kept[who]))
        before = sums.get(item, Sums.from_list(past.rows[item]))
        sums[item] = before.plus(past.model, rater, level / 2)
        raised = GRAVE_MARGIN if past.content.grave[item] else 0.0
        verdict = decide(sums[item], past.model, was=UNRATED, raised=raised, acting=True)
        assert verdict is not None
        if verdict.status is not UNRATED:
            helpful = verdict.status is NoteStatus.CURRENTLY_RATED_HELPFUL
            outcome[item] = int(Outcome.ACT if helpful else Outcome.KEEP)
    return outcome, heard


def _one_item(levels: list[int], *, grave: bool = False, newcomers: int = 0, known: int = 30) -> Review:
    """One piece of content and its votes, a minute apart, the last ``newcomers`` of them by accounts a minute old."""
    count = len(levels)
    at = 100.0 + np.arange(count) / 60
    seen = np.full(count + known, -np.inf)
    seen[count - newcomers : count] = at[count - newcomers :] - 1 / 60
    nothing = np.zeros(len(seen))
    people = People(nothing.astype(np.int64), nothing, nothing, nothing + 1, nothing > 0, seen)
    two = np.zeros(2)
    content = Content(
        two,
        two,
        two.astype(np.int64),
        two.astype(np.int64),
        np.array([False, grave]),
        np.array([0, 99.9]),
        two == 0,
    )
    review = Review(people, content)
    others = np.arange(count, count + known)
    hesitant = Votes(
        np.zeros(known, np.int64), others, np.full(known, UNSURE, np.int8), np.arange(known) / 60
    )
    review.hear(hesitant)
    review.hear(Votes(np.ones(count, np.int64), np.arange(count), np.array(levels, np.int8), at))
    return review


def test_votes_stop_with_the_decision() -> None:
    review = _one_item([YES] * 9)
    assert review.outcome[1] == Outcome.ACT
    assert np.count_nonzero(review.counted.item == 1) == 5


def test_a_burst_of_new_accounts_goes_to_staff_unless_everybody_is_new() -> None:
    assert _one_item([YES] * 5, newcomers=5).outcome[1] == Outcome.STAFF
    assert _one_item([YES] * 5, newcomers=2).outcome[1] == Outcome.ACT
    assert _one_item([YES] * 5, newcomers=5, known=5).outcome[1] == Outcome.ACT


def test_newcomers_do_not_count_for_what_cannot_be_taken_back() -> None:
    review = _one_item([YES] * 9, grave=True, newcomers=9)
    assert review.outcome[1] == Outcome.OPEN
    assert not np.count_nonzero(review.counted.item == 1)


def test_the_plain_methods_need_five_votes_and_their_share() -> None:
    here = community(np.random.default_rng(1), 60, 60)
    levels = {
        0: [YES] * 4,
        1: [YES] * 5,
        2: [YES, YES, YES, NO, NO],
        3: [NO] * 5,
        4: [YES, YES, NO, NO, UNSURE],
    }
    item = np.concatenate([np.full(len(votes), place) for place, votes in levels.items()])
    rater = np.concatenate([np.arange(len(votes)) for votes in levels.values()])
    level = np.concatenate([np.array(votes, np.int8) for votes in levels.values()])
    here = replace(here, votes=Votes(item, rater, level, np.arange(len(item), dtype=np.float64)))
    act, keep, still = Outcome.ACT, Outcome.KEEP, Outcome.OPEN
    assert majority(here)[:5].tolist() == [still, act, act, keep, still]
    assert bayes(here)[:5].tolist() == [still, act, still, keep, still]


def test_the_command_prints_every_method_and_attack(in_short: None, monkeypatch: pytest.MonkeyPatch) -> None:
    plans, steps = list[Plan](), list[str]()

    def run_and_count(plan: Plan, advance: Callable[[str], None]) -> Report:
        plans.append(plan)
        return run(plan, steps.append)

    monkeypatch.setattr(command, "run", run_and_count)
    monkeypatch.setattr(Plan, "quick", lambda seed: replace(TINY, seed=seed))
    result = CliRunner().invoke(simulate_consensus, ["--quick", "--raters", "24", "--items", "36"])
    assert result.exit_code == 0, result.output
    assert plans == [replace(TINY, raters=24, items=36)]
    assert len(steps) == plans[0].steps
    for word in (*Method, *VOTERS, "Wrongful actions", "Missed actions", "Ordinary notes"):
        assert word in result.stdout


@pytest.mark.parametrize(
    ("option", "value"),
    [("--trials", "0"), ("--raters", "19"), ("--items", "two"), ("--seed", "-1"), ("--items", "1000000")],
)
def test_a_bad_option_is_named_and_refused(option: str, value: str) -> None:
    result = CliRunner().invoke(simulate_consensus, [option, value])
    assert result.exit_code == 2
    assert option in result.stderr


@pytest.mark.parametrize("who", [Who.NEEDED, Who.PANEL])
def test_a_drawn_panel_decides_by_its_own_answers(who: Who) -> None:
    here = community(np.random.default_rng(3), 40, 40)
    struck = strike(np.random.default_rng(4), here, Attack.PILE_ON, 0.3, SINCE, rushed=True)
    votes, answers = struck.community.votes, np.full(40, 0.6)

    drawable = Drawable(struck, answers, np.random.default_rng(5))
    review = DrawnReview.after(past_of(here), struck.community.people, who, drawable)
    review.hear(votes.where(~is_past(struck.community)))
    late = here.content.opened >= SINCE
    held = ~np.isnan(review.ends)
    assert held.any()
    if who is Who.PANEL:
        assert held[late].all()
    assert np.all(review.ends[held] > here.content.opened[held])
    assert review.asked.ended == np.count_nonzero(held)
    # A review has one panel or two.
    assert 7 * review.asked.ended <= review.asked.answers <= review.asked.seats <= 2 * 36 * review.asked.ended
    assert set(np.flatnonzero(review.outcome[held] == Outcome.ACT)) <= set(
        np.flatnonzero(review.alone[held] == Outcome.ACT)
    ), "a second panel only confirms"
    wrong = review.outcome[struck.targets & held] == Outcome.ACT
    assert wrong.mean() < 0.2, "whoever comes first is not therefore drawn"
