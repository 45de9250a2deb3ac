"""The first steps: read from what is there, the operators' start page until they are done or hidden."""

import re
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from app.core.communities import communities, getting_started
from app.core.communities.getting_started import Standing
from app.core.history.reason import Reason
from app.core.models import Account, Action, Community, Webhook
from app.core.people import accounts, invitations, keys, profiles
from app.core.permissions import SYSTEM
from app.core.review import holds, reason_templates
from app.core.review.reason_templates import ReasonDraft
from app.core.vocabulary import ActionVerb, HelpfulnessLevel, KeyTemplate, Role
from app.core.webhooks import registrations as webhooks
from app.wiring import Wiring
from tests.cast import PASSWORD, Cast, Person
from tests.clocks import advance
from tests.inline_engine import InlineEngine
from tests.web.conftest import Stage, Visit

on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
STEP = re.compile(r'<li( class="done")?[^>]*>\s*<svg.*?</svg>\s*<div><h2>(.*?)(?: <span.*?)?</h2>', re.DOTALL)


@pytest.fixture
def fresh(wiring: Wiring) -> tuple[Community, Person]:
    """A community that was just opened, and its admin."""
    with wiring.database.writing() as session:
        community = communities.open_community(session, SYSTEM, "web", "fresh", name="Fresh forum")
        account = accounts.create(session, "ann@example.org", PASSWORD, display_name="Ann", confirmed=True)
        accounts.give_role(session, SYSTEM, account, community.id, Role.ADMIN)
        return community, Person(account.email, account.id, profiles.of_account(session, account).id)


def _done(page: str) -> dict[str, bool]:
    """The steps by title, and whether each is done."""
    return {title: bool(done) for done, title in STEP.findall(page)}


def _standing(wiring: Wiring, community: Community) -> Standing:
    with wiring.database.reading() as session:
        return getting_started.standing(session, SYSTEM, community.id)


def test_a_new_community_begins_with_the_list_and_each_step_is_read_from_what_is_there(
    visit: Visit, fresh: tuple[Community, Person], wiring: Wiring, jobs: InlineEngine, client: FlaskClient
) -> None:
    community, ann = fresh
    visitor = visit(ann)
    assert visitor.get("/").location == "/getting-started"
    page = visitor.get("/getting-started").text
    assert _done(page) == {
        "Create a community": True,
        "Create an API key": False,
        "Send a test post": False,
        "Decide a first post": False,
        "Let your platform hear of decisions": False,
        "Invite raters": False,
        "Write the policy text": False,
        "Prepare reasons": False,
    }
    assert "No webhook is registered and nobody polls" in page
    assert "A review is decided by 5 ratings. 1 person can rate so far. 4 more are needed." in page
    with wiring.database.writing() as session:
        key = keys.mint(session, SYSTEM, "Reader", KeyTemplate.READ_ONLY, [community.id])
    assert not _standing(wiring, community).has_key, "it cannot submit"
    with wiring.database.writing() as session:
        key = keys.mint(session, SYSTEM, "Forum", KeyTemplate.ADAPTER, [community.id])
    assert _standing(wiring, community).has_key
    visitor.post("/test-post")
    jobs.run_all()
    assert _standing(wiring, community).has_post
    with wiring.database.writing() as session:
        action = session.scalars(sa.select(Action)).one()
        actor = accounts.actor_for(accounts.get(session, ann.account_id))
        holds.hold(session, actor, ActionVerb.DISMISS, action=action, reason=Reason("It is a test."))
    assert "It is sent as soon as it can no longer be undone." in visitor.get("/getting-started").text
    advance(seconds=60)
    jobs.run_all()
    assert _standing(wiring, community).decided
    assert not _standing(wiring, community).hearing.polls
    headers = {"Authorization": f"Bearer {key.text}"}
    assert client.get("/api/public/v1/requests?status=decided", headers=headers).status_code == 200
    assert _standing(wiring, community).hearing.polls
    with wiring.database.writing() as session:
        reason_templates.add(session, actor, community.id, ReasonDraft("Spam", "It advertises."))
        session.get_one(Community, community.id).policy_text = "Be kind."
        for number in range(4):
            invitations.invite(session, actor, community.id, f"{number}@example.org", Role.RATER)
    page = visitor.get("/getting-started").text
    assert "4 more are needed. 4 are invited." in page
    assert [title for title, done in _done(page).items() if not done] == ["Invite raters"]
    with wiring.database.writing() as session:
        for number in range(4):
            rater = accounts.create(session, f"{number}@example.org", PASSWORD, confirmed=True)
            accounts.give_role(session, SYSTEM, rater, community.id, Role.RATER)
    assert "All done." in visitor.get("/getting-started").text
    assert visitor.get("/").location == "/desk"


@on_sqlite
def test_what_no_longer_holds_is_no_longer_done(fresh: tuple[Community, Person], wiring: Wiring) -> None:
    community, _ann = fresh
    with wiring.database.writing() as session:
        key = keys.mint(session, SYSTEM, "Forum", KeyTemplate.ADAPTER, [community.id], days=1)
        keys.record_use(session, key.key.id, accounts.clock.now(), is_poll=True)
    found = _standing(wiring, community)
    assert (found.has_key, found.hearing.polls) == (True, True)
    advance(seconds=timedelta(hours=2).total_seconds())
    found = _standing(wiring, community)
    assert (found.has_key, found.hearing.polls) == (True, False), "nobody has polled for two hours"
    advance(seconds=timedelta(days=1).total_seconds())
    assert not _standing(wiring, community).has_key, "it has expired"


@on_sqlite
def test_a_webhook_counts_once_it_has_answered_and_while_it_is_on(
    visit: Visit, fresh: tuple[Community, Person], wiring: Wiring
) -> None:
    community, ann = fresh
    with wiring.database.writing() as session:
        place = session.get_one(Community, community.id)
        webhook, _ = webhooks.register(
            session, SYSTEM, wiring.sealer, wiring.allow, place, "https://example.org/hook", "a long secret"
        )
    visitor = visit(ann)
    assert "registered and has not answered yet" in visitor.get("/getting-started").text
    with wiring.database.writing() as session:
        session.get_one(Webhook, webhook.id).last_success_at = accounts.clock.now()
    assert _done(visitor.get("/getting-started").text)["Let your platform hear of decisions"]
    with wiring.database.writing() as session:
        webhooks.change(session, SYSTEM, wiring.sealer, wiring.allow, webhook.id, is_active=False)
    page = visitor.get("/getting-started").text
    assert not _done(page)["Let your platform hear of decisions"]
    assert "The webhook is disabled and nobody polls" in page


@on_sqlite
def test_people_of_the_platform_who_rate_through_a_key_are_raters(
    wiring: Wiring, cast: Cast, stage: Stage
) -> None:
    with wiring.database.reading() as session:
        community = session.get_one(Community, cast.community_id)
        assert getting_started.raters(session, community).count == 4
    stage.rate(stage.post(), HelpfulnessLevel.HELPFUL)
    with wiring.database.reading() as session:
        assert getting_started.raters(session, community).are_enough


@on_sqlite
def test_the_list_is_hidden_and_put_back(visit: Visit, fresh: tuple[Community, Person]) -> None:
    _community, ann = fresh
    visitor = visit(ann)
    assert 'href="/getting-started"' in visitor.get("/settings").text
    assert visitor.post("/getting-started/hide").location == "/?community=fresh-forum"
    assert visitor.get("/").location == "/desk"
    assert 'href="/getting-started"' not in visitor.get("/settings").text
    assert 'href="/getting-started"' in visitor.get("/community").text, "it is still found"
    assert visitor.post("/getting-started/show").location == "/getting-started"
    assert visitor.get("/").location == "/getting-started"


@on_sqlite
def test_an_operator_is_told_what_an_admin_does(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        session.execute(sa.update(Community).values(getting_started_hidden_at=None))
    page = visit(cast.operator).get("/getting-started").text
    assert "An admin of the community does this." in page
    assert 'href="/people' not in page.split('<ol class="first-steps">')[1]
    assert visit(cast.operator).get("/").location == "/getting-started"
    assert visit(cast.moderator).get("/").location == "/desk"
    assert visit(cast.rater).get("/").location == "/help-needed"


@on_sqlite
def test_an_admin_everywhere_without_any_community_begins_with_opening_one(
    visit: Visit, wiring: Wiring
) -> None:
    with wiring.database.writing() as session:
        account = accounts.create(session, "root@example.org", PASSWORD, confirmed=True, service_admin=True)
        newcomer = accounts.create(session, "new@example.org", PASSWORD, confirmed=True)
    root = visit(Person(account.email, account.id, account.id))
    assert root.get("/").location == "/getting-started"
    assert "Create community" in root.get("/getting-started").text
    made = root.post("/community/new", name="Harbour forum", platform="web")
    assert made.location == "/getting-started?community=harbour-forum"
    assert root.get("/").location == "/getting-started"
    other = visit(Person(newcomer.email, newcomer.id, newcomer.id))
    assert other.get("/").location == "/communities"
    assert other.get("/getting-started").location == "/communities"


@on_sqlite
def test_the_first_key_takes_one_press_and_no_reason_and_later_ones_need_one(
    visit: Visit, fresh: tuple[Community, Person], wiring: Wiring, client: FlaskClient
) -> None:
    community, ann = fresh
    visitor = visit(ann)
    page = visitor.get("/getting-started").text
    form = page.split('action="/keys"')[1].split("</form>")[0]
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))
    fields.pop("csrf_token")
    assert 'name="reason"' not in visitor.get("/keys").text
    shown = visitor.post("/keys", **fields)
    assert shown.status_code == 200
    found = re.search(r'id="minted-key"[^>]*value="(bnk_\w+[\w-]+)"', shown.text)
    assert found
    headers = {"Authorization": f"Bearer {found.group(1)}"}
    assert client.get(f"/api/public/v1/community-servers/{community.id}", headers=headers).status_code == 200
    assert 'name="reason"' in visitor.get("/keys").text
    later = {"name": "Another", "template": "adapter", "communities": str(community.id)}
    refused = visitor.post("/keys", **later)
    assert refused.status_code == 422
    assert "Enter a reason." in refused.text
    assert visitor.post("/keys", **later, reason="A second forum").status_code == 200
    with wiring.database.writing() as session:
        elsewhere = communities.open_community(session, SYSTEM, "web", "elsewhere")
        account = session.get_one(Account, ann.account_id)
        accounts.give_role(session, SYSTEM, account, elsewhere.id, Role.ADMIN)
    both = {**later, "communities": [str(elsewhere.id), str(community.id)]}
    assert visitor.post("/keys?community=elsewhere", **both).status_code == 422, "one of them has a key"
    only = {**later, "communities": [str(elsewhere.id)]}
    assert visitor.post("/keys?community=elsewhere", **only).status_code == 200


@on_sqlite
def test_a_poll_is_kept_at_most_once_a_minute_and_a_submission_is_none(
    wiring: Wiring, cast: Cast, client: FlaskClient
) -> None:
    def polled() -> object:
        with wiring.database.reading() as session:
            return getting_started.hearing(session, cast.community_id).polled_at

    read = {"headers": cast.headers}
    assert client.get(f"/api/public/v1/community-servers/{cast.community_id}", **read).status_code == 200
    assert polled() is None
    assert client.get("/api/public/v1/moderation-actions", **read).status_code == 200
    first = polled()
    assert first is not None
    assert client.get("/api/public/v1/requests", **read).status_code == 200
    assert polled() == first
    advance(seconds=61)
    assert client.get("/api/public/v1/requests/unknown", **read).status_code == 404
    assert polled() != first
