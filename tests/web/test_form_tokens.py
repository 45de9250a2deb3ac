"""The token of a form is worth something only for whoever was signed in when the form was shown."""

import re
from collections.abc import Callable

from flask import Flask
from flask.testing import FlaskClient

from tests.cast import PASSWORD, Cast, Person
from tests.web.conftest import Visitor


def token_of(client: FlaskClient, path: str) -> str:
    found = re.search(r'name="csrf_token" value="([^"]+)"', client.get(path).text)
    assert found, path
    return found.group(1)


def sign_in(client: FlaskClient, person: Person, token: str) -> int:
    form = {"csrf_token": token, "email": person.email, "password": PASSWORD}
    return client.post("/sign-in", data=form).status_code


def rename(client: FlaskClient, token: str, **headers: str) -> int:
    return client.post(
        "/settings", data={"csrf_token": token, "display_name": "Ro"}, headers=headers
    ).status_code


def form_cookie(client: FlaskClient) -> str:
    cookie = client.get_cookie("bridgenote-form")
    assert cookie is not None
    return cookie.value


def test_a_token_from_before_signing_in_ends_with_it(app: Flask, cast: Cast) -> None:
    client = app.test_client()
    before = token_of(client, "/sign-in")
    cookie = form_cookie(client)
    assert sign_in(client, cast.rater, before) == 303
    assert rename(client, before) == 400
    assert rename(client, "", **{"X-CSRFToken": before}) == 400
    after = token_of(client, "/settings")
    assert rename(client, after) in {200, 303}
    # Somebody who planted the form cookie too has gained nothing by it.
    client.set_cookie("bridgenote-form", cookie)
    assert rename(client, before) == 400


def test_a_token_from_before_signing_out_ends_with_it(app: Flask, cast: Cast) -> None:
    client = app.test_client()
    assert sign_in(client, cast.rater, token_of(client, "/sign-in")) == 303
    during = token_of(client, "/settings")
    cookie = form_cookie(client)
    assert client.post("/sign-out", data={"csrf_token": during}).status_code == 303
    assert sign_in(client, cast.rater, during) == 400
    client.set_cookie("bridgenote-form", cookie)
    assert sign_in(client, cast.rater, during) == 400


def test_a_form_opened_before_signing_in_again_is_taken_from_the_same_person_alone(
    app: Flask, cast: Cast
) -> None:
    client = app.test_client()
    assert sign_in(client, cast.rater, token_of(client, "/sign-in")) == 303
    during = token_of(client, "/settings")
    assert client.post("/sign-out", data={"csrf_token": during}).status_code == 303
    assert sign_in(client, cast.moderator, token_of(client, "/sign-in")) == 303
    assert rename(client, during) == 400
    assert client.post("/sign-out", data={"csrf_token": token_of(client, "/settings")}).status_code == 303
    assert sign_in(client, cast.rater, token_of(client, "/sign-in")) == 303
    assert rename(client, during, **{"Origin": "https://evil.example"}) == 403
    assert rename(client, during) in {200, 303}


def test_a_sign_in_page_in_another_tab_still_signs_in(app: Flask, cast: Cast) -> None:
    client = app.test_client()
    older = token_of(client, "/sign-in")
    assert sign_in(client, cast.rater, older) == 303
    assert sign_in(client, cast.moderator, older) == 303
    assert rename(client, older) == 400


def test_a_token_is_one_accounts_own(visit: Callable[..., Visitor], cast: Cast) -> None:
    rater, moderator = visit(cast.rater), visit(cast.moderator)
    token = rater.token  # it comes with a cookie
    moderator.client.set_cookie("bridgenote-form", form_cookie(rater.client))
    assert rename(moderator.client, token) == 400
    assert rename(rater.client, token) in {200, 303}
