"""Several items at once: hidden or claimed when ticked, and all that match after a preview, with one undo."""

import re
import uuid

import pytest
import sqlalchemy as sa

from app.core import limits
from app.core.models import Action, HistoryEntry
from app.core.review import assignments, post_search, queue_filters
from app.core.vocabulary import ActionState, ActionVerb
from app.web.moderate import bulk
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import advance
from tests.factories import state_of
from tests.inline_engine import InlineEngine
from tests.web.conftest import Stage, Visitor
from tests.web.test_review import chosen, claimant_of, holds_on


def test_ticked_rows_are_hidden_whatever_their_category_does(
    moderator: Visitor, wiring: Wiring, stage: Stage
) -> None:
    first, second = stage.post("One"), stage.post("Two")
    assert 'aria-label="Hide selected: hide posts"' in moderator.get("/review").text
    moderator.post(
        "/review/dismiss", item=chosen(wiring, first, second), reason="Abuse", verb="force_publish.hide"
    )
    assert "2 posts will be hidden." in moderator.get("/review").text
    assert {(hold.verb, hold.act_as) for hold in holds_on(wiring).values()} == {
        (ActionVerb.FORCE_PUBLISH, None)
    }


@pytest.mark.parametrize("verb", ["force_publish", "force_publish.warn", "overturn", "claim.hide", ""])
def test_what_is_no_bulk_verb_is_refused(moderator: Visitor, wiring: Wiring, stage: Stage, verb: str) -> None:
    action_id = stage.post()
    answer = moderator.post("/review/dismiss", item=chosen(wiring, action_id), reason="Abuse", verb=verb)
    assert answer.status_code == 422
    assert "Choose what to do with the posts that you ticked." in answer.text
    assert not holds_on(wiring)


def test_ticked_rows_are_claimed_without_a_reason_and_a_colleagues_stays_theirs(
    moderator: Visitor, operator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    mine, theirs = stage.post("Mine"), stage.post("Theirs")
    operator.post(f"/review/{theirs}/claim")
    answer = moderator.post("/review/dismiss", item=chosen(wiring, mine, theirs), verb="claim")
    assert answer.status_code == 409
    assert "1 post is yours for 10 minutes." in answer.text
    assert "“Theirs” was not claimed: Claimed by Operator." in answer.text
    for verb in ("claim", "force_publish.hide", "dismiss"):
        nothing = moderator.post("/review/dismiss", verb=verb, reason="Abuse")
        assert nothing.status_code == 422
        assert "Tick at least one post." in nothing.text
    assert [claimant_of(wiring, one) for one in (mine, theirs)] == [
        cast.moderator.account_id,
        cast.operator.account_id,
    ]


def test_a_search_that_left_items_out_does_not_say_all(
    moderator: Visitor, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        stage.post(f"The harbour again, {number}", category="spam")
    assert "Decide all 4 that match" in moderator.get("/review/matching?q=harbour").text
    monkeypatch.setattr(post_search, "FEW", 2)
    monkeypatch.setattr(queue_filters, "SEARCHED", 3)
    monkeypatch.setattr(bulk, "SEARCHED", 3)
    page = moderator.get("/review/matching?q=harbour").text
    assert "Decide 3 that match" in page
    assert "Only the 3 most urgent posts were searched." in page
    assert "Decide all" not in moderator.get("/review?q=harbour").text


@pytest.mark.both_databases
def test_all_that_match_are_shown_before_they_are_decided_and_undone_at_once(
    moderator: Visitor, operator: Visitor, wiring: Wiring, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BULK_MAX", 2)
    spam = [stage.post(f"Spam {number}", category="spam") for number in range(4)]
    other = stage.post("An insult", category="toxicity")
    operator.post(f"/review/{spam[3]}/claim")
    assert "Decide all 4 that match" in moderator.get("/review?category=spam").text
    page = moderator.get("/review/matching?category=spam").text
    assert "Decide all 3 that match" in page
    assert 'aria-label="Dismiss 3: keep posts"' in page
    assert not holds_on(wiring)
    items = re.findall(r'name="item"\s+value="([^"]+)"', page)
    assert len(items) == 3
    assert page.count("checked>") == 4, "each can be left out, and all at once"
    assert f'href="/review/{spam[0]}?category=spam"' in page

    with monkeypatch.context() as fewer:
        fewer.setattr(limits, "MATCHING_MAX", 3)
        assert "Decide all 3 that match" in moderator.get("/review/matching?category=spam").text
        fewer.setattr(limits, "MATCHING_MAX", 2)
        newest, heading = (
            "/review/matching?category=spam&sort=newest",
            "Decide the 2 newest of those that match",
        )
        cut = moderator.get(newest).text
        assert heading in cut
        sent = {
            name: re.findall(rf'name="{name}"\s+value="([^"]+)"', cut) for name in ("item", "cut", "matching")
        }
        again = moderator.post("/review/dismiss?category=spam&sort=newest", verb="dismiss", **sent)
        assert again.status_code == 422
        assert heading in again.text

    (shown,) = re.findall(r'name="shown"\s+value="([^"]+)"', page)
    for left, reason in (([], "A wave of spam"), (items[:2], "")):
        again = moderator.post(
            "/review/dismiss?category=spam",
            item=left,
            shown=shown,
            matching="1",
            verb="dismiss",
            reason=reason,
        )
        assert again.status_code == 422
        assert "Decide all 3 that match" in again.text
        assert again.text.count("checked>") == len(left), "what was left out stays so"
    stranger = moderator.post("/review/dismiss?category=spam", matching="1", verb="dismiss", reason="Spam")
    assert stranger.status_code == 422
    assert "checked>" not in stranger.text
    assert not holds_on(wiring)

    unexplained = moderator.post("/review/dismiss?category=spam", item=items, matching="1", verb="dismiss")
    assert unexplained.status_code == 422
    assert "Decide all 3 that match" in unexplained.text
    answer = moderator.post(
        "/review/dismiss?category=spam", item=items, matching="1", verb="dismiss", reason="A wave of spam"
    )
    assert answer.headers["Location"] == "/review?category=spam"
    assert set(holds_on(wiring)) == set(spam[:3])
    assert other not in holds_on(wiring)
    moderator.post("/holds/undo", every="1")
    assert not holds_on(wiring)
    assert "3 decisions undone." in moderator.get("/review").text


def test_ticked_items_are_assigned_at_once_and_each_that_is_not_is_named(
    moderator: Visitor, admin: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    ids = [stage.post(f"Post {number}") for number in range(3)]
    admin.post(f"/review/{ids[2]}/claim")
    items = chosen(wiring, *ids)
    assert "Assign selected" in moderator.get("/review").text
    assert "Assign selected" not in moderator.get("/second-look").text
    undecided = moderator.post("/review/dismiss", item=items, verb="assign")
    assert undecided.status_code == 422
    assert "Choose whom to assign them to." in undecided.text
    assert 'aria-describedby="assignee-error"' in undecided.text
    assert undecided.text.count('id="assignee-error"') == 1
    outsider = str(cast.outsider.account_id)
    wrong = moderator.post("/review/dismiss", item=items, verb="assign", assignee=outsider)
    assert "was not assigned: the colleague must be a moderator of this community." in wrong.text
    operator_id = str(cast.operator.account_id)
    answer = moderator.post("/review/dismiss", item=items, verb="assign", assignee=operator_id)
    assert answer.status_code == 409
    assert "2 posts are assigned to Operator." in answer.text
    assert "“Post 2” was not assigned: Claimed by Admin, for 10 min at most." in answer.text
    with wiring.database.reading() as session:
        assigned = [session.get_one(Action, action_id).assigned_to_id for action_id in ids]
        entries = session.scalars(
            sa.select(HistoryEntry.object_id).where(HistoryEntry.what == assignments.ASSIGNED)
        ).all()
    assert assigned == [cast.operator.account_id, cast.operator.account_id, None]
    assert sorted(entries) == sorted(ids[:2]), "one entry each"
    nobody = moderator.post("/review/dismiss", item=chosen(wiring, ids[0]), verb="assign", assignee="nobody")
    assert nobody.headers["Location"] == f"/review#row-{ids[0]}"
    assert "1 post is assigned to nobody in particular." in moderator.get("/review").text


def test_dismiss_selected_holds_each_item_until_all_are_carried_out(
    moderator: Visitor, wiring: Wiring, stage: Stage, jobs: InlineEngine
) -> None:
    first, second, other = (stage.post() for _ in range(3))
    answer = moderator.post("/review/dismiss", item=chosen(wiring, first, second), reason="Banter")
    assert answer.status_code == 303
    held = holds_on(wiring)
    assert {one: hold.verb for one, hold in held.items()} == {
        first: ActionVerb.DISMISS,
        second: ActionVerb.DISMISS,
    }
    page = moderator.get("/review").text
    assert page.count("Dismissing…") == 2
    assert "2 decisions can still be undone." in page
    advance(11)
    jobs.run_all()
    assert [state_of(wiring, one) for one in (first, second, other)] == [
        ActionState.DISMISSED,
        ActionState.DISMISSED,
        ActionState.UNDER_REVIEW,
    ]


def test_what_was_dismissed_together_is_undone_together(
    moderator: Visitor, wiring: Wiring, stage: Stage, jobs: InlineEngine
) -> None:
    ids = [stage.post() for _ in range(2)]
    moderator.post("/review/dismiss", item=chosen(wiring, *ids), reason="Banter")
    moderator.post("/holds/undo", hold=[str(hold.id) for hold in holds_on(wiring).values()])
    advance(11)
    jobs.run_all()
    assert {state_of(wiring, one) for one in ids} == {ActionState.UNDER_REVIEW}
    assert "2 decisions undone." in moderator.get("/review").text


def test_items_that_cannot_be_dismissed_are_named_one_by_one_and_the_rest_go_on(
    moderator: Visitor, operator: Visitor, wiring: Wiring, stage: Stage
) -> None:
    fine, deciding = stage.post("A fine one"), stage.post("Somebody is deciding this one")
    foreign = stage.post("Of the other community", away=True)
    ticks = chosen(wiring, fine, deciding, foreign)
    operator.post(f"/review/{deciding}/decide", verb="force_publish", reason="Abuse", version="1")
    answer = moderator.post("/review/dismiss", item=ticks, reason="Banter between friends")
    assert answer.status_code == 409
    assert "“Somebody is deciding this one” was not decided: Operator is deciding" in answer.text
    assert "Of the other community" not in answer.text
    assert "Banter between friends" in answer.text
    assert holds_on(wiring)[fine].reason == "Banter between friends"
    assert foreign not in holds_on(wiring)


@pytest.mark.parametrize(
    ("count", "reason", "told"),
    [
        (1, "", "Enter a reason."),
        (1, "   ", "must not be blank"),
        (0, "Banter", "Tick at least one post."),
        (limits.BULK_MAX + 1, "Banter", "Tick at most 50 posts."),
    ],
)
def test_dismiss_selected_needs_items_and_a_reason(
    moderator: Visitor, wiring: Wiring, stage: Stage, count: int, reason: str, told: str
) -> None:
    action_id = stage.post()
    ticks = chosen(wiring, action_id) + [f"{uuid.uuid4()}.1" for _ in range(count - 1)]
    answer = moderator.post("/review/dismiss", item=ticks[:count], reason=reason)
    assert answer.status_code in {409, 422}
    assert told in answer.text
    assert holds_on(wiring) == {}
