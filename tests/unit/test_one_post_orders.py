"""Whatever order submissions, jobs, edits and withdrawals of one post come in, each request ends with one decision."""

import random
from collections import Counter
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from app.core.history.reason import Reason
from app.core.models import Action, Event, Note, Request
from app.core.notes import verdicts
from app.core.requests import submitting
from app.core.requests.submitting import Submission
from app.core.vocabulary import ActionState, EventName, RequestStatus
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.inline_engine import InlineEngine

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

    def submit(self) -> None:
        self.sent += 1
        text = self.chance.choice(TEXTS)
        with self.wiring.database.writing() as session:
            submission = Submission(f"p-{self.sent}", "author-1", text, platform_message_id="m-1")
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
            for action in session.scalars(reviews).all():
                note = session.get_one(Note, action.note_id)
                verb(session, factories.moderator(self.cast), note, reason=Reason("Seen"))

    def check(self) -> None:
        with self.wiring.database.reading() as session:
            reviews = sa.select(Action.id).where(Action.action_state == ActionState.UNDER_REVIEW)
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
