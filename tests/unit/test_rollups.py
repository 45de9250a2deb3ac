"""Roll-ups: the counts kept ready give the figures of the rows, also after changes of what is long past."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.classify import Result
from app.core.errors import Conflict, Forbidden, IllegalMove
from app.core.history.reason import Reason
from app.core.insights import rollups, trends
from app.core.insights.trend_figures import Trends
from app.core.models import Action, InsightGroup, InsightOutcome, InsightSlot, Note, Rating, Request, Rollup
from app.core.notes import ratings
from app.core.people import profiles
from app.core.periods import Period
from app.core.permissions import SYSTEM
from app.core.requests import scoring, submitting
from app.core.requests.scorings import Scoring
from app.core.review import verbs
from app.core.services import figures as service_figures
from app.core.services.figures import Record
from app.core.thresholds import threshold_sets
from app.core.vocabulary import ActionState, HelpfulnessLevel
from app.jobs.communities import roll_up
from app.wiring import Wiring
from tests import factories
from tests.cast import PLATFORM, Cast
from tests.clocks import advance, at

pytestmark = pytest.mark.both_databases

FIRST, LAST = date(2026, 3, 27), date(2026, 3, 31)
# Days that begin between whole hours, and days around the night on which the clock changes.
ZONES = [ZoneInfo(name) for name in ("Asia/Kathmandu", "Europe/Berlin")]
PERIODS = [Period(first, LAST, zone) for zone, first in zip(ZONES, (FIRST, date(2026, 3, 28)), strict=True)]


@dataclass(frozen=True)
class Found:
    """The figures of Insights for each period, and the records of the classifiers."""

    trends: list[Trends]
    records: Mapping[str, Record]


def figures(wiring: Wiring, cast: Cast) -> Found:
    with wiring.database.reading() as session:
        return _read(session, cast)


def of_the_rows(wiring: Wiring, cast: Cast) -> Found:
    with wiring.database.writing() as session:
        _forget(session, cast)
        found = _read(session, cast)
        session.rollback()
    return found


def _forget(session: Session, cast: Cast) -> None:
    for model in (InsightSlot, InsightOutcome, InsightGroup, Rollup):
        session.execute(sa.delete(model).where(model.community_id == cast.community_id))


def _read(session: Session, cast: Cast) -> Found:
    return Found(
        [trends.for_community(session, SYSTEM, cast.community_id, period) for period in PERIODS],
        service_figures.records(session, SYSTEM, cast.community_id),
    )


class Days:
    """Random posts, answers and decisions, with the verbs that make them."""

    def __init__(self, wiring: Wiring, cast: Cast) -> None:
        self._wiring, self._cast = wiring, cast
        self._chance = random.Random(5)  # noqa: S311 - the same days each time
        self._staff = factories.integration(cast)
        self._posts = 0

    def pass_by(self, steps: int) -> None:
        for step_number in range(steps):
            advance(minutes=self._chance.randint(5, 180))
            steps_open = (self._post, self._post, self._rate, self._rate, self._decide)
            step = self._chance.choice(steps_open) if step_number >= 4 else self._post
            try:
                step()
            except (Conflict, Forbidden, IllegalMove):
                continue

    def _post(self) -> None:
        self._posts += 1
        score = self._chance.choice((0.2, 0.65, 0.65, 0.99))
        category = self._chance.choice(("spam", "toxicity"))
        with self._wiring.database.writing() as session:
            made = submitting.submit(
                session,
                SYSTEM,
                self._cast.community_id,
                submitting.Submission(f"post-{self._posts}", "bot", f"Post {self._posts}"),
            ).request
            if self._chance.random() < 0.9:
                assert scoring.start(session, made.id)
                by = Scoring("first", "1", frozenset({category}), Result(scores={category: score}))
                scoring.record_scores(session, made.id, [by])

    def _rate(self) -> None:
        with self._wiring.database.writing() as session:
            note = self._chance.choice(session.scalars(sa.select(Note).order_by(Note.id)).all())
            rater = profiles.ensure(session, PLATFORM, f"rater-{self._chance.randrange(6)}")
            who = factories.integration(self._cast, staff=False, profile_id=rater.id)
            ratings.rate(session, who, note, rater, self._chance.choice(list(HelpfulnessLevel)))

    def _decide(self) -> None:
        with self._wiring.database.writing() as session:
            action = self._chance.choice(session.scalars(sa.select(Action).order_by(Action.id)).all())
            state = self._chance.choice(
                (ActionState.PROPOSED, ActionState.APPLIED, ActionState.DISMISSED, ActionState.OVERTURNED)
            )
            verbs.change_action(session, self._staff, action, state, reason=Reason("Because"))

    def change_what_is_past(self) -> None:
        with self._wiring.database.writing() as session:
            rating = session.scalars(sa.select(Rating).order_by(Rating.created_at)).first()
            post = session.scalars(sa.select(Request).order_by(Request.requested_at)).first()
            assert rating is not None
            assert post is not None
            ratings.withdraw(session, SYSTEM, rating)
            submitting.withdraw(session, SYSTEM, post)
            applied = session.scalars(
                sa.select(Action)
                .where(
                    Action.proposed_at.is_not(None),
                    Action.action_state.in_((ActionState.PROPOSED, ActionState.APPLIED)),
                )
                .order_by(Action.created_at)
            ).first()
            assert applied is not None
            if applied.action_state is ActionState.PROPOSED:
                verbs.change_action(session, self._staff, applied, ActionState.APPLIED)
            verbs.change_action(session, self._staff, applied, ActionState.OVERTURNED, reason=Reason("Wrong"))


def test_counts_kept_ready_equal_the_rows(wiring: Wiring, cast: Cast) -> None:
    at(datetime(2026, 3, 27, 20, tzinfo=UTC))
    days = Days(wiring, cast)
    days.pass_by(30)
    before = figures(wiring, cast)
    roll_up(wiring.database)
    assert figures(wiring, cast) == before == of_the_rows(wiring, cast)
    assert before.trends[0].categories
    assert before.records["first"].decided > before.records["first"].upheld
    assert before.trends[0].classifiers
    assert any(row.sided for row in before.trends[0].agreement)
    assert before.trends[0].delay.decided
    with wiring.database.reading() as session:
        assert rollups.end_of(session, cast.community_id) is not None
        assert session.scalar(sa.select(sa.func.count()).select_from(InsightSlot))

    days.pass_by(6)
    assert (
        figures(wiring, cast).trends[0].volume == of_the_rows(wiring, cast).trends[0].volume
    )  # what is new is read live
    days.change_what_is_past()
    assert figures(wiring, cast) != of_the_rows(wiring, cast)  # until the job has counted those days again
    advance(hours=1)
    roll_up(wiring.database)
    rows = of_the_rows(wiring, cast)
    assert figures(wiring, cast) == rows
    assert sum(row.overturned for row in rows.trends[0].categories) > sum(
        row.overturned for row in before.trends[0].categories
    )
    # Run again, or from the beginning, it comes to the same.
    roll_up(wiring.database)
    assert figures(wiring, cast) == rows
    with wiring.database.writing() as session:
        _forget(session, cast)
    roll_up(wiring.database)
    assert figures(wiring, cast) == rows
    assert clock.now().date() > FIRST


def test_posts_that_are_not_scored_for_every_category_are_counted(wiring: Wiring, cast: Cast) -> None:
    at(datetime(2026, 3, 30, 9, tzinfo=UTC))
    missing: tuple[set[str], ...] = (set(), {"hate"}, {"hate", "toxicity"})
    for number, without in enumerate(missing):
        request_id = factories.submit(wiring, cast, request_id=f"partly-{number}")
        with wiring.database.writing() as session:
            categories = threshold_sets.current(session, cast.community_id).categories
            names = frozenset(category.name for category in categories if category.name not in without)
            assert scoring.start(session, request_id)
            by = Scoring("first", "1", names, Result(scores=dict.fromkeys(names, 0.0)))
            scoring.record_scores(session, request_id, [by])
    advance(minutes=30)
    before = figures(wiring, cast)
    assert [sum(day.partly_scored for day in one.volume) for one in before.trends] == [2, 2]
    roll_up(wiring.database)
    assert figures(wiring, cast) == before == of_the_rows(wiring, cast)
