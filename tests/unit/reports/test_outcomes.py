"""Each reporter hears once what became of their report, and nothing else."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.actions import actions
from app.core.history.reason import Reason
from app.core.models import Action, Report, Request
from app.core.reports import outcomes
from app.core.requests import submitting
from app.core.requests.submitting import Submission
from app.core.review import holds, verbs
from app.core.vocabulary import ActionState, ActionVerb, ReportState, RequestStatus
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.clocks import advance
from tests.unit.reports.scene import CALM, Scene

pytestmark = pytest.mark.both_databases


@pytest.fixture
def scene(wiring: Wiring, cast: Cast) -> Scene:
    scene = Scene(wiring, cast)
    scene.listen()
    return scene


def _reported(scene: Scene, text: str = factories.REVIEWED) -> None:
    scene.post(text=text)
    for name in ("ann", "ben"):
        scene.report(scene.person(name))


@pytest.mark.parametrize(
    ("state", "outcome", "words"),
    [
        (ActionState.PROPOSED, "acted", "Something was done"),
        (ActionState.DISMISSED, "kept", "it stays"),
    ],
)
def test_a_decision_resolves_every_report_of_the_post_once(
    scene: Scene, state: ActionState, outcome: str, words: str
) -> None:
    _reported(scene)
    scene.decide(state)
    assert scene.heard() == [("ann", outcome), ("ben", outcome)]
    with scene.wiring.database.reading() as session:
        for report in session.scalars(sa.select(Report)):
            assert report.resolved_at is not None
            assert report.outcome_text is not None
            assert words in report.outcome_text
    scene.run()
    assert len(scene.heard()) == 2


def test_a_proposal_says_nothing_yet_and_a_withdrawn_one_keeps_the_post(scene: Scene) -> None:
    _reported(scene)
    action = scene.action()
    assert action is not None
    with scene.wiring.database.writing() as session:
        found = session.get_one(Action, action.id)
        moderator = factories.moderator(scene.cast)
        verbs.change_action(session, moderator, found, ActionState.PROPOSED, reason=Reason("Rude"))
    scene.run()
    assert scene.heard() == []
    scene.decide(ActionState.DISMISSED)
    assert scene.heard() == [("ann", "kept"), ("ben", "kept")]


def test_reporters_hear_nothing_while_a_decision_can_be_undone(scene: Scene) -> None:
    _reported(scene)
    action = scene.action()
    assert action is not None
    with scene.wiring.database.writing() as session:
        found = session.get_one(Action, action.id)
        moderator = factories.moderator(scene.cast)
        holds.hold(session, moderator, ActionVerb.DISMISS, action=found, reason=Reason("Banter"))
    assert scene.heard() == []
    advance(60)
    scene.run()
    assert scene.heard() == [("ann", "kept"), ("ben", "kept")]


def test_what_is_overturned_later_is_not_told_a_second_time(scene: Scene) -> None:
    _reported(scene)
    scene.decide(ActionState.PROPOSED)
    scene.decide(ActionState.OVERTURNED)
    assert scene.heard() == [("ann", "acted"), ("ben", "acted")]
    # One who reports it now hears what stands.
    assert scene.report(scene.person("cid")).report.state is ReportState.REJECTED


def test_a_review_that_ends_without_a_decision_and_a_withdrawn_post_leave_reports_undecided(
    scene: Scene,
) -> None:
    _reported(scene)
    action = scene.action()
    assert action is not None
    with scene.wiring.database.writing() as session:
        actions.lapse(session, session.get_one(Action, action.id), reason=Reason(cause="no consensus"))
    scene.run()
    assert set(scene.heard()) == {("ann", "none"), ("ben", "none")}
    scene.post("post-2", CALM)
    scene.report("ann", "post-2")
    with scene.wiring.database.writing() as session:
        request = session.scalars(sa.select(Request).where(Request.request_id == "post-2")).one()
        submitting.withdraw(session, factories.integration(scene.cast), request)
    scene.run()
    assert scene.states()["ann-post-2"] is ReportState.UNDECIDED
    with scene.wiring.database.reading() as session:
        words = session.scalars(sa.select(Report.text).where(Report.report_id == "ann-post-2")).one()
        assert words is None, "the words of a report go with its post"


def test_a_decided_post_answers_at_once_and_opens_nothing(scene: Scene) -> None:
    _reported(scene)
    scene.decide(ActionState.DISMISSED)
    late = scene.report(scene.person("cid")).report
    assert (late.state, late.is_late) == (ReportState.REJECTED, True)
    assert scene.heard()[-1] == ("cid", "kept")
    assert scene.count(Action) == 1
    with scene.wiring.database.reading() as session:
        assert session.scalars(sa.select(Request.status)).all() == [RequestStatus.COMPLETED]


def test_three_late_reporters_of_both_sides_open_a_second_look_and_one_side_does_not(scene: Scene) -> None:
    _reported(scene)
    scene.decide(ActionState.DISMISSED)
    for number in range(5):
        scene.report(scene.person(f"left-{number}", side=-1))
    assert scene.count(Action) == 1
    scene.report(scene.person("right", side=1))
    again = scene.action()
    assert again is not None
    assert (again.action_state, scene.count(Action)) == (ActionState.UNDER_REVIEW, 2)
    assert again.reopens_id is not None
    # Whoever was told is not told again; a report from now on waits for the new decision.
    waiting = scene.report(scene.person("eva")).report
    assert waiting.state is ReportState.OPEN
    heard = scene.heard()
    scene.decide(ActionState.PROPOSED)
    assert scene.heard() == sorted([*heard, ("eva", "acted")])


def test_after_a_second_look_it_takes_three_late_reporters_again(scene: Scene) -> None:
    _reported(scene)
    scene.decide(ActionState.DISMISSED)

    def object_to_it(*people: tuple[str, int]) -> None:
        for name, side in people:
            scene.report(scene.person(name, side=side))

    object_to_it(("a", -1), ("b", -1), ("c", 1))
    scene.decide(ActionState.DISMISSED)
    object_to_it(("d", 1), ("e", -1))
    assert scene.count(Action) == 2
    object_to_it(("f", 1))
    assert scene.count(Action) == 3


def test_after_thirty_days_late_reports_open_nothing(scene: Scene) -> None:
    _reported(scene)
    scene.decide(ActionState.DISMISSED)
    advance(days=31)
    for name, side in (("a", -1), ("b", 1), ("c", 1), ("d", -1)):
        scene.report(scene.person(name, side=side))
    assert scene.count(Action) == 1


def test_old_reports_that_nobody_was_asked_about_end_without_a_decision(scene: Scene) -> None:
    scene.post()
    scene.report(scene.person("ann"))
    advance(days=15)
    limit = clock.now() - timedelta(days=14)
    with scene.wiring.database.writing() as session:
        assert outcomes.end_forgotten(session, older_than=limit)
    assert scene.heard() == [("ann", "none")]
    with scene.wiring.database.writing() as session:
        assert not outcomes.end_forgotten(session, older_than=limit)


EDIT = "What a fool you are, and the whole market has known it for years"


def _send(scene: Scene, name: str, text: str) -> None:
    with scene.wiring.database.writing() as session:
        submission = Submission(name, "ann", text, platform_message_id="m-post-1")
        submitting.submit(session, factories.integration(scene.cast), scene.cast.community_id, submission)
    scene.run()


def test_reporters_hear_that_a_newer_text_of_the_post_was_acted_on(scene: Scene) -> None:
    _reported(scene)
    _send(scene, "post-2", factories.SPAM)
    assert scene.heard() == [], "the first text's review ended, and the platform has not acted yet"
    scene.acknowledge("post-2")
    assert scene.heard() == [("ann", "acted"), ("ben", "acted")]


def test_reports_go_on_with_the_review_of_a_post_whose_first_submission_is_withdrawn(scene: Scene) -> None:
    _reported(scene)
    _send(scene, "post-2", EDIT)
    _send(scene, "post-3", factories.REVIEWED)
    with scene.wiring.database.writing() as session:
        first = session.scalars(sa.select(Request).where(Request.request_id == "post-1")).one()
        submitting.withdraw(session, factories.integration(scene.cast), first)
    scene.run()
    assert scene.heard() == []
    with scene.wiring.database.reading() as session:
        (item,) = session.scalars(
            sa.select(Request.request_id).where(
                Request.id.in_(
                    sa.select(Action.request_id).where(Action.action_state == ActionState.UNDER_REVIEW)
                )
            )
        )
    scene.decide(ActionState.PROPOSED, item)
    assert scene.heard() == [("ann", "acted"), ("ben", "acted")]


def test_a_report_of_a_submission_that_turns_out_to_be_a_duplicate_belongs_to_the_first(
    scene: Scene,
) -> None:
    for name in ("post-1", "post-2"):
        factories.submit(scene.wiring, scene.cast, factories.REVIEWED, name)
    with scene.wiring.database.writing() as session:
        # As two that were submitted at the same time, and knew nothing of each other.
        both = sa.select(Request).where(Request.request_id.in_(("post-1", "post-2")))
        for request in session.scalars(both):
            request.platform_message_id, request.duplicate_of = "m-1", None
    scene.report(scene.person("ann"), "post-2")
    scene.run()
    scene.wiring.jobs.run_all(delayed=True)  # type: ignore[union-attr]
    assert scene.count(Action) == 1
    scene.decide(ActionState.PROPOSED, "post-1")
    assert scene.heard() == [("ann", "acted")]


def test_late_reports_open_no_second_item_beside_the_review_of_a_newer_text(scene: Scene) -> None:
    _reported(scene)
    scene.decide(ActionState.DISMISSED)
    _send(scene, "post-2", "What a stupid moron you are, nobody wants to read this rubbish of yours")
    assert scene.count(Action) == 2
    for name, side in (("a", -1), ("b", -1), ("c", 1)):
        scene.report(scene.person(name, side=side))
    assert scene.count(Action) == 2
