"""The forms that give an item to a colleague or put it aside, and who and when they offer."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.orm import Session
from wtforms import Form, HiddenField, SelectField, StringField
from wtforms.validators import ValidationError

from app.core import clock, limits
from app.core.ids import parse_id
from app.core.models import Action
from app.core.permissions import Actor
from app.core.review import assignments
from app.core.vocabulary import ActionState
from app.web.forms import at_most, choices


class AssignForm(Form):
    """Who is to decide the item (empty: nobody in particular), and a word for them."""

    assignee = SelectField("Assign to", validate_choice=False)
    handover = StringField("For them", [at_most(limits.REASON_MAX, "For them")])
    version = HiddenField()

    def offer(self, colleagues: Mapping[uuid.UUID, str], assigned_to: uuid.UUID | None) -> None:
        """Offer the colleagues. ``assigned_to`` is chosen if the form was not sent."""
        self.assignee.choices = choices(
            {"": "Nobody in particular", **{str(account_id): name for account_id, name in colleagues.items()}}
        )
        if self.assignee.data is None:
            self.assignee.data = str(assigned_to or "")

    @property
    def wanted(self) -> uuid.UUID | None:
        """The chosen account, or None for nobody. Call ``validate()`` first."""
        return parse_id(self.assignee.data or "")

    def validate_assignee(self, field: SelectField) -> None:
        if field.data != "" and self.wanted is None:
            raise ValidationError("Choose from the list whom to assign it to.")


class SnoozeForm(Form):
    """For how many hours to put an item aside; empty brings it back."""

    snooze = SelectField("Put aside for", validate_choice=False)
    version = HiddenField()

    def offer(self, *, is_snoozed: bool) -> None:
        """Offer the times, and for an item that is put aside its return."""
        words = {_hours(time): _in_words(time) for time in assignments.SNOOZES}
        self.snooze.choices = choices({**words, "": "No longer"} if is_snoozed else words)
        if self.snooze.data is None:
            self.snooze.data = "" if is_snoozed else _hours(assignments.SNOOZES[0])

    @property
    def wanted(self) -> timedelta:
        """For how long; zero brings the item back. Call ``validate()`` first."""
        return next((time for time in assignments.SNOOZES if _hours(time) == self.snooze.data), timedelta())

    def validate_snooze(self, field: SelectField) -> None:
        if field.data != "" and not self.wanted:
            raise ValidationError("Choose from the list for how long to put it aside.")


def _hours(time: timedelta) -> str:
    return str(int(time / timedelta(hours=1)))


def _in_words(time: timedelta) -> str:
    number, unit = (time.days, "day") if time.days else (int(_hours(time)), "hour")
    return f"{number} {unit}{'' if number == 1 else 's'}"


@dataclass(frozen=True)
class HandOver:
    """What the item's page shows about its assignee and its return to the queue.

    ``assignee`` is the name of who is to decide the item, or an empty string.
    """

    assign: AssignForm
    snooze: SnoozeForm
    assignee: str
    is_snoozed: bool


def hand_over(
    session: Session, actor: Actor, action: Action, assign: AssignForm | None, snooze: SnoozeForm | None
) -> HandOver | None:
    """Return the forms, as they were filled in if they were sent; None if the item is not under review."""
    if action.action_state is not ActionState.UNDER_REVIEW:
        return None
    colleagues = assignments.colleagues(session, actor, action.community_id)
    assigned = action.assigned_to_id
    is_snoozed = action.snoozed_until is not None and action.snoozed_until > clock.now()
    assign, snooze = assign or AssignForm(), snooze or SnoozeForm()
    assign.offer(colleagues, assigned)
    snooze.offer(is_snoozed=is_snoozed)
    assign.version.data = snooze.version.data = str(action.version)
    assignee = colleagues.get(assigned, "somebody who has left") if assigned is not None else ""
    return HandOver(assign, snooze, assignee, is_snoozed)
