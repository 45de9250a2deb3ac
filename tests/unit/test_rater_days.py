"""The days on which people rated: kept by the verbs that write ratings, and counted as the ratings themselves."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import date
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.insights.trends import count_raters
from app.core.models import RaterDay, Rating
from app.core.periods import Period, begin_of, day_of
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import at
from tests.examples import turns
from tests.unit.test_scoring_analysis import NOW, Town

pytestmark = pytest.mark.both_databases

# Days that begin between whole hours, a night on which the clock changes, days as they are kept, weeks instead of days.
PERIODS = [
    Period(date(2026, 3, 26), date(2026, 4, 9), ZoneInfo("Asia/Kathmandu")),
    Period(date(2026, 3, 28), date(2026, 3, 30), ZoneInfo("Europe/Berlin")),
    Period(date(2026, 3, 20), date(2026, 4, 18), ZoneInfo("UTC")),
    Period(date(2026, 3, 1), date(2026, 4, 20), ZoneInfo("America/St_Johns")),
]


def of_rows(session: Session, community_id: UUID, period: Period) -> tuple[Mapping[int, int], int]:
    """As ``count_raters``, from every rating."""
    raters: defaultdict[int, set[UUID]] = defaultdict(set)
    for rater_id, moment in session.execute(
        sa.select(Rating.rater_id, Rating.created_at).where(Rating.community_id == community_id)
    ):
        for part, (since, until) in enumerate(period.bounds):
            if since <= moment < until:
                raters[part].add(rater_id)
    counts = {part: len(people) for part, people in raters.items()}
    return counts, len(set().union(*raters.values()))


def test_they_count_as_the_ratings_do_after_any_change(wiring: Wiring, cast: Cast) -> None:
    at(NOW)
    town = Town(wiring, cast, seed=2)
    for number in range(turns(80)):
        town.step()
        if number % 10 == 9:
            with wiring.database.reading() as session:
                for community_id in (cast.community_id, cast.other_community_id):
                    for period in PERIODS:
                        found = count_raters(session, community_id, period)
                        assert found == of_rows(session, community_id, period)
    assert {"_rate", "_withdraw_rating", "_link"} <= town.done.keys(), town.done
    with wiring.database.reading() as session:
        ratings = session.execute(sa.select(Rating.community_id, Rating.created_at, Rating.rater_id))
        days = session.execute(sa.select(RaterDay.community_id, RaterDay.day, RaterDay.rater_id)).all()
        assert set(days) == {(home, day_of(moment), rater_id) for home, moment, rater_id in ratings}
        assert len(days) > 10


def test_a_day_is_that_of_its_moments() -> None:
    day = day_of(NOW)
    assert begin_of(day) <= NOW < begin_of(day + 1)
    assert (day_of(begin_of(day)), begin_of(0).year) == (day, 1970)
