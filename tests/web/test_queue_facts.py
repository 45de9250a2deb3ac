"""What a row of the queue says about its post, and the filters in use as chips."""

import re
from html import unescape

from app.core.models import Action, Note, Request
from app.core.thresholds.routing import ESCALATED
from app.core.vocabulary import ActionState
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import advance
from tests.web.conftest import Stage, Visit, Visitor
from tests.web.test_live_queue import row


def test_a_row_says_who_where_how_much_and_how_late(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id, earlier = stage.post("A post"), stage.post("An earlier one")
    with wiring.database.writing() as session:
        hidden, action = session.get_one(Action, earlier), session.get_one(Action, action_id)
        hidden.action_state, hidden.platform_author_id = ActionState.APPLIED, "mallory"
        action.platform_author_id = "mallory"
        post = session.get_one(Request, action.request_id)
        post.platform_author_id, post.platform_channel_id, post.language = "mallory", "market", "de"
        post.extra = {"reports": 3, "views": 1200}
        note = session.get_one(Note, action.note_id)
        note.ratings_count, note.status_rule = 6, "full:unbalanced"
    moderator = visit(cast.moderator)
    shown = row(moderator.get("/review").text, action_id)
    assert "1 hidden · German · 3 reports · 1,200 views mallory #market" in shown
    assert "6 one side only" in shown
    assert "overdue" not in shown
    advance(2 * 24 * 3600)
    assert re.search(r"overdue by \d+ [dh]", row(visit(cast.moderator).get("/review").text, action_id))


def test_each_filter_in_use_is_a_chip_that_takes_away_only_itself(moderator: Visitor, stage: Stage) -> None:
    stage.post("Buy followers here", category="spam")
    page = moderator.get(
        "/review?category=spam&category=toxicity&claimed_by=nobody&overdue=1&sort=newest"
    ).text
    chips = {
        f"{label}: {value}": unescape(url)
        for url, label, value in re.findall(
            r'<a href="([^"]+)"><span class="vh">Remove the filter </span>'
            r'<span class="muted">([^<]+)</span>\s*<bdi>([^<]+)</bdi>',
            page,
        )
    }
    assert chips == {
        "Category: Spam": "/review?category=toxicity&claimed_by=nobody&overdue=1&sort=newest",
        "Category: Toxicity": "/review?category=spam&claimed_by=nobody&overdue=1&sort=newest",
        "Claimed by: Nobody": "/review?category=spam&category=toxicity&overdue=1&sort=newest",
        "Target time: Overdue": "/review?category=spam&category=toxicity&claimed_by=nobody&sort=newest",
    }
    assert "Remove the filter" not in moderator.get("/review?sort=newest").text


def test_what_no_score_brought_has_no_score(moderator: Visitor, wiring: Wiring, stage: Stage) -> None:
    scored, escalated = stage.post("One"), stage.post("Two")
    with wiring.database.writing() as session:
        session.get_one(Action, escalated).category = ESCALATED
    page = moderator.get("/review").text
    why = "A member asked staff to look at this post"
    assert why not in row(page, scored)
    assert f"– {why}" in row(page, escalated)
    assert "0.00" not in row(page, escalated)


def test_an_items_header_says_why_one_is_asked_and_what_is_empty_folds(
    visit: Visit, cast: Cast, stage: Stage
) -> None:
    action_id = stage.post("You fool", category="toxicity")
    moderators, raters = (
        visit(person).get(f"/review/{action_id}").text for person in (cast.moderator, cast.rater)
    )
    for page in (moderators, raters):
        assert '<p class="lead">Insults, harassment or abuse aimed at a person.' in page
        assert "No notes yet. Write the first." in page
        assert page.count("#policy-text") == 0, "the policy stands there itself"
    assert 'class="folds"' in moderators
    assert 'class="folds"' not in raters
    assert moderators.index('id="decision-title"') < moderators.index('id="evidence-title"')


def test_the_height_of_rows_is_remembered_for_each_person(
    moderator: Visitor, operator: Visitor, stage: Stage, wiring: Wiring, cast: Cast
) -> None:
    stage.post("A post")
    assert "Comfortable rows" in moderator.get("/review").text
    for roomy, other in (("1", "Compact rows"), ("", "Comfortable rows")):
        answer = moderator.post("/review/rows?at=second-look", roomy=roomy)
        assert answer.headers["Location"] == "/second-look"
        assert other in moderator.get("/review").text
        assert "Comfortable rows" in operator.get("/review").text
