"""Whatever order submissions, jobs, edits and withdrawals of one post come in, each request ends with one decision."""

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import acknowledgements
from app.core.errors import Conflict
from app.core.history.reason import Reason
from app.core.models import Action, Community, Event, Note, Report, Request
from app.core.notes import verdicts
from app.core.people import profiles
from app.core.reports import reporting
from app.core.reports.reporting import NewReport
from app.core.requests import submitting
from app.core.requests.submitting import Submission
from app.core.vocabulary import ActionState, EventName, ReportState, RequestStatus
from app.wiring import Wiring
from tests import factories
from tests.cast import PLATFORM, Cast
from tests.inline_engine import InlineEngine
from tests.unit.reports.scene import Scene
from tests.unit.test_strikes import give_points, settle

TEXTS = (
    factories.REVIEWED,
    f"{factories.REVIEWED}!",
    "What a stupid moron you are, nobody wants to read this rubbish of yours",
    factories.SPAM,
    "The tide tables for Tuesday are on the notice board, thanks to everybody who helped",
)
STEPS = 14


class Post:
    """One post, and what may happen to it."""

    def __init__(self, wiring: Wiring, jobs: InlineEngine, cast: Cast, chance: random.Random) -> None:
        self.wiring, self.jobs, self.cast, self.chance = wiring, jobs, cast, chance
        self.sent = 0
        self.withdrawn: set[str] = set()
        self.reporters = 0

    def submit(self) -> None:
        self.sent += 1
        text = self.chance.choice(TEXTS)
        with self.wiring.database.writing() as session:
            submission = Submission(
                f"p-{self.sent}", "author-1", text, platform_message_id="m-1", platform_author_id="author-1"
            )
            submitting.submit(session, factories.integration(self.cast), self.cast.community_id, submission)

    def run_some(self) -> None:
        """Run one of the jobs that wait, and leave it waiting: a job may run twice."""
        waiting = self.jobs.jobs()
        if waiting:
            job = self.chance.choice(waiting)
            self.jobs.run_now(job.name, **job.args)

    def run_all(self) -> None:
        self.jobs.run_all()

    def withdraw(self) -> None:
        with self.wiring.database.writing() as session:
            left = session.scalars(sa.select(Request).where(Request.withdrawn_at.is_(None))).all()
            if left:
                request = self.chance.choice(left)
                submitting.withdraw(session, factories.integration(self.cast), request)
                self.withdrawn.add(request.request_id)

    def decide(self) -> None:
        verb = self.chance.choice([verdicts.force_publish, verdicts.dismiss])
        with self.wiring.database.writing() as session:
            reviews = sa.select(Action).where(Action.action_state == ActionState.UNDER_REVIEW)
            for action in session.scalars(reviews.where(Action.strike_step.is_(None))).all():
                note = session.get_one(Note, action.note_id)
                verb(session, factories.moderator(self.cast), note, reason=Reason("Seen"))

    def escalate(self) -> None:
        with self.wiring.database.writing() as session, suppress(Conflict):
            request = self.any_left(session)
            if request is not None:
                submitting.escalate(session, factories.integration(self.cast), request)

    def apply(self) -> None:
        """The platform does what it was asked to, and the author gets strikes for it."""
        with self.wiring.database.writing() as session:
            proposed = sa.select(Action).where(Action.action_state == ActionState.PROPOSED)
            for action in session.scalars(proposed).all():
                acknowledgements.acknowledge(session, factories.integration(self.cast), action)

    def report(self) -> None:
        """Somebody else reports one of the submissions."""
        self.reporters += 1
        with self.wiring.database.writing() as session:
            request = self.any_left(session)
            if request is None:
                return
            community = session.get_one(Community, self.cast.community_id)
            name = f"reporter-{self.reporters}"
            profile = profiles.ensure(session, PLATFORM, name, profiles.scope_in(PLATFORM, community))
            session.flush()
            profile.created_at = clock.now() - timedelta(days=9)
            new = NewReport(f"r-{self.reporters}", name, request_id=request.request_id)
            reporting.file(session, factories.integration(self.cast), community, profile, new)

    def any_left(self, session: Session) -> Request | None:
        left = session.scalars(sa.select(Request).where(Request.withdrawn_at.is_(None))).all()
        return self.chance.choice(left) if left else None

    def check(self) -> None:
        with self.wiring.database.reading() as session:
            reviews = sa.select(Action.id).where(
                Action.action_state == ActionState.UNDER_REVIEW, Action.strike_step.is_(None)
            )
            assert len(session.scalars(reviews).all()) <= 1, "one post, one item"
            sent = session.scalars(sa.select(Event.payload).where(Event.name == EventName.DECISION)).all()
            assert all(count == 1 for count in Counter(payload["request_id"] for payload in sent).values())

    def check_ended(self) -> None:
        with self.wiring.database.reading() as session:
            left = session.scalars(sa.select(Request).where(Request.withdrawn_at.is_(None))).all()
            assert {request.status for request in left} <= {RequestStatus.COMPLETED}
            ids = {request.id for request in left}
            assert {request.duplicate_of for request in left} - {None} <= ids
            roots = {request.id for request in left if request.duplicate_of is None}
            assert all(request.duplicate_of in roots | {None} for request in left)


@pytest.mark.both_databases
@pytest.mark.parametrize("seed", range(12))
def test_reports_escalations_and_strikes_in_any_order_change_none_of_it(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, seed: int
) -> None:
    chance = random.Random(1_000 + seed)  # noqa: S311 - the same orders each time
    for category in ("spam", "toxicity"):
        give_points(wiring, cast, 3, category)
    settle(wiring, cast, strikes_warn=2, report_threshold=1.0)
    Scene(wiring, cast).listen()
    post = Post(wiring, jobs, cast, chance)
    steps: list[Callable[[], None]] = [
        post.submit,
        post.run_some,
        post.run_all,
        post.withdraw,
        post.decide,
        post.escalate,
        post.report,
        post.apply,
    ]
    post.submit()
    for step in chance.choices(steps, weights=[5, 5, 2, 1, 1, 1, 6, 2], k=2 * STEPS):
        step()
        post.check()
    for _ in range(3):
        post.run_all()
        post.decide()
        post.apply()
    post.run_all()
    post.check()
    post.check_ended()
    with wiring.database.reading() as session:
        told = sa.select(Event.payload).where(Event.name == EventName.REPORT_RESOLVED)
        heard = Counter(payload["data"]["report_id"] for payload in session.scalars(told))
        assert set(heard.values()) <= {1}
        rows = session.execute(
            sa.select(Report.report_id, Report.state, Request.withdrawn_at).join(
                Request, Request.id == Report.request_id
            )
        ).all()
        for report_id, state, _ in rows:
            assert (state is ReportState.OPEN) == (report_id not in heard)
        waiting = sa.select(Report.report_id).where(
            Report.state == ReportState.OPEN,
            sa.exists().where(Action.request_id == Report.request_id, Action.strike_step.is_(None)),
        )
        assert session.scalars(waiting).all() == [], "an outcome for each report of a decided post"


@pytest.mark.both_databases
@pytest.mark.parametrize("seed", range(12))
def test_any_order_ends_with_one_decision_each(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - the same orders each time
    post = Post(wiring, jobs, cast, chance)
    steps: list[Callable[[], None]] = [post.submit, post.run_some, post.run_all, post.withdraw, post.decide]
    post.submit()
    for step in chance.choices(steps, weights=[5, 5, 1, 1, 1], k=STEPS):
        step()
        post.check()
    for _ in range(3):
        post.run_all()
        post.decide()
    post.run_all()
    post.check()
    post.check_ended()
