"""Forms that wait while their person is at a provider, and accounts without a password."""

import re
import uuid
from html import unescape

import pytest
import sqlalchemy as sa
from werkzeug.test import TestResponse

from app.core import limits
from app.core.models import Account, Identity
from app.core.people import sessions
from app.core.vocabulary import SessionEnd
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import advance
from tests.lying_provider import LyingProvider
from tests.web.conftest import Visit, Visitor
from tests.web.mailbox import Mailbox
from tests.web.providers.visits import come_back, leave, sign_in

CONNECT = "/settings/providers/{}/connect"
NAME = "A name of several words"


def _kept(page: TestResponse) -> str:
    found = re.search(r'name="kept" value="([^"]+)"', page.text)
    assert found, page.text
    return unescape(found[1])


def _name(wiring: Wiring, account_id: uuid.UUID) -> str:
    with wiring.database.reading() as session:
        return session.get_one(Account, account_id).display_name


@pytest.fixture
def owner(visit: Visit, cast: Cast, provider: LyingProvider, provider_id: uuid.UUID) -> Visitor:
    """A moderator whose account is connected with the provider."""
    visitor = visit(cast.moderator)
    come_back(visitor, provider.authorize(leave(visitor, provider_id, CONNECT)))
    return visitor


def _end(wiring: Wiring, account_id: uuid.UUID) -> None:
    with wiring.database.writing() as session:
        sessions.end_all(session, account_id, reason=SessionEnd.ELSEWHERE)


def test_a_form_that_was_sent_signed_out_is_there_after_the_way_to_a_provider_and_back(
    owner: Visitor, wiring: Wiring, cast: Cast, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    _end(wiring, cast.moderator.account_id)
    page = owner.post("/settings", display_name=NAME)
    assert page.status_code == 401
    token = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
    assert token
    url = leave(owner, provider_id, kept=_kept(page), csrf_token=token[1])
    back = come_back(owner, provider.authorize(url))
    assert back.status_code == 200
    assert NAME in unescape(back.text)
    assert _name(wiring, cast.moderator.account_id) != NAME, "a button sends it, not the way back"
    fresh = re.search(r'name="csrf_token" value="([^"]+)"', back.text.split('action="/settings"')[1])
    assert fresh
    sent = owner.client.post("/settings", data={"csrf_token": fresh[1], "display_name": NAME})
    assert sent.status_code == 303
    assert _name(wiring, cast.moderator.account_id) == NAME


def test_nothing_of_it_is_shown_to_another_person(
    owner: Visitor, wiring: Wiring, cast: Cast, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    _end(wiring, cast.moderator.account_id)
    page = owner.post("/settings", display_name=NAME)
    token = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
    assert token
    url = leave(owner, provider_id, kept=_kept(page), csrf_token=token[1])
    back = come_back(owner, provider.authorize(url, sub="another-person", email="another@example.org"))
    assert (back.status_code, back.location) == (303, "/")
    assert NAME not in owner.client.get("/communities").text


def test_what_is_too_long_is_not_stored_and_the_page_says_so(
    owner: Visitor, wiring: Wiring, cast: Cast, provider_id: uuid.UUID
) -> None:
    _end(wiring, cast.moderator.account_id)
    page = owner.post("/settings", display_name="long words " * (limits.KEPT_AWAY_MAX // 10))
    assert "too long to be kept while you are at a provider" in page.text
    provider_form = page.text.split(f"/sign-in/with/{provider_id}")[1].split("</form>")[0]
    assert 'name="kept"' not in provider_form


def test_a_person_without_a_password_proves_it_at_the_provider(
    visit: Visit, wiring: Wiring, mailbox: Mailbox, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    visitor = visit(None)
    sign_in(visitor, provider, provider_id)
    visitor.renew()
    settings = visitor.get("/settings/account").text
    assert "email_password" not in settings
    assert "Choose a password" in settings
    advance(minutes=11)
    page = visitor.post("/settings/email", email="mine@example.net", email_password="anything")
    assert page.status_code == 401
    assert "proof_password" not in page.text
    url = leave(visitor, provider_id, "/sign-in/again/{}", kept=_kept(page), next="/settings")
    back = come_back(visitor, provider.authorize(url))
    assert back.status_code == 200
    assert visitor.post("/settings/email", email="mine@example.net").status_code == 303
    assert mailbox.all("mine@example.net")


def test_a_person_without_a_password_does_not_delete_the_account_by_any_password(
    visit: Visit, wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID
) -> None:
    visitor = visit(None)
    sign_in(visitor, provider, provider_id)
    visitor.renew()
    advance(minutes=11)
    assert visitor.post("/settings/delete", delete_password="anything").status_code == 401
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Identity)) == 1
