"""A note in a moderator's hands: force-publish or dismiss, undone in time, carried out once, locked for good."""

import uuid
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.history.reason import Reason
from app.core.models import Action, Note, Rating
from app.core.notes import notes, verdicts
from app.core.people import accounts
from app.core.permissions import SYSTEM
from app.core.vocabulary import ActionState, Classification, EventName, NoteStatus, Role
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import advance
from tests.factories import actor_of
from tests.inline_engine import InlineEngine
from tests.web.conftest import HTMX, Stage, Visit, Visitor, events_of, only_hold, the_hold

BOTH = pytest.mark.parametrize("headers", [{}, HTMX], ids=["form", "htmx"])


def note_of(wiring: Wiring, note_id: uuid.UUID) -> Note:
    with wiring.database.reading() as session:
        return session.get_one(Note, note_id)


def decide(visitor: Visitor, note_id: uuid.UUID, verb: str, headers: Any = None, **more: str) -> Any:
    typed = {"verb": verb, "reason": "The minutes say so", "version": "1", **more}
    return visitor.post(f"/notes/{note_id}/decide", headers, **typed)


@pytest.mark.parametrize(
    ("who", "status"),
    [(None, 401), ("rater", 403), ("outsider", 404), ("moderator", 303), ("operator", 303), ("admin", 303)],
)
def test_only_moderators_and_above_decide_about_a_note(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage, who: str | None, status: int
) -> None:
    note_id = stage.note(stage.post())
    visitor = visit(getattr(cast, who) if who else None)
    assert decide(visitor, note_id, "force_publish").status_code == status
    assert (only_hold(wiring) is not None) is (status == 303)


@pytest.mark.parametrize(
    ("who", "drawn"), [("rater", False), ("moderator", True), ("operator", True), ("admin", True)]
)
def test_the_buttons_are_drawn_for_those_who_may_use_them(
    visit: Visit, cast: Cast, stage: Stage, who: str, drawn: bool
) -> None:
    note_id = stage.note(stage.post())
    page = visit(getattr(cast, who)).get(f"/notes/{note_id}").text
    assert ("Force-publish" in page) is drawn
    assert ("Dismiss" in page) is drawn


@pytest.mark.parametrize(("who", "status"), [("rater", 403), ("outsider", 404), (None, 303)])
def test_others_do_not_get_the_panel(
    visit: Visit, cast: Cast, stage: Stage, who: str | None, status: int
) -> None:
    note_id = stage.note(stage.post())
    answer = visit(getattr(cast, who) if who else None).get(f"/notes/{note_id}/moderation")
    assert answer.status_code == status


def test_a_moderator_sees_the_status_and_the_post_before_rating(moderator: Visitor, stage: Stage) -> None:
    note_id = stage.note(stage.post("What the note is about."))
    page = moderator.get(f"/notes/{note_id}").text
    assert "Needs more ratings" in page
    assert " is about." in page


def test_a_sensitive_post_beside_its_note_is_behind_show_content(moderator: Visitor, stage: Stage) -> None:
    note_id = stage.note(stage.post(category="threat"))
    assert "Show content" in moderator.get(f"/notes/{note_id}").text


@pytest.mark.parametrize(
    ("verb", "status", "words"),
    [
        ("force_publish", NoteStatus.CURRENTLY_RATED_HELPFUL, "Published and locked by"),
        ("dismiss", NoteStatus.CURRENTLY_RATED_NOT_HELPFUL, "Dismissed and locked by"),
    ],
)
def test_a_decision_is_held_then_carried_out_once_and_the_page_says_who_and_why(
    moderator: Visitor,
    wiring: Wiring,
    stage: Stage,
    jobs: InlineEngine,
    verb: str,
    status: NoteStatus,
    words: str,
) -> None:
    note_id = stage.note(stage.post())
    answer = decide(moderator, note_id, verb, comment="For our eyes")
    assert answer.headers["Location"] == f"/notes/{note_id}"
    page = moderator.get(f"/notes/{note_id}").text
    assert "You can undo this until it is sent." in page
    assert "Undo" in page
    assert "Force-publish" not in page
    jobs.run_all()
    assert note_of(wiring, note_id).status is NoteStatus.NEEDS_MORE_RATINGS
    assert events_of(wiring) == []

    advance(11)
    jobs.run_all()
    jobs.run_all(delayed=True)
    note = note_of(wiring, note_id)
    assert (note.status, note.locked, note.force_published) == (status, True, verb == "force_publish")
    assert events_of(wiring) == [EventName.NOTE_STATUS]
    page = moderator.get(f"/notes/{note_id}").text
    assert words in page
    assert "Moderator" in page
    assert "The minutes say so" in page
    assert "For our eyes" in page
    assert "Force-publish" not in page
    assert "Submit rating" not in page


def test_raters_learn_that_it_was_a_moderator_but_not_who_and_why(
    rater: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    note_id = stage.note(stage.post())
    with wiring.database.writing() as session:
        verdicts.dismiss(
            session,
            actor_of(wiring, cast.moderator),
            session.get_one(Note, note_id),
            reason=Reason("inner reason", comment="inner comment"),
        )
    page = rater.get(f"/notes/{note_id}").text
    assert "A moderator decided about this note" in page
    assert "inner" not in page


def test_when_the_time_is_over_the_panel_brings_the_locked_note_along(
    moderator: Visitor, stage: Stage, jobs: InlineEngine
) -> None:
    note_id = stage.note(stage.post())
    decide(moderator, note_id, "force_publish")
    assert "it cannot be rated any more" not in moderator.get(f"/notes/{note_id}/moderation", **HTMX).text
    advance(11)
    jobs.run_all()
    part = moderator.get(f"/notes/{note_id}/moderation", **HTMX).text
    assert "<html" not in part
    assert "Published and locked by" in part
    assert "it cannot be rated any more" in part


def test_a_text_that_was_changed_since_the_page_was_made_is_not_decided_about(
    moderator: Visitor, wiring: Wiring, stage: Stage
) -> None:
    note_id = stage.note(stage.post())
    _rewrite(wiring, note_id, "Something else entirely.")
    answer = decide(moderator, note_id, "force_publish")
    assert answer.status_code == 409
    assert "was changed meanwhile" in answer.text
    assert "The minutes say so" in answer.text
    assert "Something else entirely." in answer.text
    assert only_hold(wiring) is None


def test_a_text_that_is_changed_while_the_decision_is_held_is_not_published(
    moderator: Visitor, wiring: Wiring, stage: Stage, jobs: InlineEngine
) -> None:
    note_id = stage.note(stage.post())
    decide(moderator, note_id, "force_publish")
    advance(2)
    _rewrite(wiring, note_id, "Something else entirely.")
    advance(11)
    jobs.run_all()
    assert note_of(wiring, note_id).locked is False
    page = moderator.get(f"/notes/{note_id}").text
    assert "was not carried out: the note&#39;s text was changed after the decision." in page
    assert "Force-publish" in page


@BOTH
def test_the_rationale_of_an_item_is_decided_as_the_item(
    moderator: Visitor, wiring: Wiring, stage: Stage, jobs: InlineEngine, headers: dict[str, str]
) -> None:
    action_id = stage.post()
    rationale = stage.rationale(action_id)
    answer = decide(moderator, rationale.id, "dismiss", headers)
    assert answer.headers["HX-Redirect" if headers else "Location"] == f"/review/{action_id}"
    advance(11)
    jobs.run_all()
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).action_state is ActionState.DISMISSED


def test_what_is_refused_about_a_rationale_is_said_on_its_items_page(
    moderator: Visitor, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    rationale = stage.rationale(action_id)
    assert decide(moderator, rationale.id, "dismiss", reason="").location == f"/review/{action_id}"
    assert "Enter a reason." in moderator.get(f"/review/{action_id}").text
    assert moderator.get(f"/notes/{rationale.id}/moderation").location == f"/review/{action_id}"
    assert only_hold(wiring) is None


def test_ratings_that_come_while_a_decision_is_held_count_once_it_is_undone(
    moderator: Visitor, rater: Visitor, wiring: Wiring, stage: Stage
) -> None:
    note_id = stage.note(stage.post())
    decide(moderator, note_id, "dismiss")
    fields: dict[str, Any] = {f"note-{note_id}-level": "HELPFUL", f"note-{note_id}-good": "clear"}
    rater.post(f"/notes/{note_id}/rating", **fields)
    held = the_hold(wiring)
    moderator.post(f"/holds/{held.id}/undo?note={note_id}")
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Rating.note_id)).all() == [note_id]
    assert note_of(wiring, note_id).ratings_count == 1


def test_a_moderator_who_was_demoted_meanwhile_decides_nothing(
    moderator: Visitor, operator: Visitor, cast: Cast, wiring: Wiring, stage: Stage, jobs: InlineEngine
) -> None:
    note_id = stage.note(stage.post())
    decide(moderator, note_id, "dismiss")
    with wiring.database.writing() as session:
        account = accounts.get(session, cast.moderator.account_id)
        accounts.give_role(session, SYSTEM, account, cast.community_id, Role.RATER)
    advance(11)
    jobs.run_all()
    assert note_of(wiring, note_id).locked is False
    assert "was not carried out" in operator.get(f"/notes/{note_id}").text


def test_an_unknown_note_is_not_found(moderator: Visitor) -> None:
    assert decide(moderator, uuid.uuid4(), "dismiss").status_code == 404
    assert moderator.get(f"/notes/{uuid.uuid4()}/moderation").status_code == 404


def _rewrite(wiring: Wiring, note_id: uuid.UUID, text: str) -> None:
    with wiring.database.writing() as session:
        notes.edit(session, SYSTEM, session.get_one(Note, note_id), text, Classification.MISLEADING)
