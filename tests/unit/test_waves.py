"""Waves: posts alike under review are one row, one decision and one undo."""

import hashlib
import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.history.reason import Reason
from app.core.models import Action, Community, Hold, Request, Wave
from app.core.requests import submitting
from app.core.requests.submitting import Submission
from app.core.review import claims, conditions, holds, queue, waves
from app.core.review.queue_filters import EVERYTHING, QueueFilter
from app.core.vocabulary import ActionState, ActionVerb
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast

pytestmark = pytest.mark.both_databases


@pytest.fixture(autouse=True)
def _shows_waves(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {}


INSULT = f"{factories.REVIEWED}, even {{}} says so"
OTHER = "Shut up, you stupid moron. Nobody wants your boring lanterns."
Post = Callable[..., uuid.UUID]


@pytest.fixture
def post(wiring: Wiring, cast: Cast) -> Post:
    """Submit and score a post; return the id of its action."""
    numbers = iter(range(1_000))

    def post_(content: str, author: str = "wren", *, score: bool = True) -> uuid.UUID:
        with wiring.database.writing() as session:
            submission = Submission(f"r-{next(numbers)}", "forum", content, platform_author_id=author)
            actor = factories.integration(cast)
            made = submitting.submit(session, actor, cast.community_id, submission).request.id
        if not score:
            return made
        wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
        with wiring.database.reading() as session:
            return session.scalars(sa.select(Action.id).where(Action.request_id == made)).one()

    return post_


def rows(wiring: Wiring, cast: Cast, filters: QueueFilter = EVERYTHING) -> list[uuid.UUID]:
    actor = factories.actor_of(wiring, cast.moderator)
    with wiring.database.reading() as session:
        page = queue.queue(session, actor, cast.community_id, filters, size=50)
        assert page.count == len(page.items)
        return [item.action.id for item in page.items]


def decide(
    wiring: Wiring, cast: Cast, action_id: uuid.UUID, verb: ActionVerb = ActionVerb.FORCE_PUBLISH
) -> int:
    with wiring.database.writing() as session:
        actor = factories.actor_of(wiring, cast.moderator)
        action = session.get_one(Action, action_id)
        return waves.hold(session, actor, verb, action=action, reason=Reason("A wave"), seconds=60)


def carry_out(wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        for hold_id in session.scalars(sa.select(Hold.id)).all():
            holds.carry_out(session, hold_id)


def states(wiring: Wiring, *action_ids: uuid.UUID) -> set[ActionState]:
    with wiring.database.reading() as session:
        return set(session.scalars(sa.select(Action.action_state).where(Action.id.in_(action_ids))))


def join_later(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {"wave_joins": True}


def test_posts_alike_are_one_row_with_their_number(wiring: Wiring, cast: Cast, post: Post) -> None:
    wave = [post(INSULT.format(name), author) for name, author in (("Ann", "a"), ("Ben", "b"), ("Cy", "b"))]
    alone = post(OTHER, "c")
    assert set(rows(wiring, cast)) == {wave[0], alone}
    assert rows(wiring, cast, QueueFilter(author="b")) == [wave[1]]
    assert set(rows(wiring, cast, QueueFilter(search="idiot"))) == set(wave)
    actor = factories.actor_of(wiring, cast.moderator)
    with wiring.database.reading() as session:
        wave_id = session.get_one(Action, wave[0]).wave_id
        assert wave_id is not None
        assert waves.sizes(session, [wave_id]) == {wave_id: waves.Size(open=3, total=3, authors=2)}
        assert session.get_one(Action, alone).wave_id is None
        assert conditions.open_counts(session, actor, cast.community_id).review == 2


def test_each_post_is_a_row_where_the_community_wants_it(wiring: Wiring, cast: Cast, post: Post) -> None:
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {"waves": False}
    made = {post(INSULT.format(name)) for name in ("Ann", "Ben")}
    assert set(rows(wiring, cast)) == made


def test_posts_scored_together_are_one_row(wiring: Wiring, cast: Cast, post: Post) -> None:
    for number in range(7):
        post(INSULT.format(number), f"new-{number}", score=False)
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    assert len(rows(wiring, cast)) == 1


def test_another_category_or_community_is_another_row(wiring: Wiring, cast: Cast, post: Post) -> None:
    first = post(INSULT.format("Ann"))
    with wiring.database.writing() as session:
        session.execute(sa.update(Action).values(category="hate"))
    second = post(INSULT.format("Ben"))
    assert set(rows(wiring, cast)) == {first, second}
    with wiring.database.writing() as session:
        session.execute(sa.update(Action).values(community_id=cast.other_community_id))
        session.execute(sa.update(Request).values(community_id=cast.other_community_id))
        session.execute(
            sa.text("UPDATE post_marks SET community_id = (SELECT community_id FROM requests LIMIT 1)")
        )
    third = post(INSULT.format("Cy"))
    assert rows(wiring, cast) == [third]


def test_one_decision_has_one_undo(wiring: Wiring, cast: Cast, post: Post) -> None:
    wave = [post(INSULT.format(name), name) for name in ("Ann", "Ben", "Cy")]
    alone = post(OTHER, "c")
    assert decide(wiring, cast, wave[0]) == 3
    with wiring.database.writing() as session:
        held = session.scalars(sa.select(Hold).where(Hold.action_id == wave[2])).one()
        holds.undo(session, factories.actor_of(wiring, cast.moderator), held.id)
        assert session.scalars(sa.select(Hold)).all() == []
    assert states(wiring, *wave) == {ActionState.UNDER_REVIEW}
    assert decide(wiring, cast, wave[0]) == 3
    carry_out(wiring)
    assert states(wiring, *wave) == {ActionState.PROPOSED}
    assert rows(wiring, cast) == [alone]


def test_what_a_colleague_has_claimed_is_left_out(wiring: Wiring, cast: Cast, post: Post) -> None:
    wave = [post(INSULT.format(name), name) for name in ("Ann", "Ben", "Cy")]
    with wiring.database.writing() as session:
        claims.claim(session, factories.actor_of(wiring, cast.operator), session.get_one(Action, wave[1]))
    assert decide(wiring, cast, wave[0]) == 2
    carry_out(wiring)
    assert rows(wiring, cast) == [wave[1]]


def test_a_claim_of_the_row_keeps_the_wave_from_colleagues(wiring: Wiring, cast: Cast, post: Post) -> None:
    wave = [post(INSULT.format(name), name) for name in ("Ann", "Ben")]
    with wiring.database.writing() as session:
        claims.claim(session, factories.actor_of(wiring, cast.operator), session.get_one(Action, wave[0]))
    with wiring.database.writing() as session:
        actor = factories.actor_of(wiring, cast.moderator)
        assert claims.claim_next(session, actor, cast.community_id, EVERYTHING) is None
    assert rows(wiring, cast, QueueFilter(claimed_by="nobody")) == []
    assert rows(wiring, cast) == [wave[0]]


def test_the_next_post_is_the_row_if_the_first_is_decided_alone(
    wiring: Wiring, cast: Cast, post: Post
) -> None:
    wave = [post(INSULT.format(name), name) for name in ("Ann", "Ben", "Cy")]
    with wiring.database.writing() as session:
        actor = factories.actor_of(wiring, cast.moderator)
        action = session.get_one(Action, wave[0])
        holds.hold(session, actor, ActionVerb.DISMISS, action=action, reason=Reason("Fine"), seconds=0)
    carry_out(wiring)
    assert rows(wiring, cast) == [wave[1]]


def test_later_posts_wait_unless_the_community_wants_them_decided(
    wiring: Wiring, cast: Cast, post: Post
) -> None:
    wave = [post(INSULT.format(name), name) for name in ("Ann", "Ben")]
    decide(wiring, cast, wave[0])
    carry_out(wiring)
    later = post(INSULT.format("Cy"), "c")
    assert states(wiring, later) == {ActionState.UNDER_REVIEW}
    assert rows(wiring, cast) == [later]


def test_later_posts_are_decided_the_same_way_for_a_day(wiring: Wiring, cast: Cast, post: Post) -> None:
    join_later(wiring, cast)
    wave = [post(INSULT.format(name), name) for name in ("Ann", "Ben")]
    decide(wiring, cast, wave[0])
    carry_out(wiring)
    later = post(INSULT.format("Cy"), "c")
    with wiring.database.reading() as session:
        held = session.scalars(sa.select(Hold)).one()
        assert (held.action_id, held.verb, held.reason, held.comment) == (
            later,
            ActionVerb.FORCE_PUBLISH,
            "A wave",
            waves.ALIKE,
        )
        wave_id = session.get_one(Action, later).wave_id
        assert wave_id is not None
        assert waves.sizes(session, [wave_id])[wave_id].later == 1
    carry_out(wiring)
    assert states(wiring, *wave, later) == {ActionState.PROPOSED}
    assert post(OTHER, "d") in rows(wiring, cast)
    with wiring.database.writing() as session:
        session.execute(sa.update(Wave).values(decided_at=clock.now() - timedelta(hours=25)))
    last = post(INSULT.format("Di"), "d")
    assert last in rows(wiring, cast)
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Hold)).all() == []


@pytest.mark.parametrize("how", ["undo", "stop", "overturn", "role"])
def test_a_wave_stops(wiring: Wiring, cast: Cast, post: Post, how: str) -> None:
    join_later(wiring, cast)
    wave = [post(INSULT.format(name), name) for name in ("Ann", "Ben")]
    decide(wiring, cast, wave[0])
    actor = factories.actor_of(wiring, cast.moderator)
    if how != "undo":
        carry_out(wiring)
    with wiring.database.writing() as session:
        if how == "undo":
            holds.undo(session, actor, session.scalars(sa.select(Hold.id)).all()[0])
        elif how == "stop":
            waves.stop(session, actor, session.get_one(Action, wave[1]))
        elif how == "overturn":
            session.execute(sa.update(Action).where(Action.id == wave[1]).values(overturned_at=clock.now()))
        else:
            session.execute(sa.text("DELETE FROM memberships WHERE role = 'moderator'"))
    later = post(INSULT.format("Cy"), "c")
    assert states(wiring, later) == {ActionState.UNDER_REVIEW}
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Hold)).all() == []
        assert not session.scalars(sa.select(Wave.joins)).one()


def test_a_wave_does_not_drift_from_its_first_post(wiring: Wiring, cast: Cast, post: Post) -> None:
    names = [hashlib.sha256(bytes([number])).hexdigest()[:10] for number in range(30)]
    texts = [f"{factories.REVIEWED} {' '.join(names[step * 3 : step * 3 + 12])}" for step in range(7)]
    actions = [post(text, f"a-{number}") for number, text in enumerate(texts)]
    with wiring.database.reading() as session:
        found = [session.get_one(Action, one).wave_id for one in actions]
        request_ids = dict(session.execute(sa.select(Wave.id, Wave.request_id)).all())
    assert len(set(found)) > 1
    assert set(found) - {None} == set(request_ids)
