"""Packed days of raters: they give the counts of the ratings themselves, whatever was changed and whenever."""

import random
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.history import packed_days
from app.core.history.tallies import day_of
from app.core.insights import packing, rater_days, trend_queries
from app.core.models import DayChange, PackedDay, Profile, RaterNumber, Rating
from app.core.models.packed_days import DayKind
from app.core.people import profiles
from app.core.periods import Period
from app.jobs.rollups import roll_up
from app.wiring import Wiring
from tests.cast import PLATFORM, Cast
from tests.clocks import advance, at
from tests.examples import turns
from tests.unit.test_rollups import Days

pytestmark = pytest.mark.both_databases

# Days that begin between whole hours, a night on which the clock changes, and weeks instead of days.
PERIODS = [
    Period(date(2026, 3, 26), date(2026, 4, 9), ZoneInfo("Asia/Kathmandu")),
    Period(date(2026, 3, 28), date(2026, 3, 30), ZoneInfo("Europe/Berlin")),
    Period(date(2026, 3, 1), date(2026, 4, 20), ZoneInfo("America/St_Johns")),
    Period(date(2026, 3, 28), date(2026, 3, 28), ZoneInfo("UTC")),
]


def of_packed_days(session: Session, cast: Cast) -> list[object]:
    return [rater_days.count(session, cast.community_id, period) for period in PERIODS]


def of_rows(session: Session, cast: Cast) -> list[object]:
    return [trend_queries.raters(session, cast.community_id, period) for period in PERIODS]


def check(wiring: Wiring, cast: Cast) -> list[object]:
    """Compare all periods, and return what was found."""
    with wiring.database.reading() as session:
        found = of_packed_days(session, cast)
        assert found == of_rows(session, cast)
    return found


def packed(wiring: Wiring, cast: Cast) -> int:
    with wiring.database.reading() as session:
        return (
            session.scalar(
                sa.select(sa.func.count()).where(
                    PackedDay.community_id == cast.community_id,
                    PackedDay.kind == DayKind.RATERS.value,
                    sa.func.length(PackedDay.data) > 0,
                )
            )
            or 0
        )


def change_anything(session: Session, chance: random.Random) -> None:
    """Delete a rating, give it to another rater, or move it to another moment: past verbs, as a restore would."""
    rating_id = chance.choice(session.scalars(sa.select(Rating.id).order_by(Rating.id)).all())
    own = Rating.id == rating_id
    what = chance.randrange(4)
    if what == 0:
        session.execute(sa.delete(Rating).where(own))
    elif what == 1:
        known = session.scalars(sa.select(Profile.id).order_by(Profile.id)).all()
        note_id = session.scalar(sa.select(Rating.note_id).where(own))
        rated = set(session.scalars(sa.select(Rating.rater_id).where(Rating.note_id == note_id)))
        others = [profile_id for profile_id in known if profile_id not in rated]
        if others:
            session.execute(sa.update(Rating).where(own).values(rater_id=chance.choice(others)))
    else:
        moment = clock.now() - timedelta(minutes=chance.randrange(60 * 24 * 6))
        session.execute(sa.update(Rating).where(own).values(created_at=moment))


def test_packed_days_count_as_the_ratings_do(wiring: Wiring, cast: Cast) -> None:
    at(datetime(2026, 3, 27, 20, tzinfo=UTC))
    chance = random.Random(3)  # noqa: S311 - the same changes each time
    days = Days(wiring, cast)
    days.pass_by(12)
    check(wiring, cast)
    late = 0
    for _ in range(turns(3)):
        days.pass_by(12)
        before = check(wiring, cast)
        roll_up(wiring.database)
        assert check(wiring, cast) == before
        for _ in range(3):
            with wiring.database.writing() as session:
                change_anything(session, chance)
            late += check(wiring, cast) != before
    assert packed(wiring, cast) >= 2
    assert late, "some of the changes were seen"
    advance(hours=30)
    roll_up(wiring.database)
    check(wiring, cast)
    with wiring.database.reading() as session:
        raters = DayChange.kind == DayKind.RATERS.value
        assert session.scalar(sa.select(sa.func.count()).where(raters)) == 0
        assert packed_days.due(session, clock.now()) == []
        numbers = session.scalars(
            sa.select(RaterNumber.number).where(RaterNumber.community_id == cast.community_id)
        ).all()
        assert sorted(numbers) == list(range(len(numbers)))


def test_somebody_new_is_counted_once_beside_packed_days(wiring: Wiring, cast: Cast) -> None:
    at(datetime(2026, 3, 27, 20, tzinfo=UTC))
    Days(wiring, cast).pass_by(40)
    advance(hours=30)
    roll_up(wiring.database)
    with wiring.database.writing() as session:
        ratings = session.scalars(sa.select(Rating).order_by(Rating.created_at)).all()
        newcomer = profiles.ensure(session, PLATFORM, "newcomer")
        # Two of one day, and one of another: a person without a number, in two parts.
        on_two_days = {rating.note_id: rating for rating in (ratings[0], ratings[1], ratings[-1])}.values()
        for rating in on_two_days:
            rating.rater_id = newcomer.id
    with wiring.database.reading() as session:
        assert session.get(RaterNumber, (cast.community_id, newcomer.id)) is None
    check(wiring, cast)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_change_that_is_not_committed_while_its_day_is_packed_is_not_lost(
    wiring: Wiring, cast: Cast
) -> None:
    """On SQLite the change would have to wait for the packer, or the packer for it."""
    at(datetime(2026, 3, 27, 20, tzinfo=UTC))
    Days(wiring, cast).pass_by(40)
    advance(hours=30)
    roll_up(wiring.database)
    with wiring.database.engine.connect() as open_one:
        rating_id, moment = open_one.execute(
            sa.select(Rating.id, Rating.created_at).order_by(Rating.created_at).limit(1)
        ).one()
        open_one.execute(sa.delete(Rating).where(Rating.id == rating_id))
        with wiring.database.writing() as session:
            rater_days.pack(session, cast.community_id, day_of(moment))
            assert packing.pack(session, cast.community_id)
        before = check(wiring, cast)
        open_one.commit()
    assert check(wiring, cast) != before
    roll_up(wiring.database)
    check(wiring, cast)
