"""The start page of people who are not signed in: a post to try, without an account, script or anything stored."""

import re
from pathlib import Path

import brotli
import pytest

from app.demo import sign_ins
from app.wiring import Wiring
from tests.web.conftest import Visit

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
ROOT = Path(__file__).parents[2]
STRIP = "Both sides mostly said yes."
HERE = {"HTTP_HOST": "127.0.0.1", "REMOTE_ADDR": "127.0.0.1"}


@pytest.mark.parametrize(
    ("answer", "said"),
    [("yes", "You said yes"), ("no", "You said no"), ("unsure", "You were not sure")],
)
def test_a_made_up_post_can_be_answered_and_shows_where_others_lie(
    visit: Visit, answer: str, said: str
) -> None:
    visitor = visit(None)
    asked = visitor.get("/").text
    assert "Should this post be hidden?" in asked
    assert f'name="answer" value="{answer}"' in asked
    assert STRIP not in asked
    answered = visitor.get(f"/?answer={answer}")
    assert answered.status_code == 200
    assert said in answered.text
    assert STRIP in answered.text
    assert "Set-Cookie" not in answered.headers, "nothing is stored"


def test_what_is_no_answer_asks_again(visit: Visit) -> None:
    for path in ("/?answer=", "/?answer=%00%3Cb%3E", "/?answer=yes%20"):
        page = visit(None).get(path)
        assert page.status_code == 200
        assert STRIP not in page.text
        assert 'name="answer"' in page.text


def test_the_whole_page_is_under_60_kb_and_has_no_script(visit: Visit) -> None:
    page = visit(None).get("/?answer=yes").text
    assert "<script" not in page
    assert "modulepreload" not in page
    files = set(re.findall(r'(?:href|src)="/(static/[^"?#]+)', page))
    assert 5 < len(files) < 16
    weight = sum(len(brotli.compress((ROOT / name).read_bytes(), quality=5)) for name in files)
    assert weight + len(brotli.compress(page.encode(), quality=5)) < 60_000


def test_the_footer_names_a_contact_where_the_operator_gave_one(visit: Visit, wiring: Wiring) -> None:
    footer = visit(None).get("/").text.split("<footer", 1)[1]
    assert "API documentation" in footer
    assert "Contact" not in footer
    wiring.settings = wiring.settings.model_copy(update={"security_contact": "mailto:team@example.org"})
    assert '<a href="mailto:team@example.org">Contact' in visit(None).get("/").text


def test_in_the_demo_one_press_leads_to_the_queue_of_a_moderator(visit: Visit, wiring: Wiring) -> None:
    words = "Look around as a moderator"
    assert words not in visit(None).get("/").text
    moderator = sign_ins.SignIn("moderator", "demo@example.org", "demo password")
    sign_ins.save(sign_ins.Demo((moderator,), "a key"), wiring.settings.data_dir)
    wiring.settings = wiring.settings.model_copy(update={"environment": "development"})
    page = visit(None).client.get("/", environ_overrides=HERE).text
    form = page.split("Look around", 1)[0].rpartition("<form")[2]
    assert 'action="/sign-in"' in form
    assert 'value="demo@example.org"' in form
    elsewhere = visit(None).client.get("/", environ_overrides=HERE | {"REMOTE_ADDR": "192.0.2.7"})
    assert words not in elsewhere.text
