"""One item in a moderator's hands: decisions that can be undone, stale pages, messages."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.history import pages
from app.core.history.reason import Reason
from app.core.models import Action, Decision, HistoryEntry
from app.core.permissions import Actor
from app.core.review import verbs
from app.core.vocabulary import ActionState, ActionVerb, EventName
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.clocks import advance
from tests.factories import actor_of
from tests.inline_engine import InlineEngine
from tests.web.conftest import HTMX, Stage, Visit, Visitor, events_of, only_hold, the_hold


def action_of(wiring: Wiring, action_id: uuid.UUID) -> Action:
    with wiring.database.reading() as session:
        return session.get_one(Action, action_id)


def decide(visitor: Visitor, action_id: uuid.UUID, verb: str, **more: str) -> Any:
    return visitor.post(
        f"/review/{action_id}/decide", **{"verb": verb, "reason": "Plain abuse", "version": "1", **more}
    )


def move_to(wiring: Wiring, actor: Actor, action_id: uuid.UUID, state: ActionState) -> None:
    with wiring.database.writing() as session:
        verbs.change_action(
            session, actor, session.get_one(Action, action_id), state, reason=Reason("Known case")
        )


def staff(cast: Cast) -> Actor:
    return factories.integration(cast)


@pytest.mark.parametrize("who", ["rater", "outsider", None])
def test_others_do_not_get_the_panel(visit: Visit, cast: Cast, stage: Stage, who: str | None) -> None:
    action_id = stage.post()
    answer = visit(getattr(cast, who) if who else None).get(f"/review/{action_id}/panel")
    assert answer.status_code in {303, 403, 404}
    assert "Force-publish" not in answer.text


def test_the_panel_shows_score_thresholds_and_what_matched(moderator: Visitor, stage: Stage) -> None:
    action_id = stage.post("This is what somebody wrote.")
    page = moderator.get(f"/review/{action_id}").text
    assert "0.83" in page
    assert "Review above 0.55, never act alone" in page
    assert "fixed-rule" in page
    assert "<mark>This</mark>" in page
    assert "in a quotation" not in page


def test_the_panel_says_what_a_post_only_quotes_and_what_nothing_could_read_it_for(
    moderator: Visitor, stage: Stage, wiring: Wiring
) -> None:
    action_id = stage.post("This is what somebody wrote.")
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        assert action.evidence is not None
        details = action.evidence["details"]
        quoted = [{**match, "quoted": True} for match in details["matches"]]
        action.evidence = {**action.evidence, "details": {**details, "matches": quoted}}
    page = moderator.get(f"/review/{action_id}").text
    assert "fixed-rule (in a quotation)" in page
    assert "no classifier reads the post’s language for them" in page


@pytest.mark.parametrize(
    ("steps", "shown"),
    [
        ((), {"Force-publish", "Dismiss"}),
        ((ActionState.PROPOSED,), {"Dismiss"}),
        ((ActionState.DISMISSED,), set()),
        ((ActionState.PROPOSED, ActionState.APPLIED), {"Overturn"}),
        ((ActionState.PROPOSED, ActionState.APPLIED, ActionState.RETRO_REVIEW), {"Confirm", "Overturn"}),
        ((ActionState.PROPOSED, ActionState.APPLIED, ActionState.OVERTURNED), set()),
    ],
)
def test_the_buttons_are_the_moves_open_from_the_state(
    moderator: Visitor,
    cast: Cast,
    wiring: Wiring,
    stage: Stage,
    steps: tuple[ActionState, ...],
    shown: set[str],
) -> None:
    action_id = stage.post()
    for state in steps:
        move_to(wiring, staff(cast), action_id, state)
    panel = moderator.get(f"/review/{action_id}/panel", **HTMX).text
    drawn = {verb for verb in ActionVerb if f'name="verb" value="{verb.value}"' in panel}
    assert {verb.value.replace("_", "-").capitalize() for verb in drawn} == shown


def test_force_publish_is_held_then_decides_once_and_tells_both_events(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage, jobs: InlineEngine
) -> None:
    action_id = stage.post()
    answer = decide(moderator, action_id, "force_publish", comment="See the thread")
    assert answer.status_code == 303
    assert answer.headers["Location"] == f"/review/{action_id}"
    page = moderator.get(f"/review/{action_id}").text
    assert "This post will be hidden." in page
    assert "Undo" in page
    assert "Review next" in page
    assert action_of(wiring, action_id).action_state is ActionState.UNDER_REVIEW
    jobs.run_all()
    assert events_of(wiring) == []
    advance(11)
    jobs.run_all()
    jobs.run_all(delayed=True)
    assert action_of(wiring, action_id).action_state is ActionState.PROPOSED
    assert sorted(events_of(wiring)) == sorted(
        [EventName.NOTE_STATUS, EventName.ACTION_CREATED, EventName.DECISION]
    )
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Decision.decision)).all() == ["hide"]
        told = pages.of_item(session, actor_of(wiring, cast.moderator), session.get_one(Action, action_id))
        assert ("action.proposed", "Plain abuse", "See the thread") in {
            (entry.what, text.reason, text.comment) for entry, text in told
        }
    page = moderator.get(f"/review/{action_id}").text
    assert "Waiting for platform" in page
    assert "Plain abuse" in page


def test_decide_and_next_opens_the_next_item_with_the_undo_of_the_one_before(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    first, second = stage.post("The first post", category="spam"), stage.post("The second", category="spam")
    stage.post("Not in the filter")
    answer = moderator.post(
        f"/review/{first}/decide?category=spam", verb="dismiss", reason="Fine", version="1", next="1"
    )
    assert answer.headers["Location"] == f"/review/{second}?category=spam&next=1"
    assert action_of(wiring, second).claimed_by_id == cast.moderator.account_id
    page = moderator.get(answer.headers["Location"]).text
    assert "“The first post” stays as it is." in page
    held = the_hold(wiring)
    assert f"/holds/{held.id}/undo" in page


def test_after_the_last_item_the_flow_ends_at_the_queue(moderator: Visitor, stage: Stage) -> None:
    action_id = stage.post()
    answer = decide(moderator, action_id, "dismiss", next="1")
    assert answer.headers["Location"] == "/review"


def test_a_decision_that_is_not_open_in_this_state_is_refused(
    moderator: Visitor, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    answer = decide(moderator, action_id, "overturn")
    assert answer.status_code == 409
    assert "By now this is under review by the community." in answer.text
    assert only_hold(wiring) is None


def test_overturning_an_applied_action_proposes_to_show_the_post_again(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage, jobs: InlineEngine
) -> None:
    action_id = stage.post()
    for state in (ActionState.PROPOSED, ActionState.APPLIED):
        move_to(wiring, staff(cast), action_id, state)
    version = str(action_of(wiring, action_id).version)
    answer = decide(moderator, action_id, "overturn", version=version)
    assert answer.status_code == 303
    advance(11)
    jobs.run_all()
    assert action_of(wiring, action_id).action_state is ActionState.OVERTURNED
    with wiring.database.reading() as session:
        restored = session.scalars(sa.select(Action).where(Action.restores_id == action_id)).one()
        assert restored.action_state is ActionState.PROPOSED


def test_a_moderator_asks_for_a_second_look_at_what_was_done(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    for state in (ActionState.PROPOSED, ActionState.APPLIED):
        move_to(wiring, staff(cast), action_id, state)
    path = f"/review/{action_id}/second-look"
    assert f'formaction="{path}"' in moderator.get(f"/review/{action_id}").text
    assert moderator.post(path, reason="").status_code == 422
    assert moderator.post(path, reason="The author explained it").status_code == 303
    assert action_of(wiring, action_id).action_state is ActionState.RETRO_REVIEW
    assert "The author explained it" in moderator.get("/second-look").text
    assert f'formaction="{path}"' not in moderator.get(f"/review/{action_id}").text
    move_to(wiring, staff(cast), action_id, ActionState.CONFIRMED)
    late = moderator.post(path, {"HX-Request": "true"}, reason="Too late")
    assert late.status_code == 409
    assert "By now this is confirmed" in late.text
    assert "Too late" in late.text


def test_messages_are_kept_in_the_timeline_for_moderators_alone(
    moderator: Visitor, rater: Visitor, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    moderator.post(f"/review/{action_id}/message", message="He was warned before <b>twice</b>")
    page = moderator.get(f"/review/{action_id}").text
    assert "He was warned before &lt;b&gt;twice&lt;/b&gt;" in page
    assert "He was warned" not in rater.get(f"/review/{action_id}").text
    with wiring.database.reading() as session:
        assert "action.commented" in set(session.scalars(sa.select(HistoryEntry.what)))


def test_with_script_a_message_swaps_the_timeline_and_leaves_the_decision_alone(
    moderator: Visitor, stage: Stage
) -> None:
    action_id = stage.post()
    answer = moderator.post(f"/review/{action_id}/message", HTMX, message="Seen before")
    assert answer.text.lstrip().startswith('<section id="moderator-timeline"')
    assert "Seen before" in answer.text
    assert "Force-publish" not in answer.text


def test_when_the_time_to_undo_is_over_the_panel_brings_the_timeline_and_no_form_that_may_hold_text(
    moderator: Visitor, stage: Stage, jobs: InlineEngine
) -> None:
    action_id = stage.post()
    decide(moderator, action_id, "force_publish")
    advance(11)
    jobs.run_all()
    part = moderator.get(f"/review/{action_id}/panel", **HTMX).text
    assert "Sent to the platform to act" in part
    assert "Message to other moderators" not in part


def test_the_link_back_to_the_queue_keeps_its_filters(moderator: Visitor, stage: Stage) -> None:
    action_id = stage.post()
    assert '<a href="/review?category=toxicity&amp;sort=newest">' in (
        moderator.get(f"/review/{action_id}?category=toxicity&sort=newest&next=1").text
    )
    kept = moderator.post(f"/review/{action_id}/decide?category=toxicity", verb="dismiss", reason="")
    assert '<a href="/review?category=toxicity">' in kept.text


@pytest.mark.parametrize(("path", "typed"), [("decide", {"verb": "dismiss"}), ("message", {})])
def test_errors_are_announced_in_the_pages_title(
    moderator: Visitor, stage: Stage, path: str, typed: dict[str, Any]
) -> None:
    action_id = stage.post()
    assert "<title>Error: " in moderator.post(f"/review/{action_id}/{path}", **typed).text
    assert "<title>Error: " not in moderator.get(f"/review/{action_id}").text


def test_the_keyboard_help_says_what_skipping_does_for_the_role(
    moderator: Visitor, rater: Visitor, stage: Stage
) -> None:
    action_id = stage.post()
    words = "Skip: release and open the next"
    assert words in moderator.get(f"/review/{action_id}").text
    assert words not in rater.get(f"/review/{action_id}").text


def test_reasons_of_the_service_are_told_without_ids(moderator: Visitor, stage: Stage) -> None:
    action_id = stage.post()
    page = moderator.get(f"/review/{action_id}").text
    assert "Scored 0.8317, above 0.55" in page
    assert "toxicity 0.8317" not in page


def test_an_empty_message_is_named(moderator: Visitor, stage: Stage) -> None:
    action_id = stage.post()
    assert "Write a message." in moderator.post(f"/review/{action_id}/message", message="").text
    answer = moderator.post(f"/review/{action_id}/message", message="   ")
    assert answer.status_code == 422
    assert "must not be blank" in answer.text


def test_with_script_a_decision_swaps_the_panel_and_says_it(moderator: Visitor, stage: Stage) -> None:
    action_id = stage.post()
    answer = moderator.post(
        f"/review/{action_id}/decide", HTMX, verb="force_publish", reason="Abuse", version="1"
    )
    assert answer.status_code == 200
    assert answer.text.lstrip().startswith('<div id="moderator-panel"')
    assert "You can still undo it." in answer.text


def test_an_unknown_item_is_not_found(moderator: Visitor) -> None:
    assert moderator.post(f"/review/{uuid.uuid4()}/claim").status_code == 404
    assert moderator.get(f"/review/{uuid.uuid4()}/panel").status_code == 404


def test_the_panel_costs_as_many_queries_with_a_long_history(
    moderator: Visitor, wiring: Wiring, stage: Stage, statements: Callable[[], Any]
) -> None:
    action_id = stage.post()
    moderator.get(f"/review/{action_id}/panel")
    with statements() as few:
        moderator.get(f"/review/{action_id}/panel")
    for number in range(12):
        moderator.post(f"/review/{action_id}/message", message=f"Message {number}")
    with statements() as many:
        moderator.get(f"/review/{action_id}/panel")
    assert len(many) == len(few)
