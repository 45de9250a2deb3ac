"""How long a silence lasts: the choice beside the decision, and the form that lifts it early."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from wtforms import DateField, Form, SelectField
from wtforms.validators import Optional

from app.core import clock
from app.core.actions import silences
from app.core.errors import Invalid
from app.core.models import Action
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import ActionType, StrikeStep
from app.web.filter_forms import check_year, midnight
from app.web.filters import full_time
from app.web.forms import choices, reason_field

ON_DAY, NEVER = "day", "never"
LENGTHS: Mapping[str, str] = {
    "1": lazy_gettext("1 d"),
    "7": lazy_gettext("7 d"),
    "30": lazy_gettext("30 d"),
    ON_DAY: lazy_gettext("Until a date"),
    NEVER: lazy_gettext("For good"),
}
"""The choices, by what the form sends: days, or one of the two words."""
USUAL = "7"


class SilenceFields(Form):
    """The part of a decision's form that says how long a silence lasts. Other decisions ignore it."""

    silence_for = SelectField(lazy_gettext("Silence for"), choices=choices(LENGTHS), validate_choice=False)
    until = DateField(lazy_gettext("Until the end of"), [Optional()])

    def offer_length(self, step: StrikeStep | None) -> None:
        """Choose a length if the form was not sent: the step's, or else the usual one."""
        if self.silence_for.data is None:
            is_silence = step is not None and step.action_type is ActionType.SILENCE
            self.silence_for.data = (str(step.days or NEVER) if is_silence and step else None) or USUAL

    def silence_end(self) -> dict[str, Any]:
        """What ``holds.hold`` takes about the end of a silence. Raises Invalid for a choice that says no end."""
        chosen = self.silence_for.data or USUAL
        if chosen == NEVER:
            return {"without_end": True}
        if chosen == ON_DAY:
            if self.until.data is None:
                raise Invalid.field("until", _("needs a day, such as that of the next week"))
            check_year(self.until)
            return {"until": midnight(self.until.data + timedelta(days=1))}
        if chosen not in LENGTHS:
            raise Invalid.field("silence_for", _("must be one of the choices"))
        return {"until": clock.now() + timedelta(days=int(chosen))}


class LiftForm(Form):
    """Why a silence or a strike is lifted early."""

    lift_reason = reason_field(lazy_gettext("Reason to lift it"))


def length_words(until: datetime | None) -> str:
    """Say until when a silence lasts, as it follows "silenced"."""
    return _("until %(at)s", at=full_time(until)) if until is not None else _("for good")


def lift_form(action: Action, posted: LiftForm | None) -> LiftForm | None:
    """Return the form, with what was typed; None if there is nothing to lift."""
    return (posted or LiftForm()) if silences.can_be_lifted(action) else None
