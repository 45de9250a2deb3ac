"""Tallies: the counts that triggers keep equal the rows, whatever changes them, and however they are added up."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.history import tallies
from app.core.insights.insights import BORNE_OUT, TOOK_A_SIDE
from app.core.models import Action, Decision, Delivery, Note, Rating, Request, Score, Tally, TallyChange
from app.core.models.insights import TallyKind
from app.core.permissions import SYSTEM
from app.core.policies import previews
from app.core.policies.drafts import CategoryDraft
from app.core.vocabulary import NoteStatus, RequestStatus
from app.wiring import Wiring
from tests import bulk
from tests.cast import Cast
from tests.clocks import at
from tests.unit.test_rollups import Days

pytestmark = pytest.mark.both_databases


def of_tallies(session: Session) -> dict[str, Counter[Any]]:
    """Every kind's counts as the tallies have them, by community, day and name."""
    found: dict[str, Counter[Any]] = {kind.value: Counter() for kind in TallyKind}
    for model, total in ((Tally, Tally.total), (TallyChange, TallyChange.change)):
        for kind, *key, count in session.execute(
            sa.select(model.kind, model.community_id, model.day, model.name, total)
        ):
            found[kind][tuple(key)] += count
    return {kind: Counter({key: n for key, n in counts.items() if n}) for kind, counts in found.items()}


def of_rows(session: Session) -> dict[str, Counter[Any]]:
    """The same from the rows themselves, counted here one by one."""
    found: dict[str, Counter[Any]] = {kind.value: Counter() for kind in TallyKind}

    def add(kind: TallyKind, community_id: Any, name: str, day: int = 0) -> None:
        found[kind][community_id, day, name] += 1

    for request in session.scalars(sa.select(Request)):
        if request.withdrawn_at is None:
            add(TallyKind.REQUEST, request.community_id, request.status)
        if request.scored_at is not None:
            add(TallyKind.SCORED, request.community_id, "", tallies.day_of(request.scored_at))
    for action in session.scalars(sa.select(Action)):
        add(TallyKind.ACTION, action.community_id, action.action_state)
        if action.action_state == "under_review" and action.review_group is not None:
            add(TallyKind.QUEUE, action.community_id, action.review_group)
        if action.action_tier is not None and action.restores_id is None:
            add(TallyKind.OPENED, action.community_id, action.category or "")
            if action.action_state in ("under_review", "retro_review"):
                add(TallyKind.REVIEWED, action.community_id, action.action_state)
    for note in session.scalars(sa.select(Note).where(Note.deleted_at.is_(None))):
        add(TallyKind.NOTE, note.community_id, note.status)
    for decision in session.scalars(sa.select(Decision)):
        kind = "none" if decision.decision == "none" else "action"
        add(TallyKind.DECISION, decision.community_id, f"{decision.tier} {kind}")
    for delivery in session.scalars(sa.select(Delivery)):
        add(TallyKind.DELIVERY, delivery.community_id, delivery.state)
    for score in session.scalars(sa.select(Score).where(Score.is_highest, Score.score > 0)):
        bar = max(0, (round(score.score * 10_000) - 1) // 500)
        add(TallyKind.BAR, score.community_id, f"{bar} {score.category}", tallies.day_of(score.created_at))
    current = sa.and_(Rating.note_version == Note.version, Note.deleted_at.is_(None))
    rater = sa.cast(Rating.rater_id, sa.Text)
    for kind, condition in (
        (TallyKind.RATING, sa.true()),
        (TallyKind.SIDED, TOOK_A_SIDE),
        (TallyKind.BORNE_OUT, sa.and_(TOOK_A_SIDE, BORNE_OUT)),
    ):
        for community_id, name in session.execute(
            sa.select(Rating.community_id, rater)
            .join(Note, Note.id == Rating.note_id)
            .where(current, condition)
        ):
            add(kind, community_id, name)
    return found


def test_tallies_equal_the_rows_after_any_change_and_after_a_new_count(wiring: Wiring, cast: Cast) -> None:
    at(datetime(2026, 3, 27, 20, tzinfo=UTC))
    days = Days(wiring, cast)
    days.pass_by(30)
    days.change_what_is_past()
    with wiring.database.writing() as session:
        # Changes of many rows at once, and those that no verb makes in the days above.
        session.execute(
            sa.update(Request).values(status=RequestStatus.FAILED).where(Request.scored_at.is_(None))
        )
        session.execute(
            sa.update(Note).values(status=NoteStatus.CURRENTLY_RATED_HELPFUL, updated_at=clock.now())
        )
        newest = session.scalars(sa.select(Note).order_by(Note.created_at.desc())).first()
        assert newest is not None
        newest.version += 1
        session.flush()
        session.execute(sa.delete(Rating).where(Rating.note_id == newest.id))
    with wiring.database.writing() as session:
        expected = of_rows(session)
        assert all(expected[kind] for kind in TallyKind if kind is not TallyKind.DELIVERY), expected
        assert of_tallies(session) == expected
    with wiring.database.writing() as session:
        assert tallies.has_changes(session)
        assert not tallies.add_up(session)
        assert not tallies.has_changes(session)
    days.pass_by(8)
    with wiring.database.writing() as session:
        expected = of_rows(session)
        assert of_tallies(session) == expected, "of totals and changes together"
        tallies.add_up(session)
        assert of_tallies(session) == expected
    with wiring.database.writing() as session:
        bulk.tally(session.connection())
        assert of_tallies(session) == expected, "as the migration counts what there is"


def test_what_a_preview_reads_of_tallies_equals_the_rows(wiring: Wiring, cast: Cast) -> None:
    at(datetime(2026, 3, 27, 20, tzinfo=UTC))
    Days(wiring, cast).pass_by(20)
    with wiring.database.reading() as session:
        scored = session.scalars(sa.select(Request.scored_at).order_by(Request.scored_at)).all()
        moments = [moment for moment in scored if moment is not None]
        # Some posts lie at the two ends of the first day of a period, before and after its moment.
        at(moments[len(moments) // 2] + timedelta(days=7))
        made = previews.preview(session, SYSTEM, cast.community_id, [CategoryDraft("spam", 0.25, 0.65)])
        week = sum(moment >= clock.now() - timedelta(days=7) for moment in moments)
        assert [period.scored for period in made.periods] == [week, len(moments), len(moments)]
        assert 0 < week < len(moments)
        counted = session.execute(
            sa.select(Score.category, sa.func.count())
            .where(Score.is_highest, Score.score > 0)
            .group_by(Score.category)
        ).all()
        assert {name: sum(bars) for name, bars in made.histograms.items()} == {
            row[0]: row[1] for row in counted
        }
