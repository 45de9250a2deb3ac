"""Saves the section of the settings page about the keys that a person presses."""

from flask import Response, url_for

from app.core.errors import Invalid
from app.core.people import accounts, shortcuts
from app.web import auth, forms, page
from app.web.account import settings
from app.web.account.key_form import KeysForm, field_name
from app.web.blueprint import web
from app.wiring import wired


@web.post("/settings/keys")
def save_keys() -> Response:
    form = forms.posted(KeysForm)
    resets = bool(forms.posted_values("reset"))
    try:
        with wired().database.writing() as session:
            account = accounts.get(session, auth.current_reader().account.id)
            shortcuts.bind(account, {} if resets else form.pressed())
    except Invalid as refusal:
        forms.explain(form, refusal, {key: field_name(key) for key in shortcuts.KEYS})
        return settings.show(keys=form, status=422)
    message = "The keys are as they were at first." if resets else "Your keys are saved."
    return page.done(None, url_for("web.settings", _anchor="keys-settings"), message)
