"""The list of second looks: beside the original decision, confirmed or overturned with a reason, undone in time."""

import html
import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.actions import acknowledgements
from app.core.history.reason import Reason
from app.core.models import Action
from app.core.people import accounts
from app.core.review import second_looks, verbs
from app.core.vocabulary import ActionState, ActionVerb, ReviewGroup
from app.web.moderate import review
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.web.conftest import HTMX, Stage, Visit, Visitor, only_hold, the_hold
from tests.web.test_live_queue import poll_of, row

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""Its SQL is tested in ``tests/unit/test_second_looks.py``, on both databases."""


def applied(wiring: Wiring, cast: Cast, request_id: str = "post-1", text: str = factories.SPAM) -> uuid.UUID:
    """A post that was hidden by its score alone."""
    action_id = factories.scored_action(wiring, cast, text, request_id)
    with wiring.database.writing() as session:
        acknowledgements.acknowledge(session, factories.integration(cast), session.get_one(Action, action_id))
    return action_id


def action_of(wiring: Wiring, action_id: uuid.UUID) -> Action:
    with wiring.database.reading() as session:
        return session.get_one(Action, action_id)


def decide(visitor: Visitor, verb: str, *ids: uuid.UUID, reason: str = "Seen", version: int = 2) -> Any:
    """Decide ticked rows."""
    items = [f"{action_id}.{version}" for action_id in ids]
    return visitor.post("/second-look/decide", item=items, verb=verb, reason=reason)


@pytest.mark.parametrize(
    ("who", "status", "posted"),
    [
        (None, 303, 401),
        ("rater", 403, 403),
        ("outsider", 200, 409),
        ("moderator", 200, 303),
        ("operator", 200, 303),
        ("admin", 200, 303),
    ],
)
def test_it_is_for_the_communitys_moderators(
    visit: Visit, cast: Cast, wiring: Wiring, who: str | None, status: int, posted: int
) -> None:
    action_id = applied(wiring, cast)
    visitor = visit(getattr(cast, who) if who else None)
    shown = visitor.get("/second-look")
    assert shown.status_code == status
    assert ("btc_doubler" in shown.text) is (posted == 303)
    assert decide(visitor, "confirm", action_id).status_code == posted
    assert (only_hold(wiring) is not None) is (posted == 303)


def test_a_row_shows_the_original_decision_and_why_it_is_looked_at_again(
    moderator: Visitor, cast: Cast, wiring: Wiring
) -> None:
    assert "No second looks" in moderator.get("/second-look").text
    action_id = applied(wiring, cast)
    shown = row(moderator.get("/second-look").text, action_id)
    for words in ("Hidden by its score alone, above 0.95", "btc_doubler", "0 of 5"):
        assert words in shown
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        member = factories.integration(cast, staff=False, profile_id=cast.rater.profile_id)
        verbs.change_action(
            session, member, action, ActionState.RETRO_REVIEW, reason=Reason("It was <b>art</b>")
        )
    page = moderator.get("/second-look").text
    assert "Again: It was &lt;b&gt;art&lt;/b&gt;" in page
    assert "ends in 13 d" in page
    assert "No items match." in moderator.get("/second-look?state=applied").text
    assert moderator.get("/second-look?state=dismissed").status_code == 422


@pytest.mark.parametrize(
    ("verb", "state"),
    [(ActionVerb.CONFIRM, ActionState.CONFIRMED), (ActionVerb.OVERTURN, ActionState.OVERTURNED)],
)
def test_ticked_rows_are_held_then_carried_out_and_leave_the_list(
    moderator: Visitor, cast: Cast, wiring: Wiring, jobs: InlineEngine, verb: ActionVerb, state: ActionState
) -> None:
    ids = [applied(wiring, cast, f"post-{number}", f"{factories.SPAM} {number}") for number in range(2)]
    answer = decide(moderator, verb.value, *ids)
    assert answer.headers["Location"] == f"/second-look#row-{ids[-1]}"
    page = moderator.get("/second-look").text
    assert f"2 posts will be {state.value}." in page
    assert "Undo all" in page
    assert action_of(wiring, ids[0]).action_state is ActionState.APPLIED
    jobs.run_all(delayed=True)
    assert [action_of(wiring, one).action_state for one in ids] == [state, state]
    assert "No second looks" in moderator.get("/second-look").text
    settled = moderator.get(f"/second-look/settled?item={ids[0]}.0", **HTMX).text
    assert f"{state.value.capitalize()} decided by Moderator" in row(settled, ids[0])


def test_undoing_in_a_row_brings_its_box_back(moderator: Visitor, cast: Cast, wiring: Wiring) -> None:
    action_id = applied(wiring, cast)
    decide(moderator, "overturn", action_id)
    hold = the_hold(wiring)
    undo = f"/holds/{hold.id}/undo?at=second-look&amp;item={action_id}"
    page = moderator.get("/second-look").text
    assert undo in page
    assert f'value="{action_id}.2"' not in page
    undone = moderator.post(html.unescape(undo), HTMX)
    assert undone.status_code == 200
    assert f'value="{action_id}.2"' in undone.text
    assert "Hidden by its score alone" in undone.text
    assert only_hold(wiring) is None
    decide(moderator, "overturn", action_id)
    hold = the_hold(wiring)
    back = moderator.post(f"/holds/{hold.id}/undo?at=second-look&item={action_id}&q=bitcoin")
    assert back.headers["Location"] == f"/second-look?q=bitcoin#row-{action_id}"


def test_without_a_reason_or_from_a_stale_page_nothing_is_held_and_the_text_stays(
    moderator: Visitor, cast: Cast, wiring: Wiring
) -> None:
    action_id = applied(wiring, cast)
    empty = decide(moderator, "confirm", action_id, reason="")
    assert empty.status_code == 422
    assert "Enter a reason." in empty.text
    for verb in ("dismiss", "force_publish.hide", ""):
        unknown = decide(moderator, verb, action_id)
        assert unknown.status_code == 422
        assert "Choose what to do with the posts that you ticked." in unknown.text
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        verbs.change_action(
            session, factories.integration(cast), action, ActionState.OVERTURNED, reason=Reason("A mistake")
        )
    stale = decide(moderator, "confirm", action_id, reason="My long thoughts")
    assert stale.status_code == 409
    assert "Already decided by Forum adapter" in stale.text
    assert only_hold(wiring) is None


def test_rows_on_screen_follow_what_happens(
    moderator: Visitor, operator: Visitor, cast: Cast, wiring: Wiring
) -> None:
    one = applied(wiring, cast)
    other = applied(wiring, cast, "post-2", f"{factories.SPAM} again")
    page = moderator.get("/second-look").text
    assert "<title>(2) Second look" in page
    assert moderator.get(poll_of(page), **HTMX).status_code == 204
    operator.post(f"/review/{one}/claim")
    looked_at_again(wiring, cast, one)
    answer = moderator.get(poll_of(page), **HTMX).text
    assert "Claimed by Operator" in row(answer, one)
    assert "Again: It was a quotation" in row(answer, one)
    assert not row(answer, other)


def test_review_next_goes_from_one_to_the_next_and_passes_by_what_is_claimed(
    moderator: Visitor, operator: Visitor, cast: Cast, wiring: Wiring
) -> None:
    ids = [applied(wiring, cast, f"post-{number}", f"{factories.SPAM} {number}") for number in range(3)]
    looked_at_again(wiring, cast, ids[2])
    operator.post(f"/review/{ids[0]}/claim")
    first = moderator.post("/second-look/next").headers["Location"]
    assert first == f"/review/{ids[2]}?from=second-look&next=1", "what is reviewed again comes first"
    assert action_of(wiring, ids[2]).claimed_by_id == cast.moderator.account_id
    path, _, query = first.partition("?")
    answer = moderator.post(f"{path}/decide?{query}", verb="confirm", reason="Seen", version="3", next="1")
    assert answer.headers["Location"] == f"/review/{ids[1]}?from=second-look&next=1"
    page = moderator.get(answer.headers["Location"]).text
    assert re.search(r'data-key="c"[^>]*>.*?Confirm', page, re.DOTALL)
    assert f'href="/review/{ids[0]}?from=second-look"' in page, "N and P lead through the same list"
    skipped = moderator.post(f"/second-look/next?from=second-look&next=1&after={ids[1]}")
    assert skipped.headers["Location"] == "/second-look"
    assert action_of(wiring, ids[1]).claimed_by_id is None


def test_pages_cost_the_same_however_many_rows(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage, statements: Callable[[], Any]
) -> None:
    costs = []
    for number in range(2):
        for one in range(1 + 2 * number):
            applied(wiring, cast, f"post-{number}-{one}", f"{factories.SPAM} {number} {one}")
        with statements() as seen:
            assert moderator.get("/second-look").status_code == 200
        costs.append(len(seen))
    assert costs[0] == costs[1]


def test_a_long_list_says_that_it_was_counted_and_searched_in_part(
    moderator: Visitor, cast: Cast, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        applied(wiring, cast, f"post-{number}")
    assert "3 wait." in moderator.get("/second-look").text
    monkeypatch.setattr(second_looks, "MOST_COUNTED", 2)
    monkeypatch.setattr(second_looks, "WALKED", 1)
    monkeypatch.setattr(review, "PAGE_SIZE", 2)
    text = moderator.get("/second-look").text
    assert "More than 2 wait." in text
    assert "1 to 2 of more than 2" in text
    assert "page=2" in text
    assert "3 to 3 of more than 2" in moderator.get("/second-look?page=2").text
    assert "Only the first 1 posts were searched" in moderator.get("/second-look?q=money").text


def test_the_item_page_offers_both_decisions_too(moderator: Visitor, cast: Cast, wiring: Wiring) -> None:
    action_id = applied(wiring, cast)
    page = moderator.get(f"/review/{action_id}").text
    assert 'value="confirm"' in page
    assert 'value="overturn"' in page


def forced(wiring: Wiring, cast: Cast) -> uuid.UUID:
    """A post that a moderator had hidden, looked at again after an appeal."""
    action_id = factories.scored_action(wiring, cast)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        who = accounts.actor_for(accounts.get(session, cast.operator.account_id), cast.operator.profile_id)
        adapter = factories.integration(cast)
        verbs.change_action(session, who, action, ActionState.PROPOSED, reason=Reason("Plain abuse"))
        verbs.change_action(session, adapter, action, ActionState.APPLIED)
    return action_id


def looked_at_again(wiring: Wiring, cast: Cast, action_id: uuid.UUID) -> None:
    with wiring.database.writing() as session:
        member = factories.integration(cast, staff=False, profile_id=cast.rater.profile_id)
        action = session.get_one(Action, action_id)
        verbs.change_action(
            session, member, action, ActionState.RETRO_REVIEW, reason=Reason("It was a quotation")
        )


def test_item_and_row_say_what_was_done_by_whom_and_why_beside_why_it_is_looked_at_again(
    moderator: Visitor, cast: Cast, wiring: Wiring
) -> None:
    action_id = forced(wiring, cast)
    page = moderator.get(f"/review/{action_id}/panel", **HTMX).text
    assert "Hidden" in page
    assert "by <bdi>Operator</bdi>" in page, "who decided, and not the key that acknowledged"
    assert "Forum adapter" not in page.partition('id="timeline-events"')[0]
    assert "Plain abuse" in page
    looked_at_again(wiring, cast, action_id)
    for path in (f"/review/{action_id}/panel", "/second-look"):
        page = moderator.get(path).text
        for words in ("Hidden", "Operator", "Plain abuse", "It was a quotation", "Second look"):
            assert words in page, (path, words)


def test_members_can_answer_what_a_moderator_forced_while_it_is_looked_at_again(
    rater: Visitor, cast: Cast, wiring: Wiring
) -> None:
    action_id = forced(wiring, cast)
    assert 'name="answer" value="yes"' not in rater.get(f"/review/{action_id}").text
    looked_at_again(wiring, cast, action_id)
    assert 'name="answer" value="yes"' in rater.get(f"/review/{action_id}").text
    assert rater.post(f"/review/{action_id}/answer", HTMX, answer="no").status_code == 200
    assert "You said" in rater.get(f"/review/{action_id}").text
    factories.rate(wiring, cast, action_id, "NNNN")
    assert action_of(wiring, action_id).action_state is ActionState.OVERTURNED


def test_after_it_was_overturned_the_page_says_so_and_that_the_post_is_shown_again(
    moderator: Visitor, rater: Visitor, cast: Cast, wiring: Wiring
) -> None:
    action_id = forced(wiring, cast)
    looked_at_again(wiring, cast, action_id)
    factories.rate(wiring, cast, action_id, "NNNNN")
    for visitor in (moderator, rater):
        page = visitor.get(f"/review/{action_id}").text
        assert "The community overturned what had been decided. The post will be shown again" in page
    assert "The platform is asked to show the post again" in moderator.get(f"/review/{action_id}").text
    with wiring.database.reading() as session:
        unhide = session.scalars(sa.select(Action.id).where(Action.restores_id == action_id)).one()
    with wiring.database.writing() as session:
        acknowledgements.acknowledge(session, factories.integration(cast), session.get_one(Action, unhide))
    page = moderator.get(f"/review/{action_id}").text
    assert "The platform showed the post again" in page
    assert "The platform has shown the post again." in page


def test_an_item_opened_from_here_leads_back_here(moderator: Visitor, cast: Cast, wiring: Wiring) -> None:
    action_id = applied(wiring, cast)
    found = re.search(rf'href="(/review/{action_id}\?[^"]+)"', moderator.get("/second-look?q=bitcoin").text)
    assert found
    address = html.unescape(found.group(1))
    page = moderator.get(address).text
    assert f'href="/second-look?q=bitcoin#row-{action_id}"' in page
    current = re.findall(r'href="([^"?]+)[^"]*" aria-current="page"', page)
    assert current == ["/second-look"]
    path, _, query = address.partition("?")
    answer = moderator.post(f"{path}/decide?{query}", verb="confirm", reason="Seen", version="2")
    assert answer.headers["Location"] == address
    assert "Back to Second look" in moderator.get(address).text
    plain = moderator.get(f"/review/{action_id}").text
    assert re.findall(r'href="([^"?]+)[^"]*"(?: data-go="\w")? aria-current="page"', plain) == ["/review"]


def test_members_are_not_asked_what_none_of_them_could_answer(
    moderator: Visitor, cast: Cast, wiring: Wiring
) -> None:
    action_id = forced(wiring, cast)
    assert "Ask for a second look" in moderator.get(f"/review/{action_id}").text
    with wiring.database.writing() as session:
        session.get_one(Action, action_id).review_group = ReviewGroup.STAFF
    assert "Ask for a second look" not in moderator.get(f"/review/{action_id}").text
    answer = moderator.post(f"/review/{action_id}/second-look", HTMX, reason="Please")
    assert answer.status_code == 409
    assert "no member could answer it" in answer.text
    assert action_of(wiring, action_id).action_state is ActionState.APPLIED
