"""The form of the community page. Bounds come from the core's community settings; decimal commas are accepted."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from wtforms import BooleanField, Field, Form, HiddenField, RadioField, StringField, TextAreaField
from wtforms.validators import InputRequired, ValidationError

from app.core import limits
from app.core.communities import cited_pages
from app.core.communities import settings as community_settings
from app.core.communities.settings import CommunitySettings
from app.core.errors import Invalid
from app.core.upkeep.community_revisions import Draft
from app.core.vocabulary import WhoDecides
from app.web import forms

NUMBERS: Mapping[str, tuple[str, str]] = {
    "min_ratings": ("Minimum ratings", "Ratings that a note needs before it gets a status."),
    "min_trust_level": (
        "Minimum trust",
        "Only raters with this trust level or more count. Leave it empty to count everybody.",
    ),
    "min_age_days": (
        "Minimum days known",
        "Only raters known for so many days count. Leave it empty to count everybody.",
    ),
    "helpful_at": ("Helpful from", "The score from which a note is helpful, such as 0.4."),
    "lock_days": ("Days until a status is final", "After that many days ratings no longer change it."),
    "stabilisation_minutes": (
        "Minutes to stay helpful",
        "A note is shown as helpful after it has been so for this long. 0 is at once.",
    ),
    "undo_seconds": (
        "Seconds to undo",
        "How long a moderator who has not chosen a time of their own can take a decision back before it is sent.",
    ),
    "content_retention_days": (
        "Days to keep content",
        "Submitted content is deleted after that many days. Leave it empty to keep it.",
    ),
    "backlog_alert": (
        "Reviews that wait",
        "When more than so many wait. Leave it empty for no notice.",
    ),
    "overdue_alert": (
        "Times the target time",
        "When a review has waited so many times as long as its category should take. Leave it empty for no notice.",
    ),
    "pause_alert_hours": (
        "Hours paused",
        "When automatic actions have been paused for so long. Leave it empty for no notice.",
    ),
    "panel_seats": ("Seats of a panel", "How many people are drawn, from 7 to 25."),
    "panel_hours": ("Hours to answer", "After so many hours without an answer somebody else is drawn."),
    "exempt_similarity": (
        "Likeness of restored posts",
        "From 0 to 1: how alike an edited post must be to one that was restored, to be left alone too.",
    ),
    "burst_share": (
        "Share of new raters",
        "From 0 to 1: above this share of new raters moderators decide instead. 1 is never.",
    ),
    "burst_minutes": (
        "Minutes looked at",
        "The share is taken of an item's ratings of the last so many minutes.",
    ),
    "burst_hours": ("Hours a rater is new", "Whoever was first seen within so many hours is new."),
    "burst_raters": ("New raters at least", "Fewer new raters than this are no burst."),
    "burst_known": (
        "Known raters at least",
        "While fewer raters than this have been known for longer, nothing is a burst.",
    ),
}
"""Label and hint of the settings that are numbers, in the order of the page."""
RATING_NUMBERS = (
    "min_ratings",
    "min_trust_level",
    "min_age_days",
    "helpful_at",
    "lock_days",
    "stabilisation_minutes",
)
DESK_NUMBERS = ("undo_seconds", "content_retention_days")
ALERT_NUMBERS = ("backlog_alert", "overdue_alert", "pause_alert_hours")
PANEL_NUMBERS = ("panel_seats", "panel_hours")
CAUTION_NUMBERS = tuple(
    name for name in NUMBERS if name not in (*RATING_NUMBERS, *DESK_NUMBERS, *ALERT_NUMBERS, *PANEL_NUMBERS)
)
WHO_DECIDES: Mapping[str, str] = {
    WhoDecides.EVERYONE: "Everyone who answers",
    WhoDecides.PANEL_WHEN_NEEDED: "Everyone, and a drawn panel when there is doubt",
    WhoDecides.PANEL: "Always a drawn panel",
}
LABELS: Mapping[str, str] = {
    "name": "Name",
    "description": "Description",
    "policy_text": "Policy text",
    "is_public": "Public",
    "ai_notes_enabled": "AI notes",
    "note_pages": "Pages that notes by AI may cite",
    "support_text": "Support text",
    "published": "Published algorithm only",
    "second_look": "Second look",
    "moderator_figures": "Figures by moderator",
    "who_decides": "Who decides reviews",
    **{name: label for name, (label, _hint) in NUMBERS.items()},
}
"""Labels of the draft's values in the order of the page; the list of changes uses them too."""


def as_number(name: str, typed: str | None) -> float | int | None:
    """Parse a setting's typed number, with a decimal point or comma; None if it is empty.

    Raises:
        Invalid: it is not a number, or outside of the setting's bounds.
    """
    text = (typed or "").strip().replace(",", ".")
    value: Any = None
    if text:
        try:
            value = float(text)
            value = int(text) if value.is_integer() and "." not in text else value
        except (ValueError, OverflowError):
            value = text
    community_settings.check({name: value})
    return float(value) if name == "undo_seconds" else value


def as_typed(value: float | int | None) -> str:
    """Return a setting's value as the text of its field."""
    return "" if value is None else f"{value:g}"


def _within(form: Form, field: Field) -> None:
    try:
        as_number(field.name, field.data)
    except Invalid as refusal:
        raise ValidationError(f"{field.label.text} {refusal.problems[0].msg}.") from None


def _usable_pages(form: Form, field: Field) -> None:
    try:
        cited_pages.parse(field.data or "")
    except Invalid as refusal:
        raise ValidationError(f"{LABELS['note_pages']} {refusal.problems[0].msg}.") from None


class CommunityForm(Form):
    """The community's settings. ``version`` is the version of the values that the page showed."""

    name = StringField(
        LABELS["name"],
        [InputRequired("Enter a name."), forms.at_most(limits.NAME_MAX, LABELS["name"])],
    )
    description = TextAreaField(
        LABELS["description"],
        [forms.at_most(limits.DESCRIPTION_MAX, LABELS["description"])],
        filters=[forms.whole_lines],
    )
    policy_text = TextAreaField(
        LABELS["policy_text"],
        [forms.at_most(limits.POLICY_TEXT_MAX, LABELS["policy_text"])],
        filters=[forms.whole_lines],
    )
    is_public = BooleanField(LABELS["is_public"])
    ai_notes_enabled = BooleanField(LABELS["ai_notes_enabled"])
    note_pages = TextAreaField(LABELS["note_pages"], [_usable_pages], filters=[forms.whole_lines])
    published = BooleanField(LABELS["published"])
    support_text = TextAreaField(
        LABELS["support_text"],
        [forms.at_most(limits.REASON_MAX, LABELS["support_text"])],
        filters=[forms.whole_lines],
    )
    second_look = BooleanField(LABELS["second_look"])
    moderator_figures = BooleanField(LABELS["moderator_figures"])
    who_decides = RadioField(LABELS["who_decides"], choices=forms.choices(WHO_DECIDES), validate_choice=False)
    panel_seats = StringField(LABELS["panel_seats"], [_within])
    panel_hours = StringField(LABELS["panel_hours"], [_within])
    min_ratings = StringField(LABELS["min_ratings"], [_within])
    min_trust_level = StringField(LABELS["min_trust_level"], [_within])
    min_age_days = StringField(LABELS["min_age_days"], [_within])
    helpful_at = StringField(LABELS["helpful_at"], [_within])
    lock_days = StringField(LABELS["lock_days"], [_within])
    stabilisation_minutes = StringField(LABELS["stabilisation_minutes"], [_within])
    undo_seconds = StringField(LABELS["undo_seconds"], [_within])
    content_retention_days = StringField(LABELS["content_retention_days"], [_within])
    backlog_alert = StringField(LABELS["backlog_alert"], [_within])
    overdue_alert = StringField(LABELS["overdue_alert"], [_within])
    pause_alert_hours = StringField(LABELS["pause_alert_hours"], [_within])
    exempt_similarity = StringField(LABELS["exempt_similarity"], [_within])
    burst_share = StringField(LABELS["burst_share"], [_within])
    burst_minutes = StringField(LABELS["burst_minutes"], [_within])
    burst_hours = StringField(LABELS["burst_hours"], [_within])
    burst_raters = StringField(LABELS["burst_raters"], [_within])
    burst_known = StringField(LABELS["burst_known"], [_within])
    reason = TextAreaField(
        "Reason",
        [InputRequired("Enter a reason."), forms.at_most(limits.REASON_MAX, "Reason")],
        filters=[forms.whole_lines],
    )
    version = HiddenField()

    @classmethod
    def from_draft(cls, draft: Draft) -> "CommunityForm":
        """Create the form with these values."""
        values = {name: as_typed(value) if name in NUMBERS else value for name, value in draft.values.items()}
        return cls(data=values)

    def draft(self, was: Draft) -> Draft:
        """Return ``was`` with the typed values; values that the page does not show stay. Empty texts are None."""
        numbers: dict[str, Any] = {name: as_number(name, self[name].data) for name in NUMBERS}
        switches = {name: bool(self[name].data) for name in community_settings.SWITCHES}
        settings = asdict(was.settings) | numbers | switches
        settings |= {name: (self[name].data or "").strip() for name in ("note_pages", "support_text")}
        settings["who_decides"] = self.who_decides.data or was.settings.who_decides
        return Draft(
            name=self.name.data or "",
            description=self.description.data or None,
            policy_text=self.policy_text.data or None,
            is_public=bool(self.is_public.data),
            ai_notes_enabled=bool(self.ai_notes_enabled.data),
            settings=CommunitySettings(**settings),
        )


def hint_of(name: str) -> str:
    """Return the hint of a number."""
    return NUMBERS[name][1]


def fields_of(form: CommunityForm, names: Sequence[str]) -> list[tuple[Field, str, bool]]:
    """Return the fields of these numbers, each with its hint and whether it is optional."""
    return [(form[name], hint_of(name), name in community_settings.OPTIONAL) for name in names]
