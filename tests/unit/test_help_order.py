"""Which item comes first: where one more rating helps most, given who has rated."""

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.core.raters.help_order import Candidate, may_decide, order

NOW = datetime(2026, 5, 1, tzinfo=UTC)
RATER = uuid.UUID(int=7)
NEEDED = 5


def _item(
    ratings: int = 0, *, days: float = 1.0, below: int = 0, above: int = 0, counts: bool = True
) -> Candidate:
    since = NOW - timedelta(days=days)
    return Candidate(uuid.uuid4(), ratings, NEEDED, since, below, above, counts)


def _first(*items: Candidate, factor: float | None = None, rater: uuid.UUID = RATER) -> Candidate:
    best = order(items, rater, factor, NOW)[0]
    return next(one for one in items if one.id == best)


def test_the_nearer_to_enough_ratings_the_earlier() -> None:
    items = [_item(count) for count in range(NEEDED)]
    assert order(items, RATER, None, NOW) == [one.id for one in reversed(items)]


def test_items_that_divide_their_raters_come_after_those_that_one_rating_may_decide() -> None:
    divided, near = _item(40), _item(NEEDED - 1)
    assert _first(divided, near) is near
    assert _first(_item(0), divided) is not divided


def test_a_rater_is_asked_where_their_side_is_missing() -> None:
    wanted, crowded = _item(3, above=3), _item(3, below=3)
    assert _first(crowded, wanted, factor=-0.4) is wanted
    assert _first(crowded, wanted, factor=0.4) is crowded
    assert _first(_item(4, below=4), _item(3, above=3), factor=-0.4).ratings == 3, (
        "a side outweighs one rating"
    )


def test_without_a_viewpoint_sides_change_nothing() -> None:
    items = [_item(3, above=3), _item(3, below=3), _item(3)]
    bare = [Candidate(one.id, one.ratings, one.needed, one.since) for one in items]
    for factor in (None, 0.0):
        assert order(items, RATER, factor, NOW) == order(bare, RATER, None, NOW)


def test_what_waits_long_rises_slowly() -> None:
    assert _first(_item(0, days=1), _item(0, days=9)).since == NOW - timedelta(days=9)
    assert _first(_item(3, days=0), _item(0, days=13)).ratings == 3


def test_raters_who_come_at_once_begin_with_different_items_and_each_with_their_own() -> None:
    items = [_item() for _ in range(10)]
    raters = [uuid.uuid4() for _ in range(50)]
    firsts = {rater: _first(*items, rater=rater).id for rater in raters}
    assert len(set(firsts.values())) > 5
    assert firsts == {rater: _first(*reversed(items), rater=rater).id for rater in raters}


def test_items_where_the_rating_would_not_count_come_last() -> None:
    useless, fresh = _item(4, days=10, counts=False), _item(0, days=0)
    assert order([useless, fresh], RATER, None, NOW) == [fresh.id, useless.id]


def test_a_note_at_a_bar_comes_before_those_that_no_single_rating_decides() -> None:
    bars = (0.40, -0.05)
    at, beside, far = (may_decide(score, 7, NEEDED, bars) for score in (0.40, 0.43, 0.60))
    assert 1.0 == at > beside > far == 0.0
    below, above = (may_decide(score, 7, NEEDED, bars) for score in (-0.10, 0.45))
    assert below == pytest.approx(above), "the bars count alike"
    assert may_decide(0.40, 2, NEEDED, bars) == 0.0, "the last missing rating is still to come"
    assert may_decide(None, 9, NEEDED, bars) == 0.0
    tipping, divided = replace(_item(7), decides=beside), _item(7)
    assert _first(divided, tipping) is tipping


def test_posts_in_a_language_that_the_rater_reads_come_first() -> None:
    foreign, own = replace(_item(4), is_read=False), _item(0)
    assert order([foreign, own], RATER, None, NOW) == [own.id, foreign.id]
