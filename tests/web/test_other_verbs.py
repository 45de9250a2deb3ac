"""The item page offers other actions, escalation and the note about the author, to moderators alone."""

from collections.abc import Callable

import sqlalchemy as sa

from app.core.models import Action, AuthorNote, Hold, Request
from app.core.vocabulary import ActionType, ActionVerb, ReviewGroup
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.web.conftest import HTMX, Stage, Visitor

Visit = Callable[[Person | None], Visitor]


def test_a_moderator_warns_instead_of_hiding_and_the_page_says_what_will_happen(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    moderator = visit(cast.moderator)
    page = moderator.get(f"/review/{action_id}").text
    for name in ("warn author", "silence author", "delete post"):
        assert f'aria-label="Force-publish: {name}"' in page
    unexplained = moderator.post(
        f"/review/{action_id}/decide", HTMX, verb="force_publish.warn", author_text="Be kind", version="1"
    )
    assert unexplained.status_code == 422
    assert "Enter: <strong>Force-publish: warn author</strong>" in unexplained.text
    assert "Be kind" in unexplained.text
    answer = moderator.post(
        f"/review/{action_id}/decide",
        HTMX,
        verb="force_publish.warn",
        author_text="Be kind",
        reason="A first slip",
        version="1",
    )
    assert "This post will get a warning." in answer.text
    with wiring.database.reading() as session:
        held = session.scalars(sa.select(Hold)).one()
    assert (held.verb, held.act_as, held.author_text) == (
        ActionVerb.FORCE_PUBLISH,
        ActionType.WARN,
        "Be kind",
    )


def test_an_escalated_item_leaves_the_members_and_offers_it_no_more(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    moderator = visit(cast.moderator)
    assert moderator.post(f"/review/{action_id}/escalate", HTMX, reason="").status_code == 422
    answer = moderator.post(f"/review/{action_id}/escalate", HTMX, reason="Is this legal here?")
    assert "Sent to staff. The operators are told." in answer.text
    assert "/escalate" not in answer.text
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).review_group is ReviewGroup.STAFF
    notices = visit(cast.operator).get("/notices").text
    assert "<bdi>Moderator</bdi> sent" in notices
    assert "Is this legal here?" in notices


def test_the_note_about_an_author_is_for_moderators(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        action.platform_author_id = "mallory"
        session.get_one(Request, action.request_id).platform_author_id = "mallory"
    moderator, rater = visit(cast.moderator), visit(cast.rater)
    path = f"/review/{action_id}/author-note"
    answer = moderator.post(path, HTMX, about_author="Quotes abuse to report it")
    assert "The note about the author is saved." in answer.text
    assert "Quotes abuse to report it" in moderator.get(f"/review/{action_id}").text
    assert "Quotes abuse" not in rater.get(f"/review/{action_id}").text
    assert rater.post(path, about_author="Hello").status_code == 403
    too_long = moderator.post(path, about_author="x" * 5_000)
    assert too_long.status_code == 422
    assert "Note about the author must be at most" in too_long.text
    assert moderator.post(path, about_author="").status_code == 303
    assert "Moderators&#39; note" not in moderator.get(f"/review/{action_id}").text
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(AuthorNote)) == 2
