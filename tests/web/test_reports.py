"""Reports on the dashboard: members report and read the outcome; moderators see, ask, and mute."""

import csv
import io
import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.history.reason import Reason
from app.core.models import Action, Community, MutedReporter, Profile, Report, Request
from app.core.people import profiles
from app.core.reports import reporting
from app.core.reports.reporting import NewReport
from app.core.review import verbs
from app.core.vocabulary import ActionState, HelpfulnessLevel, ReportOrigin, ReportState
from app.wiring import Wiring
from tests import factories
from tests.cast import PLATFORM, Cast, Person
from tests.inline_engine import InlineEngine
from tests.web.conftest import Stage, Visitor

Visit = Callable[[Person | None], Visitor]
HTMX = {"HX-Request": "true"}


def _request_of(wiring: Wiring, action_id: uuid.UUID) -> uuid.UUID:
    with wiring.database.reading() as session:
        return session.get_one(Action, action_id).request_id


def report_by(
    wiring: Wiring, cast: Cast, request_id: uuid.UUID, who: str, category: str = "spam"
) -> uuid.UUID:
    """A user of the forum reports a post; their profile's id."""
    with wiring.database.writing() as session:
        community = session.get_one(Community, cast.community_id)
        reporter = profiles.ensure(session, PLATFORM, who, profiles.scope_in(PLATFORM, community))
        session.flush()
        new = NewReport(f"{who}-{request_id}", who, str(request_id), category=category, text=f"Says {who}")
        reporting.file(session, factories.integration(cast), community, reporter, new)
        return reporter.id


def calm_post(wiring: Wiring, cast: Cast, jobs: InlineEngine, name: str = "calm") -> uuid.UUID:
    """A post that nothing was found in."""
    request_id = factories.submit(wiring, cast, "The ferry leaves at nine", name)
    jobs.run_all()
    return request_id


def test_a_member_reports_a_post_and_reads_the_outcome(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage, jobs: InlineEngine
) -> None:
    action_id = stage.post()
    rater = visit(cast.rater)
    assert f"/review/{action_id}?report=1#report" in rater.get("/help-needed").text.replace("&amp;", "&")
    page = rater.get(f"/review/{action_id}?report=1").text
    assert 'data-key="r"' in page
    assert "What is wrong with it?" in page
    answer = rater.post(f"/review/{action_id}/report", HTMX, category="spam", text="  Again\r\nand again ")
    assert answer.status_code == 200
    assert "You reported this post" in answer.text
    with wiring.database.reading() as session:
        report = session.scalars(sa.select(Report)).one()
        assert (report.category, report.text) == ("spam", "Again\nand again")
        assert (report.origin, report.reporter_id) == (ReportOrigin.DASHBOARD, cast.rater.profile_id)
    assert "Not decided yet" in rater.get("/me").text
    again = rater.post(f"/review/{action_id}/report", category="spam")
    assert again.status_code == 303
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        verbs.change_action(
            session, factories.moderator(cast), action, ActionState.DISMISSED, reason=Reason("Banter")
        )
    jobs.run_all()
    mine = rater.get("/me").text
    assert "People looked at the post, and it stays." in mine
    assert "Banter" not in mine
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Report.state)).all() == [ReportState.REJECTED]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({}, "Choose what is wrong with the post."),
        ({"category": "rudeness"}, "must be one of"),
        ({"category": "spam", "text": "x" * 2_001}, "at most 2,000 characters"),
        ({"category": "spam", "text": "a\x00b"}, "NUL"),
    ],
)
def test_a_report_that_cannot_be_stored_keeps_what_was_typed(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage, typed: dict[str, str], said: str
) -> None:
    action_id = stage.post()
    answer = visit(cast.rater).post(f"/review/{action_id}/report", HTMX, **typed)
    assert answer.status_code == 422
    assert said in answer.text
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Report)).all() == []


def test_a_member_takes_a_report_back_and_nobody_else_does(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    rater = visit(cast.rater)
    rater.post(f"/review/{action_id}/report", category="spam")
    with wiring.database.reading() as session:
        report_id = session.scalars(sa.select(Report.id)).one()
    assert visit(cast.moderator).post(f"/me/reports/{report_id}/withdraw").status_code == 404
    assert rater.post(f"/me/reports/{report_id}/withdraw").status_code == 303
    with wiring.database.reading() as session:
        assert session.get_one(Report, report_id).state is ReportState.WITHDRAWN
    assert "Withdrawn" in rater.get("/me").text


def test_raters_see_the_reasons_of_reports_only_after_their_answer_and_never_who_reports(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    report_by(wiring, cast, _request_of(wiring, action_id), "gull_4", "hate")
    rater = visit(cast.rater)
    before = rater.get(f"/review/{action_id}").text
    assert "Reported as" not in before
    assert "gull_4" not in before
    rater.post(f"/review/{action_id}/answer", answer="yes")
    after = rater.get(f"/review/{action_id}").text
    assert "Reported as: Hate." in after
    assert "gull_4" not in after


def test_moderators_see_the_reports_on_the_item_and_their_number_in_the_queue(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    request_id = _request_of(wiring, action_id)
    for who in ("gull_4", "marta"):
        report_by(wiring, cast, request_id, who)
    moderator = visit(cast.moderator)
    item = moderator.get(f"/review/{action_id}").text
    for part in ("2 reports", "gull_4", "Says marta", "Spam"):
        assert part in item, part
    assert "Send report" not in item, "they decide instead"
    assert "reported by 2" in moderator.get("/review").text


def test_the_pages_tabs_list_open_and_resolved_reports_and_reporters(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage, jobs: InlineEngine
) -> None:
    moderator = visit(cast.moderator)
    assert "No open reports" in moderator.get("/reports").text
    assert "Nothing is resolved yet" in moderator.get("/reports?tab=resolved").text
    assert "No reporters yet" in moderator.get("/reports?tab=reporters").text
    request_id, action_id = calm_post(wiring, cast, jobs), stage.post()
    report_by(wiring, cast, _request_of(wiring, action_id), "gull_4")
    marta = report_by(wiring, cast, request_id, "marta", "other")
    listed = moderator.get("/reports").text
    for part in (
        "gull_4",
        "marta",
        "Something else",
        "The ferry leaves at nine",
        f"/reports/{request_id}/review",
    ):
        assert part in listed, part
    assert "gull_4" not in moderator.get(f"/reports?reporter={marta}").text
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        verbs.change_action(
            session, factories.moderator(cast), action, ActionState.DISMISSED, reason=Reason("Banter")
        )
    jobs.run_all()
    assert "gull_4" not in moderator.get("/reports").text
    resolved = moderator.get("/reports?tab=resolved").text
    assert "gull_4" in resolved
    assert "Kept" in resolved
    assert "marta" in moderator.get("/reports?tab=reporters").text


@pytest.mark.both_databases
def test_the_reports_of_a_post_share_its_row(visit: Visit, cast: Cast, wiring: Wiring, stage: Stage) -> None:
    first, other = (_request_of(wiring, stage.post(name)) for name in ("A first post", "Another post"))
    for who in ("ann", "ben", "cy", "dan"):
        report_by(wiring, cast, first, who)
    report_by(wiring, cast, other, "eve", "toxicity")
    page = visit(cast.moderator).get("/reports").text
    rows = re.findall(r"<tr data-row.*?</tr>", page, re.DOTALL)
    assert ["Another post" in row for row in rows] == [True, False], "the newest report comes first"
    assert [who in rows[1] for who in ("ann", "ben", "cy", "dan")] == [False, True, True, True]
    assert "1 more" in rows[1]
    assert "2 posts" in page


def test_a_moderator_has_people_asked_about_a_reported_post(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine
) -> None:
    request_id = calm_post(wiring, cast, jobs)
    report_by(wiring, cast, request_id, "gull_4")
    moderator = visit(cast.moderator)
    answer = moderator.post(f"/reports/{request_id}/review")
    with wiring.database.reading() as session:
        action = session.scalars(sa.select(Action)).one()
        assert (action.action_state, action.category) == (ActionState.UNDER_REVIEW, "spam")
    assert answer.headers["Location"].endswith(f"/review/{action.id}")
    again = moderator.post(f"/reports/{request_id}/review")
    assert again.status_code == 303
    assert "in the meantime" in moderator.get("/reports").text
    assert visit(cast.outsider).post(f"/reports/{request_id}/review").status_code == 404


def test_muting_takes_a_reason_and_an_end_and_can_be_undone(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine
) -> None:
    profile_id = report_by(wiring, cast, calm_post(wiring, cast, jobs), "gull_4")
    moderator, url = visit(cast.moderator), f"/reports/reporters/{profile_id}"
    assert "Mute reporter" in moderator.get(url).text
    for typed in ({"days": "7"}, {"days": "0", "reason": "x"}, {"days": "366", "reason": "x"}, {"days": "x"}):
        assert moderator.post(f"{url}/mute", **typed).status_code == 422, typed
    assert moderator.post(f"{url}/mute", days="7", reason="Cries wolf").status_code == 303
    with wiring.database.reading() as session:
        muted = session.scalars(sa.select(MutedReporter)).one()
        assert (muted.profile_id, muted.reason) == (profile_id, "Cries wolf")
        assert session.scalars(sa.select(Report.weight)).all() == [0.0]
    assert "Cries wolf" in moderator.get("/reports?tab=reporters").text
    assert moderator.post(f"{url}/unmute").status_code == 422
    assert moderator.post(f"{url}/unmute", reason="A mistake").status_code == 303
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(MutedReporter)).all() == []
    changed = visit(cast.admin).get("/history/settings?area=people").text
    for words in ("Reporter muted", "Reporter unmuted", "gull_4", "Until: ", "Cries wolf", "A mistake"):
        assert words in changed, words


def test_reports_are_filtered_by_category_on_the_page_and_in_the_file(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine
) -> None:
    request_id = calm_post(wiring, cast, jobs)
    report_by(wiring, cast, request_id, "gull_4", "spam")
    report_by(wiring, cast, request_id, "heron_5", "other")
    moderator = visit(cast.moderator)

    def named(page: str) -> list[str]:
        return [name for name in ("gull_4", "heron_5") if name in page]

    assert named(moderator.get("/reports").text) == ["gull_4", "heron_5"]
    assert named(moderator.get("/reports?tab=open&category=spam").text) == ["gull_4"]
    assert named(moderator.get("/reports?category=other").text) == ["heron_5"]
    assert "No reports match" in moderator.get("/reports?category=none-such").text
    assert "No reports match" in moderator.get("/reports?tab=resolved&category=spam").text
    assert named(moderator.get("/reports.csv?category=other").text) == ["heron_5"]
    assert "10,000" in moderator.get("/reports").text


def test_the_file_has_every_report_and_no_formulas(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine
) -> None:
    request_id = calm_post(wiring, cast, jobs)
    report_by(wiring, cast, request_id, "=cmd()")
    text = visit(cast.moderator).get("/reports.csv").text.removeprefix("\ufeff")
    (row,) = list(csv.DictReader(io.StringIO(text)))
    assert (row["post"], row["category"], row["state"], row["weight"]) == ("calm", "spam", "open", "0.50")
    assert row["reporter"] == "'=cmd()"


def test_fifty_reports_take_as_many_statements_as_one(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage, jobs: InlineEngine, statements: Any
) -> None:
    moderator = visit(cast.moderator)
    report_by(wiring, cast, calm_post(wiring, cast, jobs), "gull_4")

    def cost(path: str) -> int:
        moderator.get(path)
        with statements() as seen:
            moderator.get(path)
        return len(seen)

    paths = ("/reports", "/reports?tab=resolved", "/reports?tab=reporters", "/review")
    before = {path: cost(path) for path in paths}
    for number in range(10):
        report_by(wiring, cast, calm_post(wiring, cast, jobs, f"calm-{number}"), f"user-{number}")
    assert {path: cost(path) for path in paths} == before
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Profile)) is not None
        assert session.scalar(sa.select(sa.func.count()).select_from(Request)) == 11


def test_an_answer_of_the_reporter_still_counts(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    stage.rate(action_id, HelpfulnessLevel.HELPFUL)
    rater = visit(cast.rater)
    rater.post(f"/review/{action_id}/report", category="spam")
    assert rater.post(f"/review/{action_id}/answer", answer="yes").status_code == 303
