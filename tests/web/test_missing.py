"""What is missing is said where it is missed, to those who can mend it or who wait for it."""

import re
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from app.core import clock
from app.core.communities import getting_started
from app.core.history.reason import Reason
from app.core.models import Account, Action, ApiKey, Community
from app.core.people import invitations, keys
from app.core.permissions import SYSTEM, Actor
from app.core.review import holds
from app.core.vocabulary import ActionVerb, KeyTemplate, Role
from app.core.webhooks import registrations as webhooks
from app.wiring import Wiring
from tests.cast import PASSWORD, Cast
from tests.clocks import advance
from tests.inline_engine import InlineEngine
from tests.web.conftest import Stage, Visit, Visitor

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
UNHEARD = "No webhook is registered and nobody polls"


@pytest.fixture
def proposed(wiring: Wiring, cast: Cast, stage: Stage, jobs: InlineEngine) -> str:
    """The page of an item whose decision waits for the platform."""
    action_id = stage.post()
    with wiring.database.writing() as session:
        moderator = Actor(
            kind="account",
            name="Moderator",
            account_id=cast.moderator.account_id,
            roles={cast.community_id: Role.MODERATOR},
            communities=frozenset({cast.community_id}),
        )
        action = session.get_one(Action, action_id)
        holds.hold(
            session, moderator, ActionVerb.FORCE_PUBLISH, action=action, reason=Reason("Spam"), seconds=0
        )
    advance(seconds=1)
    jobs.run_all()
    return f"/review/{action_id}"


def test_an_item_that_waits_for_the_platform_says_when_nobody_would_hear(
    visit: Visit,
    moderator: Visitor,
    rater: Visitor,
    cast: Cast,
    wiring: Wiring,
    client: FlaskClient,
    proposed: str,
) -> None:
    page = visit(cast.operator).get(proposed).text
    assert f"{UNHEARD}: register one or poll." in page
    assert 'href="/endpoints"' in page
    assert 'href="/api/public/v1/docs"' in page
    told = moderator.get(proposed).text
    assert f"{UNHEARD}, so the platform does nothing. An operator can register one." in told
    assert UNHEARD not in rater.get(proposed).text
    assert client.get("/api/public/v1/moderation-actions", headers=cast.headers).status_code == 200
    assert UNHEARD not in visit(cast.operator).get(proposed).text, "somebody polls"
    advance(seconds=timedelta(hours=2).total_seconds())
    assert UNHEARD in visit(cast.operator).get(proposed).text, "nobody has for two hours"
    with wiring.database.writing() as session:
        community = session.get_one(Community, cast.community_id)
        webhook, _ = webhooks.register(
            session,
            SYSTEM,
            wiring.sealer,
            wiring.allow,
            community,
            "https://example.org/hook",
            "a long secret",
        )
    assert UNHEARD not in visit(cast.operator).get(proposed).text
    with wiring.database.writing() as session:
        webhooks.change(session, SYSTEM, wiring.sealer, wiring.allow, webhook.id, is_active=False)
    assert (
        "The webhook is disabled and nobody polls: enable it or poll."
        in visit(cast.operator).get(proposed).text
    )


def test_a_poll_with_a_key_that_was_revoked_is_no_poll(
    visit: Visit, cast: Cast, wiring: Wiring, client: FlaskClient, proposed: str
) -> None:
    client.get("/api/public/v1/requests?status=decided", headers=cast.headers)
    assert UNHEARD not in visit(cast.operator).get(proposed).text
    with wiring.database.writing() as session:
        session.execute(sa.update(ApiKey).values(revoked_at=clock.now()))
    assert UNHEARD in visit(cast.operator).get(proposed).text


def test_a_review_says_when_there_are_too_few_raters_to_decide_it(
    visit: Visit, moderator: Visitor, rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring
) -> None:
    item = f"/review/{stage.post()}"
    words = "5 ratings are needed, and only 4 people can rate here: invite raters, or decide it yourself."
    page = visit(cast.admin).get(item).text
    assert words in page
    assert 'href="/people"' in page
    assert "ask an admin to invite raters" in moderator.get(item).text
    assert "ratings are needed, and" not in rater.get(item).text
    with wiring.database.writing() as session:
        community = session.get_one(Community, cast.community_id)
        community.settings = {**community.settings, "min_ratings": 4}
    assert "ratings are needed, and" not in visit(cast.admin).get(item).text


def test_an_empty_queue_without_a_key_says_that_nothing_can_arrive(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    assert "Queue clear" in visit(cast.moderator).get("/review").text
    with wiring.database.writing() as session:
        session.execute(sa.update(ApiKey).values(revoked_at=clock.now()))
    admin, operator, moderator = (
        visit(one).get("/review").text for one in (cast.admin, cast.operator, cast.moderator)
    )
    assert all("No post can arrive yet" in page for page in (admin, operator, moderator))
    assert "Create an API key" in admin
    assert "An admin creates one." in operator
    assert ("Send a test post" in operator, "Send a test post" in moderator) == (True, False)


def test_without_a_policy_text_its_writers_are_led_to_it(
    visit: Visit, moderator: Visitor, cast: Cast, stage: Stage, wiring: Wiring
) -> None:
    item = f"/review/{stage.post()}"
    assert "has no policy text" in visit(cast.operator).get(item).text
    assert "has no policy text" not in moderator.get(item).text
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).policy_text = "Be kind."
    assert "has no policy text" not in visit(cast.operator).get(item).text


def test_without_a_mail_server_an_invitation_is_a_link_to_hand_on(
    visit: Visit, admin: Visitor, wiring: Wiring, jobs: InlineEngine
) -> None:
    assert "No mail server is set up" in admin.get("/people").text
    shown = admin.post("/people/invite", email="ann@example.org", role="moderator")
    assert shown.status_code == 200
    found = re.search(r'id="invitation-link"[^>]*value="http://localhost(/join/[\w-]+)"', shown.text)
    assert found
    jobs.run_all()
    assert not list(wiring.settings.data_dir.glob("mail/*")), "nothing is mailed, which would end this link"
    assert found.group(1) not in admin.get("/people").text, "it is shown this once"
    ann = visit(None)
    assert ann.post(found.group(1), display_name="Ann", password=PASSWORD).status_code == 303
    assert ann.get("/review").status_code == 200
    again = admin.post("/people/invite", email="bob@example.org", role="rater").text
    lost = re.search(r'value="http://localhost(/join/[\w-]+)"', again)
    assert lost
    admin.post("/people/invite", email="bob@example.org", role="rater")
    assert visit(None).get(lost.group(1)).status_code == 410, "a newer one takes its place"


def test_with_a_mail_server_the_link_is_mailed_and_never_shown(
    admin: Visitor, wiring: Wiring, jobs: InlineEngine
) -> None:
    wiring.settings = wiring.settings.model_copy(update={"smtp_host": "mail.example.org"})
    assert "No mail server is set up" not in admin.get("/people").text
    answer = admin.post("/people/invite", email="ann@example.org", role="rater")
    assert (answer.status_code, answer.location) == (303, "/people")
    jobs.run_all()
    assert len(list(wiring.settings.data_dir.glob("mail/*"))) == 1


def test_members_who_cannot_sign_in_are_no_raters(cast: Cast, wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        account = session.get_one(Account, cast.rater.account_id)
        account.disabled_at = clock.now()
        session.flush()
        community = session.get_one(Community, cast.community_id)
        assert getting_started.raters(session, community).count == 3
        invitations.invite(session, SYSTEM, community.id, "ann@example.org", Role.RATER)
        assert getting_started.raters(session, community).invited == 1
        keys.mint(session, SYSTEM, "Forum", KeyTemplate.ADAPTER, [community.id])
        assert getting_started.has_key(session, community.id)
