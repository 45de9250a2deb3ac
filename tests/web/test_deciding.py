"""Decisions about an item and about a note: held, undone in time, refused with the text kept."""

import uuid
from dataclasses import dataclass
from typing import Any

import pytest

from app.core.history.reason import Reason
from app.core.models import Action, Note
from app.core.notes import verdicts
from app.core.people import accounts
from app.core.review import verbs
from app.core.vocabulary import ActionState, ActionVerb
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import advance
from tests.inline_engine import InlineEngine
from tests.web.conftest import HTMX, Stage, Visit, Visitor, events_of, only_hold, the_hold

BOTH = pytest.mark.parametrize("headers", [{}, HTMX], ids=["form", "htmx"])


@dataclass
class Subject:
    """An item or a note. ``kind`` names it in the address that undoes a decision."""

    kind: str
    id: uuid.UUID
    wiring: Wiring

    @property
    def page(self) -> str:
        return f"/{'review' if self.kind == 'item' else 'notes'}/{self.id}"

    def decide(self, visitor: Visitor, verb: str, headers: Any = None, **more: str) -> Any:
        typed = {"verb": verb, "reason": "Plain abuse", "version": "1", **more}
        return visitor.post(f"{self.page}/decide", headers, **typed)

    def dismiss(self, cast: Cast, reason: str) -> None:
        """Let the operator dismiss it at once."""
        with self.wiring.database.writing() as session:
            account = accounts.get(session, cast.operator.account_id)
            actor = accounts.actor_for(account, cast.operator.profile_id)
            if self.kind == "note":
                verdicts.dismiss(session, actor, session.get_one(Note, self.id), reason=Reason(reason))
            else:
                action = session.get_one(Action, self.id)
                verbs.change_action(session, actor, action, ActionState.DISMISSED, reason=Reason(reason))

    @property
    def is_decided(self) -> bool:
        with self.wiring.database.reading() as session:
            if self.kind == "note":
                return session.get_one(Note, self.id).locked
            return session.get_one(Action, self.id).action_state is not ActionState.UNDER_REVIEW


@pytest.fixture(params=["item", "note"])
def subject(request: pytest.FixtureRequest, wiring: Wiring, stage: Stage) -> Subject:
    action_id = stage.post()
    return Subject(request.param, action_id if request.param == "item" else stage.note(action_id), wiring)


@BOTH
def test_undo_in_time_leaves_everything_as_it_was_and_sends_nothing(
    moderator: Visitor, subject: Subject, wiring: Wiring, jobs: InlineEngine, headers: dict[str, str]
) -> None:
    page = subject.decide(moderator, "dismiss", headers).text
    held = the_hold(wiring)
    page = page if headers else moderator.get(subject.page).text
    assert f"/holds/{held.id}/undo" in page
    answer = moderator.post(f"/holds/{held.id}/undo?{subject.kind}={subject.id}")
    assert answer.headers["Location"] == subject.page
    advance(11)
    jobs.run_all()
    assert only_hold(wiring) is None
    assert not subject.is_decided
    assert events_of(wiring) == []
    page = moderator.get(subject.page).text
    assert "Undone. Nothing was sent." in page
    assert "Force-publish" in page


def test_undo_after_it_was_carried_out_says_that_it_is_too_late(
    moderator: Visitor, subject: Subject, wiring: Wiring, jobs: InlineEngine
) -> None:
    subject.decide(moderator, "dismiss")
    held = the_hold(wiring)
    advance(11)
    jobs.run_all()
    assert moderator.post(f"/holds/{held.id}/undo").status_code == 409
    answer = moderator.post(f"/holds/{held.id}/undo?{subject.kind}={subject.id}")
    assert answer.headers["Location"] == subject.page
    assert "Too late to undo" in moderator.get(subject.page).text
    assert subject.is_decided


@pytest.mark.parametrize(("who", "status"), [("rater", 403), ("outsider", 404), (None, 401)])
def test_others_cannot_undo(
    visit: Visit,
    moderator: Visitor,
    cast: Cast,
    subject: Subject,
    wiring: Wiring,
    who: str | None,
    status: int,
) -> None:
    subject.decide(moderator, "dismiss")
    held, visitor = the_hold(wiring), visit(getattr(cast, who) if who else None)
    assert visitor.post(f"/holds/{held.id}/undo").status_code == status
    assert visitor.post(f"/holds/{held.id}/undo?{subject.kind}={subject.id}").status_code == status
    visitor.post("/holds/undo", hold=str(held.id))
    assert only_hold(wiring) is not None


@BOTH
def test_a_stale_page_gets_409_says_who_decided_and_keeps_the_text(
    moderator: Visitor, cast: Cast, subject: Subject, wiring: Wiring, headers: dict[str, str]
) -> None:
    subject.dismiss(cast, "Off topic")
    advance(125)
    typed = {"reason": "A long and thoughtful reason", "comment": "And a comment"}
    answer = subject.decide(moderator, "force_publish", headers, **typed)
    assert answer.status_code == 409
    for words in ("Already decided by Operator, 2 min ago", "Off topic", *typed.values()):
        assert words in answer.text
    assert only_hold(wiring) is None


@BOTH
def test_while_somebody_decides_a_second_decision_gets_409_with_their_name(
    moderator: Visitor, operator: Visitor, subject: Subject, wiring: Wiring, headers: dict[str, str]
) -> None:
    subject.decide(operator, "force_publish")
    answer = subject.decide(moderator, "dismiss", headers, reason="I think it is fine")
    assert answer.status_code == 409
    assert "Operator is deciding this right now" in answer.text
    assert "I think it is fine" in answer.text
    assert the_hold(wiring).verb is ActionVerb.FORCE_PUBLISH


MISTAKES: list[tuple[dict[str, str], str]] = [
    ({"reason": ""}, "Enter a reason."),
    ({"reason": "  \n "}, "Reason must not be blank."),
    ({"reason": "x" * 2_001}, "Reason must be at most 2,000 characters; it has 2,001."),
    ({"comment": "y" * 2_001}, "Comment must be at most 2,000 characters; it has 2,001."),
    ({"verb": ""}, "Choose what to decide"),
    ({"verb": "explode"}, "Choose what to decide"),
    ({"reason": "nul \x00 inside"}, "must not contain NUL"),
]


@BOTH
def test_a_decision_that_cannot_be_taken_names_the_field_and_keeps_the_rest(
    moderator: Visitor, subject: Subject, wiring: Wiring, headers: dict[str, str]
) -> None:
    for typed, told in MISTAKES:
        form = {"verb": "dismiss", "comment": "kept comment", **typed}
        answer = subject.decide(moderator, form.pop("verb"), headers, **form)
        assert answer.status_code == 422, told
        assert told in answer.text
        assert form["comment"] in answer.text, told
        assert headers or f"<title>Error: {'Note' if subject.kind == 'note' else ''}" in answer.text, told
    assert only_hold(wiring) is None
