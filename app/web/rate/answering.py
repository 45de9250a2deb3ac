"""Raters' answers, from a card or the item page. An answer is stored as a rating of the action's rationale note."""

import uuid
from dataclasses import dataclass

from sqlalchemy.orm import Session
from wtforms import Form, RadioField, StringField
from wtforms.validators import InputRequired

from app.core.actions import actions
from app.core.communities import settings as community_settings
from app.core.errors import Conflict, Forbidden, NotFound
from app.core.helpfulness import eligibility
from app.core.models import Action, Profile
from app.core.notes import rating_locks, ratings
from app.core.notes.blindness import is_decided, is_for_raters
from app.core.permissions import Permission
from app.web import auth
from app.web.forms import choices
from app.web.item.views import ANSWER_WORDS, ANSWERS, NUMBERS_ALONE, Progress
from app.wiring import wired

DECIDED_MEANWHILE = "This was decided in the meantime, so your answer was not needed any more"


class AnswerForm(Form):
    """The answer form. ``skip`` is set by the Skip button."""

    answer = RadioField(
        "Your answer",
        [InputRequired("Choose an answer.")],
        choices=choices(ANSWER_WORDS),
    )
    skip = StringField()


@dataclass(frozen=True)
class Answered:
    """The result of an answer for the rater: the progress, or that the answer decided the item."""

    progress: Progress
    decided: bool

    @property
    def words(self) -> str:
        return "That decided it." if self.decided else f"{self.progress.words} {NUMBERS_ALONE}"


def count_rating() -> None:
    """Count a rating of this rater against the limit. Raises OverLimit (429)."""
    wired().throttle.hit("ratings", str(auth.current_profile_id()))


def find(session: Session, action_id: uuid.UUID) -> Action:
    """Return the item if the reader may rate it. Raises the same NotFound for withdrawn, foreign and staff's items."""
    action = actions.with_content(session, auth.current_actor(), action_id)
    auth.enter(action.community_id)
    is_staff = auth.may(Permission.MODERATE, action.community_id)
    if action.request.withdrawn_at is not None or not (is_for_raters(action) or is_staff):
        raise NotFound("item")
    return action


def record_answer(session: Session, action: Action, answer: str) -> Answered:
    """Rate the rationale note.

    Raises:
        Conflict: the item was decided while the rater was reading it.
        Settled: the rater answered before, and has seen the outcome.
    """
    note = action.note
    if note is None or action.restores_id is not None:
        raise NotFound("question")
    profile = session.get_one(Profile, auth.current_profile_id())
    session.refresh(note)
    session.refresh(action)
    is_late = is_decided(action) and ratings.by_rater(session, note.id, profile.id) is None
    if rating_locks.is_closed(note, action) or is_late:
        raise Conflict(DECIDED_MEANWHILE, action.id)
    try:
        ratings.rate(session, auth.current_actor(), note, profile, ANSWERS[answer])
    except Forbidden:
        session.refresh(action)
        if rating_locks.is_closed(note, action):
            raise Conflict(DECIDED_MEANWHILE, action.id) from None
        raise
    session.refresh(action)
    return Answered(Progress(note.ratings_count, ratings_needed()), is_decided(action))


def take_back(session: Session, action: Action) -> None:
    """Withdraw the reader's answer, if there is one. Everything loaded is expired afterwards.

    Raises:
        Forbidden: a moderator decided, so the answers are closed.
        Settled: the reader has seen the outcome.
    """
    rating = ratings.by_rater(session, action.note_id, auth.current_profile_id()) if action.note_id else None
    try:
        if rating is not None:
            ratings.withdraw(session, auth.current_actor(), rating)
    finally:
        session.expire_all()


def own_profiles(session: Session) -> frozenset[uuid.UUID]:
    """Return the ids of the reader's profiles: the account's own, and those linked to it."""
    return eligibility.person_of(session, session.get_one(Profile, auth.current_profile_id())).ids


def ratings_needed() -> int:
    """Return how many ratings a note needs before it gets a status, in the current community."""
    return community_settings.for_community(auth.current_community(), wired().community_defaults).min_ratings
