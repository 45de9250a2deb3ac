"""The community's own page for operators: what it is called, what it stands for, what is switched on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flask import Response, url_for
from wtforms import BooleanField, Form, HiddenField, StringField, TextAreaField
from wtforms.validators import InputRequired

from app.core import communities, rules
from app.core.communities import Draft
from app.core.errors import Conflict, Invalid
from app.core.models import HistoryEntry, HistoryText
from app.core.permissions import Permission
from app.web import auth, forms, page
from app.web.blueprint import web
from app.wiring import wired

LABELS = {
    "name": "Name",
    "description": "Description",
    "policy_text": "Policy text",
    "ai_notes_enabled": "AI notes",
}
"""The draft's fields in the order of the page."""
SHOWN_VALUE = 60
"""Characters of a value that the list of changes shows."""


class CommunityForm(Form):
    """What an operator sets. ``version`` names the values that the page was made from."""

    name = StringField(
        LABELS["name"],
        [InputRequired("Enter a name."), forms.at_most(rules.NAME_MAX, LABELS["name"])],
    )
    description = TextAreaField(
        LABELS["description"],
        [forms.at_most(rules.DESCRIPTION_MAX, LABELS["description"])],
        filters=[forms.whole_lines],
    )
    policy_text = TextAreaField(
        LABELS["policy_text"],
        [forms.at_most(rules.POLICY_TEXT_MAX, LABELS["policy_text"])],
        filters=[forms.whole_lines],
    )
    ai_notes_enabled = BooleanField(LABELS["ai_notes_enabled"])
    reason = TextAreaField(
        "Reason",
        [InputRequired("Enter a reason."), forms.at_most(rules.REASON_MAX, "Reason")],
        filters=[forms.whole_lines],
    )
    version = HiddenField()

    def draft(self) -> Draft:
        """What was typed; empty texts are none."""
        return Draft(
            name=self.name.data or "",
            description=self.description.data or None,
            policy_text=self.policy_text.data or None,
            ai_notes_enabled=bool(self.ai_notes_enabled.data),
        )


@dataclass(frozen=True)
class ChangeRow:
    """A saved change as the list shows it: "AI notes: on → off"."""

    at: datetime
    made_by: str
    reason: str
    changes: Sequence[str]


@web.get("/community")
@auth.needs(Permission.REVISE_POLICY)
def community_page() -> Response:
    return _show()


@web.post("/community")
@auth.needs(Permission.REVISE_POLICY)
def save_community() -> Response:
    form = forms.posted(CommunityForm)
    if not forms.filled_in(form):
        return _show(form, status=422)
    try:
        with wired().database.writing() as session:
            changed = communities.revise(
                session,
                auth.current_actor(),
                auth.current_community().id,
                form.draft(),
                form.reason.data or "",
                based_on=form.version.data or None,
            )
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show(form, status=422)
    except Conflict as refusal:
        # What was typed stays, now based on the values in force, so that saving again is a decision.
        form.version.data = ""
        alert = (
            f"{refusal.detail}. Yours are kept below: compare them with the list of changes, then save again."
        )
        return _show(form, status=409, alert=alert)
    message = "The community's settings are saved." if changed else "Nothing was changed."
    return page.done(None, url_for("web.community_page"), message)


def _show(form: CommunityForm | None = None, *, status: int = 200, alert: str | None = None) -> Response:
    actor = auth.current_actor()
    with wired().database.reading() as session:
        community = communities.get(session, actor, auth.current_community().id)
        changes = communities.revisions(session, actor, community.id)
        draft = communities.draft_of(community)
    shown = form or CommunityForm(data={name: getattr(draft, name) for name in LABELS})
    if not shown.version.data:
        shown.version.data = draft.edition
    return page.render(
        "community.html",
        status=status,
        alert=alert,
        form=shown,
        community=community,
        changes=[_row(entry, text) for entry, text in changes],
    )


def _row(entry: HistoryEntry, text: HistoryText) -> ChangeRow:
    changes = [
        f"{label}: {_words(entry.before, name)} → {_words(entry.after, name)}"
        for name, label in LABELS.items()
        if name in entry.after
    ]
    return ChangeRow(entry.at, text.actor_name, text.reason, changes)


def _words(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return "empty"
    text = " ".join(str(value).split())
    return text if len(text) <= SHOWN_VALUE else text[: SHOWN_VALUE - 1] + "…"
