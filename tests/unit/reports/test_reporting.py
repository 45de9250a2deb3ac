"""A report is filed once, opens a review when enough people agree, and never acts."""

import math
from datetime import datetime

import pytest
import sqlalchemy as sa

from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.models import Action, HistoryEntry, HistoryText, Report, Request
from app.core.permissions import SYSTEM
from app.core.reports import muting, reporting, sums
from app.core.vocabulary import (
    ActionState,
    ActionTier,
    ReportOrigin,
    ReportState,
    RequestStatus,
    ReviewGroup,
)
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.clocks import advance
from tests.unit.reports.scene import CALM, Scene

pytestmark = pytest.mark.both_databases


@pytest.fixture
def scene(wiring: Wiring, cast: Cast) -> Scene:
    return Scene(wiring, cast)


def test_a_known_report_id_and_a_second_report_of_a_post_return_the_first(scene: Scene) -> None:
    scene.post()
    scene.person("ann")
    first = scene.report("ann")
    assert first.is_new
    again, second = scene.report("ann"), scene.report("ann", report_id="another")
    assert (again.is_new, second.is_new) == (False, False)
    assert again.report.id == second.report.id == first.report.id
    assert scene.count(Report) == 1


def test_an_unknown_post_needs_a_text_and_is_then_submitted_and_scored(scene: Scene) -> None:
    with pytest.raises(NotFound):
        scene.report("ann", "unknown")
    scene.report("ann", "new", text=CALM)
    scene.run()
    with scene.wiring.database.reading() as session:
        request = session.scalars(sa.select(Request)).one()
        assert (request.content, request.status) == (CALM, RequestStatus.COMPLETED)
        assert request.scored_at is not None
    # The same message with the same text is the same post; another text is another request.
    scene.report("ben", "new", text=CALM)
    assert scene.count(Request) == 1
    scene.report("cid", "new", text="Something else altogether, about whales and the deep sea")
    assert scene.count(Request) == 2


def test_an_unknown_category_is_refused_and_none_is_other(scene: Scene) -> None:
    scene.post()
    with pytest.raises(Invalid, match="must be one of"):
        scene.report("ann", category="rudeness")
    assert scene.report("ann", category=None).report.category == "other"


def test_enough_reports_open_one_review_and_say_why(scene: Scene) -> None:
    request_id = scene.post()
    for name in ("ann", "ben", "cid", "dot"):
        scene.person(name)
        scene.report(name)
    with scene.wiring.database.reading() as session:
        action = session.scalars(sa.select(Action)).one()
        assert (action.request_id, action.action_state) == (request_id, ActionState.UNDER_REVIEW)
        assert (action.category, action.action_tier) == ("spam", ActionTier.CONSENSUS)
        assert action.review_group is ReviewGroup.COMMUNITY
        assert action.evidence is not None
        assert action.evidence["details"]["reports"] == {"number": 3, "right": 0}
        entry = session.scalars(sa.select(HistoryEntry).where(HistoryEntry.object_id == action.id)).one()
        assert entry.cause == "3 reports"
        request = session.get_one(Request, request_id)
        assert (request.status, request.note_id) == (RequestStatus.IN_PROGRESS, action.note_id)


def test_more_reports_than_the_most_that_move_a_review_move_it_no_further(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sums, "MOST_MOVING", 5)
    scene.post()
    places = []
    for number in range(8):
        scene.report(scene.person(f"user-{number}"))
        action = scene.action()
        places.append(action.urgent_at if action is not None else None)
    opened = [place for place in places if place is not None]
    assert opened[0] > opened[1]
    assert places[4] == places[5] == places[6] == places[7], "the first five count"
    assert places[4] < opened[1]


def test_a_report_is_its_own_record_and_leaves_no_entry(scene: Scene) -> None:
    scene.post()
    withdrawn, kept = (scene.report(scene.person(name)).report for name in ("ann", "ben"))
    with scene.wiring.database.writing() as session:
        report = session.get_one(Report, withdrawn.id)
        reporting.withdraw(session, factories.integration(scene.cast), report)
    with scene.wiring.database.reading() as session:
        of_reports = sa.select(HistoryEntry.what).where(HistoryEntry.object_id.in_([withdrawn.id, kept.id]))
        assert session.scalars(of_reports).all() == []
        assert session.get_one(Report, withdrawn.id).state is ReportState.WITHDRAWN


def test_newcomers_alone_open_nothing_however_many_they_are(scene: Scene) -> None:
    scene.post()
    for number in range(8):
        scene.report(f"new-{number}")
    assert scene.action() is None
    scene.report(scene.person("ann"))
    assert scene.action() is not None


def test_one_who_wrote_here_before_is_no_newcomer(scene: Scene) -> None:
    factories.submit(scene.wiring, scene.cast, CALM, "old-post")
    with scene.wiring.database.writing() as session:
        session.scalars(sa.select(Request)).one().platform_author_id = "ann"
    advance(days=2)
    scene.post()
    assert not scene.report("ann").report.is_newcomer
    assert scene.report("ben").report.is_newcomer


def test_one_side_alone_opens_nothing_until_the_other_reports_too(scene: Scene) -> None:
    scene.post()
    for number in range(8):
        scene.report(scene.person(f"left-{number}", side=-1))
    assert scene.action() is None
    scene.report(scene.person("right", side=1))
    assert scene.action() is not None


def test_an_authors_report_of_their_own_post_counts_nothing_and_is_told_apart(scene: Scene) -> None:
    scene.post()
    with scene.wiring.database.writing() as session:
        session.scalars(sa.select(Request)).one().platform_author_id = "ann"
    report = scene.report(scene.person("ann")).report
    assert (report.origin, report.weight) == (ReportOrigin.AUTHOR, 0.0)
    assert scene.report(scene.person("ben")).report.origin is ReportOrigin.PLATFORM


def test_reports_of_a_post_under_review_raise_its_urgency_and_open_no_second_item(scene: Scene) -> None:
    scene.post(text=factories.REVIEWED)

    def urgent_at() -> datetime:
        action = scene.action()
        assert action is not None
        assert action.urgent_at is not None
        return action.urgent_at

    before = urgent_at()
    for number in range(4):
        scene.report(scene.person(f"left-{number}", side=-1))
        scene.report(f"new-{number}")
    assert urgent_at() == before, "one side alone and newcomers move nothing"
    for name in ("ann", "ben"):
        scene.report(scene.person(name))
    assert (before - urgent_at()).total_seconds() == pytest.approx(2 * 3600)
    with scene.wiring.database.writing() as session:
        report = session.scalars(sa.select(Report).where(Report.report_id == "ann-post-1")).one()
        reporting.withdraw(session, factories.integration(scene.cast), report)
    assert (before - urgent_at()).total_seconds() == pytest.approx(2 * 3600 * math.log2(1.5), abs=1)
    assert scene.count(Action) == 1


def test_a_report_of_an_edit_under_review_belongs_to_the_one_item(scene: Scene) -> None:
    first = scene.post(text=factories.REVIEWED)
    edit = "What a fool you are, and the whole market has known it for years"
    filed = scene.report(scene.person("ann"), "post-1", text=edit)
    scene.run()
    again = scene.report(scene.person("ben"), "post-1", text=edit)
    assert scene.count(Request) == 2
    assert (filed.report.request_id == first, again.report.request_id == first) == (True, True)
    assert scene.count(Action) == 1


def test_a_post_that_was_reported_before_it_was_scored_is_asked_about_afterwards(scene: Scene) -> None:
    factories.submit(scene.wiring, scene.cast, CALM, "post-1")
    for name in ("ann", "ben", "cid"):
        scene.report(scene.person(name))
    assert scene.action() is None, "its scores come first"
    scene.run()
    advance(20)
    scene.run()
    found = scene.action()
    assert found is not None
    assert found.category == "spam"


def test_withdrawing_is_for_the_reporter_and_the_integration_and_only_while_it_is_open(scene: Scene) -> None:
    scene.post()
    report_id = scene.report(scene.person("ann")).report.id
    with scene.wiring.database.writing() as session:
        report = session.get_one(Report, report_id)
        stranger = factories.integration(scene.cast, profile_id=scene.cast.rater.profile_id)
        with pytest.raises(Forbidden):
            reporting.withdraw(session, stranger, report)
        reporting.withdraw(session, factories.integration(scene.cast), report)
        reporting.withdraw(session, factories.integration(scene.cast, profile_id=report.reporter_id), report)
        assert report.state is ReportState.WITHDRAWN
    # What was withdrawn does not keep its reporter from reporting the post again.
    again = scene.report("ann", report_id="again")
    assert again.is_new
    scene.report(scene.person("ben"))
    scene.report(scene.person("cid"))
    scene.decide(ActionState.DISMISSED)
    with scene.wiring.database.writing() as session, pytest.raises(Conflict):
        reporting.withdraw(session, SYSTEM, session.get_one(Report, again.report.id))


def test_muted_reporters_weigh_nothing_until_the_end_of_their_mute(scene: Scene) -> None:
    scene.post()
    scene.post("post-2")
    scene.post("post-3")
    profile_id = scene.report(scene.person("ann")).report.reporter_id
    moderator = factories.moderator(scene.cast)
    with scene.wiring.database.writing() as session:
        with pytest.raises(Invalid, match="reason"):
            muting.mute(session, moderator, scene.cast.community_id, profile_id, 7, " ")
        with pytest.raises(NotFound):
            muting.mute(session, moderator, scene.cast.community_id, scene.cast.rater.profile_id, 7, "No")
        muting.mute(session, moderator, scene.cast.community_id, profile_id, 7, "Cries wolf")
    with scene.wiring.database.reading() as session:
        assert session.scalars(sa.select(Report.weight)).all() == [0.0]
        entry = session.scalars(sa.select(HistoryEntry).where(HistoryEntry.what == "reporter.muted")).one()
        assert session.get_one(HistoryText, entry.id).reason == "Cries wolf"
    assert scene.report("ann", "post-2").report.weight == 0.0
    advance(days=8)
    assert scene.report("ann", "post-3").report.weight == 0.5


def test_a_share_follows_the_outcomes(scene: Scene) -> None:
    for number in range(4):
        scene.post(f"post-{number}", text=factories.REVIEWED)
        scene.report(scene.person("ann"), f"post-{number}") if number == 0 else scene.report(
            "ann", f"post-{number}"
        )
        scene.decide(ActionState.PROPOSED, f"post-{number}")
    scene.post("last")
    assert scene.report("ann", "last").report.weight == pytest.approx(0.75)
