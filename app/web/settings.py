"""Settings: how the dashboard looks and behaves for whoever is signed in, and who they are on their platforms."""

import uuid
from zoneinfo import available_timezones

from flask import Response, url_for
from wtforms import BooleanField, Form, RadioField, SelectField
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # its types are older

from app.core import accounts, linking, rules
from app.core.errors import Invalid
from app.core.linking import ShownCode
from app.web import auth, forms, page
from app.web.blueprint import web
from app.wiring import wired

THEME_WORDS = {"system": "As my device is set", "light": "Light", "dark": "Dark"}
DEVICE_ZONE = "UTC"
"""What an account begins with; ``auth`` then leaves times to the browser. Who wants UTC has Etc/UTC."""


def _zones() -> list[SelectChoice]:
    places = sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
    return [
        SelectChoice(value=DEVICE_ZONE, label="As my device is set"),
        SelectChoice(value="Etc/UTC", label="UTC"),
        *(SelectChoice(value=name, label=name.replace("_", " ")) for name in places),
    ]


class SettingsForm(Form):
    """One's own preferences."""

    theme = RadioField("Theme", choices=forms.choices(THEME_WORDS))
    content_warnings = BooleanField("Hide sensitive posts until I choose “Show content”")
    shortcuts = BooleanField("Single-key shortcuts")
    timezone = SelectField("Timezone", choices=_zones())


@web.get("/settings")
def settings() -> Response:
    return _show()


@web.post("/settings")
def save_settings() -> Response:
    form = forms.posted(SettingsForm)
    if forms.filled_in(form):
        try:
            with wired().database.writing() as session:
                accounts.set_preferences(
                    accounts.get(session, auth.current_reader().account.id),
                    theme=form.theme.data,
                    shortcuts=bool(form.shortcuts.data),
                    content_warnings=bool(form.content_warnings.data),
                    timezone=form.timezone.data,
                )
            return page.done(None, url_for("web.settings"), "Your settings are saved.")
        except Invalid as refusal:
            forms.explain(form, refusal)
    return _show(form, status=422)


@web.post("/settings/link-code")
def show_link_code() -> Response:
    """The code stands in this answer alone: only its hash is kept, so nothing can redirect to it."""
    with wired().database.writing() as session:
        code = linking.show_code(session, accounts.get(session, auth.current_reader().account.id))
    return _show(code=code)


@web.post("/settings/linked/<uuid:profile_id>/unlink")
def unlink_profile(profile_id: uuid.UUID) -> Response:
    with wired().database.writing() as session:
        profile = linking.unlink(session, auth.current_actor(), profile_id)
        named = f"{profile.platform}, {profile.display_name or profile.platform_user_id}"
    return page.done(None, url_for("web.settings"), f"Unlinked: {named}.")


def _show(form: SettingsForm | None = None, *, status: int = 200, code: ShownCode | None = None) -> Response:
    account = auth.current_reader().account
    shown = form or SettingsForm(
        theme=account.theme,
        content_warnings=account.content_warnings,
        shortcuts=account.shortcuts,
        timezone=account.timezone or DEVICE_ZONE,
    )
    with wired().database.reading() as session:
        linked = linking.linked_to(session, account.id)
    return page.render(
        "settings.html",
        status=status,
        form=shown,
        linked=linked,
        code=code,
        code_minutes=rules.LINK_CODE_MINUTES,
    )
