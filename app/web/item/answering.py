"""Raters' answers, from a card or the item page. An answer is stored as a rating of the action's rationale note."""

import uuid
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session
from wtforms import Form, RadioField, StringField
from wtforms.validators import InputRequired

from app.core.actions import actions
from app.core.communities import settings as community_settings
from app.core.errors import Conflict, Forbidden, NotFound, Settled
from app.core.models import Action, Profile, SampledPost
from app.core.notes import blindness, ratings
from app.core.notes.blindness import is_decided, is_for_raters
from app.core.permissions import Permission
from app.core.raters import samples
from app.core.raters.samples import Asked
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.web import auth
from app.web.forms import choices
from app.web.item.views import ANSWER_WORDS, ANSWERS, NUMBERS_ALONE, Progress
from app.wiring import wired

DECIDED_MEANWHILE = lazy_gettext("This was decided in the meantime, so your answer was not needed any more")


class AnswerForm(Form):
    """The answer form. ``skip`` is set by the Skip button. ``edit`` names the text that the reader saw."""

    answer = RadioField(
        lazy_gettext("Your answer"),
        [InputRequired(lazy_gettext("Choose an answer."))],
        choices=choices(ANSWER_WORDS),
    )
    skip = StringField()
    edit = StringField()


@dataclass(frozen=True)
class Answered:
    """The result of an answer for the rater: the progress, or that the answer decided the item."""

    progress: Progress
    decided: bool

    @property
    def words(self) -> str:
        return _("That decided it.") if self.decided else f"{self.progress.words} {NUMBERS_ALONE}"


def count_rating() -> None:
    """Count a rating of this rater against the limit. Raises OverLimit (429)."""
    wired().throttle.hit("ratings", str(auth.current_profile_id()))


def find(session: Session, action_id: uuid.UUID, *, enter: bool = True, was_answered: bool = False) -> Action:
    """Return the item if the reader may rate it, and make its community the current one, unless ``enter`` is false.

    ``was_answered``: the reader could rate it a moment ago, but their answer may have sent it to the moderators. Raises
    the same NotFound for withdrawn, foreign and staff's items.
    """
    action = actions.with_content(session, auth.current_actor(), action_id)
    is_theirs = was_answered or is_for_raters(action) or auth.may(Permission.MODERATE, action.community_id)
    if action.request.withdrawn_at is not None or not is_theirs:
        raise NotFound("item")
    if enter:
        auth.enter(action.community_id)
    return action


def find_asked(
    session: Session, asked_id: uuid.UUID, *, enter: bool = True, was_answered: bool = False
) -> Asked:
    """Return the item, as ``find`` does, or the sample with this id."""
    try:
        return find(session, asked_id, enter=enter, was_answered=was_answered)
    except NotFound:
        sample = samples.find(session, auth.current_actor(), asked_id)
        if sample is None:
            raise
    if enter:
        auth.enter(sample.community_id)
    return sample


def record_answer(session: Session, asked: Asked, answer: str, edit: str) -> Answered:
    """Store an answer, as a rating of the rationale note or about a sample. For the page, read the item again.

    ``edit`` is what the form had (``views.edit_of``).

    Raises:
        Conflict: the item was decided while the rater was reading it, or the post edited.
        Settled: the rater answered before, and has seen the outcome.
    """
    if isinstance(asked, SampledPost):
        return _record_about_sample(session, asked, answer)
    action, note = asked, asked.note
    if note is None or action.restores_id is not None:
        raise NotFound("question")
    profile = session.get_one(Profile, auth.current_profile_id())
    try:
        ratings.rate(session, auth.current_actor(), note, profile, ANSWERS[answer], edit=edit)
    except Forbidden as refusal:
        is_late = isinstance(refusal, Settled) and ratings.by_rater(session, note.id, profile.id) is None
        if is_late or blindness.is_closed(note, action):
            raise Conflict(DECIDED_MEANWHILE, action.id) from None
        raise
    return Answered(Progress(note.ratings_count, ratings_needed()), is_decided(action))


def _record_about_sample(session: Session, sample: SampledPost, answer: str) -> Answered:
    profile = session.get_one(Profile, auth.current_profile_id())
    try:
        samples.answer(session, auth.current_actor(), sample, profile, ANSWERS[answer])
    except Conflict:
        raise Conflict(DECIDED_MEANWHILE, sample.id) from None
    return Answered(Progress(sample.answers, ratings_needed()), decided=sample.ended_at is not None)


def take_back(session: Session, asked: Asked) -> None:
    """Withdraw the reader's answer, if there is one. Everything loaded is expired afterwards.

    Raises:
        Forbidden: a moderator decided, so the answers are closed.
        Settled: the reader has seen the outcome.
    """
    profile_id, actor = auth.current_profile_id(), auth.current_actor()
    try:
        if isinstance(asked, SampledPost):
            samples.take_back(session, actor, asked, session.get_one(Profile, profile_id))
            return
        if asked.note_id:
            withdraw_rating(session, asked.note_id)
    finally:
        session.expire_all()


def withdraw_rating(session: Session, note_id: uuid.UUID) -> None:
    """Withdraw the reader's rating of a note, if there is one. Raises as ``ratings.withdraw``."""
    rating = ratings.by_rater(session, note_id, auth.current_profile_id())
    if rating is not None:
        ratings.withdraw(session, auth.current_actor(), rating)


def own_profiles(session: Session) -> frozenset[uuid.UUID]:
    """Return the ids of the reader's profiles: the account's own, and those linked to it."""
    own = sa.select(Profile.id).where(Profile.account_id == auth.current_reader().account.id)
    return frozenset(session.scalars(own))


def ratings_needed() -> int:
    """Return how many ratings a note needs before it gets a status, in the current community."""
    return community_settings.for_community(auth.current_community(), wired().community_defaults).min_ratings
