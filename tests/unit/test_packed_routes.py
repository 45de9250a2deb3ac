"""Packed days of scores: a preview routes by them exactly as by the rows, whatever was changed and whenever."""

import random
import uuid
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.core import clock
from app.core.history import packed_days
from app.core.ids import new_id
from app.core.models import Action, DayChange, PackedDay, Request, Score
from app.core.models.packed_days import DayKind
from app.core.periods import begin_of, day_of
from app.core.permissions import SYSTEM
from app.core.policies import packed_routes, packed_scores, route_counts, score_days
from app.core.policies.outcomes import Outcome
from app.core.policies.route_counts import Item
from app.core.requests import scoring, submitting
from app.core.upkeep import pruning
from app.core.vocabulary import ActionState, ActionTier, ActionType
from app.jobs.rollups import roll_up
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import advance, at
from tests.examples import turns
from tests.undone import undone
from tests.unit.test_previews import NAMES, scorings, some_rules

pytestmark = pytest.mark.both_databases

BEGIN = datetime(2026, 3, 27, 20, tzinfo=UTC)
SEED = 7
"""Of changes that come by everything, as the test asserts."""


def post(wiring: Wiring, cast: Cast, chance: random.Random, names: str, count: int) -> None:
    """Score so many posts, several of them at the same moment."""
    with wiring.database.writing() as session:
        for number in range(count):
            submission = submitting.Submission(f"{names}-{number}", "poster", f"Post {names} {number}")
            made = submitting.submit(session, SYSTEM, cast.community_id, submission).request
            assert scoring.start(session, made.id)
            scoring.record_scores(session, made.id, scorings(chance))
            if chance.random() < 0.4:
                advance(minutes=chance.randint(1, 90))


def check(wiring: Wiring, cast: Cast, chance: random.Random, *, is_packed: bool = True) -> tuple[Any, ...]:
    """Compare what packed days and rows give under some rules, and return it."""
    before, after = some_rules(chance), some_rules(chance)
    with undone(wiring.database) as session:
        now = clock.now()
        packed = packed_scores.read(session, cast.community_id, now)
        assert (packed is not None) == is_packed
        found = packed_routes.route(session, cast.community_id, packed, before, after, now)
        expected = route_counts.route(session, cast.community_id, before, after, now)
        bars = packed_scores.histograms(session, cast.community_id, packed, now)
        since = now - timedelta(days=route_counts.PERIODS[-1])
        assert bars == route_counts.histograms(session, cast.community_id, since)
    assert _of(found) == _of(expected)
    return _of(found)


def _of(found: tuple[list[route_counts.Counted], list[Item]]) -> tuple[Any, ...]:
    counted, items = found
    assert all(row.count > 0 for row in counted)
    assert len({(row.days, row.before, row.after, row.outcome) for row in counted}) == len(counted)
    return Counter(counted), items


def _one(session: Session, chance: random.Random, column: Any) -> Any:
    return chance.choice(session.scalars(sa.select(column).order_by(column)).all())


def _moment(chance: random.Random) -> datetime:
    return clock.now() - timedelta(minutes=chance.randrange(60 * 24 * 8))


def change_scores(session: Session, chance: random.Random) -> None:
    """Change, move, remove or add a score: as erasing, scoring again, a late picture or a restore does."""
    score_id = _one(session, chance, Score.id)
    own = Score.id == score_id
    change = sa.update(Score).where(own)
    request_id, community_id = session.execute(
        sa.select(Score.request_id, Score.community_id).where(own)
    ).one()
    what = chance.randrange(6)
    if what == 0:
        session.execute(sa.delete(Score).where(Score.request_id == request_id))
    elif what == 1:
        session.execute(change.values(score=chance.choice([0.0, 0.33335, 0.5, 0.97])))
    elif what == 2:
        session.execute(change.values(is_highest=sa.not_(Score.is_highest), is_acting=Score.is_highest))
    elif what == 3:
        session.execute(change.values(created_at=_moment(chance)))
    elif what == 4:
        session.execute(change.values(tier1_capable=sa.not_(Score.tier1_capable)))
    else:
        known = set(session.scalars(sa.select(Score.category).where(Score.request_id == request_id)))
        for name in [name for name in NAMES if name not in known][:1]:
            session.add(
                Score(
                    id=new_id(),
                    community_id=community_id,
                    request_id=request_id,
                    category=name,
                    classifier="late",
                    classifier_version="1",
                    score=0.9,
                    tier1_capable=True,
                    is_highest=True,
                    created_at=_moment(chance),
                )
            )
            session.flush()


def change_actions(session: Session, chance: random.Random) -> None:
    """Change what became of an action, or remove or add one."""
    own = Action.id == _one(session, chance, Action.id)
    change = sa.update(Action).where(own)
    what = chance.randrange(6)
    if what < 3:
        # Not to those of which a request may have one alone.
        ends = (ActionState.OVERTURNED, ActionState.CONFIRMED, ActionState.DISMISSED, ActionState.SCAN_EXEMPT)
        session.execute(change.values(action_state=chance.choice(ends)))
    elif what == 3:
        session.execute(change.values(lapsed_at=clock.now()))
    elif what == 4:
        session.execute(change.values(reopened_at=clock.now()))
    else:
        request_id = _one(session, chance, Request.id)
        session.add(
            Action(
                id=new_id(),
                community_id=session.scalar(sa.select(Request.community_id).where(Request.id == request_id)),
                request_id=request_id,
                action_type=ActionType.HIDE,
                action_tier=ActionTier.CONSENSUS,
                action_state=ActionState.DISMISSED,
                decided_verb="hide",
            )
        )
        session.flush()


def fill(wiring: Wiring, cast: Cast, chance: random.Random) -> None:
    """Some posts on each of five days, the last of them today."""
    at(BEGIN)
    for day in range(5):
        at(BEGIN + timedelta(days=day))
        post(wiring, cast, chance, f"day-{day}", 10)


@pytest.mark.parametrize("seed", range(SEED, SEED + turns(1)))
def test_packed_days_route_as_the_rows_do_after_any_change(wiring: Wiring, cast: Cast, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - the same changes each time
    fill(wiring, cast, chance)
    check(wiring, cast, chance, is_packed=False)
    roll_up(wiring.database)
    with wiring.database.writing() as session:
        # As no classifier of ours gives it: its day keeps scores as they are.
        first = sa.select(Score.id).where(score_days.PREVIEWED).order_by(Score.created_at, Score.id).limit(1)
        session.execute(sa.update(Score).where(Score.id.in_(first)).values(score=1 / 3))
    outcomes: set[Outcome | None] = set()
    for turn in range(3):
        for _ in range(6):
            # What the database refuses, such as a second live action for one request, is no change.
            with wiring.database.writing() as session, suppress(IntegrityError), session.begin_nested():
                chance.choice((change_scores, change_actions))(session, chance)
            counted, items = check(wiring, cast, chance)
            outcomes |= {row.outcome for row in counted}
            assert len(items) <= len(route_counts.Judged) * route_counts.SHOWN_ITEMS
        if turn % 2:
            post(wiring, cast, chance, f"turn-{turn}", 4)
            advance(hours=20)
        check(wiring, cast, chance)
        roll_up(wiring.database)
        check(wiring, cast, chance)
    if seed == SEED:
        _assert_everything_came_by(wiring, cast, outcomes)
    # The first moment that counts lies in the middle of a packed day.
    at(BEGIN + timedelta(days=91, hours=4))
    check(wiring, cast, chance, is_packed=False)
    roll_up(wiring.database)
    for _ in range(4):
        advance(hours=5)
        check(wiring, cast, chance)


def _assert_everything_came_by(wiring: Wiring, cast: Cast, outcomes: set[Outcome | None]) -> None:
    assert outcomes > {None, Outcome.OVERTURNED, Outcome.DISMISSED, Outcome.OPEN}
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).where(Score.score == 1 / 3)), "still there"
        days = session.scalars(
            sa.select(PackedDay.data).where(
                PackedDay.community_id == cast.community_id, PackedDay.kind == DayKind.SCORES.value
            )
        ).all()
        assert len(days) >= score_days.DAYS
        packed = [found for found in map(score_days.unpacked, days) if found is not None]
        assert len(packed) >= 5
        assert any(day.apart for day in packed), "some posts have scores on several days"
        assert {day.is_in_parts for day in packed} == {True, False}
        today = day_of(clock.now())
        assert session.scalar(sa.select(sa.func.count()).where(DayChange.day < today)) == 0


def test_a_day_with_many_changes_is_read_from_its_rows(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(9)  # noqa: S311 - the same posts each time
    fill(wiring, cast, chance)
    roll_up(wiring.database)
    monkeypatch.setattr(packed_scores, "MOST_CHANGED", 3)
    first = day_of(BEGIN)
    with wiring.database.writing() as session:
        ids = session.scalars(
            sa.select(Score.request_id)
            .where(Score.created_at < BEGIN + timedelta(hours=4), score_days.PREVIEWED)
            .distinct()
        ).all()
        assert len(ids) > 3
        session.execute(sa.update(Score).where(Score.request_id.in_(ids)).values(score=0.61))
    with wiring.database.reading() as session:
        packed = packed_scores.read(session, cast.community_id, clock.now())
        assert packed is not None
        assert first not in packed.versions
        assert first + 1 in packed.versions
    check(wiring, cast, chance)


def test_days_before_the_first_score_are_packed_and_a_score_that_comes_there_later_is_found(
    wiring: Wiring, cast: Cast
) -> None:
    chance = random.Random(23)  # noqa: S311 - the same posts each time
    fill(wiring, cast, chance)
    roll_up(wiring.database)
    early = day_of(BEGIN) - 30
    assert _packed_on(wiring, cast, early) == b""
    with wiring.database.writing() as session:
        _move_one(session, early)
    check(wiring, cast, chance)
    roll_up(wiring.database)
    assert _packed_on(wiring, cast, early)
    check(wiring, cast, chance)


def test_a_score_that_comes_while_days_before_the_first_are_packed_is_not_lost(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look for the first score and the moment from which its note would be kept."""
    chance = random.Random(29)  # noqa: S311 - the same posts each time
    fill(wiring, cast, chance)
    early = day_of(BEGIN) - 30
    own_begin = packed_days.begin
    moved: list[uuid.UUID] = []

    def begin(session: Session, community_id: uuid.UUID, kind: DayKind, *days: int) -> None:
        if len(days) > 1 and not moved:
            moved.append(_move_one(session, early))
        own_begin(session, community_id, kind, *days)

    monkeypatch.setattr(packed_days, "begin", begin)
    roll_up(wiring.database)
    assert moved
    assert _packed_on(wiring, cast, early)
    assert _packed_on(wiring, cast, early - 1) == b""
    check(wiring, cast, chance)


def _move_one(session: Session, day: int) -> uuid.UUID:
    """Give the scores of one request to this day."""
    request_id = session.scalars(
        sa.select(Score.request_id).where(score_days.PREVIEWED).order_by(Score.request_id)
    ).first()
    assert request_id is not None
    moment = begin_of(day) + timedelta(hours=1)
    session.execute(sa.update(Score).where(Score.request_id == request_id).values(created_at=moment))
    return request_id


def _packed_on(wiring: Wiring, cast: Cast, day: int) -> bytes:
    with wiring.database.reading() as session:
        return session.scalars(
            sa.select(PackedDay.data).where(
                PackedDay.community_id == cast.community_id,
                PackedDay.kind == DayKind.SCORES.value,
                PackedDay.day == day,
            )
        ).one()


def test_what_retention_removes_leaves_the_packed_days(wiring: Wiring, cast: Cast) -> None:
    chance = random.Random(13)  # noqa: S311 - the same posts each time
    fill(wiring, cast, chance)
    roll_up(wiring.database)
    with wiring.database.writing() as session:
        session.execute(sa.update(Action).values(action_state=ActionState.DISMISSED))
        removed = pruning.prune_scores(session, cast.community_id, BEGIN + timedelta(days=2))
    assert removed
    check(wiring, cast, chance)
    roll_up(wiring.database)
    check(wiring, cast, chance)
    with wiring.database.reading() as session:
        left = _packed_ids(session, cast)
        scored = set(session.scalars(sa.select(Score.request_id)))
    assert left
    assert left <= scored


def _packed_ids(session: Session, cast: Cast) -> set[uuid.UUID]:
    found = session.scalars(
        sa.select(PackedDay.ids).where(
            PackedDay.community_id == cast.community_id, PackedDay.ids.is_not(None)
        )
    )
    return {
        uuid.UUID(bytes=ids[place : place + score_days.ID_BYTES])
        for ids in found
        if ids is not None
        for place in range(0, len(ids), score_days.ID_BYTES)
    }


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("change", [change_scores, change_actions])
def test_a_change_that_is_not_committed_while_its_day_is_packed_is_not_lost(
    wiring: Wiring, cast: Cast, change: Any
) -> None:
    """On SQLite the change would have to wait for the packer, or the packer for it."""
    chance = random.Random(17)  # noqa: S311 - the same posts each time
    fill(wiring, cast, chance)
    advance(hours=30)
    roll_up(wiring.database)
    with Session(wiring.database.engine) as open_one:
        for _ in range(8):
            change(open_one, chance)
        with wiring.database.writing() as session:
            for day in range(day_of(BEGIN), day_of(clock.now())):
                score_days.pack(session, cast.community_id, day)
        check(wiring, cast, chance)
        open_one.commit()
    for _ in range(4):
        check(wiring, cast, chance)
    roll_up(wiring.database)
    check(wiring, cast, chance)


def test_a_day_that_is_packed_anew_meanwhile_gives_no_other_posts(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its requests may have other places now, so everything is read from the rows."""
    chance = random.Random(19)  # noqa: S311 - the same posts each time
    fill(wiring, cast, chance)
    roll_up(wiring.database)
    own_ids, asked = packed_routes._ids, []

    def after_packing(session: Session, community_id: uuid.UUID, *rest: Any) -> Any:
        session.execute(sa.update(PackedDay).values(version=PackedDay.version + 1))
        found = own_ids(session, community_id, *rest)
        asked.append(found)
        return found

    monkeypatch.setattr(packed_routes, "_ids", after_packing)
    for _ in range(4):
        check(wiring, cast, chance)
    assert None in asked
