"""Saves the section of the settings page about a rater's run."""

from flask import Response, url_for

from app.core.errors import Invalid
from app.core.people import accounts
from app.core.raters import run
from app.web import auth, forms, page
from app.web.account import run_form, settings
from app.web.account.run_form import RunForm
from app.web.blueprint import web
from app.wiring import wired


@web.post("/settings/run")
def save_run_settings() -> Response:
    form = forms.posted(RunForm)
    with wired().database.reading() as session:
        known = run_form.offer(session, form)
    if form.validate():
        try:
            with wired().database.writing() as session:
                run.choose_preferences(
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
    return settings.show(run=form, status=422)
