"""Community page for operators: name and settings, pausing and archiving."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flask import Response, url_for
from wtforms import Form, TextAreaField
from wtforms.validators import InputRequired

from app.core import limits
from app.core.communities import communities
from app.core.errors import Conflict, Invalid, NotFound
from app.core.panels import rolls
from app.core.permissions import Permission
from app.core.review import overturns
from app.core.upkeep import community_revisions, community_states
from app.web import auth, forms, page
from app.web.administer import changes, curl_lines
from app.web.blueprint import web
from app.web.community.community_forms import (
    ALERT_NUMBERS,
    CAUTION_NUMBERS,
    DESK_NUMBERS,
    PANEL_NUMBERS,
    RATING_NUMBERS,
    CommunityForm,
    fields_of,
)
from app.wiring import wired


class SwitchForm(Form):
    """The reason for a switch."""

    reason = TextAreaField(
        "Reason",
        [InputRequired("Enter a reason."), forms.at_most(limits.REASON_MAX, "Reason")],
        filters=[forms.whole_lines],
    )


@dataclass(frozen=True)
class Switch:
    """Something to switch: its verb in the core, and the message when it is done."""

    verb: Callable[..., Any]
    permission: Permission
    said: str


SWITCHES = {
    "pause": Switch(
        community_states.pause,
        Permission.PAUSE_ACTIONS,
        "Automatic actions are paused. What would act by itself goes to review from now on.",
    ),
    "resume": Switch(
        community_states.resume,
        Permission.PAUSE_ACTIONS,
        "Automatic actions are on again. What was sent to review stays there.",
    ),
    "archive": Switch(
        community_states.archive,
        Permission.ARCHIVE,
        "The community is archived. Its reviews are ending; everything stays readable.",
    ),
    "unarchive": Switch(
        community_states.unarchive,
        Permission.ARCHIVE,
        "The community is open again. Reviews that ended stay ended.",
    ),
}


@web.get("/community")
@auth.needs(Permission.SEE_SETTINGS)
def community_page() -> Response:
    return _show()


@web.post("/community")
@auth.needs(Permission.REVISE_POLICY)
def save_community() -> Response:
    form = forms.posted(CommunityForm)
    if not form.validate():
        return _show(form, status=422)
    actor, community_id = auth.current_actor(), auth.current_community().id
    try:
        with wired().database.writing() as session:
            was = community_revisions.draft_of(session, communities.get(session, actor, community_id))
            changed = community_revisions.revise(
                session,
                actor,
                community_id,
                form.draft(was),
                form.reason.data or "",
                based_on=form.version.data or None,
            )
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show(form, status=422)
    except Conflict as refusal:
        # Typed values stay, with the current version, so that the user can check them and save again.
        form.version.data = ""
        alert = (
            f"{refusal.detail}. Yours are kept below: compare them with the list of changes, then save again."
        )
        return _show(form, status=409, alert=alert)
    message = "The community's settings are saved." if changed else "Nothing was changed."
    return page.done(None, url_for("web.community_page"), message)


@web.get("/community/<name>")
@auth.needs(Permission.SEE_SETTINGS)
def ask_switch(name: str) -> Response:
    return _ask(name)


@web.post("/community/<name>")
@auth.needs(Permission.SEE_SETTINGS)
def make_switch(name: str) -> Response:
    switch = _switch(name)
    auth.require(switch.permission, auth.current_community().id)
    form = forms.posted(SwitchForm)
    if not form.validate():
        return _ask(name, form, status=422)
    try:
        with wired().database.writing() as session:
            switch.verb(session, auth.current_actor(), auth.current_community().id, form.reason.data or "")
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _ask(name, form, status=422)
    return page.done(None, url_for("web.community_page"), switch.said)


def _switch(name: str) -> Switch:
    if name not in SWITCHES:
        raise NotFound("page")
    return SWITCHES[name]


def _ask(name: str, form: SwitchForm | None = None, *, status: int = 200) -> Response:
    """Render the page that explains the switch and asks for the reason."""
    auth.require(_switch(name).permission, auth.current_community().id)
    return page.render(
        "community/community_switch.html",
        status=status,
        name=name,
        form=form or SwitchForm(),
        community=auth.current_community(),
    )


def _show(form: CommunityForm | None = None, *, status: int = 200, alert: str | None = None) -> Response:
    actor = auth.current_actor()
    with wired().database.reading() as session:
        community = communities.get(session, actor, auth.current_community().id)
        entries = community_revisions.changes(
            session, actor, Permission.SEE_SETTINGS, community.id, "community", "overturn"
        )
        begun = overturns.recent(session, actor, community.id, limit=5)
        draft = community_revisions.draft_of(session, community)
        misses_users = rolls.misses_users(session, community)
    form_shown = form or CommunityForm.from_draft(draft)
    if not form_shown.version.data:
        form_shown.version.data = draft.etag
    return page.render(
        "community/community.html",
        status=status,
        alert=alert,
        form=form_shown,
        community=community,
        rating_fields=fields_of(form_shown, RATING_NUMBERS),
        desk_fields=fields_of(form_shown, DESK_NUMBERS),
        alert_fields=fields_of(form_shown, ALERT_NUMBERS),
        panel_fields=fields_of(form_shown, PANEL_NUMBERS),
        caution_fields=fields_of(form_shown, CAUTION_NUMBERS),
        may_revise=auth.may(Permission.REVISE_POLICY, community.id),
        may_pause=auth.may(Permission.PAUSE_ACTIONS, community.id),
        may_archive=auth.may(Permission.ARCHIVE, community.id),
        misses_users=misses_users,
        changes=changes.rows(entries),
        overturns=begun,
        curl=curl_lines.submit_line(community) if auth.may(Permission.SEND_TEST_POST, community.id) else None,
    )
