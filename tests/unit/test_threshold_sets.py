"""Policies are versions; thresholds keep their order (docs/integrate/api.md)."""

import pytest

from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.permissions import SYSTEM, Actor
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import DEFAULTS, CategoryDraft
from app.core.vocabulary import Role
from app.wiring import Wiring
from tests.cast import Cast, Person


def _actor(cast: Cast, person: Person, role: Role) -> Actor:
    return Actor(
        kind="account",
        name=role.value,
        account_id=person.account_id,
        roles={cast.community_id: role},
        communities=frozenset({cast.community_id}),
    )


@pytest.mark.parametrize(
    ("tier1", "tier2", "field"),
    [
        (0.5, 0.6, "tier2"),
        (1.2, 0.5, "tier1"),
        (None, -0.1, "tier2"),
        (None, 1.1, "tier2"),
        (None, float("nan"), "tier2"),
    ],
)
def test_thresholds_out_of_range_or_order_are_refused(
    wiring: Wiring, cast: Cast, tier1: float | None, tier2: float, field: str
) -> None:
    with wiring.database.writing() as session, pytest.raises(Invalid) as refusal:
        threshold_sets.set_category(
            session, SYSTEM, cast.community_id, CategoryDraft("spam", tier2, tier1), "x"
        )
    assert refusal.value.problems[0].loc == (field,)


def test_setting_one_category_keeps_the_others_and_the_old_version(wiring: Wiring, cast: Cast) -> None:
    operator = _actor(cast, cast.operator, Role.OPERATOR)
    with wiring.database.writing() as session:
        threshold_sets.set_category(
            session, operator, cast.community_id, CategoryDraft("spam", 0.3, 0.3), "too much got through"
        )
    with wiring.database.reading() as session:
        newest, first = threshold_sets.versions(session, operator, cast.community_id)
        assert (newest.version, newest.reason, newest.made_by) == (2, "too much got through", "operator")
        assert len(newest.categories) == len(first.categories) == len(DEFAULTS)
        spam = {p.version: c for p in (newest, first) for c in p.categories if c.name == "spam"}
        assert (spam[2].tier2, spam[1].tier2) == (0.3, 0.55)


def test_a_stale_page_does_not_overwrite_a_newer_version(wiring: Wiring, cast: Cast) -> None:
    operator = _actor(cast, cast.operator, Role.OPERATOR)
    drafts = [CategoryDraft("spam", 0.5)]
    with wiring.database.writing() as session:
        threshold_sets.revise(session, operator, cast.community_id, drafts, "first", based_on=1)
    with wiring.database.writing() as session, pytest.raises(Conflict, match="saved version 2"):
        threshold_sets.revise(session, operator, cast.community_id, drafts, "second", based_on=1)


def test_reverting_makes_a_new_version_of_the_old_one(wiring: Wiring, cast: Cast) -> None:
    operator = _actor(cast, cast.operator, Role.OPERATOR)
    with wiring.database.writing() as session:
        threshold_sets.revise(session, operator, cast.community_id, [CategoryDraft("spam", 0.5)], "fewer")
        threshold_sets.revert(session, operator, cast.community_id, 1, "that was wrong")
        restored = threshold_sets.current(session, cast.community_id)
        assert restored.version == 3
        assert {c.name for c in restored.categories} == {d.name for d in DEFAULTS}
        with pytest.raises(NotFound):
            threshold_sets.revert(session, operator, cast.community_id, 99, "x")


def test_only_operators_revise(wiring: Wiring, cast: Cast) -> None:
    moderator = _actor(cast, cast.moderator, Role.MODERATOR)
    with wiring.database.writing() as session, pytest.raises(Forbidden):
        threshold_sets.revise(session, moderator, cast.community_id, [], "x")
    with wiring.database.writing() as session, pytest.raises(NotFound):
        threshold_sets.revise(
            session, _actor(cast, cast.operator, Role.OPERATOR), cast.other_community_id, [], "x"
        )


def test_levels_of_severity_follow_the_version_in_force(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        threshold_sets.set_category(
            session, SYSTEM, cast.community_id, CategoryDraft("spam", 0.5, severity=60), "raids"
        )
    with wiring.database.reading() as session:
        levels = threshold_sets.severity_levels(session, cast.community_id)
    shipped = ("threat", "hate", "misinformation", "escalated", "spam")
    assert [levels[name] for name in shipped] == [4, 3, 2, 3, 4]
