"""The open queue follows what colleagues do: the poll brings changed rows and counts, and nothing else."""

import re
import uuid
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import Account, Action, Membership, Note, Request, SignIn
from app.core.vocabulary import Role
from app.wiring import Wiring
from tests.attached import attach
from tests.cast import Cast, Person
from tests.clocks import advance
from tests.inline_engine import InlineEngine
from tests.web.conftest import HTMX, Stage, Visitor

LIVE = re.compile(r'data-live="([^"]+)"')


def poll_of(page: str) -> str:
    """The address that the page asks every 15 s, with the rows that script would add."""
    found = re.search(r'id="new-count"[^>]* hx-get="([^"]+)"', page)
    assert found
    return f"{unescape(found[1])}&rows={'~'.join(LIVE.findall(page))}"


def row(page: str, action_id: uuid.UUID) -> str:
    """One row of the page or of the poll's answer, without tags."""
    found = re.search(rf'id="row-{action_id}".*?</tr>', page, re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", found[0])) if found else ""


def test_a_colleagues_claim_and_decision_change_only_their_row(
    moderator: Visitor, operator: Visitor, stage: Stage, jobs: InlineEngine
) -> None:
    one, other = stage.post("One"), stage.post("Other")
    page = moderator.get("/review").text
    assert moderator.get(poll_of(page), **HTMX).status_code == 204

    operator.post(f"/review/{one}/claim")
    answer = moderator.get(poll_of(page), **HTMX).text
    assert "Claimed by Operator" in row(answer, one)
    assert 'hx-swap-oob="true"' in answer
    assert not row(answer, other)

    # The page now shows the new row, so the same question has nothing to add.
    shown = LIVE.findall(answer)
    stale = next(live for live in LIVE.findall(page) if live[:22] == shown[0][:22])
    assert moderator.get(poll_of(page).replace(stale, shown[0]), **HTMX).status_code == 204

    operator.post(f"/review/{one}/decide", verb="dismiss", reason="Banter", version="1")
    assert "Operator is deciding" in row(moderator.get(poll_of(page), **HTMX).text, one)
    advance(11)
    jobs.run_all()
    advance(60)
    answer = moderator.get(poll_of(page), **HTMX).text
    assert "Dismissed by Operator , 1 min ago" in row(answer, one)
    assert "<title>(1) Review queue" in answer


def lead(page: str) -> str:
    """The line below the heading, of the page or of the poll's answer."""
    found = re.search(r'<p class="lead[^"]*"\s+id="queue-lead"[^>]*>(.*?)</p>', page, re.DOTALL)
    assert found
    return " ".join(found[1].split())


@pytest.mark.both_databases
@pytest.mark.parametrize("query", ["", "?category=toxicity"])
def test_the_count_below_the_heading_follows_the_rows(
    moderator: Visitor, operator: Visitor, stage: Stage, jobs: InlineEngine, query: str
) -> None:
    narrowed = " with these filters" if query else ""
    one, other, _elsewhere = stage.post("One"), stage.post("Other"), stage.post("Third", category="threat")
    page = moderator.get(f"/review{query}").text
    assert lead(page) == f"{2 if query else 3} posts wait for a decision{narrowed}."
    for action_id, left in ((one, 1), (other, 0)):
        operator.post(f"/review/{action_id}/decide", verb="dismiss", reason="Banter", version="1")
        advance(11)
        jobs.run_all()
        count = left + (0 if query else 1)
        words = f"{count} post{'s wait' if count > 1 else ' waits'} for a decision{narrowed}."
        answer = lead(moderator.get(poll_of(page), **HTMX).text)
        assert answer == (words if count else "Nothing matches these filters.")


@pytest.mark.both_databases
def test_a_row_changes_with_what_is_known_of_its_post(
    moderator: Visitor, stage: Stage, wiring: Wiring
) -> None:
    one, other = stage.post("One"), stage.post("Other")
    with wiring.database.writing() as session:
        note = session.get_one(Note, session.get_one(Action, one).note_id)
        note.ratings_count = 6

    def reports() -> None:
        with wiring.database.writing() as session:
            action = session.get_one(Action, one)
            session.get_one(Request, action.request_id).extra = {"reports": 3}

    def disagreement() -> None:
        with wiring.database.writing() as session:
            session.get_one(Note, session.get_one(Action, one).note_id).status_rule = "full:unbalanced"

    def picture() -> None:
        attach(wiring, one)

    for change, shown in ((reports, "3 reports"), (disagreement, "one side only"), (picture, "/1/preview")):
        page = moderator.get("/review").text
        change()
        answer = moderator.get(poll_of(page), **HTMX)
        assert answer.status_code == 200, shown
        assert shown in answer.text
        assert not row(answer.text, other)


@pytest.mark.both_databases
def test_the_number_of_waiting_items_stands_in_title_and_navigation(
    moderator: Visitor, rater: Visitor, stage: Stage
) -> None:
    assert "<title>Review queue" in moderator.get("/review").text
    stage.post("One")
    page = moderator.get("/review").text
    assert "<title>(1) Review queue" in page
    assert '<b class="waiting" id="count-review">1<span class="vh"> waiting</span></b>' in page
    assert 'id="count-review"' not in rater.get("/me").text


def test_rows_of_another_community_or_of_nothing_are_ignored(
    moderator: Visitor, stage: Stage, wiring: Wiring
) -> None:
    stage.post("One")
    url = poll_of(moderator.get("/review").text).partition("&rows=")[0]
    unknown = "AAAAAAAAAAAAAAAAAAAAAA.AAAA"
    assert moderator.get(f"{url}&rows=~!!~{unknown}~x.y", **HTMX).status_code == 204


def test_a_poll_reads_the_same_little_however_much_is_shown(
    moderator: Visitor, stage: Stage, statements: Callable[[], Any]
) -> None:
    stage.post("One")
    counts = []
    for url in ("/review", "/review?category=toxicity&claimed_by=nobody", "/second-look"):
        for _ in range(2):
            poll = poll_of(moderator.get(url).text)
            moderator.get(poll, **HTMX)
            with statements() as sent:
                assert moderator.get(poll, **HTMX).status_code == 204
            counts.append(len(sent))
            stage.post("Another")
    # Who asks, the new items, the rows with what they show if there are any, and the numbers.
    assert counts == [13, 13, 13, 13, 6, 6]


@pytest.mark.parametrize("url", ["/review", "/second-look"])
def test_who_may_no_longer_see_the_list_gets_no_answer_at_the_next_poll(
    moderator: Visitor, cast: Cast, stage: Stage, wiring: Wiring, url: str
) -> None:
    stage.post("One")
    poll = poll_of(moderator.get(url).text)
    assert moderator.get(poll, **HTMX).status_code == 204

    def member(session: Session) -> Membership:
        wanted = sa.select(Membership).where(Membership.account_id == cast.moderator.account_id)
        return session.scalars(wanted).one()

    with wiring.database.writing() as session:
        member(session).role = Role.RATER
    assert moderator.get(poll, **HTMX).status_code == 403
    with wiring.database.writing() as session:
        member(session).role = Role.OPERATOR
    assert moderator.get(poll, **HTMX).status_code == 204
    with wiring.database.writing() as session:
        member(session).community_id = cast.other_community_id
    other = moderator.get(poll, **HTMX)
    assert "One" not in other.text
    assert moderator.get(f"{poll}&community={cast.community_id}", **HTMX).status_code == 404
    with wiring.database.writing() as session:
        session.delete(member(session))
    assert moderator.get(poll, **HTMX).status_code == 404
    with wiring.database.writing() as session:
        session.execute(sa.update(SignIn).values(ended_at=SignIn.created_at))
    assert moderator.get(poll, **HTMX).status_code == 286


def test_a_poll_follows_the_readers_own_settings(
    moderator: Visitor, operator: Visitor, cast: Cast, stage: Stage, wiring: Wiring
) -> None:
    one = stage.post("Gruesome words", category="sexual")
    set_preferences(wiring, cast.moderator, content_warnings=False)
    page = moderator.get("/review").text
    assert "Gruesome words" in row(page, one)
    assert moderator.get(poll_of(page), **HTMX).status_code == 204
    set_preferences(wiring, cast.moderator, content_warnings=True)
    operator.post(f"/review/{one}/claim")
    changed = row(moderator.get(poll_of(page), **HTMX).text, one)
    assert "Claimed by Operator" in changed
    assert "Gruesome words" not in changed


def set_preferences(wiring: Wiring, person: Person, *, content_warnings: bool) -> None:
    with wiring.database.writing() as session:
        account = session.get_one(Account, person.account_id)
        account.content_warnings = content_warnings


@pytest.mark.parametrize("path", ["/review/new-count", "/second-look/new-count"])
@pytest.mark.parametrize("since", ["0001-01-01T00:00:00%2B14:00", "2026-01-01T00:00:00", "soon", ""])
def test_a_poll_since_no_real_moment_gets_nothing(moderator: Visitor, path: str, since: str) -> None:
    assert moderator.get(f"{path}?since={since}").status_code == 204


def test_a_filter_with_a_nul_finds_nothing(moderator: Visitor) -> None:
    assert moderator.get("/second-look?category=sp%00am").status_code == 200


@pytest.mark.both_databases
def test_the_poll_answers_only_when_something_is_new_and_never_with_rows(
    moderator: Visitor, stage: Stage
) -> None:
    stage.post("Old")
    page = moderator.get("/review").text
    address = re.search(r'id="new-count"[^>]* hx-get="([^"]+)"', page)
    assert address
    url = address.group(1).replace("&amp;", "&")
    assert moderator.get(url, **HTMX).status_code == 204
    for text in ("New 1", "New 2", "New 3"):
        stage.post(text)
    answer = moderator.get(url, **HTMX)
    assert "3 new items – Show" in answer.text
    assert "New 1" not in answer.text
    again = re.search(r'hx-get="([^"]+)"', answer.text)
    assert again
    assert moderator.get(again.group(1).replace("&amp;", "&"), **HTMX).status_code == 204
