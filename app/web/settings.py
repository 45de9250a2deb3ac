"""Settings: how the dashboard looks and behaves for whoever is signed in."""

from zoneinfo import available_timezones

from flask import Response, url_for
from wtforms import BooleanField, Form, RadioField, SelectField
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # its types are older

from app.core import accounts
from app.core.errors import Invalid
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
    account = auth.current_reader().account
    form = SettingsForm(
        theme=account.theme,
        content_warnings=account.content_warnings,
        shortcuts=account.shortcuts,
        timezone=account.timezone or DEVICE_ZONE,
    )
    return page.render("settings.html", form=form)


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
    return page.render("settings.html", status=422, form=form)
