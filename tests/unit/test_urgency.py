"""The order "Most urgent": harm, reports and reach bring a review forward, and age does the rest."""

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.actions.opening import figure, urgency
from app.core.models import Action
from app.core.review import claims, queue, queue_filters
from app.core.review.queue_filters import QueueFilter, Sort
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import CategoryDraft, draft_of
from app.core.thresholds.routing import default_target
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.clocks import advance
from tests.factories import actor_of

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ({"severity": 70}, {"severity": 10}),
        ({"metadata": {"reports": 9}}, {"metadata": {"reports": 2}}),
        ({"metadata": {"reports": ["ann", "bob"]}}, {"metadata": {}}),
        ({"metadata": {"views": 40_000}}, {"metadata": {"views": 40}}),
        ({"score": 0.9}, {"score": 0.6}),
        ({"target": 60}, {"target": 240}),
        ({"opened": NOW - timedelta(hours=9)}, {"severity": 70}),
    ],
)
def test_what_does_more_harm_or_waits_longer_comes_first(earlier: Any, later: Any) -> None:
    def place(facts: Any) -> datetime:
        return urgency(
            facts.get("opened", NOW),
            facts.get("target", 240),
            facts.get("severity", 0),
            facts.get("score", 0.5),
            facts.get("metadata"),
        ).urgent_at

    assert place(earlier) < place(later)


@pytest.mark.parametrize(
    ("metadata", "reports"),
    [
        (None, 0),
        ({"reports": 3}, 3),
        ({"reports": 2.9}, 2),
        ({"reports": [1, 2]}, 2),
        ({"reports": True}, 0),
        ({"reports": -4}, 0),
        ({"reports": "many"}, 0),
        ({"reports": float("nan")}, 0),
        ({"reports": float("inf")}, 0),
        ({"reports": 10**400}, 10**12),
    ],
)
def test_metadata_is_free_so_only_plain_numbers_and_lists_count(
    metadata: Mapping[str, Any] | None, reports: int
) -> None:
    assert figure(metadata, "reports") == reports
    assert urgency(NOW, 60, 0, 0.0, metadata).urgent_at > NOW - timedelta(days=2)


def test_severe_categories_have_less_time_unless_an_operator_says_otherwise(
    wiring: Wiring, cast: Cast
) -> None:
    assert [default_target(severity) for severity in (1000, 60, 35, 20, 0)] == [60, 60, 240, 720, 1440]
    operator = actor_of(wiring, cast.operator)
    with wiring.database.writing() as session:
        drafts = [draft_of(one) for one in threshold_sets.current(session, cast.community_id).categories]
        spam = next(draft for draft in drafts if draft.name == "spam")
        changed = CategoryDraft(**{**vars(spam), "target_minutes": 15})
        thresholds = threshold_sets.set_category(
            session, operator, cast.community_id, changed, "Spam spreads"
        )
        rules = {rule.name: rule.target_minutes for rule in threshold_sets.category_rules(thresholds)}
    assert (rules["spam"], rules["threat"]) == (15, None)


@pytest.mark.both_databases
def test_the_queue_begins_with_the_most_urgent_and_follows_that_order_both_ways(
    wiring: Wiring, cast: Cast
) -> None:
    ids = [factories.scored_action(wiring, cast, request_id=f"post-{number}") for number in range(4)]
    wanted = [ids[2], ids[0], ids[3], ids[1]]
    max_ = actor_of(wiring, cast.moderator)
    with wiring.database.writing() as session:
        for place, action_id in enumerate(wanted):
            session.get_one(Action, action_id).urgent_at = NOW + timedelta(minutes=place // 2)
        # Two of one minute each: the older id comes first.
        wanted[:2], wanted[2:] = sorted(wanted[:2]), sorted(wanted[2:])
        whole = queue.queue(session, max_, cast.community_id, QueueFilter(), size=9)
        assert [item.action.id for item in whole.items] == wanted
        second = queue.queue(session, max_, cast.community_id, QueueFilter(), size=2, after=wanted[1])
        assert ([item.action.id for item in second.items], second.first) == (wanted[2:], 3)
        back = queue.queue(session, max_, cast.community_id, QueueFilter(), size=2, before=wanted[2])
        assert [item.action.id for item in back.items] == wanted[:2]
        claimed = claims.claim_next(session, max_, cast.community_id, QueueFilter())
        assert claimed is not None
        assert claimed.id == wanted[0]


@pytest.mark.both_databases
def test_filters_for_author_channel_and_overdue(wiring: Wiring, cast: Cast) -> None:
    first = factories.scored_action(wiring, cast)
    second = factories.scored_action(wiring, cast, request_id="post-2")
    max_ = actor_of(wiring, cast.moderator)
    with wiring.database.writing() as session:
        action = session.get_one(Action, second)
        assert action.due_at is not None
        late = action.due_at - action.created_at
        action.due_at += timedelta(days=1)
        action.platform_author_id, action.platform_channel_id = "mallory", "market"

    def found(**filters: Any) -> list[uuid.UUID]:
        with wiring.database.reading() as session:
            page = queue.queue(session, max_, cast.community_id, QueueFilter(**filters), size=9)
            return [item.action.id for item in page.items]

    assert found(author="mallory") == [second]
    assert found(channel="market") == [second]
    assert found(overdue=True) == []
    advance(late.total_seconds() + 1)
    assert found(overdue=True) == [first]
    assert found(overdue=True, author="mallory") == []
    with wiring.database.reading() as session:
        both = queue.items(session, max_, cast.community_id, [second, uuid.uuid4(), first])
        assert [item.action.id for item in both] == [second, first]
        assert [(item.is_overdue, item.is_far_overdue) for item in both] == [(False, False), (True, False)]
    advance(late.total_seconds())
    with wiring.database.reading() as session:
        (item,) = queue.items(session, max_, cast.community_id, [first])
        assert item.is_far_overdue, "it waits for twice its target time"


@pytest.mark.both_databases
def test_an_index_serves_the_order(wiring: Wiring, cast: Cast) -> None:
    max_ = actor_of(wiring, cast.moderator)
    with wiring.database.writing() as session:
        statement = queue_filters.filtered(session, max_, cast.community_id, QueueFilter()).order_by(
            *queue_filters.order_clauses(Sort.URGENT)
        )
        if session.get_bind().dialect.name == "postgresql":
            session.execute(sa.text("SET LOCAL enable_seqscan = off"))
            session.execute(sa.text("SET LOCAL enable_sort = off"))
            explain = "EXPLAIN "
        else:
            explain = "EXPLAIN QUERY PLAN "
        bound = statement.limit(50).compile(session.get_bind(), compile_kwargs={"literal_binds": True})
        plan = " ".join(str(row) for row in session.execute(sa.text(f"{explain}{bound}")))
    assert "ix_moderation_actions_urgent" in plan
    assert "TEMP B-TREE" not in plan
