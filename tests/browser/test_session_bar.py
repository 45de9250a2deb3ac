"""The bar before a session ends, in several tabs, and what a tab forgets at a sign-out."""

from datetime import timedelta

import pytest
import sqlalchemy as sa
from playwright.sync_api import Locator, Page, ViewportSize, expect

from app.core import clock
from app.core.models import Account, SignIn
from app.core.people import sessions
from app.core.vocabulary import SessionEnd
from tests.browser.accessibility import violations
from tests.browser.conftest import DESKTOP, PHONE, Visit, Visitor
from tests.browser.live import DOUBTFUL, Service
from tests.browser.place import PASSWORD, Person, Place

TYPED = "A reason that nobody else\nis to read."


def _set(service: Service, person: Person, **times: timedelta) -> None:
    """Move the times of this person's sessions: ``last_seen_at=timedelta(minutes=29)`` is 29 minutes ago."""
    now = clock.now()
    with service.wiring.database.writing() as session:
        account = session.scalars(sa.select(Account).where(Account.email == person.email)).one()
        values = {name: now - ago for name, ago in times.items()}
        session.execute(sa.update(SignIn).where(SignIn.account_id == account.id).values(values))


def _idle_but(service: Service, seconds: int) -> timedelta:
    return timedelta(minutes=service.wiring.settings.session_idle_minutes, seconds=-seconds)


def _bar(page: Page) -> Locator:
    return page.locator("#session-bar .session-bar")


def _pass_time(page: Page, service: Service) -> None:
    """Let the page believe that its session's last minute has come."""
    page.clock.fast_forward((service.wiring.settings.session_idle_minutes * 60 - 59) * 1000)


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_minute_before_the_end_a_bar_offers_to_stay(
    service: Service, place: Place, visit: Visit, viewport: ViewportSize
) -> None:
    mia = visit(place.moderator, viewport=viewport, own=True)
    mia.page.clock.install()
    mia.open("/settings")
    expect(_bar(mia.page)).to_have_count(0)
    _set(service, place.moderator, last_seen_at=_idle_but(service, 50))
    _pass_time(mia.page, service)
    expect(_bar(mia.page)).to_contain_text("You will be signed out in a minute")
    assert violations(mia, "the bar before the end of a session") == []
    mia.button("Stay signed in").click()
    expect(_bar(mia.page)).to_have_count(0)
    with service.wiring.database.reading() as session:
        seen = session.scalars(
            sa.select(SignIn.last_seen_at)
            .join(Account, Account.id == SignIn.account_id)
            .where(Account.email == place.moderator.email)
        ).all()
    assert clock.now() - max(seen) < timedelta(minutes=1)


def test_one_answer_is_enough_for_all_tabs(service: Service, place: Place, visit: Visit) -> None:
    mia = visit(place.moderator, own=True)
    other = Visitor(mia.page.context.new_page(), mia.watch, mia.name)
    for tab in (mia, other):
        tab.page.clock.install()
        tab.open("/settings")
    _set(service, place.moderator, last_seen_at=_idle_but(service, 50))
    for tab in (mia, other):
        _pass_time(tab.page, service)
        expect(_bar(tab.page)).to_be_visible()
    mia.button("Stay signed in").click()
    for tab in (mia, other):
        expect(_bar(tab.page)).to_have_count(0)


def test_work_in_another_tab_needs_no_answer(service: Service, place: Place, visit: Visit) -> None:
    mia = visit(place.moderator, own=True)
    mia.page.clock.install()
    mia.open("/settings")
    _set(service, place.moderator, last_seen_at=timedelta(seconds=10))
    with mia.page.expect_response("**/session"):
        _pass_time(mia.page, service)
    expect(_bar(mia.page)).to_have_count(0)


def test_where_the_longest_time_ends_it_the_bar_says_so(service: Service, place: Place, visit: Visit) -> None:
    mia = visit(place.moderator, own=True)
    mia.page.clock.install()
    mia.open("/settings")
    hours = timedelta(hours=service.wiring.settings.session_hours)
    _set(service, place.moderator, created_at=hours - timedelta(seconds=50), last_seen_at=timedelta())
    _pass_time(mia.page, service)
    expect(_bar(mia.page)).to_contain_text("you will be asked to sign in again")
    expect(mia.button("Stay signed in")).to_have_count(0)


def test_after_the_end_the_bar_leads_to_the_sign_in_and_what_was_typed_comes_back(
    service: Service, place: Place, visit: Visit
) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    rita = visit(place.rater, own=True)
    rita.page.clock.install()
    rita.open(f"/review/{action_id}")
    rita.main.get_by_text("Write a note", exact=True).click()
    rita.page.get_by_label("What should readers know?").fill(TYPED)
    with service.wiring.database.writing() as session:
        account = session.scalars(sa.select(Account).where(Account.email == place.rater.email)).one()
        sessions.end_all(session, account.id, reason=SessionEnd.PASSWORD)
    _pass_time(rita.page, service)
    expect(_bar(rita.page)).to_contain_text("You are signed out")
    _bar(rita.page).get_by_role("link", name="Sign in").click()
    expect(rita.main).to_contain_text("because your password was changed")
    rita.sign_in(place.rater)
    expect(rita.page.get_by_label("What should readers know?")).to_have_value(TYPED)


def test_a_sign_out_takes_the_drafts_of_every_tab_with_it(place: Place, visit: Visit) -> None:
    (action_id,) = place.queue(DOUBTFUL[0])
    rita = visit(None, "/help-needed", own=True)
    rita.sign_in(place.rater)
    expect(rita.heading("Help needed")).to_be_visible()
    rita.open(f"/review/{action_id}")
    rita.main.get_by_text("Write a note", exact=True).click()
    rita.page.get_by_label("What should readers know?").fill(TYPED)
    tab = Visitor(rita.page.context.new_page(), rita.watch, rita.name)
    tab.open("/settings")
    tab.button("Sign out").first.click()
    expect(tab.heading("Sign in")).to_be_visible()
    rita.page.goto("/sign-in")
    assert rita.page.evaluate("sessionStorage.getItem('typed')") is None


def test_another_person_in_the_same_tab_finds_nothing(place: Place, visit: Visit) -> None:
    mia = visit(None, "/help-needed", own=True)
    mia.sign_in(place.rater)
    expect(mia.heading("Help needed")).to_be_visible()
    mia.page.evaluate("sessionStorage.setItem('reason item dismiss', 'of the rater')")
    mia.page.context.clear_cookies()
    mia.open("/sign-in")
    mia.sign_in(place.moderator)
    expect(mia.page.get_by_role("heading", level=1)).to_be_visible()
    mia.page.wait_for_load_state("load")
    assert mia.page.evaluate("sessionStorage.getItem('reason item dismiss')") is None


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_form_of_long_ago_asks_who_it_is_and_goes_through(
    service: Service, place: Place, visit: Visit, viewport: ViewportSize
) -> None:
    rita = visit(place.rater, viewport=viewport, own=True, wants=[401])
    rita.open("/settings/my-data")
    _set(service, place.rater, proved_at=timedelta(minutes=11))
    rita.main.get_by_role("button").first.click()
    expect(rita.heading("Confirm it is you")).to_be_visible()
    assert violations(rita, "the question who it is") == []
    rita.page.get_by_label("Your password").fill(PASSWORD)
    rita.button("Confirm and go on").click()
    expect(rita.heading("What is kept of you")).to_be_visible()
    expect(rita.status).to_contain_text("Your file is being made.")
