"""A form that is sent after the session ended, or with a lost token, is given back to the person who typed it alone."""

import uuid
from html import unescape
from html.parser import HTMLParser

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.core.models import Note
from app.core.people import sessions
from app.core.vocabulary import SessionEnd
from app.throttle import Throttle
from app.wiring import Wiring
from tests.cast import PASSWORD, Cast, Person
from tests.clocks import advance
from tests.web.conftest import HTMX, Stage, Visit, Visitor

TEXT = 'It is "satire" <b>,\r\nas the page says.'
CLASSIFICATION = "NOT_MISLEADING"


class _Forms(HTMLParser):
    """Collect the page's forms: action, hidden fields and kept texts of each."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.forms: dict[str, list[tuple[str, str]]] = {}
        self._fields: list[tuple[str, str]] = []
        self._area: str | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form":
            self._fields = self.forms.setdefault(given.get("action") or "", [])
        elif tag == "input" and (
            given.get("type") == "hidden" or (given.get("id") or "").startswith("kept-")
        ):
            self._fields.append((given["name"] or "", given["value"] or ""))
        elif tag == "textarea":
            self._area = given["name"]
            self._fields.append((given["name"] or "", ""))

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            name, text = self._fields.pop()
            self._fields.append((name, text + data))

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._area is not None:
            name, text = self._fields.pop()
            # A browser drops the line end after the tag and sends every other as two characters.
            self._fields.append((name, text.removeprefix("\n").replace("\r\n", "\n").replace("\n", "\r\n")))
            self._area = None


def hidden(page: TestResponse, action: str) -> dict[str, str]:
    return dict(_Forms(page.text).forms[action])


def sign_in(
    client: FlaskClient, page: TestResponse, person: Person, password: str = PASSWORD
) -> TestResponse:
    """Fill in the sign-in form of this page and send it."""
    return client.post(
        "/sign-in", data={**hidden(page, "/sign-in"), "email": person.email, "password": password}
    )


def end_sessions(wiring: Wiring, person: Person) -> None:
    with wiring.database.writing() as session:
        sessions.end_all(session, person.account_id, reason=SessionEnd.ELSEWHERE)


def notes(wiring: Wiring) -> list[str]:
    with wiring.database.reading() as session:
        return list(session.scalars(sa.select(Note.summary).where(Note.rationale.is_(False))))


@pytest.fixture
def path(stage: Stage) -> str:
    return f"/review/{stage.post()}/notes"


@pytest.fixture
def rater(visit: Visit, cast: Cast) -> Visitor:
    visitor = visit(cast.rater)
    assert visitor.token
    return visitor


def write(rater: Visitor, path: str, **headers: str) -> TestResponse:
    return rater.post(
        path, headers, summary=TEXT, classification=CLASSIFICATION, why_not_misleading="clearly_satire"
    )


@pytest.mark.parametrize("ending", ["revoked", "idle"])
def test_a_note_sent_after_the_session_ended_is_saved_after_a_sign_in_and_a_confirmation(
    rater: Visitor, path: str, wiring: Wiring, cast: Cast, ending: str
) -> None:
    if ending == "idle":
        advance(minutes=wiring.settings.session_idle_minutes + 1)
    else:
        end_sessions(wiring, cast.rater)
    page = write(rater, path)
    assert page.status_code == 401
    assert "You were signed out" in page.text
    assert "Nothing was changed." in page.text
    # A wrong password and a missing one keep it too.
    page = sign_in(rater.client, page, cast.rater, "wrong password")
    assert page.status_code == 401
    page = sign_in(rater.client, page, cast.rater, "")
    assert page.status_code == 422
    page = sign_in(rater.client, page, cast.rater)
    assert page.status_code == 200
    assert 'It is "satire" <b>,' in unescape(page.text)
    assert notes(wiring) == []
    sent = rater.client.post(path, data=hidden(page, path))
    assert sent.status_code == 303
    assert [note.split() for note in notes(wiring)] == [TEXT.split()], "this client writes pages in one line"


def test_after_too_many_tries_the_form_is_still_in_the_page(
    rater: Visitor, path: str, wiring: Wiring, cast: Cast
) -> None:
    limits = {"rate_limit_enabled": True, "rate_limit_sign_in": "1 per hour"}
    wiring.throttle = Throttle.from_settings(wiring.settings.model_copy(update=limits))
    end_sessions(wiring, cast.rater)
    page = sign_in(rater.client, write(rater, path), cast.rater, "wrong password")
    page = sign_in(rater.client, page, cast.rater)
    assert page.status_code == 429
    assert page.headers["Retry-After"]
    wiring.throttle = Throttle.from_settings(wiring.settings)
    page = sign_in(rater.client, page, cast.rater)
    assert rater.client.post(path, data=hidden(page, path)).status_code == 303
    assert len(notes(wiring)) == 1


def test_nothing_is_carried_over_to_another_person(
    rater: Visitor, path: str, wiring: Wiring, cast: Cast
) -> None:
    end_sessions(wiring, cast.rater)
    answer = sign_in(rater.client, write(rater, path), cast.moderator)
    assert answer.status_code == 303
    assert answer.location == "/"
    assert "satire" not in answer.text
    home = rater.client.get("/", follow_redirects=True)
    assert "belongs to another person" in home.text
    assert "satire" not in home.text
    assert notes(wiring) == []


@pytest.mark.parametrize("token", ["", "forged"])
def test_a_form_that_is_not_ours_is_not_carried_over(
    visit: Visit, path: str, wiring: Wiring, cast: Cast, token: str
) -> None:
    client = visit(None).client
    page = client.post(path, data={"csrf_token": token, "summary": TEXT})
    assert page.status_code == 401
    answer = sign_in(client, page, cast.rater)
    assert answer.status_code == 303
    assert "satire" not in answer.text


def test_a_carried_form_leads_to_no_other_site(rater: Visitor, wiring: Wiring, cast: Cast) -> None:
    end_sessions(wiring, cast.rater)
    page = write(rater, "/settings")
    form = hidden(page, "/sign-in")
    form["kept"] = form["kept"].replace("/settings", "//evil.example/settings")
    answer = rater.client.post("/sign-in", data={**form, "email": cast.rater.email, "password": PASSWORD})
    assert answer.status_code == 200
    assert "evil.example" not in answer.text


@pytest.mark.parametrize(
    "kept", ["", "null", "[]", '["/a", "/b", "c", [1], false]', '{"a": 1}', "[1, 2, 3, 4, 5]"]
)
def test_a_broken_carried_form_is_a_plain_sign_in(visit: Visit, cast: Cast, kept: str) -> None:
    visitor = visit(None)
    answer = visitor.post("/sign-in", email=cast.rater.email, password=PASSWORD, kept=kept)
    assert answer.status_code == 303


def test_passwords_and_secrets_are_not_given_back(rater: Visitor, wiring: Wiring, cast: Cast) -> None:
    end_sessions(wiring, cast.rater)
    data = {"email": "new@example.org", "email_password": "old words here", "secret": "s3cr3t", "key": "sk-1"}
    page = rater.post("/settings/email", **data)
    assert page.status_code == 401
    for gone in ("old words here", "s3cr3t", "sk-1"):
        assert gone not in page.text
    page = sign_in(rater.client, page, cast.rater)
    assert "Passwords, secrets and files are not kept" in page.text
    assert hidden(page, "/settings/email")["email"] == "new@example.org"


def test_a_form_whose_browser_lost_its_cookies_is_given_back_to_the_same_person(
    rater: Visitor, path: str, wiring: Wiring
) -> None:
    rater.client.delete_cookie("bridgenote-form")
    page = write(rater, path)
    assert page.status_code == 400
    assert notes(wiring) == []
    assert rater.client.post(path, data=hidden(page, path)).status_code == 303
    assert len(notes(wiring)) == 1


def test_a_form_of_another_person_is_refused_in_words_and_not_shown(
    rater: Visitor, visit: Visit, path: str, wiring: Wiring, cast: Cast
) -> None:
    moderator = visit(cast.moderator)
    moderator.__dict__["token"] = rater.token
    for headers in ({}, HTMX):
        page = write(moderator, path, **headers)
        assert page.status_code == 400
        assert "Copy what you typed before you reload the form." in page.text
        assert "satire" not in page.text
        assert "HX-Trigger" not in page.headers
    assert notes(wiring) == []


def test_with_script_the_sign_in_opens_in_place_and_the_same_form_is_taken_afterwards(
    rater: Visitor, path: str, wiring: Wiring, cast: Cast
) -> None:
    end_sessions(wiring, cast.rater)
    part = write(rater, path, **HTMX)
    assert part.status_code == 401
    assert "satire" not in part.text, "the text is still on the page"
    form = {**hidden(part, "/sign-in"), "email": cast.rater.email}
    wrong = rater.client.post("/sign-in", data={**form, "password": "wrong password"}, headers=HTMX)
    assert wrong.status_code == 422
    assert "Email address or password is wrong" in wrong.text
    answer = rater.client.post("/sign-in", data={**form, "password": PASSWORD}, headers=HTMX)
    assert answer.status_code == 200
    assert "formToken" in answer.headers["HX-Trigger"]
    assert write(rater, path, **HTMX).status_code == 200
    assert len(notes(wiring)) == 1


def test_with_script_another_person_leaves_the_page(
    rater: Visitor, path: str, wiring: Wiring, cast: Cast
) -> None:
    end_sessions(wiring, cast.rater)
    form = hidden(write(rater, path, **HTMX), "/sign-in")
    form |= {"email": cast.moderator.email, "password": PASSWORD}
    answer = rater.client.post("/sign-in", data=form, headers=HTMX)
    assert answer.headers["HX-Redirect"] == "/"
    assert "HX-Trigger" not in answer.headers


def test_with_script_a_lost_token_is_renewed(rater: Visitor, path: str, wiring: Wiring) -> None:
    rater.client.delete_cookie("bridgenote-form")
    answer = write(rater, path, **HTMX)
    assert answer.status_code == 400
    assert "Press the button again." in answer.text
    token = answer.headers["HX-Trigger"].split('"')[3]
    rater.__dict__["token"] = token
    assert write(rater, path, **HTMX).status_code == 200
    assert len(notes(wiring)) == 1


def test_the_longest_form_is_carried_too(rater: Visitor, wiring: Wiring, cast: Cast) -> None:
    end_sessions(wiring, cast.rater)
    page = rater.post(f"/review/{uuid.uuid4()}/notes", summary='"' * 300_000)
    assert sign_in(rater.client, page, cast.rater).status_code == 200


def test_a_file_longer_than_a_form_is_not_read_from_a_stranger(visit: Visit) -> None:
    client = visit(None).client
    parts = [
        b'Content-Disposition: form-data; name="csrf_token"\r\n\r\nany\r\n',
        b'Content-Disposition: form-data; name="file"; filename="claims.csv"\r\n\r\n'
        + b"x" * 1_100_000
        + b"\r\n",
    ]
    body = b"".join(b"--edge\r\n" + part for part in parts) + b"--edge--\r\n"
    for path in ("/datasets", "/settings"):
        # As bytes: from a form of this size, Werkzeug's client makes a file that it does not close.
        page = client.post(path, data=body, content_type="multipart/form-data; boundary=edge")
        assert page.status_code == 401
        assert "kept" not in hidden(page, "/sign-in")
