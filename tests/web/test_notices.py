"""Notices: a moderator learns that a decision of theirs was overturned, or was never carried out."""

import html
import re
import uuid
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.history import chain as history
from app.core.history import notices
from app.core.history.reason import Reason
from app.core.mail import Message
from app.core.models import Account, Action, Attention, Community, Notice
from app.core.people import accounts
from app.core.permissions import SYSTEM, Actor
from app.core.review import verbs
from app.core.vocabulary import ActionState, Digest, Role
from app.jobs.communities import find_attention as sweep
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.factories import actor_of
from tests.inline_engine import InlineEngine
from tests.web.conftest import HTMX, Stage, Visit, Visitor


@dataclass
class Postbox:
    """Keeps what would be mailed."""

    sent: list[Message] = field(default_factory=list)

    def send(self, message: Message, deadline: float) -> None:
        self.sent.append(message)


def move(
    wiring: Wiring, actor: Actor, action_id: uuid.UUID, *states: ActionState, reason: str = "Why"
) -> None:
    for state in states:
        with wiring.database.writing() as session:
            action = session.get_one(Action, action_id)
            verbs.change_action(session, actor, action, state, reason=Reason(reason))


def decide_and_wait(visitor: Visitor, jobs: InlineEngine, action_id: uuid.UUID, verb: str) -> None:
    visitor.post(f"/review/{action_id}/decide", verb=verb, reason="Plain abuse", version="1")
    later = clock.now() + timedelta(seconds=11)
    clock.set_source(lambda: later)
    jobs.run_all()


def bell(visitor: Visitor, path: str = "/review") -> str | None:
    """What the link to the notices is called on a page; None if it is not there."""
    found = re.search(r'<a class="bell"[^>]*aria-label="([^"]*)"', visitor.get(path).text)
    return found[1] if found else None


def recipients(wiring: Wiring) -> list[uuid.UUID]:
    with wiring.database.reading() as session:
        return list(session.scalars(sa.select(Notice.account_id)))


@pytest.mark.both_databases
def test_whoever_decided_is_told_by_whom_and_why_until_they_have_read_it(
    visit: Visit, moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post("A quotation <b>only</b>")
    move(wiring, actor_of(wiring, cast.moderator), action_id, ActionState.PROPOSED)
    operator = actor_of(wiring, cast.operator)
    move(wiring, operator, action_id, ActionState.DISMISSED, reason="It quotes somebody else")
    assert bell(moderator) == "Notices, 1 unread"
    page = moderator.get("/notices").text
    assert "Force-publish" in page
    assert "“A quotation &lt;b&gt;only&lt;/b&gt;”" in page
    assert "Operator" in page
    assert "It quotes somebody else" in page
    assert f'href="/review/{action_id}"' in page
    assert bell(visit(cast.operator)) == "Notices"

    with wiring.database.reading() as session:
        (notice_id,) = session.scalars(sa.select(Notice.id))
    assert visit(cast.operator).post(f"/notices/{notice_id}/read").status_code == 404
    assert bell(moderator) == "Notices, 1 unread"
    assert moderator.post(f"/notices/{notice_id}/read").status_code == 303
    assert bell(moderator) == "Notices"
    assert "It quotes somebody else" in moderator.get("/notices").text


def test_one_is_not_told_of_what_one_did_oneself_nor_twice_of_the_same(
    cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    own, twice = stage.post(), stage.post()
    moderator, operator = actor_of(wiring, cast.moderator), actor_of(wiring, cast.operator)
    move(wiring, moderator, own, ActionState.PROPOSED, ActionState.DISMISSED)
    assert recipients(wiring) == []
    move(wiring, moderator, twice, ActionState.PROPOSED)
    move(wiring, operator, twice, ActionState.UNDER_REVIEW, ActionState.DISMISSED)
    assert recipients(wiring) == [cast.moderator.account_id]


def test_an_overturned_action_is_told_to_whoever_decided_to_act(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    move(wiring, actor_of(wiring, cast.moderator), action_id, ActionState.PROPOSED)
    move(wiring, factories.integration(cast), action_id, ActionState.APPLIED)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        verbs.change_action(session, SYSTEM, action, ActionState.RETRO_REVIEW)
        verbs.change_action(
            session, SYSTEM, action, ActionState.OVERTURNED, reason=Reason("Raters do not agree with it")
        )
    page = moderator.get("/notices").text
    assert "the community" in page
    assert "Raters do not agree with it" in page


def test_a_decision_that_could_not_be_carried_out_is_told_too(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage, jobs: InlineEngine
) -> None:
    action_id = stage.post()
    moderator.post(f"/review/{action_id}/decide", verb="dismiss", reason="Banter", version="1")
    move(wiring, factories.integration(cast), action_id, ActionState.APPLIED)
    later = clock.now() + timedelta(seconds=11)
    clock.set_source(lambda: later)
    jobs.run_all()
    page = moderator.get("/notices").text
    assert "was not carried out" in page
    assert "Dismiss" in page
    moderator.post("/notices/read")
    assert bell(moderator) == "Notices"


def test_notices_of_a_community_that_one_no_longer_moderates_are_not_shown(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    move(wiring, actor_of(wiring, cast.moderator), action_id, ActionState.PROPOSED)
    move(
        wiring, actor_of(wiring, cast.operator), action_id, ActionState.DISMISSED, reason="Staff's own words"
    )
    with wiring.database.writing() as session:
        account = session.get_one(Account, cast.moderator.account_id)
        accounts.give_role(session, SYSTEM, account, cast.community_id, Role.RATER)
    assert moderator.get("/notices").status_code == 403
    assert bell(moderator, "/help-needed") is None


def test_the_bell_rings_on_a_page_that_stays_open(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    page = moderator.get("/review").text
    poll = html.unescape(page.split('hx-get="/review/new-count')[1].split('"')[0])
    asked = f"/review/new-count{poll}"
    assert moderator.get(asked, **HTMX).status_code == 204
    with wiring.database.writing() as session:
        entry = history.record(
            session, SYSTEM, cast.community_id, "claim.taken_over", "action", action_id, after={}
        )
        notices.notify_taken_over(session, cast.moderator.account_id, entry)
    part = moderator.get(asked, **HTMX).text
    assert 'aria-label="Notices, 1 unread"' in part
    assert 'hx-swap-oob="true"' in part
    again = html.unescape(part.split('hx-get="')[1].split('"')[0])
    assert moderator.get(again, **HTMX).status_code == 204


def test_what_wants_an_operator_is_a_notice_and_a_mail_that_one_can_stop(
    visit: Visit,
    operator: Visitor,
    admin: Visitor,
    cast: Cast,
    wiring: Wiring,
    stage: Stage,
    jobs: InlineEngine,
) -> None:
    wiring.mailer = postbox = Postbox()
    assert "Mail me when something needs an operator" not in visit(cast.moderator).get("/settings/mail").text
    ticked = re.search(r'<input[^>]*name="attention_mail"[^>]*>', operator.get("/settings/mail").text)
    assert ticked is not None
    assert "checked" in ticked[0]
    for number in range(3):
        stage.post(f"Post {number}")
    jobs.run_all()
    postbox.sent.clear()
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {"backlog_alert": 2}
    sweep(wiring.database)
    jobs.run_all()
    assert bell(operator) == "Notices, 1 unread"
    assert bell(visit(cast.moderator)) == "Notices"
    page = operator.get("/notices").text
    assert "Many reviews wait in Harbour forum" in page
    assert "3 reviews wait; the limit is 2." in page
    assert "Open review queue" in page

    mails = {one.to: one for one in postbox.sent}
    assert set(mails) == {"operator@example.org", "admin@example.org"}
    mail = mails["operator@example.org"]
    assert mail.subject == "Many reviews wait in Harbour forum"
    assert "3 reviews wait; the limit is 2." in mail.text
    path = mail.headers["List-Unsubscribe"].strip("<>").partition("://")[2].partition("/")[2]
    assert "Mail when something needs an operator" in visit(None).get(f"/{path}").text
    assert visit(None).post(f"/{path}").status_code == 200
    with wiring.database.reading() as session:
        account = session.get_one(Account, cast.operator.account_id)
        assert (account.attention_mail, account.digest) == (False, Digest.OFF)
    postbox.sent.clear()
    with wiring.database.writing() as session:
        session.execute(sa.delete(Attention))
    sweep(wiring.database)
    jobs.run_all()
    assert {one.to for one in postbox.sent} == {"admin@example.org"}
    assert "Operators were notified of something that needs attention" in admin.get("/history/settings").text


def test_the_bell_is_there_for_moderators_and_above_alone(visit: Visit, rater: Visitor, cast: Cast) -> None:
    assert bell(rater, "/help-needed") is None
    for who in (cast.moderator, cast.operator, cast.admin):
        assert bell(visit(who), "/settings") == "Notices"


@pytest.mark.parametrize(
    ("who", "status"), [("rater", 403), ("moderator", 200), ("outsider", 404), (None, 303)]
)
def test_only_moderators_and_above_have_notices(
    visit: Visit, cast: Cast, who: str | None, status: int
) -> None:
    answer = visit(getattr(cast, who) if who else None).get("/notices?community=harbour-forum")
    assert answer.status_code == status
    assert ("No notices" in answer.text) is (status == 200)
