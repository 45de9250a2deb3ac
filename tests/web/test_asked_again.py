"""Before what concerns security people prove again who they are, if the last proof is older than ten minutes."""

import re
from datetime import timedelta
from html import unescape

import pyotp
import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.test import TestResponse

from app.core import clock
from app.core.models import Account, AccountLink, ApiKey, Membership, SignIn, SignInRules
from app.core.people import second_factors
from app.core.vocabulary import Role
from app.throttle import Throttle
from app.web.security import SAFE_METHODS
from app.wiring import Wiring
from tests.cast import PASSWORD, Cast
from tests.clocks import advance
from tests.web.conftest import HTMX, Visitor

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

ASK_AGAIN = {
    "web.confirmed",
    # keys
    "web.mint_key",
    "web.revoke_key",
    "web.rotate_secret",
    # roles, removals and invitations
    "web.invite",
    "web.change_role",
    "web.remove_member",
    "web.disable_account",
    "web.enable_account",
    "web.remove_factors",
    # exports of people
    "web.make_my_data",
    "web.my_data_file",
    # overturning in bulk
    "web.begin_overturn",
    # sign-in settings
    "web.switch_passwords",
    "web.add_provider",
    "web.save_provider",
    "web.try_provider",
    "web.enable_provider",
    "web.disable_provider",
    "web.remove_provider",
    "web.connect_provider",
    "web.disconnect_provider",
    "web.set_factor_rule",
    "web.save_provider_groups",
    "web.make_scim_key",
    "web.remove_scim_key",
    "web.new_passkey_options",
    "web.add_passkey",
    "web.remove_passkey",
    "web.begin_codes",
    "web.codes_page",
    "web.confirm_codes",
    "web.make_recovery_codes",
    # one's own account
    "web.change_email",
    "web.change_password",
    "web.delete_account",
}
"""The views that ask; whoever adds one that concerns security adds it here."""
WORDS = 'An "odd" reason <b>,'
REASON = f"{WORDS}\r\nof two lines."
KEY = {"name": "Night shift", "template": "read-only", "reason": REASON}
HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')


def _hidden(page: TestResponse) -> dict[str, str]:
    form = page.text.split("<form class=form")[-1].split('<form class="form"')[-1]
    return {name: unescape(value) for name, value in HIDDEN.findall(form)}


def _keys(wiring: Wiring) -> list[str]:
    with wiring.database.reading() as session:
        return list(session.scalars(sa.select(ApiKey.name).where(ApiKey.name == KEY["name"])))


@pytest.fixture
def admin(admin: Visitor, cast: Cast) -> Visitor:
    """An admin whose last proof is eleven minutes old."""
    assert admin.token
    KEY["communities"] = str(cast.community_id)
    advance(minutes=11)
    return admin


def test_these_views_ask_and_no_others(app: Flask) -> None:
    asking = {name for name, view in app.view_functions.items() if getattr(view, "asks_again", False)}
    assert asking == ASK_AGAIN


@pytest.mark.parametrize("endpoint", sorted(ASK_AGAIN))
def test_each_asks_before_it_looks_at_anything(app: Flask, admin: Visitor, endpoint: str) -> None:
    rule = next(rule for rule in app.url_map.iter_rules() if rule.endpoint == endpoint)
    path = re.sub(r"<[^>]+>", "00000000-0000-7000-8000-000000000009", rule.rule)
    if rule.methods and "GET" in rule.methods:
        answer = admin.get(path)
        assert (answer.status_code, answer.location) == (303, f"/confirm-it-is-you?next={path}")
    else:
        answer = admin.post(path)
        assert answer.status_code == 401
        assert "Confirm it is you" in answer.text


def test_a_fresh_proof_asks_nothing(admin: Visitor, wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        session.execute(sa.update(SignIn).values(proved_at=clock.now()))
    advance(minutes=9)
    assert admin.post("/keys", **KEY).status_code == 200
    assert len(_keys(wiring)) == 1


def test_the_form_goes_through_with_the_proof_and_its_text_is_kept(admin: Visitor, wiring: Wiring) -> None:
    page = admin.post("/keys", {"Referer": "http://localhost/keys"}, **KEY)
    assert page.status_code == 401
    assert WORDS in unescape(page.text)
    assert 'href="/keys"' in page.text
    assert _keys(wiring) == []
    wrong = admin.client.post("/keys", data={**_hidden(page), "proof_password": "not mine at all"})
    assert wrong.status_code == 401
    assert "This is not your password." in wrong.text
    assert _keys(wiring) == []
    done = admin.client.post("/keys", data={**_hidden(wrong), "proof_password": PASSWORD})
    assert done.status_code == 200
    assert _keys(wiring) == [KEY["name"]]
    assert WORDS in unescape(admin.get("/keys").text), "the list of changes says why"


def test_the_session_gets_another_token_and_the_former_one_is_over(admin: Visitor, app: Flask) -> None:
    before = admin.client.get_cookie("bridgenote")
    page = admin.post("/keys", **KEY)
    admin.client.post("/keys", data={**_hidden(page), "proof_password": PASSWORD})
    after = admin.client.get_cookie("bridgenote")
    assert before is not None
    assert after is not None
    assert before.value != after.value
    assert admin.get("/settings").status_code == 200
    thief = app.test_client()
    thief.set_cookie("bridgenote", before.value)
    assert thief.get("/settings").status_code == 303


def test_tries_are_counted_like_those_of_a_sign_in(admin: Visitor, wiring: Wiring) -> None:
    settings = wiring.settings.model_copy(
        update={"rate_limit_enabled": True, "rate_limit_sign_in": "2 per hour"}
    )
    wiring.throttle = Throttle.from_settings(settings)
    page = admin.post("/keys", **KEY)
    tried = [
        admin.client.post("/keys", data={**_hidden(page), "proof_password": typed})
        for typed in ("wrong one", "wrong two", PASSWORD)
    ]
    assert [answer.status_code for answer in tried] == [401, 401, 429]
    assert int(tried[-1].headers["Retry-After"]) > 0
    assert WORDS in unescape(tried[-1].text), "the text is still there"
    assert _keys(wiring) == []


def test_a_role_is_given_after_the_proof_alone(admin: Visitor, wiring: Wiring, cast: Cast) -> None:
    with wiring.database.reading() as session:
        member = session.scalars(
            sa.select(Membership).where(Membership.account_id == cast.rater.account_id)
        ).one()
    path = f"/people/{member.id}/role"
    page = admin.post(path, role="moderator", reason="Asked for it")
    with wiring.database.reading() as session:
        assert session.get_one(Membership, member.id).role is Role.RATER
    done = admin.client.post(path, data={**_hidden(page), "proof_password": PASSWORD})
    assert done.status_code == 303
    with wiring.database.reading() as session:
        assert session.get_one(Membership, member.id).role is Role.MODERATOR


def test_a_form_with_a_password_of_its_own_asks_for_no_other(admin: Visitor) -> None:
    wrong = admin.post("/settings/email", email="new@example.org", email_password="not mine at all")
    assert wrong.status_code == 422
    assert "This is not your current password." in wrong.text
    right = admin.post("/settings/email", email="new@example.org", email_password=PASSWORD)
    assert right.status_code == 303


def test_a_password_proves_nothing_while_passwords_are_off(admin: Visitor, wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        session.merge(SignInRules(id=1, passwords=False))
    asked = admin.post("/settings/email", email="new@example.org", email_password=PASSWORD)
    assert asked.status_code == 401
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(AccountLink.id).where(AccountLink.email == "new@example.org")) is None


def test_a_download_waits_for_the_proof(admin: Visitor) -> None:
    led = admin.get("/settings/my-data.json")
    page = admin.get(led.location)
    assert page.status_code == 200
    done = admin.client.post("/confirm-it-is-you", data={**_hidden(page), "proof_password": PASSWORD})
    assert (done.status_code, done.location) == (303, "/settings/my-data.json")
    assert admin.get("/settings/my-data.json").status_code == 404, "no file was made, which is said now"


def test_the_page_leads_nowhere_else(admin: Visitor) -> None:
    page = admin.get("/confirm-it-is-you?next=https://evil.example/")
    assert _hidden(page)["next"] == "/"
    answer = admin.client.post(
        "/confirm-it-is-you", data={**_hidden(page), "next": "//evil.example", "proof_password": PASSWORD}
    )
    assert answer.location == "/"


def test_a_part_of_a_page_leads_to_the_question(admin: Visitor) -> None:
    headers = {**HTMX, "HX-Current-URL": "http://localhost/keys"}
    answer = admin.post("/keys", headers, **KEY)
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (401, "/confirm-it-is-you?next=/keys")


def test_secrets_are_not_given_back_and_the_page_says_so(admin: Visitor) -> None:
    page = admin.post("/settings/password", current_password="", new_password="a long new password")
    assert page.status_code == 401
    assert "a long new password" not in page.text
    assert "Passwords, secrets and files are not kept" in page.text


def test_of_what_only_reads_two_pages_ask(app: Flask) -> None:
    reading = {
        rule.endpoint
        for rule in app.url_map.iter_rules()
        if rule.endpoint in ASK_AGAIN and (rule.methods or set()) & SAFE_METHODS - {"OPTIONS"}
    }
    assert reading == {"web.my_data_file", "web.codes_page"}


@pytest.fixture
def secret(wiring: Wiring, cast: Cast) -> str:
    """The secret of the admin's codes."""
    with wiring.database.writing() as session:
        account = session.get_one(Account, cast.admin.account_id)
        made = second_factors.begin_codes(session, wiring.sealer, account)
        assert second_factors.confirm_codes(session, wiring.sealer, account, pyotp.TOTP(made).at(clock.now()))
    return made


def test_a_code_proves_it_too_once_and_makes_the_session_strong(
    secret: str, admin: Visitor, wiring: Wiring
) -> None:
    page = admin.post("/keys", **KEY)
    assert 'name="proof_code"' in page.text
    wrong = admin.client.post("/keys", data={**_hidden(page), "proof_code": "000000"})
    assert wrong.status_code == 401
    assert "This code is wrong" in wrong.text
    code = pyotp.TOTP(secret).at(clock.now())
    done = admin.client.post("/keys", data={**_hidden(page), "proof_code": code})
    assert done.status_code == 200
    assert len(_keys(wiring)) == 1
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(SignIn.is_strong)).all() == [True]
    advance(minutes=0.2)
    with wiring.database.writing() as session:
        session.execute(sa.update(SignIn).values(proved_at=clock.now() - timedelta(minutes=11)))
    again = admin.client.post("/keys", data={**_hidden(page), "proof_code": code})
    assert again.status_code == 401, "a code works once"


def test_a_passkey_that_answers_nothing_right_proves_nothing(admin: Visitor, wiring: Wiring) -> None:
    page = admin.post("/keys", **KEY)
    made_up = {**_hidden(page), "proof_passkey": "1", "credential": "{}"}
    assert admin.client.post("/keys", data=made_up).status_code in {401, 404}
    assert _keys(wiring) == []
