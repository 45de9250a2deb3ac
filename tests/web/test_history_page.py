"""Action history: append-only rows, filters, pages, and the same as CSV."""

import csv
import io
import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.history import chain as history
from app.core.history import pages as history_pages
from app.core.history.reason import Reason
from app.core.models import Account, Action, HistoryEntry, HistoryText, Request
from app.core.permissions import SYSTEM, Actor
from app.core.requests import retention, submitting
from app.core.review import action_history, history_filters, holds, verbs
from app.core.review.action_history import ActionChange
from app.core.review.history_filters import HistoryFilter
from app.core.upkeep import erasure
from app.core.vocabulary import ActionState, ActionVerb
from app.web.history import actions as history_page
from app.wiring import Wiring
from tests import factories
from tests.cast import PLATFORM, Cast
from tests.clocks import advance, at
from tests.factories import actor_of
from tests.inline_engine import InlineEngine
from tests.web.conftest import FixedClassifier, Stage, Visit, Visitor, the_hold


def change(wiring: Wiring, actor: Actor, action_id: uuid.UUID, state: ActionState, reason: str = "") -> None:
    with wiring.database.writing() as session:
        verbs.change_action(session, actor, session.get_one(Action, action_id), state, reason=Reason(reason))


def export(visitor: Visitor, query: str = "") -> list[dict[str, str]]:
    answer = visitor.get(f"/history.csv{query}")
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(answer.data.decode("utf-8-sig"))))


def test_a_withdrawn_posts_text_is_in_no_view_of_the_history(
    visit: Visit, moderator: Visitor, cast: Cast, stage: Stage, wiring: Wiring
) -> None:
    action_id = stage.post("Amethystine people like you")
    note_id = stage.note(action_id, text="Amethystine is no word")
    assert "Amethystine" in moderator.get("/history?q=Amethystine").text
    with wiring.database.writing() as session:
        request = session.get_one(Request, session.get_one(Action, action_id).request_id)
        submitting.withdraw(session, factories.integration(cast), request)
        entry_id = session.scalars(
            sa.select(HistoryEntry.id).where(HistoryEntry.object_id == action_id).limit(1)
        ).one()
    for path in ("/history", f"/history/{entry_id}", "/history.csv"):
        page = moderator.get(path)
        assert page.status_code == 200, path
        assert "Amethystine" not in page.text, path
    assert "The submission was withdrawn" in moderator.get(f"/history/{entry_id}").text
    assert export(moderator, "?q=Amethystine") == []
    assert str(entry_id) not in moderator.get("/history?q=Amethystine").text
    for person_ in (cast.moderator, cast.rater):
        assert visit(person_).get(f"/notes/{note_id}").status_code == 404
    assert moderator.get(f"/notes/{note_id}/moderation").status_code == 404


@pytest.mark.parametrize("path", ["/history", "/history.csv"])
@pytest.mark.parametrize(
    ("who", "status"),
    [("rater", 403), ("moderator", 200), ("operator", 200), ("admin", 200), ("outsider", 404), (None, 303)],
)
def test_only_moderators_and_above_read_the_history(
    visit: Visit, cast: Cast, stage: Stage, path: str, who: str | None, status: int
) -> None:
    stage.post()
    visitor = visit(getattr(cast, who) if who else None)
    assert visitor.get(f"{path}?community=harbour-forum").status_code == status


def test_a_community_without_actions_says_so(moderator: Visitor) -> None:
    assert "No actions in this period" in moderator.get("/history").text


def test_each_change_is_a_row_that_later_changes_leave_as_it_was(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    before = export(moderator)
    change(
        wiring, actor_of(wiring, cast.operator), action_id, ActionState.DISMISSED, "Banter between friends"
    )
    after = export(moderator)
    assert [row["state"] for row in after] == ["dismissed", "under_review"]
    assert {**after[1], "state_now": "under_review"} == before[0]
    assert (after[0]["actor"], after[0]["reason"]) == ("Operator", "Banter between friends")
    page = moderator.get("/history").text
    assert "Banter between friends" in page
    assert "now dismissed" in page


def test_only_actions_that_can_be_overturned_now_link_to_it(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    applied, dismissed = stage.post("Applied one"), stage.post("Dismissed one")
    for state in (ActionState.PROPOSED, ActionState.APPLIED):
        change(wiring, factories.integration(cast), applied, state)
    change(wiring, factories.integration(cast), dismissed, ActionState.DISMISSED)
    page = moderator.get("/history").text
    assert page.count("Overturn: Applied one") == 1
    assert "Overturn: Dismissed one" not in page


FOUND: dict[str, set[str]] = {
    "?state=dismissed": {"dismissed"},
    "?state=applied": set(),
    "?type=hide": {"dismissed", "under_review"},
    "?type=delete": set(),
    "?category=toxicity&state=dismissed": {"dismissed"},
    "?category=spam": set(),
    "?actor=operat": {"dismissed"},
    "?q=SOMEBODY+wrote": {"dismissed", "under_review"},
    "?q=banter": {"dismissed"},
    "?q=post-1": {"dismissed", "under_review"},
    "?q=%25": set(),
    "?actor=100%25": set(),
    "?author=nobody": set(),
    "?from=2026-03-02": {"dismissed"},
    "?to=2026-03-01": {"under_review"},
    "?from=2026-03-01&to=2026-03-02": {"dismissed", "under_review"},
    "?from=2026-03-03": set(),
}
"""The states of the rows that are found, by what is asked."""


@pytest.mark.both_databases
def test_filters_combine(moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage) -> None:
    at(datetime(2026, 3, 1, 12, tzinfo=UTC))
    action_id = stage.post()
    at(datetime(2026, 3, 2, 12, tzinfo=UTC))
    change(wiring, actor_of(wiring, cast.operator), action_id, ActionState.DISMISSED, "Banter")
    for query, found in FOUND.items():
        assert {row["state"] for row in export(moderator, query)} == found, query
        page = moderator.get(f"/history{query}").text
        is_period = set(re.findall(r"[?&](\w+)=", query)) <= {"from", "to"}
        nothing = "No actions in this period" if is_period else "No changes match these filters."
        assert (nothing in page) is (not found), query
        assert page.count("Remove the filter") == query.count("="), query


@pytest.mark.both_databases
def test_days_begin_at_midnight_where_the_reader_lives(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    with wiring.database.writing() as session:
        session.get_one(Account, cast.moderator.account_id).timezone = "Asia/Tokyo"
    at(datetime(2026, 3, 1, 15, 30, tzinfo=UTC))  # 00:30 on 2 March in Tokyo
    stage.post()
    assert len(export(moderator, "?from=2026-03-02&to=2026-03-02")) == 1
    assert export(moderator, "?to=2026-03-01") == []


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("?from=yesterday", "Not a valid date value."),
        ("?from=2026-03-02&to=2026-03-01", "To must not be before From."),
        ("?state=exploded", "State cannot be “exploded”. Choose from the list."),
        ("?to=9999-12-31", "To must be from 1970 to 2999."),
        ("?from=0001-01-01", "From must be from 1970 to 2999."),
    ],
)
@pytest.mark.parametrize("path", ["/history", "/history.csv"])
def test_a_filter_that_cannot_be_read_is_named(moderator: Visitor, path: str, query: str, told: str) -> None:
    answer = moderator.get(f"{path}{query}")
    assert answer.status_code == 422
    assert told in answer.text


@pytest.mark.both_databases
def test_pages_neither_repeat_nor_miss_a_row_when_more_happens_meanwhile(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_page, "PAGE_SIZE", 2)
    texts = [f"Post number {number}" for number in range(5)]
    for text in texts:
        change(wiring, factories.integration(cast), stage.post(text), ActionState.DISMISSED, text)
    pages, url = [], "/history?state=dismissed"
    while url:
        page = moderator.get(url).text
        pages.append([text for text in reversed(texts) if f"{text}:" in page])
        stage.post("Something new")
        url = _link(page, "next")
    assert pages == [texts[4:2:-1], texts[2:0:-1], texts[:1]]
    back = moderator.get(_link(page, "prev")).text
    assert [text for text in reversed(texts) if f"{text}:" in back] == texts[2:0:-1]


def test_fifty_rows_cost_as_many_queries_as_one(
    moderator: Visitor, stage: Stage, statements: Callable[[], Any]
) -> None:
    stage.post()
    moderator.get("/history")
    with statements() as few:
        moderator.get("/history")
    for _ in range(49):
        stage.post()
    with statements() as many:
        page = moderator.get("/history").text
    assert page.count("data-row-link") == 50
    assert len(many) == len(few)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_of_the_file_is_a_formula(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage, start: str
) -> None:
    action_id = stage.post()
    reason = f'{start}HYPERLINK("https://example.org","x")'
    change(wiring, actor_of(wiring, cast.operator), action_id, ActionState.DISMISSED, reason)
    answer = moderator.get("/history.csv?state=dismissed")
    (row,) = csv.DictReader(io.StringIO(answer.data.decode("utf-8-sig"), newline=""))
    assert row["reason"] == f"'{reason}"


@pytest.mark.both_databases
def test_the_file_is_utf_8_with_a_header_and_holds_every_row(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_page, "PAGE_SIZE", 1)
    for number in range(3):
        change(
            wiring,
            actor_of(wiring, cast.operator),
            stage.post(),
            ActionState.DISMISSED,
            f"Naïve “quote”, {number}\nand 漢字",
        )
    answer = moderator.get("/history.csv")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.data.decode("utf-8-sig"), newline="")))
    assert len(rows) == 6
    assert rows[0]["reason"] == "Naïve “quote”, 2\nand 漢字"
    assert datetime.fromisoformat(rows[0]["time"]) <= datetime.now(UTC) + timedelta(seconds=1)


def test_an_entry_has_a_page_of_its_own_where_nothing_is_cut_short(
    moderator: Visitor, rater: Visitor, outsider: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id, reason = stage.post(), "Why <b>exactly</b>. " * 60
    for state in (ActionState.PROPOSED, ActionState.APPLIED):
        change(wiring, factories.integration(cast), action_id, state, reason)
    newest = export(moderator, "?state=applied")[0]
    page = moderator.get(f"/history/{newest['entry_id']}?state=applied").text
    assert 'href="/history?state=applied"' in page
    assert f'href="/review/{action_id}#decision-title"' in page
    oldest = export(moderator, "?state=proposed")[0]
    page = moderator.get(f"/history/{oldest['entry_id']}").text
    assert page.count("Why &lt;b&gt;exactly&lt;/b&gt;.") == 60
    assert "#decision-title" not in page
    assert outsider.get(f"/history/{newest['entry_id']}").status_code == 404
    assert rater.get(f"/history/{newest['entry_id']}").status_code == 403
    assert moderator.get(f"/history/{uuid.uuid4()}").status_code == 404


@pytest.mark.both_databases
def test_beyond_what_is_counted_there_are_many(
    moderator: Visitor, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_pages, "COUNTED", 2)
    monkeypatch.setattr(action_history, "COUNTED_BY_ROW", 2)
    monkeypatch.setattr(history_filters, "FOUND_POSTS", 2)
    stage.post()
    stage.post()
    assert "2 changes" in moderator.get("/history").text
    stage.post()
    assert "More than 2 changes" in moderator.get("/history").text
    assert "More than 2 changes" in moderator.get("/history?type=hide").text
    # A search that leaves out posts says so; the export leaves none out.
    assert "More than 2 changes" in moderator.get("/history?q=post").text
    assert len(export(moderator, "?q=post")) == 3


def test_another_communitys_changes_stay_there(moderator: Visitor, stage: Stage) -> None:
    stage.post(away=True)
    assert export(moderator) == []


def _link(page: str, rel: str) -> str:
    _, found, rest = page.partition(f'rel="{rel}" href="')
    return rest.partition('"')[0].replace("&amp;", "&") if found else ""


def test_a_decision_that_was_taken_back_leaves_a_trace_with_who_what_and_why(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage, jobs: InlineEngine
) -> None:
    action_id = stage.post("A quarrel")
    decision = {"verb": "dismiss", "reason": "Only banter", "version": "1"}
    moderator.post(f"/review/{action_id}/decide", **decision)
    assert next((row["event"], row["verb"]) for row in export(moderator)) == ("decision.held", "dismiss")
    held = the_hold(wiring)
    moderator.post(f"/holds/{held.id}/undo")
    rows = export(moderator)
    assert [row["event"] for row in rows] == ["decision.undone", "decision.held", "action.under_review"]
    assert {(row["actor"], row["verb"], row["reason"]) for row in rows[:2]} == {
        ("Moderator", "dismiss", "Only banter")
    }
    page = moderator.get("/history").text
    assert "Decision undone" in page
    assert "Decision held" in page
    item = moderator.get(f"/review/{action_id}").text
    assert "Decision undone: “Dismiss”" in item
    assert "Decision held: “Dismiss”" in item

    moderator.post(f"/review/{action_id}/decide", **decision)
    advance(11)
    jobs.run_all()
    jobs.run_all(delayed=True)
    kinds = [row["event"] for row in export(moderator)]
    assert kinds == ["action.dismissed", "decision.undone", "decision.held", "action.under_review"]
    assert [row["event"] for row in export(moderator, "?state=decision.held")] == ["decision.held"] * 2
    assert [row["event"] for row in export(moderator, "?state=decision.undone")] == ["decision.undone"]
    assert [row["event"] for row in export(moderator, "?state=dismissed")] == ["action.dismissed"]
    assert export(moderator, "?state=decision.undone&actor=operator") == []
    with wiring.database.reading() as session:
        assert history.verify(session, cast.community_id)[1] is None


def test_a_decision_that_could_not_be_carried_out_stands_there_too(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage, jobs: InlineEngine
) -> None:
    action_id = stage.post("A quarrel")
    moderator.post(f"/review/{action_id}/decide", verb="dismiss", reason="Only banter", version="1")
    change(wiring, factories.integration(cast), action_id, ActionState.PROPOSED)
    change(wiring, factories.integration(cast), action_id, ActionState.APPLIED)
    advance(11)
    jobs.run_all()
    jobs.run_all(delayed=True)
    assert [row["event"] for row in export(moderator)][:1] == ["hold.lapsed"]
    assert [row["verb"] for row in export(moderator, "?state=hold.lapsed")] == ["dismiss"]


@pytest.mark.both_databases
def test_filters_follow_the_category_decided_on_and_forget_an_erased_author(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    stage.wiring.classifiers = [FixedClassifier(category="toxicity")]
    with wiring.database.writing() as session:
        post = submitting.Submission("post-1", "bot", "Words", platform_author_id="poster")
        request_id = submitting.submit(session, SYSTEM, cast.community_id, post).request.id
    stage.jobs.run_all()
    actor = actor_of(wiring, cast.moderator)
    with wiring.database.writing() as session:
        action = session.scalars(sa.select(Action).where(Action.request_id == request_id)).one()
        held = holds.hold(
            session,
            actor,
            ActionVerb.DISMISS,
            action=action,
            reason=Reason("Fine"),
            category="spam",
            seconds=0,
        )
        hold_id = held.id
    with wiring.database.writing() as session:
        holds.carry_out(session, hold_id)
    assert {row["state"] for row in export(moderator, "?category=spam")} >= {"under_review", "dismissed"}
    assert export(moderator, "?category=toxicity") == []
    for author in ("poster", "post"):
        assert len(export(moderator, f"?author={author}")) == len(export(moderator)) >= 2
    with wiring.database.writing() as session:
        erasure.erase_identity(session, SYSTEM, PLATFORM, "poster", "forum-1")
    assert export(moderator, "?author=post") == export(moderator, "?author=poster") == []
    assert len(export(moderator, "?author=erased")) == len(export(moderator))
    with wiring.database.writing() as session:
        retention.remove(session, cast.community_id, -1, is_first=True)
    assert export(moderator, "?author=erased") == []


def test_a_search_for_a_common_reason_goes_on_where_a_page_stopped(
    cast: Cast, stage: Stage, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    max_ = actor_of(wiring, cast.moderator)
    monkeypatch.setattr(history_filters, "FOUND_REASONS", 0)
    monkeypatch.setattr(history_filters, "WALKED", 3)
    for number in range(6):
        action_id = stage.post(f"Post {number}")
        change(wiring, max_, action_id, ActionState.DISMISSED, "A dull reason" if number % 2 else "Another")
    wanted = HistoryFilter(search="dull")

    def walk(**place: int | None) -> tuple[list[int], int]:
        found: list[int] = []
        pages = 0
        is_back = "newer_than" in place
        while True:
            with wiring.database.reading() as session:
                page = action_history.changes(session, max_, cast.community_id, wanted, size=2, **place)
            numbers = [row.entry.number for row in page.rows]
            found = numbers + found if is_back else found + numbers
            pages += 1
            following = page.newer if is_back else page.older
            if following is None:
                return found, pages
            assert page.is_more or len(numbers) == 2
            place = {"newer_than" if is_back else "older_than": following}

    with wiring.database.reading() as session:
        entries = session.scalars(
            sa.select(HistoryEntry.number)
            .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
            .where(HistoryText.reason == "A dull reason", HistoryEntry.object_type == "action")
            .order_by(HistoryEntry.number.desc())
        ).all()
    assert len(entries) == 3
    downwards, pages = walk()
    assert downwards == entries
    assert pages > 2
    assert walk(newer_than=0)[0] == entries
    assert len(export_all(wiring, max_, cast, wanted)) == 3


def export_all(wiring: Wiring, actor: Actor, cast: Cast, wanted: HistoryFilter) -> list[ActionChange]:
    with wiring.database.reading() as session:
        return list(action_history.export(session, actor, cast.community_id, wanted))
