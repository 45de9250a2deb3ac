"""Posts that wait at the same time are scored together, and stored as if each were scored alone (decision 0004)."""

import re
import threading
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.classify import Context, Result
from app.core.db import Database
from app.core.history import chain as history
from app.core.models import (
    Action,
    Community,
    Decision,
    Delivery,
    Event,
    HistoryEntry,
    HistoryText,
    Note,
    Request,
    Score,
)
from app.core.outbound import AllowList
from app.core.people import accounts
from app.core.permissions import SYSTEM
from app.core.requests import submitting, waiting
from app.core.upkeep import community_revisions
from app.core.vocabulary import ActionState, RequestStatus
from app.core.webhooks import registrations
from app.jobs.scoring import Scorer
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.unit.test_scoring_transaction import changed_meanwhile, counted

pytestmark = pytest.mark.both_databases

TEXTS = (factories.SPAM, factories.REVIEWED, "The tide tables are on the board", f"{factories.SPAM} !")


def submit(wiring: Wiring, cast: Cast, prefix: str, texts: Sequence[str] = TEXTS) -> list[uuid.UUID]:
    return [factories.submit(wiring, cast, text, f"{prefix}-{number}") for number, text in enumerate(texts)]


def patient(wiring: Wiring) -> Scorer:
    """However slow this machine is, no text is left to the next batch."""
    return Scorer(wiring, seconds=3600)


def still_waiting(wiring: Wiring) -> set[uuid.UUID]:
    with wiring.database.reading() as session:
        return set(session.scalars(sa.select(Request.id).where(Request.status == RequestStatus.PENDING)))


def rows_about(session: Session, request_id: uuid.UUID) -> list[Any]:
    """All that scoring stored about a post, in order; ids are replaced by names, and times and hashes by their kind."""
    request = session.get_one(Request, request_id)
    action = session.scalars(sa.select(Action).where(Action.request_id == request_id)).one_or_none()
    names = {str(request.id): "REQUEST", request.request_id: "NAME"}
    found: list[Any] = [request, action]
    for model in (Score, Note, Decision, Event, Delivery):
        if model is Delivery:
            query = sa.select(Delivery).join(Event).where(Event.request_id == request_id)
            found += session.scalars(query.order_by(Event.id))
        else:
            own = sa.select(model).where(model.request_id == request_id)  # type: ignore[attr-defined]
            order = (Score.classifier, Score.category) if model is Score else (model.id,)  # type: ignore[attr-defined]
            found += session.scalars(own.order_by(*order))
    objects = [request_id] if action is None else [request_id, action.id]
    for entry, text in session.execute(
        sa.select(HistoryEntry, HistoryText)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .where(HistoryEntry.object_id.in_(objects))
        .order_by(HistoryEntry.number)
    ):
        found += [entry, text]
    for place, row in enumerate(found):
        if hasattr(row, "id") and str(row.id) not in names:
            names[str(row.id)] = f"{type(row).__name__} {place}"
    return [_plain(row, names) for row in found]


def _plain(row: Any, names: Mapping[str, str]) -> Any:
    if row is None:
        return None
    values = {column.key: getattr(row, column.key) for column in sa.inspect(type(row)).column_attrs}
    for name in ("number", "hash", "previous_hash", "text_hash", "salt"):
        values.pop(name, None)
    text = repr({name: "time" if isinstance(value, datetime) else value for name, value in values.items()})
    for identity, name in names.items():
        text = text.replace(identity, name)
    text = re.sub(r"'ms': \d+", "'ms'", text)
    return type(row).__name__, re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "time", text)


def test_a_batch_stores_what_posts_scored_one_by_one_store(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    with wiring.database.writing() as session:
        registrations.register(
            session, SYSTEM, wiring.sealer, AllowList.parse("127.0.0.1"),
            session.get_one(Community, cast.community_id),
            "http://127.0.0.1:9/", "a secret of the webhook",
        )  # fmt: skip
    alone = submit(wiring, cast, "single")
    jobs.run_all()
    first, *others = together = submit(wiring, cast, "joint")
    with counted(wiring) as statements:
        patient(wiring).score(first)
    assert still_waiting(wiring) == set()
    assert len(statements) <= 28, "\n".join(statements)
    with wiring.database.reading() as session:
        for one, other in zip(alone, together, strict=True):
            assert rows_about(session, one) == rows_about(session, other)
        decided = session.scalars(sa.select(Decision.decided_at).order_by(Decision.decided_at)).all()
        assert len(set(decided)) == len(decided) == 4
        assert history.verify(session, cast.community_id)[1] is None
    # The posts' own jobs, and one that ran twice, find nothing to do.
    jobs.run_all()
    Scorer(wiring).score(others[0])
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Decision)) == 4


def test_two_processes_at_once_store_nothing_twice(wiring: Wiring, cast: Cast, jobs: InlineEngine) -> None:
    posts = submit(wiring, cast, "post", TEXTS * 3)
    both = threading.Barrier(2)

    def work(first: uuid.UUID) -> None:
        both.wait(120)
        patient(wiring).score(first)

    threads = [threading.Thread(target=work, args=(first,)) for first in posts[:2]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    jobs.run_all()
    with wiring.database.reading() as session:
        assert sorted(session.scalars(sa.select(Decision.request_id))) == sorted(
            session.scalars(sa.select(Action.request_id).where(Action.action_state == ActionState.PROPOSED))
        )
        acted = sorted(session.scalars(sa.select(Action.request_id)))
        assert acted == sorted(post for number, post in enumerate(posts) if number % 4 != 2)
        completed = sa.select(HistoryEntry.object_id).where(HistoryEntry.what == "request.completed")
        ended = session.scalars(completed).all()
        assert sorted(ended) == sorted(post for number, post in enumerate(posts) if number % 4 != 1)
        assert history.verify(session, cast.community_id)[1] is None


def test_a_pause_before_the_lock_counts_for_all_and_a_withdrawn_post_is_left_out(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    with wiring.database.reading() as session:
        operator = accounts.actor_for(
            accounts.get(session, cast.operator.account_id), cast.operator.profile_id
        )
    first, gone, *_ = posts = submit(wiring, cast, "post", [factories.SPAM] * 4)
    with changed_meanwhile(wiring, lambda: patient(wiring).score(first)) as session:
        community_revisions.pause(session, operator, cast.community_id, "A rule went wild")
        submitting.withdraw(session, factories.integration(cast), session.get_one(Request, gone))
    with wiring.database.reading() as session:
        actions = session.scalars(sa.select(Action)).all()
        assert {action.request_id for action in actions} == {*posts} - {gone}
        assert {action.action_state for action in actions} == {ActionState.UNDER_REVIEW}
        assert session.scalars(sa.select(Decision)).all() == []
        assert session.scalar(sa.select(sa.func.count()).where(Score.request_id == gone)) == 0
    assert still_waiting(wiring) <= {gone}


class Poisonous:
    """A classifier that breaks, or breaks what stores its scores, on the texts of one post."""

    name, version, local, cost = "poisonous", "1", True, 0.0
    categories = frozenset({"toxicity"})
    tier1_categories = frozenset[str]()

    def __init__(self, *, raises: bool) -> None:
        self._raises = raises

    def score(self, texts: Sequence[str], context: Context) -> list[Result]:
        is_poison = "poison" in texts[0]
        if is_poison and self._raises:
            raise LookupError("poison")
        return [Result({"toxicity": None} if is_poison else {})]  # type: ignore[dict-item]


@pytest.mark.parametrize("raises", [True, False])
def test_one_poisonous_post_does_not_hold_the_others(
    wiring: Wiring, cast: Cast, jobs: InlineEngine, raises: bool
) -> None:
    wiring.classifiers = [*wiring.classifiers, Poisonous(raises=raises)]
    first, poison, *others = submit(wiring, cast, "post", ["One", "poison", "Two", "Three"])
    scorer = patient(wiring)
    scorer.score(first)
    scorer.score(others[0])
    with pytest.raises((LookupError, TypeError)):
        scorer.score(poison)
    for post in others:
        scorer.score(post)
    with wiring.database.reading() as session:
        states = {row.id: row.status for row in session.execute(sa.select(Request.id, Request.status))}
    assert states.pop(poison) is RequestStatus.PENDING
    assert set(states.values()) == {RequestStatus.COMPLETED}


def test_a_slow_text_is_the_last_of_its_batch(wiring: Wiring, cast: Cast) -> None:
    first, second, third = submit(wiring, cast, "post", TEXTS[:3])
    Scorer(wiring, seconds=0).score(first)
    assert still_waiting(wiring) == {second, third}
    # The job of a scored post scores those that were left.
    patient(wiring).score(first)
    assert still_waiting(wiring) == set()


def test_a_post_that_another_process_has_in_hand_is_scored_by_it_or_later_by_its_own_job(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    first, *leased = submit(wiring, cast, "post", TEXTS[:3])
    with wiring.database.writing() as session:
        found = waiting.find(session, leased[0])
        assert found is not None
        lease = partial(waiting.lease, session, found.community_id, found.own, found.post, without=[first])
        assert [post.id for post in lease(most=5)] == leased
        assert lease(most=5) == []
    scorer = patient(wiring)
    scorer.score(first)
    assert still_waiting(wiring) == set(leased)
    before = len(jobs.jobs())
    scorer.score(leased[0])  # the other process may die: this post's own job is put off
    assert [job.args["request_id"] for job in jobs.jobs()[before:]] == [str(leased[0])]
    jobs.run_all()
    assert still_waiting(wiring) == set(leased)
    moment = datetime.now(UTC) + 2 * waiting.LEASE
    clock.set_source(lambda: moment)
    jobs.run_all()
    assert still_waiting(wiring) == set()


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_posts_that_another_transaction_is_leasing_are_passed_over_without_waiting(
    wiring: Wiring, cast: Cast
) -> None:
    first, second, third = submit(wiring, cast, "post", TEXTS[:3])
    with wiring.database.reading() as session:
        found = waiting.find(session, first)
    assert found is not None
    other = Database(wiring.database.engine.url.render_as_string(hide_password=False))
    with wiring.database.writing() as one, other.writing() as two:
        ours = waiting.lease(one, found.community_id, found.own, found.post, most=1)
        theirs = waiting.lease(two, found.community_id, found.own, found.post, most=5)
        assert ([post.id for post in ours], [post.id for post in theirs]) == ([first, second], [third])
    other.dispose()
