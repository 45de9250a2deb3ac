"""The totals of ``/metrics``: equal to the rows, and counted at most once a minute."""

from collections import Counter
from datetime import UTC, datetime
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.insights import monitoring
from app.core.models import Action, Decision, Delivery, Note, Request
from app.core.permissions import SYSTEM, Actor
from app.core.vocabulary import RequestStatus
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import advance, at
from tests.unit.test_rollups import Days

pytestmark = pytest.mark.both_databases

NOW = datetime(2026, 3, 27, 20, tzinfo=UTC)


def of_rows(session: Session, communities: set[UUID]) -> dict[str, Counter[object]]:
    """Every count, added up here one by one."""
    found: dict[str, Counter[object]] = {}

    def rows(model: type[Request | Action | Note | Delivery | Decision]) -> sa.ScalarResult[object]:
        return session.scalars(sa.select(model).where(model.community_id.in_(communities)))

    found["requests"] = Counter(row.status for row in rows(Request) if row.withdrawn_at is None)  # type: ignore[attr-defined]
    actions: list[Action] = list(rows(Action))  # type: ignore[arg-type]
    found["actions"] = Counter(action.action_state for action in actions)
    found["review_queue"] = Counter(
        action.review_group
        for action in actions
        if action.action_state == "under_review" and action.review_group is not None
    )
    found["notes"] = Counter(row.status for row in rows(Note) if row.deleted_at is None)  # type: ignore[attr-defined]
    found["deliveries"] = Counter(row.state for row in rows(Delivery))  # type: ignore[attr-defined]
    found["decisions"] = Counter(
        (str(row.tier), "none" if row.decision == "none" else "action")  # type: ignore[attr-defined]
        for row in rows(Decision)
    )
    return found


def test_totals_equal_the_rows_after_any_change(wiring: Wiring, cast: Cast) -> None:
    at(NOW)
    days = Days(wiring, cast)
    days.pass_by(30)
    days.change_what_is_past()
    with wiring.database.reading() as session:
        for communities in ({cast.community_id}, {cast.other_community_id}, None):
            everywhere = {cast.community_id, cast.other_community_id}
            actor = Actor(
                kind="system", name="Scraper", communities=frozenset(communities) if communities else None
            )
            totals = monitoring.count(session, actor)
            for name, expected in of_rows(session, communities or everywhere).items():
                counts = {word: count for word, count in getattr(totals, name).items() if count}
                assert counts == expected, name
        assert all(
            sum(getattr(totals, name).values()) for name in ("requests", "actions", "notes", "decisions")
        )


def test_totals_are_counted_once_a_minute(wiring: Wiring, cast: Cast) -> None:
    at(NOW)
    Days(wiring, cast).pass_by(3)
    totals = monitoring.LastTotals()
    with wiring.database.reading() as session:
        before = totals.read(session, SYSTEM)
    with wiring.database.writing() as session:
        session.execute(sa.update(Request).values(status=RequestStatus.FAILED))
    advance(seconds=59)
    with wiring.database.reading() as session:
        assert totals.read(session, SYSTEM) is before
        other = Actor(kind="system", name="Scraper", communities=frozenset({cast.community_id}))
        assert totals.read(session, other).requests[RequestStatus.FAILED] == 3, "of other communities"
    advance(seconds=1)
    with wiring.database.reading() as session:
        assert totals.read(session, SYSTEM).requests[RequestStatus.FAILED] == 3
