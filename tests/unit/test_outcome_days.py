"""Packed sums by name: they equal those of the slots, also of days that were counted again and not packed since."""

from collections import Counter
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.history import packed_days
from app.core.insights import outcome_days, rollups
from app.core.models import InsightOutcome
from app.core.models.insights import OutcomeKind
from app.core.models.packed_days import DayKind
from app.core.periods import slot_of
from app.jobs.rollups import roll_up
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import advance, at
from tests.unit.test_rollups import Days

pytestmark = pytest.mark.both_databases

BEGIN = datetime(2026, 3, 27, 20, tzinfo=UTC)
KINDS = (OutcomeKind.CATEGORY, OutcomeKind.RECORD)


def of_slots(session: Session, cast: Cast, first: int, end: int) -> Counter[tuple[str, str, str]]:
    """The sums of the slots, added up here one by one."""
    found: Counter[tuple[str, str, str]] = Counter()
    for row in session.scalars(
        sa.select(InsightOutcome).where(
            InsightOutcome.community_id == cast.community_id,
            InsightOutcome.kind.in_([kind.value for kind in KINDS]),
        )
    ):
        if first <= row.slot < end:
            found[row.kind, row.name, "total"] += row.total
            found[row.kind, row.name, "of which"] += row.of_which
    return found


def check(wiring: Wiring, cast: Cast, *, packed: int) -> Counter[tuple[str, str, str]]:
    """Compare some stretches of slots, whole days and parts of days; and how many days come packed."""
    last = slot_of(clock.now())
    begin = slot_of(BEGIN)
    with wiring.database.reading() as session:
        for first, end in (
            (begin - 500, last + 1),
            (begin + 3, last - 7),
            (begin + 1, begin + 5),
            (begin, begin + 16),
            (begin + 16, begin + 16 + 96),
            (begin, begin),
        ):
            found: Counter[tuple[str, str, str]] = Counter()
            for kind, name, total, of_which in outcome_days.sums(
                session, cast.community_id, first, end, KINDS
            ):
                found[kind, name, "total"] += total
                found[kind, name, "of which"] += of_which
            assert found == of_slots(session, cast, first, end)
        days = packed_days.unchanged(session, cast.community_id, DayKind.OUTCOMES, 0, last)
        assert sum(bool(data) for data in days.values()) == packed
        return of_slots(session, cast, 0, last + 1)


def test_packed_sums_equal_those_of_the_slots(wiring: Wiring, cast: Cast) -> None:
    at(BEGIN)
    days = Days(wiring, cast)
    days.pass_by(45)
    roll_up(wiring.database)
    over = (clock.now().date() - BEGIN.date()).days
    assert over >= 2
    before = check(wiring, cast, packed=over)
    days.change_what_is_past()
    advance(minutes=20)
    with wiring.database.writing() as session:
        assert rollups.roll_up(session, cast.community_id)
    with wiring.database.reading() as session:
        unchanged = packed_days.unchanged(session, cast.community_id, DayKind.OUTCOMES, 0, 30_000)
    left = sum(bool(data) for data in unchanged.values())
    assert left < over, "days that were counted again are not packed again yet"
    assert check(wiring, cast, packed=left) != before
    roll_up(wiring.database)
    check(wiring, cast, packed=(clock.now().date() - BEGIN.date()).days)
