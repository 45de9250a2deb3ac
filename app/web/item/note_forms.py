"""Forms for writing and rating notes. Limits come from ``core.limits``."""

import re
import uuid

from wtforms import (
    Form,
    HiddenField,
    RadioField,
    StringField,
    TextAreaField,
    ValidationError,
)
from wtforms.validators import InputRequired

from app.core import limits
from app.core.communities import cited_pages
from app.core.errors import Invalid
from app.core.models import Note, NoteDraft, Rating
from app.core.raters.samples import Asked
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.thresholds.routing import MISINFORMATION
from app.core.vocabulary import Classification, HelpfulnessLevel
from app.web import forms
from app.web.forms import MultiCheckboxField, at_most, choices, whole_lines
from app.web.item.note_views import (
    BAD_POINTS,
    CLASSIFICATIONS,
    GOOD_POINTS,
    LEVEL_WORDS,
    WHY_MISLEADING,
    WHY_NOT_MISLEADING,
)

_MISLEADING = Classification.MISLEADING


class NoteForm(Form):
    """A note. It needs at least one reason, and a source if it says that the post is misleading."""

    classification = RadioField(
        lazy_gettext("This post is"),
        [InputRequired(lazy_gettext("Say whether the post is misleading."))],
        choices=choices(CLASSIFICATIONS),
    )
    summary = TextAreaField(
        lazy_gettext("Your note"),
        [
            InputRequired(lazy_gettext("Write the note.")),
            at_most(limits.FORM_SUMMARY_MAX, lazy_gettext("Your note")),
        ],
        filters=[whole_lines],
    )
    why_misleading = MultiCheckboxField(
        lazy_gettext("If it is misleading: why?"), choices=choices(WHY_MISLEADING)
    )
    why_not_misleading = MultiCheckboxField(
        lazy_gettext("If it is not: why?"), choices=choices(WHY_NOT_MISLEADING)
    )
    sources = TextAreaField(lazy_gettext("Sources"), filters=[whole_lines])
    preview = StringField()
    draft = HiddenField()

    def validate_summary(self, field: TextAreaField) -> None:
        if not (field.data or "").strip():
            raise ValidationError(_("Write the note."))

    @property
    def is_misleading(self) -> bool:
        return bool(self.classification.data == Classification.MISLEADING)

    @property
    def says(self) -> Classification:
        """The note's classification of the post. Use it only after validation."""
        return Classification.MISLEADING if self.is_misleading else Classification.NOT_MISLEADING

    @property
    def reasons(self) -> list[str]:
        chosen = self.why_misleading if self.is_misleading else self.why_not_misleading
        return list(chosen.data or [])

    @property
    def source_list(self) -> list[str]:
        lines = (line.strip() for line in (self.sources.data or "").split("\n"))
        return list(dict.fromkeys(line for line in lines if line))

    def validate_why_misleading(self, field: MultiCheckboxField) -> None:
        if self.is_misleading and not field.data:
            raise ValidationError(_("Choose at least one reason why it is misleading."))

    def validate_why_not_misleading(self, field: MultiCheckboxField) -> None:
        if self.classification.data == Classification.NOT_MISLEADING and not field.data:
            raise ValidationError(_("Choose at least one reason why it is not misleading."))

    def validate_sources(self, field: TextAreaField) -> None:
        sources = self.source_list
        if self.is_misleading and not sources:
            raise ValidationError(_("Give at least one source: an address that begins with https://."))
        if len(sources) > limits.SOURCES_MAX:
            raise ValidationError(_("Give at most %(most)s sources.", most=limits.SOURCES_MAX))
        for source in sources:
            try:
                limits.source(source)
            except Invalid as refusal:
                raise ValidationError(_("Sources %(problem)s.", problem=refusal.problems[0].msg)) from None


class PlainNoteForm(NoteForm):
    """A note on a post that is not about misinformation: it only gives readers information."""

    classification = why_misleading = why_not_misleading = None  # type: ignore[assignment]  # removes the fields
    summary = TextAreaField(
        lazy_gettext("What should readers know?"),
        [
            InputRequired(lazy_gettext("Write the note.")),
            at_most(limits.FORM_SUMMARY_MAX, lazy_gettext("The note")),
        ],
        filters=[whole_lines],
    )

    @property
    def is_misleading(self) -> bool:
        return False

    @property
    def reasons(self) -> list[str]:
        return []


class RatingForm(Form):
    """How helpful a note is, and why: at least one reason."""

    level = RadioField(
        lazy_gettext("Is this note helpful?"),
        [InputRequired(lazy_gettext("Say whether the note is helpful."))],
        choices=choices(LEVEL_WORDS),
    )
    good = MultiCheckboxField(lazy_gettext("What is good about it?"), choices=choices(GOOD_POINTS))
    bad = MultiCheckboxField(lazy_gettext("What is wrong with it?"), choices=choices(BAD_POINTS))
    on = HiddenField()

    @property
    def reasons(self) -> list[str]:
        """The ticked reasons of the side that the level names; of both sides for "Somewhat"."""
        good = [] if self.level.data == HelpfulnessLevel.NOT_HELPFUL else self.good.data or []
        bad = [] if self.level.data == HelpfulnessLevel.HELPFUL else self.bad.data or []
        return [*good, *bad]

    def validate_good(self, field: MultiCheckboxField) -> None:
        if self.level.data and not self.reasons:
            if self.level.data == HelpfulnessLevel.NOT_HELPFUL:
                raise ValidationError(_("Choose at least one reason: what is wrong with it."))
            raise ValidationError(_("Choose at least one reason."))


def form_for(action: Asked | None, note: Note | NoteDraft | None = None) -> type[NoteForm]:
    """Return the form class for notes on this item. It asks whether the post is misleading if the item is about
    misinformation, or if ``note`` already said so."""
    asks = action is not None and action.category == MISINFORMATION
    return NoteForm if asks or (note is not None and note.classification is _MISLEADING) else PlainNoteForm


def filled_from_draft(draft: NoteDraft, action: Asked) -> NoteForm:
    """Return the form with a draft's content, for the moderator who asked for it. Only https addresses are sources."""
    sources = [source for source in draft.sources if source.startswith("https://")]
    summary = re.sub(" {2,}", " ", cited_pages.cut(draft.summary, sources)).strip()
    kind = form_for(action, draft)
    form = kind(summary=summary, sources="\n".join(sources), draft=str(draft.id))
    if kind is NoteForm:
        form.classification.data = draft.classification.value
        if draft.item_id is not None and draft.classification is _MISLEADING:
            form.why_misleading.data = ["factual_error"]  # what a fact-check found
    return form


def filled_from(note: Note, action: Asked | None) -> NoteForm:
    """Return the form with a note's current content, for its author to edit."""
    kind = form_for(action, note)
    if kind is PlainNoteForm:
        return kind(summary=note.summary, sources="\n".join(note.sources))
    misleading = note.classification is Classification.MISLEADING
    return NoteForm(
        classification=note.classification.value,
        why_misleading=note.reasons if misleading else [],
        why_not_misleading=[] if misleading else note.reasons,
        summary=note.summary,
        sources="\n".join(note.sources),
    )


def rating_form(note_id: uuid.UUID, own: Rating | None = None, *, posted: bool = False) -> RatingForm:
    """Return the rating form of a note, with the reader's current rating.

    The field names contain the note's id, because a page shows several forms.
    """
    prefix = f"note-{note_id}-"
    if posted:
        return forms.posted(RatingForm, prefix=prefix)
    if own is None:
        return RatingForm(prefix=prefix)
    good, bad = ([reason for reason in own.reasons if reason in words] for words in (GOOD_POINTS, BAD_POINTS))
    return RatingForm(prefix=prefix, level=own.helpfulness_level.value, good=good, bad=bad)
