"""Settings page: personal preferences for the dashboard, and linked profiles on platforms.

The account section of the same page is in ``account``.
"""

import uuid
from datetime import timedelta
from typing import Any
from zoneinfo import available_timezones

from flask import Response, url_for
from wtforms import BooleanField, Form, RadioField, SelectField, StringField, ValidationError
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # its type stubs are older

from app.core import limits as rules
from app.core import texts
from app.core.communities import settings as community_settings
from app.core.errors import Invalid
from app.core.people import accounts, browsers, dashboard, identities, mailed_links, sessions
from app.core.people.mailed_links import ShownCode
from app.core.permissions import Permission
from app.core.raters import digests
from app.core.raters import run as rater_run
from app.core.texts import gettext as _
from app.core.upkeep import linking
from app.core.vocabulary import MediaVeil
from app.web import auth, forms, page
from app.web.account.forms import (
    AccountForms,
    KeysForm,
    NameForm,
    RunForm,
    field_name,
    keys_form,
    offer_choices,
    run_form,
)
from app.web.blueprint import web
from app.wiring import wired

THEME_WORDS = {"system": "As my device is set", "light": "Light", "dark": "Dark"}
DIGEST_WORDS = {"off": "Never", "daily": "At most once a day", "weekly": "At most once a week"}
MEDIA_WORDS = {
    MediaVeil.BLUR: "Blurred and grey until I open them",
    MediaVeil.GREYSCALE: "Grey until I open them",
    MediaVeil.NEITHER: "As they are",
}
DEVICE_ZONE = "UTC"
"""Default of a new account: ``auth`` then uses the browser's time zone. For real UTC there is Etc/UTC."""


def _zones() -> list[SelectChoice]:
    places = sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
    return [
        SelectChoice(value=DEVICE_ZONE, label="As my device is set"),
        SelectChoice(value="Etc/UTC", label="UTC"),
        *(SelectChoice(value=name, label=name.replace("_", " ")) for name in places),
    ]


class SettingsForm(Form):
    """Personal preferences."""

    theme = RadioField("Theme", choices=forms.choices(THEME_WORDS))
    content_warnings = BooleanField("Hide sensitive posts until I choose “Show content”")
    media_veil = RadioField(
        "Pictures and videos of sensitive posts",
        choices=forms.choices({k.value: w for k, w in MEDIA_WORDS.items()}),
    )
    shortcuts = BooleanField("Single-key shortcuts")
    language = SelectField("Language", choices=[])
    timezone = SelectField("Timezone", choices=_zones())
    undo_seconds = StringField("Seconds to undo a decision")
    digest = RadioField("Mail me when posts need help", choices=forms.choices(DIGEST_WORDS))
    attention_mail = BooleanField("Mail me when something needs an operator")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.language.choices = forms.choices({"": _("As my browser asks"), **texts.NAMES})

    def validate_undo_seconds(self, field: StringField) -> None:
        """Check the undo window. Empty means the community's setting."""
        least, most = rules.UNDO_SECONDS
        text = (field.data or "").strip()
        seconds = forms.number(text)
        if text and (seconds is None or not least <= seconds <= most):
            raise ValidationError(f"Seconds to undo must be a whole number from {least} to {most}.")


def _operates() -> bool:
    """Whether the reader is an operator of any community."""
    return any(
        auth.may(Permission.MANAGE_WEBHOOKS, community.id) for community in auth.current_reader().communities
    )


@web.get("/settings")
def settings() -> Response:
    return show()


@web.post("/settings")
def save_settings() -> Response:
    account = auth.current_reader().account
    form = forms.posted(
        SettingsForm,
        digest=account.digest.value,
        media_veil=account.media_veil.value,
        language=account.language or "",
    )
    if form.validate():
        try:
            with wired().database.writing() as session:
                account = accounts.get(session, auth.current_reader().account.id)
                digests.choose(account, form.digest.data)
                dashboard.set_preferences(
                    account,
                    theme=form.theme.data,
                    shortcuts=bool(form.shortcuts.data),
                    content_warnings=bool(form.content_warnings.data),
                    media_veil=MediaVeil(form.media_veil.data),
                    language=form.language.data or None,
                    timezone=form.timezone.data,
                    attention_mail=bool(form.attention_mail.data) if _operates() else None,
                    undo_seconds=forms.number((form.undo_seconds.data or "").strip())
                    if form.undo_seconds.raw_data
                    else account.undo_seconds,
                )
            return page.done(None, url_for("web.settings"), "Your settings are saved.")
        except Invalid as refusal:
            forms.explain(form, refusal)
    return show(form, status=422)


@web.post("/settings/run")
def save_run_settings() -> Response:
    form = forms.posted(RunForm)
    with wired().database.reading() as session:
        known = offer_choices(session, form)
    if form.validate():
        try:
            with wired().database.writing() as session:
                rater_run.choose_preferences(
                    accounts.get(session, auth.current_reader().account.id),
                    languages=form.languages.data or [],
                    avoided_categories=[name for name in form.avoided.data or [] if name in known],
                    break_after_severe=forms.number((form.break_after_severe.data or "").strip()),
                )
            return page.done(
                None, url_for("web.settings", _anchor="run-settings"), "Your settings are saved."
            )
        except Invalid as refusal:
            forms.explain(form, refusal)
    return show(run=form, status=422)


@web.post("/settings/keys")
def save_keys() -> Response:
    form = forms.posted(KeysForm)
    resets = bool(forms.posted_values("reset"))
    try:
        with wired().database.writing() as session:
            account = accounts.get(session, auth.current_reader().account.id)
            dashboard.bind_keys(account, {} if resets else form.pressed())
    except Invalid as refusal:
        forms.explain(form, refusal, {key: field_name(key) for key in dashboard.KEYS})
        return show(keys=form, status=422)
    message = "The keys are as they were at first." if resets else "Your keys are saved."
    return page.done(None, url_for("web.settings", _anchor="keys-settings"), message)


@web.post("/settings/link-code")
def show_link_code() -> Response:
    """Show a new link code in this response. It cannot be shown again by a redirect: only its hash is stored."""
    with wired().database.writing() as session:
        code = mailed_links.show_code(session, accounts.get(session, auth.current_reader().account.id))
    return show(code=code)


@web.post("/settings/linked/<uuid:profile_id>/unlink")
def unlink_profile(profile_id: uuid.UUID) -> Response:
    with wired().database.writing() as session:
        profile = linking.unlink(session, auth.current_actor(), profile_id)
        profile_name = f"{profile.platform}, {profile.display_name or profile.platform_user_id}"
    return page.done(None, url_for("web.settings"), f"Unlinked: {profile_name}.")


def show(
    form: SettingsForm | None = None,
    *,
    mine: AccountForms | None = None,
    run: Form | None = None,
    keys: Form | None = None,
    status: int = 200,
    code: ShownCode | None = None,
    alert: str | None = None,
) -> Response:
    """Render the settings page; ``form``, ``mine``, ``run`` and ``keys`` are posted forms with errors, if any."""

    who = auth.current_reader()
    account = who.account
    shown = form or SettingsForm(
        theme=account.theme,
        content_warnings=account.content_warnings,
        media_veil=account.media_veil.value,
        shortcuts=account.shortcuts,
        language=account.language or "",
        timezone=account.timezone or DEVICE_ZONE,
        undo_seconds=account.undo_seconds or "",
        digest=account.digest.value,
        attention_mail=account.attention_mail,
    )
    community = auth.community_or_none()
    moderates = community is not None and auth.may(Permission.MODERATE, community.id)
    limits = wired().settings
    with wired().database.reading() as session:
        run = run or run_form(session, account)
        linked = linking.linked_to(session, account.id)
        connections = identities.connections(session, account.id)
        signed_in = sessions.still_open(
            session,
            account.id,
            idle=timedelta(minutes=limits.session_idle_minutes),
            longest=timedelta(hours=limits.session_hours),
        )
    return page.render(
        "account/settings.html",
        status=status,
        alert=alert,
        form=shown,
        run=run,
        keys=keys or keys_form(account),
        is_rebound=bool(account.key_bindings),
        usual_break=rules.BREAK_AFTER_SEVERE,
        undo_usual=community_settings.for_community(community, wired().community_defaults).undo_seconds
        if community and moderates
        else None,
        undo_bounds=rules.UNDO_SECONDS,
        operates=_operates(),
        mine=mine or AccountForms(name=NameForm(display_name=account.display_name)),
        email=account.sign_in_name,
        is_confirmed=account.confirmed_at is not None,
        linked=linked,
        connections=connections,
        code=code,
        code_minutes=rules.LINK_CODE_MINUTES,
        browsers=signed_in,
        this_browser=who.sign_in.id,
        device=browsers.device,
        way=browsers.way,
        password_min=rules.PASSWORD_MIN,
    )
