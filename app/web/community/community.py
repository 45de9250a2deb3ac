"""Community page for operators: name and settings, pausing and archiving."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from flask import Response, url_for
from wtforms import BooleanField, Field, Form, HiddenField, RadioField, StringField, TextAreaField
from wtforms.validators import InputRequired, ValidationError

from app.core.communities import communities
from app.core.communities import settings as community_settings
from app.core.communities.declarations import Group, Setting
from app.core.communities.settings import COLUMNS, SETTINGS
from app.core.errors import Conflict, Invalid, NotFound
from app.core.panels import rolls
from app.core.permissions import Permission
from app.core.review import overturns
from app.core.upkeep import community_revisions
from app.core.upkeep.community_revisions import Draft
from app.web import auth, curl_command, forms, page
from app.web.account import confirming
from app.web.blueprint import web
from app.web.community import changes
from app.wiring import wired


class SwitchForm(Form):
    """The reason for a switch."""

    reason = forms.reason_field()


class CommunityForm(Form):
    """The settings, with a reason; ``version`` is that of the values which the page showed. Made by ``form_class``."""

    reason: Field
    version: Field

    def draft(self, was: Draft) -> Draft:
        """Return the typed values; a choice that was not sent stays as in ``was``. An empty column is None."""
        typed = {
            name: read_typed(setting, self[name].data)
            for name, setting in community_settings.everything().items()
        }
        chosen = {
            name: typed[name]
            for name, setting in SETTINGS.items()
            if typed[name] is not None or setting.optional
        }
        return Draft(**{name: typed[name] for name in COLUMNS}, settings=replace(was.settings, **chosen))


def form_class() -> type[CommunityForm]:
    """Create the form class: a field for each setting in the order of the page, then the reason."""
    fields = {name: _field(setting) for name, setting in community_settings.everything().items()}
    return type(
        "CommunityFormOfSettings",
        (CommunityForm,),
        {**fields, "reason": forms.reason_field(), "version": HiddenField()},
    )


def as_typed(value: Any) -> Any:
    """Return a setting's value as its field shows it: numbers as text, None as empty."""
    if value is None or isinstance(value, bool | str):
        return "" if value is None else value
    return f"{value:g}"


def _field(setting: Setting) -> Any:
    needed = [InputRequired(f"Enter a {setting.label.lower()}.")] if setting.least else []
    if setting.bounds is not None:
        return StringField(setting.label, [_fits(setting)])
    if setting.choices is not None:
        return RadioField(setting.label, choices=forms.choices(setting.choices), validate_choice=False)
    if setting.most is None:
        return BooleanField(setting.label)
    kind = StringField if setting.rows is None else TextAreaField
    return kind(setting.label, [*needed, _fits(setting)], filters=[forms.whole_lines])


def _fits(setting: Setting) -> Callable[[Form, Field], None]:
    """Return a validator that asks the declaration. Its message begins with the label."""

    def check(_form: Form, field: Field) -> None:
        try:
            setting.check(read_typed(setting, field.data))
        except Invalid as refusal:
            raise ValidationError(f"{setting.label} {refusal.problems[0].msg}.") from None

    return check


def read_typed(setting: Setting, typed: Any) -> Any:
    """Return what was typed as a value: a number has a decimal point or comma. Other text is returned as it is."""
    if setting.bounds is not None:
        return _number(setting, typed or "")
    if setting.choices is not None:
        return typed or None
    if setting.most is None:
        return bool(typed)
    text = (typed or "").strip() if setting.name in SETTINGS else typed or ""
    return text or (None if setting.optional else "")


def _number(setting: Setting, typed: str) -> float | int | str | None:
    text = typed.strip().replace(",", ".")
    try:
        value = float(text)
    except ValueError:
        return text or None
    is_whole = value.is_integer() and "." not in text and not setting.decimals
    return int(value) if is_whole else value


@dataclass(frozen=True)
class Switch:
    """Something to switch: its verb in the core, and the message when it is done."""

    verb: Callable[..., Any]
    permission: Permission
    said: str


SWITCHES = {
    "pause": Switch(
        community_revisions.pause,
        Permission.PAUSE_ACTIONS,
        "Automatic actions are paused. What would act by itself goes to review from now on.",
    ),
    "resume": Switch(
        community_revisions.resume,
        Permission.PAUSE_ACTIONS,
        "Automatic actions are on again. What was sent to review stays there.",
    ),
    "archive": Switch(
        community_revisions.archive,
        Permission.ARCHIVE,
        "The community is archived. Its reviews are ending; everything stays readable.",
    ),
    "unarchive": Switch(
        community_revisions.unarchive,
        Permission.ARCHIVE,
        "The community is open again. Reviews that ended stay ended.",
    ),
}


@web.get("/community")
@auth.needs(Permission.SEE_SETTINGS)
def community_page() -> Response:
    return show()


@web.post("/community")
@auth.needs(Permission.REVISE_POLICY)
def save_community() -> Response:
    form = forms.posted(form_class())
    if not form.validate():
        return show(form, status=422)
    actor, community_id = auth.current_actor(), auth.current_community().id
    rules = community_settings.for_community(auth.current_community(), wired().community_defaults)
    if form["factor_role"].data not in (None, "", rules.factor_role):
        confirming.require_proof()
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
        return show(form, status=422)
    except Conflict as refusal:
        # Typed values stay, with the current version, so that the user can check them and save again.
        form.version.data = ""
        alert = (
            f"{refusal.detail}. Yours are kept below: compare them with the list of changes, then save again."
        )
        return show(form, status=409, alert=alert)
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


def show(
    form: CommunityForm | None = None,
    *,
    status: int = 200,
    alert: str | None = None,
    trial: str = "",
    trial_failed: bool = False,
) -> Response:
    """Render the page. ``trial``: what the typed steps of strikes would have done, or why that cannot be said."""
    actor = auth.current_actor()
    with wired().database.reading() as session:
        community = communities.get(session, actor, auth.current_community().id)
        entries = community_revisions.changes(
            session, actor, Permission.SEE_SETTINGS, community.id, "community", "overturn"
        )
        begun = overturns.recent(session, actor, community.id, limit=5)
        draft = community_revisions.draft_of(session, community)
        misses_users = rolls.misses_users(session, community)
    form_shown = form or form_class()(data={name: as_typed(value) for name, value in draft.values.items()})
    if not form_shown.version.data:
        form_shown.version.data = draft.etag
    return page.render(
        "community/community.html",
        status=status,
        alert=alert,
        form=form_shown,
        community=community,
        setting_fields={
            group.value: [
                (form_shown[name], setting)
                for name, setting in community_settings.everything().items()
                if setting.group is group
            ]
            for group in Group
        },
        may_revise=auth.may(Permission.REVISE_POLICY, community.id),
        may_pause=auth.may(Permission.PAUSE_ACTIONS, community.id),
        may_archive=auth.may(Permission.ARCHIVE, community.id),
        misses_users=misses_users,
        trial=trial,
        trial_failed=trial_failed,
        changes=changes.rows(entries),
        overturns=begun,
        curl=curl_command.submit_line(community)
        if auth.may(Permission.SEND_TEST_POST, community.id)
        else None,
    )
