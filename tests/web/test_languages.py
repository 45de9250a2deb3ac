"""The language of a page: chosen by the reader, else by the browser, else by the community (docs/translating.md)."""

import json
import re

import pytest
from flask.testing import FlaskClient

from app.core.models import Account, Community
from app.wiring import Wiring
from tests.cast import Cast
from tests.pseudo import TAG, PseudoLanguage, pseudo
from tests.web.conftest import Visit

LANGUAGE = re.compile(r'<html lang="([\w-]+)" dir="(\w+)"')


@pytest.fixture
def pseudo_language(wiring: Wiring) -> str:
    """The tag of the pseudo-language, which this service has as well."""
    wiring.languages = {**wiring.languages, TAG: PseudoLanguage()}
    return TAG


def language_of(body: str) -> str:
    found = LANGUAGE.search(body)
    assert found is not None, body[:200]
    return found[1]


@pytest.mark.parametrize(
    ("asked_for", "shown"),
    [
        ("", "en"),
        ("fr, de-AT;q=0.8, en;q=0.5", "de"),
        ("en-US, de", "en"),
        ("xx", "en"),
        ("de;q=nan", "en"),
        ("fr, de;q=0", "en"),
        ("de" + ", xx" * 5_000, "de"),
        ("xx, " * 5_000 + "de", "en"),
    ],
)
def test_signed_out_the_browser_chooses(client: FlaskClient, cast: Cast, asked_for: str, shown: str) -> None:
    page = client.get("/sign-in", headers={"Accept-Language": asked_for})
    assert language_of(page.text) == shown


def test_what_the_reader_chose_comes_before_the_browser(visit: Visit, cast: Cast) -> None:
    rater = visit(cast.rater)
    assert rater.post("/settings/reading", language="de").status_code == 303
    assert language_of(rater.get("/settings", **{"Accept-Language": "en"}).text) == "de"
    assert rater.post("/settings/reading", language="").status_code == 303
    assert language_of(rater.get("/settings", **{"Accept-Language": "en"}).text) == "en"


def test_the_community_chooses_where_the_browser_asks_for_what_there_is_not(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    with wiring.database.writing() as session:
        community = session.get_one(Community, cast.community_id)
        community.settings = {**community.settings, "language": "de"}
    rater = visit(cast.rater)
    assert language_of(rater.get("/settings", **{"Accept-Language": "fr"}).text) == "de"
    assert language_of(rater.get("/settings", **{"Accept-Language": "en"}).text) == "en"


def test_an_unknown_language_is_refused_at_the_field(visit: Visit, cast: Cast) -> None:
    page = visit(cast.rater).post("/settings/reading", language="xx")
    assert page.status_code == 422
    assert "Language" in page.text


def test_the_api_is_english_after_a_page_that_was_not(client: FlaskClient, cast: Cast) -> None:
    headers = {"Accept-Language": "de"}
    assert language_of(client.get("/sign-in", headers=headers).text) == "de"
    refusal = client.get("/api/v2/requests", headers=headers)
    assert refusal.status_code == 401
    assert refusal.get_json()["detail"] == "Missing authentication credentials"


def test_an_error_page_has_the_language_of_its_reader(
    visit: Visit, cast: Cast, wiring: Wiring, pseudo_language: str
) -> None:
    with wiring.database.writing() as session:
        session.get_one(Account, cast.rater.account_id).language = pseudo_language
    page = visit(cast.rater).get("/items/00000000-0000-0000-0000-000000000000")
    assert page.status_code == 404
    assert language_of(page.text) == pseudo_language
    assert pseudo("just now") not in page.text


def test_the_texts_of_scripts_come_with_a_page_that_is_not_english(
    visit: Visit, cast: Cast, wiring: Wiring, pseudo_language: str
) -> None:
    rater = visit(cast.rater)
    assert "script-texts" not in rater.get("/settings").text
    with wiring.database.writing() as session:
        session.get_one(Account, cast.rater.account_id).language = pseudo_language
    found = re.search(r'id="script-texts">(.+?)</script>', rater.get("/settings").text)
    assert found is not None
    spoken = json.loads(found[1])
    assert spoken["Nothing of that name here."] == pseudo("Nothing of that name here.")
    assert len(spoken) > 20
