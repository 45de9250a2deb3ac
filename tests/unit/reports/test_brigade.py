"""Forty reports by thirty people on twelve posts, with one side brigading: what reports must never bring about."""

import pytest
import sqlalchemy as sa

from app.core.history.reason import Reason
from app.core.models import Action, Report, Request
from app.core.review import verbs
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import draft_of
from app.core.thresholds.previews import preview
from app.core.vocabulary import ActionState, ReportState
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.unit.reports.scene import Scene

pytestmark = pytest.mark.both_databases

POSTS = [f"p-{number}" for number in range(12)]
NAMES = ["ada", "bea", "cid", "dot", "eve", "fay", "gus", "hal", "ida", "jon", "kim", "lou"]
TEXTS = {
    post: f"You are an idiot and everybody here knows it, {name}"
    for post, name in zip(POSTS, NAMES, strict=True)
}
HONEST = [f"honest-{number}" for number in range(14)]
BRIGADE = [f"left-{number}" for number in range(16)]


def _order(scene: Scene) -> list[str]:
    """The posts of the queue, most urgent first."""
    with scene.wiring.database.reading() as session:
        rows = session.execute(
            sa.select(Request.platform_message_id)
            .join(Action, Action.request_id == Request.id)
            .where(Action.action_state == ActionState.UNDER_REVIEW)
            .order_by(Action.urgent_at, Action.id)
        )
        return [message for (message,) in rows]


def test_a_brigade_makes_no_item_and_moves_none_and_everyone_hears_once(wiring: Wiring, cast: Cast) -> None:
    scene = Scene(wiring, cast)
    scene.listen()
    for name in HONEST:
        scene.person(name)
    for name in BRIGADE:
        scene.person(name, side=-1)
    # Two honest reports a post; the first of them brings the post along.
    for number, post in enumerate(POSTS):
        for who in (HONEST[number], HONEST[(number + 2) % 14]):
            scene.report(who, post, "toxicity", text=TEXTS[post])
    scene.run()
    before = _order(scene)
    assert len(before) == 12
    for who in BRIGADE:
        scene.report(who, POSTS[-1], "toxicity", text=TEXTS[POSTS[-1]])
    scene.run()
    assert scene.count(Report) == 40
    assert len({*HONEST, *BRIGADE}) == 30
    assert (scene.count(Request), scene.count(Action)) == (12, 12)
    assert _order(scene) == before
    with wiring.database.reading() as session:
        drafts = [draft_of(one) for one in threshold_sets.current(session, cast.community_id).categories]
        seen = preview(session, factories.actor_of(wiring, cast.operator), cast.community_id, drafts)
        assert {period.scored for period in seen.periods} == {12}, "a what-if counts a post once"
    with wiring.database.reading() as session:
        open_actions = list(session.scalars(sa.select(Action.id)))
    for number, action_id in enumerate(open_actions):
        _decide(scene, action_id, ActionState.DISMISSED if number % 2 else ActionState.PROPOSED)
    heard = scene.heard()
    assert len(heard) == 40
    with wiring.database.reading() as session:
        states = session.scalars(sa.select(Report.state)).all()
        assert set(states) == {ReportState.UPHELD, ReportState.REJECTED}
        told = sa.select(Report.reporter_ref, Report.state).order_by(Report.reporter_ref)
        words = {ReportState.UPHELD: "acted", ReportState.REJECTED: "kept"}
        assert heard == sorted((who, words[state]) for who, state in session.execute(told))


def _decide(scene: Scene, action_id: object, state: ActionState) -> None:
    with scene.wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        verbs.change_action(session, factories.moderator(scene.cast), action, state, reason=Reason("Decided"))
    if state is ActionState.PROPOSED:
        with scene.wiring.database.writing() as session:
            action = session.get_one(Action, action_id)
            verbs.change_action(session, factories.integration(scene.cast), action, ActionState.APPLIED)
    scene.run()
