"""Who looks at an item: colleagues see their names beside its heading, from the open page or the page as it opens."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.models import Membership, SignIn
from app.core.vocabulary import Role
from app.wiring import Wiring
from tests.cast import Cast
from tests.web.conftest import HTMX, Stage, Visitor
from tests.web.test_claiming import poll_of

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""Its SQL is tested in ``tests/unit/test_looking.py``, on both databases."""

OPERATOR_LOOKS = "<bdi>Operator</bdi> is looking at this"
PassTime = Callable[[timedelta], None]


def looked_at(wiring: Wiring) -> list[uuid.UUID]:
    with wiring.database.reading() as session:
        return list(session.scalars(sa.select(SignIn.looking_at).where(SignIn.looking_at.is_not(None))))


def test_who_opened_it_is_named_to_others_for_half_a_minute_and_never_to_themselves(
    moderator: Visitor, operator: Visitor, stage: Stage, pass_time: PassTime
) -> None:
    action_id = stage.post()
    for _ in range(2):
        assert "looking at this" not in operator.get(f"/review/{action_id}").text
    assert OPERATOR_LOOKS in moderator.get(f"/review/{action_id}").text
    pass_time(timedelta(seconds=31))
    assert "looking at this" not in moderator.get(f"/review/{action_id}").text


def test_who_was_removed_from_the_community_is_named_no_more(
    moderator: Visitor, operator: Visitor, cast: Cast, stage: Stage, wiring: Wiring
) -> None:
    action_id = stage.post()
    operator.get(f"/review/{action_id}")
    with wiring.database.writing() as session:
        session.execute(sa.delete(Membership).where(Membership.account_id == cast.operator.account_id))
    assert "looking at this" not in moderator.get(f"/review/{action_id}").text


def test_two_are_named_and_of_more_the_others_are_counted(
    moderator: Visitor,
    operator: Visitor,
    admin: Visitor,
    rater: Visitor,
    cast: Cast,
    stage: Stage,
    wiring: Wiring,
) -> None:
    action_id = stage.post()
    for colleague in (operator, admin):
        colleague.get(f"/review/{action_id}")
    both = "<bdi>Admin</bdi> and <bdi>Operator</bdi> are looking at this"
    assert both in moderator.get(f"/review/{action_id}").text
    with wiring.database.writing() as session:
        session.execute(
            sa.update(Membership)
            .where(Membership.account_id == cast.rater.account_id)
            .values(role=Role.MODERATOR)
        )
    rater.get(f"/review/{action_id}")
    assert "<bdi>Admin</bdi> and 2 others are looking at this" in moderator.get(f"/review/{action_id}").text


def test_an_open_page_hears_who_comes_and_who_is_gone_and_asking_is_looking(
    moderator: Visitor, operator: Visitor, stage: Stage, pass_time: PassTime
) -> None:
    action_id = stage.post()
    poll = poll_of(moderator.get(f"/review/{action_id}").text)
    assert moderator.get(poll, **HTMX).status_code == 204
    theirs = poll_of(operator.get(f"/review/{action_id}").text)
    came = moderator.get(poll, **HTMX)
    assert OPERATOR_LOOKS in came.text
    assert "HX-Retarget" not in came.headers
    assert "Claim" in came.text
    poll = poll_of(came.text)
    for _ in range(3):
        pass_time(timedelta(seconds=15))
        assert operator.get(theirs, **HTMX).status_code == 204
        assert moderator.get(poll, **HTMX).status_code == 204, "they are still here"
    pass_time(timedelta(seconds=31))
    gone = moderator.get(poll, **HTMX)
    assert gone.status_code == 200
    assert "looking at this" not in gone.text
    assert 'id="looking" hx-swap-oob="true"' in " ".join(gone.text.split())


def test_a_tab_in_the_background_looks_at_nothing(
    moderator: Visitor, operator: Visitor, stage: Stage, pass_time: PassTime
) -> None:
    action_id = stage.post()
    poll = poll_of(operator.get(f"/review/{action_id}").text)
    pass_time(timedelta(seconds=31))
    assert operator.get(f"{poll}&background=1", **HTMX).status_code == 204
    assert "looking at this" not in moderator.get(f"/review/{action_id}").text
    operator.get(poll_of(operator.get(f"/review/{action_id}").text), **HTMX)
    assert OPERATOR_LOOKS in moderator.get(f"/review/{action_id}").text


def test_who_opens_another_item_or_signs_out_looks_at_this_one_no_more(
    moderator: Visitor, operator: Visitor, admin: Visitor, stage: Stage
) -> None:
    first, second = stage.post("The first"), stage.post("The second")
    operator.get(f"/review/{first}")
    admin.get(f"/review/{first}")
    operator.get(f"/review/{second}")
    admin.post("/sign-out")
    assert "looking at this" not in moderator.get(f"/review/{first}").text
    assert OPERATOR_LOOKS in moderator.get(f"/review/{second}").text


def test_on_a_decided_item_nobody_is_named(moderator: Visitor, operator: Visitor, stage: Stage) -> None:
    action_id = stage.post()
    operator.get(f"/review/{action_id}")
    decided = moderator.post(
        f"/review/{action_id}/decide", HTMX, verb="dismiss", reason="Banter", version="1"
    )
    assert "Undo" in decided.text
    for page in (decided.text, moderator.get(f"/review/{action_id}").text):
        assert "looking at this" not in page


def test_raters_neither_see_it_nor_are_they_seen_and_strangers_see_nothing(
    rater: Visitor, moderator: Visitor, operator: Visitor, outsider: Visitor, stage: Stage, wiring: Wiring
) -> None:
    action_id = stage.post()
    rater.get(f"/review/{action_id}")
    assert looked_at(wiring) == []
    poll = poll_of(operator.get(f"/review/{action_id}").text)
    assert looked_at(wiring) == [action_id]
    assert "looking" not in rater.get(f"/review/{action_id}").text
    for stranger, status in ((rater, 403), (outsider, 404)):
        answer = stranger.get(poll, **HTMX)
        assert answer.status_code == status
        assert "Operator" not in answer.text
    assert outsider.get(f"/review/{action_id}").status_code == 404
    assert looked_at(wiring) == [action_id]


def test_a_look_is_written_at_most_every_ten_seconds(
    moderator: Visitor, stage: Stage, statements: Callable[[], Any], pass_time: PassTime
) -> None:
    action_id = stage.post()
    poll = poll_of(moderator.get(f"/review/{action_id}").text)
    pass_time(timedelta(seconds=9))
    with statements() as soon:
        moderator.get(poll, **HTMX)
    pass_time(timedelta(seconds=6))
    with statements() as later:
        moderator.get(poll, **HTMX)
    assert [one for one in soon if one.startswith("UPDATE")] == []
    assert len([one for one in later if one.startswith("UPDATE sign_ins")]) == 1
