"""Community for operators: its settings, a page for each section, and the switches under Danger."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flask import Response, url_for
from wtforms import BooleanField, Field, Form, HiddenField, RadioField, StringField, TextAreaField
from wtforms.validators import InputRequired, ValidationError

from app.core.communities import communities
from app.core.communities import settings as community_settings
from app.core.communities.declarations import Section, Setting
from app.core.communities.settings import SETTINGS
from app.core.errors import Conflict, Invalid, NotFound
from app.core.panels import rolls
from app.core.permissions import Permission
from app.core.review import overturns
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.upkeep import community_revisions
from app.web import auth, forms, page
from app.web.account import confirming
from app.web.blueprint import web
from app.wiring import wired

DANGER = "danger"
"""The section without settings: what stops or undoes the work of the whole community."""
SECTIONS: Mapping[str, tuple[str, str]] = {
    Section.BASICS: (
        lazy_gettext("Basics"),
        lazy_gettext("What members read about this community, and who can find it."),
    ),
    Section.DECIDES: (
        lazy_gettext("Who decides"),
        lazy_gettext("Whose answers decide a review, and how moderators decide."),
    ),
    Section.NOTES: (
        lazy_gettext("Notes"),
        lazy_gettext("Whose ratings count, and when a note gets a status."),
    ),
    Section.AI_NOTES: (
        lazy_gettext("AI notes"),
        lazy_gettext("Whether notes may be drafted by AI, and what they may cite."),
    ),
    Section.BURSTS: (
        lazy_gettext("Bursts"),
        lazy_gettext("When many new raters rate one post at once, its decision goes to the moderators."),
    ),
    Section.REPORTS: (
        lazy_gettext("Reports and texts"),
        lazy_gettext("When reports ask people, and what reporters and authors read."),
    ),
    Section.STRIKES: (
        lazy_gettext("Strikes"),
        lazy_gettext(
            "When an author’s points reach a step, moderators get a post: warn, or silence for so long."
        ),
    ),
    Section.ALERTS: (
        lazy_gettext("Alerts"),
        lazy_gettext(
            "Operators get a notice once, and a mail unless they switched that off. The next "
            "comes only after things were clearly better. A failing webhook is reported too."
        ),
    ),
    Section.KEEPING: (
        lazy_gettext("Keeping"),
        lazy_gettext("How long posts are kept, and which figures are made of them."),
    ),
    Section.SIGN_IN: (
        lazy_gettext("Sign-in"),
        lazy_gettext("What the dashboard asks of people who work here."),
    ),
    DANGER: (lazy_gettext("Danger"), lazy_gettext("What stops or undoes the work of the whole community.")),
}
"""The title and the lead of each section, in the order of the navigation."""
_FIRST = {"section": Section.BASICS.value}


class CommunityForm(Form):
    """A section's settings, with a reason; ``version`` is that of the values shown. Made by ``form_class``."""

    reason: Field
    version: Field

    def values(self) -> dict[str, Any]:
        """Return the typed values by name, without choices that were not sent. An empty column is None."""
        declared = community_settings.everything()
        typed = {name: read_typed(declared[name], self[name].data) for name in declared if name in self}
        return {name: value for name, value in typed.items() if value is not None or declared[name].optional}


def settings_of(section: str) -> list[Setting]:
    """Return the declarations of the section's settings, in the order of the page."""
    return [setting for setting in community_settings.everything().values() if setting.section == section]


def form_class(section: str) -> type[CommunityForm]:
    """Create the form class: a field for each setting of the section, then the reason."""
    fields = {setting.name: _field(setting) for setting in settings_of(section)}
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
    needed = [InputRequired(_("%(label)s must not be empty.", label=setting.label))] if setting.least else []
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
        lazy_gettext("Automatic actions are paused. What would act by itself goes to review from now on."),
    ),
    "resume": Switch(
        community_revisions.resume,
        Permission.PAUSE_ACTIONS,
        lazy_gettext("Automatic actions are on again. What was sent to review stays there."),
    ),
    "archive": Switch(
        community_revisions.archive,
        Permission.ARCHIVE,
        lazy_gettext("The community is archived. Its reviews are ending; everything stays readable."),
    ),
    "unarchive": Switch(
        community_revisions.unarchive,
        Permission.ARCHIVE,
        lazy_gettext("The community is open again. Reviews that ended stay ended."),
    ),
}


@web.get("/community", defaults=_FIRST)
@web.get("/community/<section>")
@auth.needs(Permission.SEE_SETTINGS)
def community_page(section: str) -> Response:
    if section not in SECTIONS:
        raise NotFound("page")
    return show(section)


@web.post("/community", defaults=_FIRST)
@web.post("/community/<section>")
@auth.needs(Permission.REVISE_POLICY)
def save_community(section: str) -> Response:
    """Save the section's settings; all others stay."""
    if section not in set(Section):
        raise NotFound("page")
    form = forms.posted(form_class(section))
    if not form.validate():
        return show(section, form, status=422)
    actor, community_id = auth.current_actor(), auth.current_community().id
    rules = community_settings.for_community(auth.current_community(), wired().community_defaults)
    if form.values().get("factor_role", rules.factor_role) != rules.factor_role:
        confirming.require_proof()
    try:
        with wired().database.writing() as session:
            changed = community_revisions.revise(
                session,
                actor,
                community_id,
                form.values(),
                form.reason.data or "",
                based_on=form.version.data or None,
            )
    except Invalid as refusal:
        forms.explain(form, refusal)
        return show(section, form, status=422)
    except Conflict as refusal:
        # Typed values stay, with the current version, so that the user can check them and save again.
        form.version.data = ""
        alert = _(
            "%(detail)s. Yours are kept below: compare them with the changes, then save again.",
            detail=refusal.detail,
        )
        return show(section, form, status=409, alert=alert)
    message = _("The community's settings are saved.") if changed else _("Nothing was changed.")
    return page.done(None, url_for("web.community_page", section=section), message)


@web.get("/community/danger/<name>")
@auth.needs(Permission.SEE_SETTINGS)
def ask_switch(name: str) -> Response:
    return _ask(name)


@web.post("/community/danger/<name>")
@auth.needs(Permission.SEE_SETTINGS)
def make_switch(name: str) -> Response:
    switch = _switch(name)
    auth.require(switch.permission, auth.current_community().id)
    form = forms.posted(forms.WhyForm)
    if not form.validate():
        return _ask(name, form, status=422)
    try:
        with wired().database.writing() as session:
            switch.verb(session, auth.current_actor(), auth.current_community().id, form.reason.data or "")
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _ask(name, form, status=422)
    return page.done(None, url_for("web.community_page", section=DANGER), switch.said)


def _switch(name: str) -> Switch:
    if name not in SWITCHES:
        raise NotFound("page")
    return SWITCHES[name]


def _ask(name: str, form: forms.WhyForm | None = None, *, status: int = 200) -> Response:
    """Render the page that explains the switch and asks for the reason."""
    auth.require(_switch(name).permission, auth.current_community().id)
    return page.render(
        "community/community_switch.html",
        status=status,
        name=name,
        form=form or forms.WhyForm(),
        community=auth.current_community(),
    )


def show(
    section: str,
    form: CommunityForm | None = None,
    *,
    status: int = 200,
    alert: str | None = None,
    trial: str = "",
    trial_failed: bool = False,
) -> Response:
    """Render the section. ``trial``: what the typed steps of strikes would have done, or why that cannot be said."""
    actor, names = auth.current_actor(), [setting.name for setting in settings_of(section)]
    if section == Section.SIGN_IN:
        auth.require(Permission.MANAGE_PEOPLE, auth.current_community().id)
    with wired().database.reading() as session:
        community = communities.get(session, actor, auth.current_community().id)
        begun = overturns.recent(session, actor, community.id, limit=5) if section == DANGER else []
        in_force = community_revisions.values_of(session, community)
        misses_users = section == Section.DECIDES and rolls.misses_users(session, community)
    shown = {name: in_force[name] for name in names}
    form = form or form_class(section)(data={name: as_typed(value) for name, value in shown.items()})
    if not form.version.data:
        form.version.data = community_revisions.version_of(shown)
    return page.render(
        "community/community.html",
        status=status,
        alert=alert,
        form=form,
        community=community,
        section=section,
        sections=[
            (title, url_for("web.community_page", section=name), name == section)
            for name, (title, _lead) in SECTIONS.items()
            if name != Section.SIGN_IN or auth.may(Permission.MANAGE_PEOPLE, community.id)
        ],
        title=SECTIONS[section][0],
        lead=SECTIONS[section][1],
        setting_fields=[(form[setting.name], setting) for setting in settings_of(section)],
        may_revise=auth.may(Permission.REVISE_POLICY, community.id),
        may_pause=auth.may(Permission.PAUSE_ACTIONS, community.id),
        may_archive=auth.may(Permission.ARCHIVE, community.id),
        misses_users=misses_users,
        trial=trial,
        trial_failed=trial_failed,
        overturns=begun,
    )
