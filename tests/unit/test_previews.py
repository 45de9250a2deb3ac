"""Previews: many posts at once are routed as one is, and counted with what people made of them."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.classify import Context, Result
from app.core.classify.rulepack import RulePackClassifier
from app.core.models import Action, PostScores, Request, Score
from app.core.permissions import SYSTEM
from app.core.requests import scoring, submitting
from app.core.requests.scorings import Scoring, combined, score_text
from app.core.services import figures
from app.core.thresholds import post_scores, previews, threshold_sets
from app.core.thresholds.drafts import CategoryDraft
from app.core.thresholds.outcomes import Outcome
from app.core.thresholds.route_changes import SHOWN_ITEMS, Judged, compare, judge
from app.core.thresholds.routing import CategoryRule, Scored, decide
from app.core.vocabulary import ActionState, ActionTier, Verb
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import at
from tests.examples import turns
from tests.unit.test_rollups import Days

pytestmark = pytest.mark.both_databases

NAMES = ("hate", "pii", "spam", "threat", "toxicity")
GRID = [step / 20 for step in range(21)]
"""Coarse, so that scores meet thresholds and margins meet margins."""


def scorings(chance: random.Random) -> list[Scoring]:
    """Two classifiers that differ, each silent about some categories, one of them rarely fit to act alone."""
    made = []
    for classifier, capable in (("first", 0.7), ("second", 0.3)):
        scores = {name: chance.choice(GRID) for name in NAMES if chance.random() < 0.8}
        tier1 = frozenset(name for name in scores if chance.random() < capable)
        made.append(Scoring(classifier, "1", tier1, Result(scores=scores)))
    return made


def score(wiring: Wiring, cast: Cast, given: list[list[Scoring]]) -> list[dict[str, Scored]]:
    """Submit and score a post for each; what routing combined."""
    with wiring.database.writing() as session:
        for number, one in enumerate(given):
            submission = submitting.Submission(f"post-{number}", "poster", f"Post {number}")
            made = submitting.submit(session, SYSTEM, cast.community_id, submission).request
            assert scoring.start(session, made.id)
            scoring.record_scores(session, made.id, one)
    return [combined(one) for one in given]


def some_rules(chance: random.Random) -> list[CategoryRule]:
    made = []
    for name in NAMES:
        tier2 = chance.choice(GRID)
        tier1 = chance.choice([None, *(step for step in GRID if step >= tier2)])
        severity = chance.choice([0, 0, 10])
        enabled, observe_only = chance.random() < 0.9, chance.random() < 0.1
        made.append(
            CategoryRule(name, tier2, tier1, severity=severity, enabled=enabled, observe_only=observe_only)
        )
    return made


def test_many_posts_are_routed_exactly_as_one_is(wiring: Wiring, cast: Cast) -> None:
    chance = random.Random(11)  # noqa: S311 - the same posts each time
    seen = score(wiring, cast, [scorings(chance) for _ in range(80)])
    for _ in range(turns(6)):
        before, after = some_rules(chance), some_rules(chance)
        expected: Counter[object] = Counter()
        for scores in seen:
            routes = [decide(scores, one) for one in (before, after)]
            found = tuple((made.tier, made.category) if made else None for made in routes)
            if any(found):
                expected[found] += 1
        with wiring.database.reading() as session:
            posts = post_scores.read(session, cast.community_id, clock.now() - timedelta(days=90))
            counted, newest = compare(session, cast.community_id, posts, before, after, clock.now())
        got: Counter[object] = Counter()
        for one in counted:
            got[one.before, one.after] += one.count
        assert got == expected
        for judged in Judged:
            assert len([item for item in newest if item.judged is judged]) <= SHOWN_ITEMS
        for item in newest:
            assert item.judged is judge(item.before, item.after, item.outcome)


def test_a_preview_counts_by_period_with_known_outcomes(wiring: Wiring, cast: Cast) -> None:
    only = [
        [Scoring("one", "1", frozenset({"spam"}), Result(scores={"spam": s}))]
        for s in (0.97, 0.7, 0.7, 0.3, 0.0)
    ]
    score(wiring, cast, only)
    with wiring.database.writing() as session:
        applied, dismissed, *_ = session.scalars(
            sa.select(Action).order_by(Action.created_at, Action.id)
        ).all()
        assert applied.action_state is ActionState.PROPOSED
        # What the verbs of other tests do, here at once: only the state is read.
        session.execute(
            sa.update(Action).where(Action.id == applied.id).values(action_state=ActionState.OVERTURNED)
        )
        session.execute(
            sa.update(Action).where(Action.id == dismissed.id).values(action_state=ActionState.DISMISSED)
        )
        old = clock.now() - timedelta(days=20)
        for model, key in ((PostScores, PostScores.request_id), (Request, Request.id)):
            session.execute(sa.update(model).where(key == dismissed.request_id).values(scored_at=old))
    drafts = [CategoryDraft("spam", 0.25, 0.65)]
    with wiring.database.reading() as session:
        made = previews.preview(session, SYSTEM, cast.community_id, drafts)
    week, month, quarter = made.periods
    assert (week.scored, month.scored, quarter.scored) == (4, 5, 5)
    assert (week.before.acted, week.before.reviewed, week.ignored(week.before)) == (1, 1, 2)
    assert (week.after.acted, week.after.reviewed, week.ignored(week.after)) == (2, 1, 1)
    assert month.categories["spam"].after == previews.Effect(acted=3, reviewed=1)
    assert dict(month.outcomes) == {Outcome.OVERTURNED: 1, Outcome.DISMISSED: 1, Outcome.OPEN: 1}
    assert dict(month.outcomes_before) == {Outcome.OVERTURNED: 1}
    assert (month.newly_affected, month.no_longer_affected) == (3, 0)
    listed = [(one.judged, one.outcome) for one in made.affected]
    assert listed == [
        (Judged.WRONGLY, Outcome.DISMISSED),
        (Judged.UNKNOWN, None),
        (Judged.UNKNOWN, Outcome.OPEN),
    ]
    assert dict(week.newly_acted) == {"spam": previews.Acted(1)}
    assert dict(month.newly_acted) == {"spam": previews.Acted(2, wrong=1)}
    assert dict(month.no_longer_acted) == {}
    assert sum(made.histograms["spam"]) == 4
    assert made.histograms["spam"][19] == 1


IMMEDIATE, REVIEWED = (ActionTier.IMMEDIATE, "spam"), (ActionTier.CONSENSUS, "spam")


@pytest.mark.parametrize(
    ("before", "after", "outcome", "expected"),
    [
        # To act where people upheld is right, where they dismissed wrong; to stop acting is the other way round.
        (REVIEWED, IMMEDIATE, Outcome.UPHELD, Judged.RIGHTLY),
        (None, IMMEDIATE, Outcome.DISMISSED, Judged.WRONGLY),
        (IMMEDIATE, REVIEWED, Outcome.OVERTURNED, Judged.RIGHTLY),
        (IMMEDIATE, None, Outcome.UPHELD, Judged.WRONGLY),
        # Stricter, and nobody has decided.
        (REVIEWED, IMMEDIATE, Outcome.OPEN, Judged.UNKNOWN),
        (None, REVIEWED, None, Judged.UNKNOWN),
        # What people say of a review that goes on as before, or of one that ends, says nothing of acting.
        (None, REVIEWED, Outcome.UPHELD, Judged.UNKNOWN),
        (REVIEWED, None, Outcome.UPHELD, None),
        (IMMEDIATE, None, None, None),
        (IMMEDIATE, IMMEDIATE, Outcome.OVERTURNED, None),
    ],
)
def test_a_changed_route_is_judged_by_what_people_decided(
    before: object, after: object, outcome: Outcome | None, expected: Judged | None
) -> None:
    assert judge(before, after, outcome) is expected  # type: ignore[arg-type]  # routes, named above


def test_values_that_spare_posts_are_judged_too(wiring: Wiring, cast: Cast) -> None:
    only = [
        [Scoring("one", "1", frozenset({"spam"}), Result(scores={"spam": s}))] for s in (0.96, 0.97, 0.98)
    ]
    score(wiring, cast, only)
    with wiring.database.writing() as session:
        first, second, _ = session.scalars(sa.select(Action).order_by(Action.created_at, Action.id)).all()
        for action, state in ((first, ActionState.OVERTURNED), (second, ActionState.CONFIRMED)):
            session.execute(sa.update(Action).where(Action.id == action.id).values(action_state=state))
    with wiring.database.reading() as session:
        made = previews.preview(session, SYSTEM, cast.community_id, [CategoryDraft("spam", 0.5, 0.99)])
    assert dict(made.periods[0].no_longer_acted) == {"spam": previews.Acted(3, right=1, wrong=1)}
    assert dict(made.periods[0].newly_acted) == {}
    assert [(one.judged, one.was, one.now) for one in made.affected] == [
        (Judged.RIGHTLY, ActionTier.IMMEDIATE, ActionTier.CONSENSUS),
        (Judged.WRONGLY, ActionTier.IMMEDIATE, ActionTier.CONSENSUS),
    ]


def test_a_sure_score_acts_below_a_higher_one_that_may_not_and_evidence_names_it(
    wiring: Wiring, cast: Cast
) -> None:
    with wiring.database.writing() as session:
        draft = CategoryDraft("spam", 0.5, 0.85)
        threshold_sets.set_category(session, SYSTEM, cast.community_id, draft, "Rules are sure enough here")
    rules = Scoring("rules", "7", frozenset({"spam"}), Result(scores={"spam": 0.9}))
    model = Scoring("model", "1", frozenset(), Result(scores={"spam": 0.93}))
    score(wiring, cast, [[rules, model]])
    with wiring.database.reading() as session:
        action = session.scalars(sa.select(Action)).one()
        assert (action.action_tier, action.score) == (ActionTier.IMMEDIATE, 0.9)
        assert action.evidence is not None
        assert action.evidence["scores"] == {"spam": 0.93}
        assert action.evidence["details"]["decided_by"] == {"name": "rules", "version": "7"}
        rows = {row.classifier: row for row in session.scalars(sa.select(Score))}
        assert (rows["rules"].is_acting, rows["rules"].is_highest) == (True, False)
        assert (rows["model"].is_acting, rows["model"].is_highest) == (False, True)
        made = previews.preview(session, SYSTEM, cast.community_id, [CategoryDraft("spam", 0.5, 0.95)])
    week = made.periods[0]
    assert (week.before, week.after) == (previews.Effect(1, 0), previews.Effect(0, 1))
    assert sum(made.histograms["spam"]) == 1
    with wiring.database.writing() as session:
        session.execute(sa.update(Action).values(action_state=ActionState.OVERTURNED))
    with wiring.database.reading() as session:
        found = figures.records(session, SYSTEM, cast.community_id)
    assert {name: record.decided for name, record in found.items()} == {"rules": 1, "model": 0}


def test_a_flag_above_tier_1_counts_as_sent_to_people(wiring: Wiring, cast: Cast) -> None:
    score(wiring, cast, [[Scoring("one", "1", frozenset({"spam"}), Result(scores={"spam": 0.9}))]])
    drafts = [CategoryDraft("spam", 0.5, 0.6, tier1_action=Verb.FLAG)]
    with wiring.database.reading() as session:
        made = previews.preview(session, SYSTEM, cast.community_id, drafts)
    week = made.periods[0]
    assert (week.before, week.after) == (previews.Effect(0, 1), previews.Effect(0, 1))
    assert (week.newly_affected, made.affected) == (0, [])


def test_observing_records_what_would_happen_and_does_nothing(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        draft = CategoryDraft("spam", 0.5, 0.9, observe_only=True)
        threshold_sets.set_category(session, SYSTEM, cast.community_id, draft, "See first")
    only = [
        [Scoring("one", "1", frozenset(NAMES), Result(scores={"spam": spam, "toxicity": toxicity}))]
        for spam, toxicity in ((0.97, 0.0), (0.7, 0.0), (0.95, 0.8), (0.1, 0.0))
    ]
    score(wiring, cast, only)
    with wiring.database.reading() as session:
        action = session.scalars(sa.select(Action)).one()
        assert action.category == "toxicity"
        assert action.evidence is not None
        (told,) = action.evidence["details"]["observed"]
        assert (told["category"], told["tier"], told["score"]) == ("spam", 1, 0.95)
        since = clock.now() - timedelta(days=30)
        found = threshold_sets.observed(session, SYSTEM, cast.community_id, since)
        assert found == {"spam": threshold_sets.Observed(acted=2, reviewed=1)}


def test_what_a_post_quotes_asks_people_and_never_acts_also_under_other_values(
    wiring: Wiring, cast: Cast
) -> None:
    spam = "Double your Bitcoin today, guaranteed profits! Send 0.1 BTC, get 0.2 back."
    texts = (f"Look what came:\n> {spam}\n\nIs that a scam?", f"> {spam}")
    given = [score_text([RulePackClassifier()], text, Context(language="en")) for text in texts]
    score(wiring, cast, given)
    with wiring.database.reading() as session:
        quoted, own = session.scalars(sa.select(Action).order_by(Action.created_at, Action.id)).all()
        assert (quoted.action_tier, own.action_tier) == (ActionTier.CONSENSUS, ActionTier.IMMEDIATE)
        assert quoted.score == own.score
        assert quoted.evidence is not None
        assert all(match["quoted"] for match in quoted.evidence["details"]["matches"])
        made = previews.preview(session, SYSTEM, cast.community_id, [CategoryDraft("spam", 0.5, 0.6)])
    assert (made.periods[0].before, made.periods[0].after) == (previews.Effect(1, 1), previews.Effect(1, 1))


def test_what_a_preview_counts_equals_the_rows(wiring: Wiring, cast: Cast) -> None:
    at(datetime(2026, 3, 27, 20, tzinfo=UTC))
    Days(wiring, cast).pass_by(20)
    with wiring.database.reading() as session:
        scored = session.scalars(sa.select(Request.scored_at).order_by(Request.scored_at)).all()
        moments = [moment for moment in scored if moment is not None]
        # Some posts lie at the two ends of the first day of a period, before and after its moment.
        at(moments[len(moments) // 2] + timedelta(days=7))
        made = previews.preview(session, SYSTEM, cast.community_id, [CategoryDraft("spam", 0.25, 0.65)])
        week = sum(moment >= clock.now() - timedelta(days=7) for moment in moments)
        assert [period.scored for period in made.periods] == [week, len(moments), len(moments)]
        assert 0 < week < len(moments)
        counted = session.execute(
            sa.select(Score.category, sa.func.count())
            .where(Score.is_highest, Score.score > 0)
            .group_by(Score.category)
        ).all()
        assert {name: sum(bars) for name, bars in made.histograms.items()} == {
            row[0]: row[1] for row in counted
        }
