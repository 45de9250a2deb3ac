"""A wave in the dashboard: one row, one decision, one undo; facts in the editor of rules and on the item."""

import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.models import Action, Community, Hold, Wave
from app.core.requests import submitting
from app.core.requests.submitting import Submission
from app.core.rulesets import drafts, versions
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast, Person
from tests.web.conftest import Visitor

pytestmark = pytest.mark.both_databases

Visit = Callable[[Person | None], Visitor]
TEXT = f"{factories.REVIEWED}, even {{}} says so"


@pytest.fixture
def wave(wiring: Wiring, cast: Cast) -> list[uuid.UUID]:
    """Three posts alike by two authors; return the ids of their actions, the first first."""
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {}
    return [
        post(wiring, cast, TEXT.format(name), author)
        for name, author in (("Ann", "a"), ("Ben", "b"), ("Cy", "b"))
    ]


def post(wiring: Wiring, cast: Cast, text: str, author: str) -> uuid.UUID:
    created = clock.iso(clock.now() - timedelta(hours=3))
    extra = {"author": {"account_created_at": created}}
    with wiring.database.writing() as session:
        submission = Submission(f"r-{uuid.uuid4()}", "forum", text, platform_author_id=author, extra=extra)
        actor = factories.integration(cast)
        made = submitting.submit(session, actor, cast.community_id, submission).request.id
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    with wiring.database.reading() as session:
        return session.scalars(sa.select(Action.id).where(Action.request_id == made)).one()


def held(wiring: Wiring) -> set[uuid.UUID | None]:
    with wiring.database.reading() as session:
        return set(session.scalars(sa.select(Hold.action_id)))


def test_the_row_decides_all_and_undo_takes_all_back(
    visit: Visit, cast: Cast, wiring: Wiring, wave: list[uuid.UUID]
) -> None:
    moderator = visit(cast.moderator)
    page = moderator.get("/review").text
    assert "3 alike, 2 authors" in page
    assert "3 posts wait for a decision. 1 row: posts alike share one." in page
    assert page.count('id="row-') == 1
    answer = moderator.post(
        "/review/dismiss", item=f"{wave[0]}.1", verb="force_publish.hide", reason="A wave of insults"
    )
    assert answer.status_code == 303
    assert held(wiring) == set(wave)
    page = moderator.get("/review").text
    assert "So will 2 like it." in page
    with wiring.database.reading() as session:
        hold_id = session.scalars(sa.select(Hold.id).where(Hold.action_id == wave[0])).one()
    assert moderator.post(f"/holds/{hold_id}/undo").status_code == 303
    assert held(wiring) == set()


def test_the_item_lists_the_others_and_decides_all_or_itself(
    visit: Visit, cast: Cast, wiring: Wiring, wave: list[uuid.UUID]
) -> None:
    moderator = visit(cast.moderator)
    page = moderator.get(f"/review/{wave[0]}").text
    assert "Decide all 3 posts alike" in page
    assert all(f"/review/{other}" in page for other in wave[1:])
    decision = {"verb": "dismiss", "reason": "Between friends", "version": "1"}
    assert moderator.post(f"/review/{wave[0]}/decide", **decision).status_code == 303
    assert held(wiring) == {wave[0]}
    assert moderator.post(f"/review/{wave[1]}/decide", **decision, alike="y").status_code == 303
    assert held(wiring) == set(wave)


def test_a_search_lists_each_post(visit: Visit, cast: Cast, wave: list[uuid.UUID]) -> None:
    page = visit(cast.moderator).get("/review?q=idiot").text
    assert page.count('id="row-') == 3
    assert "alike" not in page


def test_deciding_later_posts_can_be_stopped(
    visit: Visit, cast: Cast, wiring: Wiring, wave: list[uuid.UUID]
) -> None:
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {"wave_joins": True}
    moderator = visit(cast.moderator)
    moderator.post(
        "/review/dismiss", item=f"{wave[0]}.1", verb="force_publish.hide", reason="A wave of insults"
    )
    assert "are decided the same way" in moderator.get(f"/review/{wave[1]}").text
    assert moderator.post(f"/review/{wave[1]}/wave/stop").status_code == 303
    with wiring.database.reading() as session:
        assert not session.scalars(sa.select(Wave.joins)).one()
    assert "are decided the same way" not in moderator.get(f"/review/{wave[1]}").text


def test_a_rule_of_facts_is_written_in_the_editor(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    operator = visit(cast.operator)
    rule = {"id": "spam.new", "category": "spam", "kind": "facts", "weight": "0.8", "enabled": "y"}
    fact = {"fact_1": "account_age_hours", "bound_1": "below", "number_1": "24"}
    refused = operator.post("/classifiers/new-rule", **rule, **(fact | {"number_1": "a day"}))
    assert refused.status_code == 422
    assert "Enter a whole number." in refused.text
    refused = operator.post("/classifiers/new-rule", **rule)
    assert refused.status_code == 422
    assert "must ask at least one fact" in refused.text
    assert operator.post("/classifiers/new-rule", **rule, **fact).status_code == 303
    page = operator.get("/classifiers").text
    assert "Age of the author’s account, hours: below 24" in page
    with wiring.database.reading() as session:
        standing = versions.standing(session, factories.actor_of(wiring, cast.operator), cast.community_id)
        assert standing.working.rules[0]["when"] == {"account_age_hours": {"below": 24}}
    page = operator.get("/classifiers/rules/spam.new").text
    assert 'value="24"' in page


def test_moderators_see_why_and_raters_do_not(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    rule = {"id": "spam.new", "category": "spam", "kind": "facts", "weight": 0.8}
    when = {"account_age_hours": {"below": 24}, "author_posts_hour": {"at_least": 1}}
    operator = factories.actor_of(wiring, cast.operator)
    with wiring.database.writing() as session:
        drafts.put_rule(session, operator, cast.community_id, rule | {"when": when})
        drafts.publish(session, operator, cast.community_id, "New accounts")
    action_id = post(wiring, cast, "A picture of the harbour at night", "a")
    page = visit(cast.moderator).get(f"/review/{action_id}").text
    assert "Author’s account is 3 hours old; 1 post by the author in the last hour" in page
    page = visit(cast.rater).get(f"/review/{action_id}").text
    assert "A picture of the harbour at night" in page
    assert "account is" not in page
