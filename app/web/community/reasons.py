"""Reasons and policies page for operators: the reasons that moderators choose from, and the community's policy text."""

import uuid
from collections.abc import Sequence
from typing import Any

from flask import Response, url_for
from wtforms import Form, HiddenField, SelectField, StringField, TextAreaField
from wtforms.validators import InputRequired

from app.core import limits
from app.core.errors import Conflict, Invalid, NotFound
from app.core.models import HistoryEntry, HistoryText
from app.core.permissions import Permission
from app.core.review import reason_templates
from app.core.review.reason_templates import ReasonDraft
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.thresholds import threshold_sets
from app.core.vocabulary import ActionVerb
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.categories import category_name
from app.web.filters import quoted
from app.web.item.timeline import actor_name
from app.web.item.verb_words import WORDS
from app.wiring import wired

_WHAT = {
    "reason.added": lazy_gettext("Added"),
    "reason.revised": lazy_gettext("Changed"),
    "reason.retired": lazy_gettext("Retired"),
    "reason.restored": lazy_gettext("Brought back"),
}
_LABELS = {
    "title": lazy_gettext("Title"),
    "text": lazy_gettext("Text"),
    "category": lazy_gettext("Category"),
    "verb": lazy_gettext("Default for"),
}
_DEFAULTS = {
    "": lazy_gettext("No decision"),
    **{verb.value: WORDS[verb].name for verb in reason_templates.DEFAULT_VERBS},
}


class ReasonTemplateForm(Form):
    """A reason template. ``version`` is the version that the page showed."""

    title = StringField(
        lazy_gettext("Title"),
        [
            InputRequired(lazy_gettext("Enter a title.")),
            forms.at_most(reason_templates.TITLE_MAX, lazy_gettext("Title")),
        ],
    )
    text = TextAreaField(
        lazy_gettext("Text"),
        [
            InputRequired(lazy_gettext("Enter the text.")),
            forms.at_most(limits.REASON_MAX, lazy_gettext("Text")),
        ],
        filters=[forms.whole_lines],
    )
    category = SelectField(lazy_gettext("Category"), validate_choice=False)
    verb = SelectField(lazy_gettext("Default for"), choices=forms.choices(_DEFAULTS), default="")
    version = HiddenField()

    def offer(self, names: Sequence[str]) -> None:
        """Set the choices to the community's categories, and the selected one even if it no longer exists."""
        selected = self.category.data
        offered = {name: category_name(name) for name in (*names, selected) if name}
        self.category.choices = forms.choices({"": _("Any"), **offered})

    def draft(self) -> ReasonDraft:
        """Return the typed values."""
        return ReasonDraft(
            (self.title.data or "").strip(),
            (self.text.data or "").strip(),
            self.category.data or None,
            ActionVerb(self.verb.data) if self.verb.data else None,
        )


class RevisedReasonForm(ReasonTemplateForm):
    """A changed reason template, and the reason for the change."""

    why = forms.reason_field()


class RetiringForm(Form):
    """Why a reason template is retired."""

    why = forms.reason_field(id="retiring-why")


class RestoringForm(Form):
    """Why a reason template is restored; optional."""

    why = forms.reason_field(required=False, id="restoring-why")


@web.get("/reasons")
@auth.needs(Permission.REVISE_POLICY)
def reasons() -> Response:
    return _show()


@web.post("/reasons")
@auth.needs(Permission.REVISE_POLICY)
def add_reason() -> Response:
    form = forms.posted(ReasonTemplateForm)
    if not form.validate():
        return _show(form, status=422)
    try:
        with wired().database.writing() as session:
            template = reason_templates.add(
                session, auth.current_actor(), auth.current_community().id, form.draft()
            )
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show(form, status=422)
    return page.done(
        None,
        url_for("web.reasons"),
        _("“%(title)s” is added. Moderators can choose it now.", title=template.title),
    )


@web.get("/reasons/<uuid:reason_id>")
def reason_page(reason_id: uuid.UUID) -> Response:
    return _show_one(reason_id)


@web.post("/reasons/<uuid:reason_id>")
def save_reason(reason_id: uuid.UUID) -> Response:
    form = forms.posted(RevisedReasonForm)
    if not form.validate():
        return _show_one(reason_id, form, status=422)
    try:
        with wired().database.writing() as session:
            changed = reason_templates.revise(
                session,
                auth.current_actor(),
                reason_id,
                form.draft(),
                version=forms.number(form.version.data),
                why=form.why.data or "",
            )
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show_one(reason_id, form, status=422)
    except Conflict as refusal:
        form.version.data = ""
        alert = _(
            "%(detail)s. Yours is kept below: compare it with the list of changes, then save again.",
            detail=refusal.detail,
        )
        return _show_one(reason_id, form, status=409, alert=alert)
    return page.done(None, url_for("web.reasons"), _("“%(title)s” is saved.", title=changed.title))


@web.post("/reasons/<uuid:reason_id>/retire")
def retire_reason(reason_id: uuid.UUID) -> Response:
    return _set_active(reason_id, active=False)


@web.post("/reasons/<uuid:reason_id>/restore")
def restore_reason(reason_id: uuid.UUID) -> Response:
    return _set_active(reason_id, active=True)


def _set_active(reason_id: uuid.UUID, *, active: bool) -> Response:
    form: RetiringForm | RestoringForm = forms.posted(RestoringForm) if active else forms.posted(RetiringForm)
    if not form.validate():
        return _show_one(reason_id, switch=form, status=422)
    try:
        with wired().database.writing() as session:
            changed = reason_templates.set_active(
                session, auth.current_actor(), reason_id, active, why=form.why.data or ""
            )
    except Invalid as refusal:
        wrong = " ".join(
            _("The %(loc)s %(msg)s.", loc=problem.loc[0], msg=problem.msg) for problem in refusal.problems
        )
        return page.done(None, url_for("web.reasons"), wrong, status=422)
    message = (
        _("“%(title)s” can be chosen again.", title=changed.title)
        if active
        else _("“%(title)s” is retired. Decisions made with it stay as they are.", title=changed.title)
    )
    return page.done(None, url_for("web.reasons"), message)


def _show(form: ReasonTemplateForm | None = None, *, status: int = 200) -> Response:
    actor, community_id = auth.current_actor(), auth.current_community().id
    added = form or ReasonTemplateForm()
    with wired().database.reading() as session:
        rows = reason_templates.every(session, actor, community_id)
        names = threshold_sets.current(session, community_id).categories
        added.offer([category.name for category in names])
        revisions = reason_templates.revisions(session, actor, community_id)
    return page.render(
        "community/reasons.html",
        status=status,
        form=added,
        policy_text=auth.current_community().policy_text,
        rows=rows,
        revisions=[_revision(*revision) for revision in revisions],
    )


def _show_one(
    reason_id: uuid.UUID,
    form: RevisedReasonForm | None = None,
    *,
    switch: RetiringForm | RestoringForm | None = None,
    status: int = 200,
    alert: str | None = None,
) -> Response:
    actor = auth.current_actor()
    with wired().database.reading() as session:
        row = reason_templates.get(session, actor, reason_id)
        auth.enter(row.community_id)
        shown = form or RevisedReasonForm(
            data={
                "title": row.title,
                "text": row.text,
                "category": row.category or "",
                "verb": row.verb or "",
            }
        )
        try:
            names = [
                category.name for category in threshold_sets.current(session, row.community_id).categories
            ]
        except NotFound:
            names = []
        shown.offer(names)
        revisions = reason_templates.revisions(session, actor, row.community_id, reason_id=row.id)
    if not shown.version.data:
        shown.version.data = str(row.version)
    switched = switch or (RetiringForm() if row.active else RestoringForm())
    return page.render(
        "community/reason.html",
        status=status,
        alert=alert,
        form=switched if switched.errors else shown,
        edited=shown,
        switch=switched,
        row=row,
        revisions=[_revision(*revision) for revision in revisions],
    )


def _revision(entry: HistoryEntry, text: HistoryText, title: str) -> dict[str, Any]:
    """One change in the list, and its reason; ``changes`` are "Title: old → new" lines in full."""
    changes = (
        [
            f"{label}: {_words(name, entry.before.get(name))} → {_words(name, entry.after[name])}"
            for name, label in _LABELS.items()
            if name in entry.after
        ]
        if entry.what == "reason.revised"
        else []
    )
    return {
        "title": title,
        "what": _WHAT.get(entry.what, entry.what),
        "who": actor_name(text),
        "at": entry.at,
        "changes": changes,
        "why": text.reason,
    }


def _words(name: str, value: object) -> str:
    if name == "category":
        return category_name(str(value)) if value else _("Any")
    if name == "verb":
        return _DEFAULTS.get(str(value or ""), str(value))
    return quoted(str(value))
