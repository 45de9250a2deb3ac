"""From an empty folder to a first decided post: the steps of docs/run/first-hour.md, counted."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from playwright.sync_api import expect

from app.core.actions.decisions import NO_ACTION
from app.core.models import Decision, Request
from tests.browser.accessibility import violations
from tests.browser.conftest import Visit, Visitor
from tests.browser.layout import SCREENS, too_wide
from tests.browser.live import ROOT, Service, running, wait_for
from tests.browser.place import PASSWORD

MOST = 7
"""Steps from nothing to a decided post. A step is one command or one press; filling in a form belongs to its press."""


@pytest.fixture
def service(tmp_path: Path, warm_processes: None) -> Iterator[Service]:
    """A service of this test's own, over an empty folder and without the demo."""
    with running(tmp_path) as started:
        yield started


class Steps:
    """Counts what somebody does, beginning with the start of the service."""

    def __init__(self) -> None:
        self.taken = ["start the service"]

    def take(self, what: str) -> None:
        self.taken.append(what)
        assert len(self.taken) <= MOST, self.taken


def _printed_link(service: Service) -> str:
    found = re.findall(rf"{service.url}(/first-admin/[\w-]+)", service.log.read_text())
    assert len(found) == 1, "the start prints one link"
    return str(found[0])


def _fill_in(visitor: Visitor) -> None:
    visitor.page.get_by_label("Name").fill("Ann")
    visitor.page.get_by_label("Email").fill("ann@example.org")
    visitor.page.get_by_label("Password").fill(PASSWORD)
    visitor.page.get_by_label("Community").fill("Harbour forum")


def _dismiss(visitor: Visitor) -> None:
    visitor.page.get_by_label("Reason", exact=True).last.fill("Only a test.")
    visitor.page.get_by_role("button", name=re.compile("^Dismiss")).click()


def _decision(service: Service) -> str:
    """What was decided about the only post, once it is."""

    def found() -> str | None:
        with service.wiring.database.reading() as session:
            return session.scalar(sa.select(Decision.decision))

    return wait_for("a decision", found)


def _look(visitor: Visitor, where: str) -> list[str]:
    """What is wrong with the page that is open: for axe in both themes, and in width on every screen."""
    return violations(visitor, where) + too_wide(visitor, *SCREENS)


def test_from_an_empty_folder_to_a_decided_test_post(service: Service, visit: Visit) -> None:
    steps, ann, seen = Steps(), visit(None), list[str]()
    link = _printed_link(service)
    steps.take("open the link that it prints")
    ann.open(link)
    expect(ann.heading("Set up Bridgenote")).to_be_visible()
    seen += _look(ann, "the first admin's form")
    steps.take("create the admin and a community")
    _fill_in(ann)
    ann.button("Create admin").click()
    expect(ann.heading("Getting started")).to_be_visible()
    expect(ann.status).to_contain_text("You are the admin of this service.")
    seen += _look(ann, "the first steps")
    steps.take("send a test post")
    ann.button("Send a test post").click()
    expect(ann.page.get_by_text("A test post: it takes the way of every post")).to_be_visible()
    expect(ann.page.get_by_text("5 ratings are needed, and only 1 person can rate here")).to_be_visible()
    seen += _look(ann, "a test post's item")
    steps.take("give a reason and press Dismiss")
    _dismiss(ann)
    assert _decision(service) == NO_ACTION
    assert len(steps.taken) == 5, "docs/run/first-hour.md says so"
    ann.open("/getting-started")
    expect(ann.page.get_by_role("listitem").filter(has_text="Decide a first post")).to_contain_text(
        "A post was decided."
    )
    ann.open("/test-post/test-000000000000")
    expect(ann.page.get_by_text("Nothing has arrived yet")).to_be_visible()
    seen += _look(ann, "waiting for a test post")
    assert not seen, seen


def test_from_an_empty_folder_to_a_decided_post_sent_with_curl_and_without_script(
    service: Service, visit: Visit
) -> None:
    """As an integration sends it. The call is pasted as it stands, into a shell, for the real curl."""
    steps, ann, seen = Steps(), visit(None, java_script_enabled=False), list[str]()
    other = visit(None, "/")
    expect(other.page.get_by_role("link", name="Set up Bridgenote")).to_have_attribute(
        "href", _printed_link(service)
    )
    seen += _look(other, "the start page without an admin")
    steps.take("open the link that it prints")
    ann.open(_printed_link(service))
    steps.take("create the admin and a community")
    _fill_in(ann)
    ann.button("Create admin").click()
    steps.take("create a key")
    ann.button("Create key").click()
    call = ann.page.get_by_label("The call").input_value()
    steps.take("paste the call")
    answer = _paste(call)
    assert '"status":"pending"' in answer.replace(" ", ""), answer
    steps.take("open the post")
    ann.page.get_by_role("link", name="Open the post").click()
    expect(ann.page.get_by_text("A test post: it takes the way of every post")).to_be_visible()
    steps.take("give a reason and press Dismiss")
    _dismiss(ann)
    assert _decision(service) == NO_ACTION
    assert len(steps.taken) == MOST, "docs/run/first-hour.md says so"
    with service.wiring.database.reading() as session:
        assert session.scalars(sa.select(Request.is_test)).all() == [True]
    other.open("/")
    expect(other.page.get_by_role("link", name="Set up Bridgenote")).to_have_count(0)
    assert not seen, seen


def _paste(call: str) -> str:
    """What the call answers, as a shell of somebody's own runs it."""
    done = subprocess.run(["/bin/sh", "-c", call], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_page_says_what_the_walks_take() -> None:
    page = (ROOT / "docs" / "run" / "first-hour.md").read_text()
    walks = re.findall(r"^## .*?: (\w+) steps$", page, re.MULTILINE)
    assert walks == ["five", "seven"]
