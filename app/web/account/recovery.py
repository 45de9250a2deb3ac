"""Forgotten passwords: send a link by mail, then set a new password."""

from flask import Response, make_response, redirect, url_for

from app.core import limits
from app.core.errors import Invalid
from app.core.people import accounts, credentials, mailed_links
from app.core.people.mailed_links import LinkOver
from app.core.vocabulary import LinkPurpose
from app.web import auth, forms, page
from app.web.account.forms import ForgotForm, ResetForm
from app.web.account.sign_up import invalid_link_page, mail_sent_response, too_many_mails
from app.web.blueprint import web
from app.wiring import wired


@web.get("/forgot")
@auth.open_to_all
def forgot() -> Response:
    if auth.reader() is not None:
        return make_response(redirect(url_for("web.settings"), 303))
    return page.render("account/forgot.html", form=ForgotForm())


@web.post("/forgot")
@auth.open_to_all
def forgot_submit() -> Response:
    form = forms.posted(ForgotForm)
    if not form.validate():
        return page.render("account/forgot.html", status=422, form=form)
    try:
        email = limits.email(form.email.data or "")
    except Invalid as refusal:
        forms.explain(form, refusal)
        return page.render("account/forgot.html", status=422, form=form)
    if refused := too_many_mails(email):
        return refused
    with wired().database.writing() as writing:
        credentials.request_reset(writing, email)
    return mail_sent_response("reset")


@web.get("/reset/<token>")
@auth.from_mail
def reset(token: str) -> Response:
    try:
        return _show(ResetForm(username=_email_of(token)))
    except LinkOver:
        return invalid_link_page("reset")


@web.post("/reset/<token>")
@auth.from_mail
def reset_submit(token: str) -> Response:
    form = forms.posted(ResetForm)
    try:
        email = _email_of(token)
        form.username.data = email
        if not form.validate():
            return _show(form, 422)
        hashed = accounts.hash_password(form.password.data or "", email)
        with wired().database.writing() as writing:
            credentials.reset(writing, token, hashed)
    except LinkOver:
        return invalid_link_page("reset")
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show(form, 422)
    return page.done(
        None,
        url_for("web.sign_in"),
        "Your password is changed, and you are signed out everywhere. Sign in with it.",
    )


def _email_of(token: str) -> str:
    with wired().database.reading() as reading:
        return mailed_links.find(reading, token, LinkPurpose.RESET).email


def _show(form: ResetForm, status: int = 200) -> Response:
    return page.render("account/reset.html", status=status, form=form, password_min=limits.PASSWORD_MIN)
