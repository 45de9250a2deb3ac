"""Settings, Account: e-mail address, password, signed-in browsers, deletion."""

import uuid

from flask import Response, flash, make_response, redirect, url_for
from wtforms import Form

from app.core import limits
from app.core.errors import Conflict, Invalid, TooMany
from app.core.mail import Kind
from app.core.people import accounts, credentials, dashboard, passwords, sessions
from app.core.raters import digests
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.upkeep import erasure
from app.core.vocabulary import SessionEnd
from app.web import auth, forms, page
from app.web.account import session_cookie
from app.web.account.forms import AccountForms, DeleteForm, NewEmailForm, NewPasswordForm
from app.web.account.settings import show
from app.web.account.sign_up import too_many_page
from app.web.blueprint import web
from app.wiring import wired

WRONG = lazy_gettext("This is not your current password.")
STOPPED_MAIL = {
    Kind.DIGEST: lazy_gettext("Mail about posts that need help"),
    Kind.ATTENTION: lazy_gettext("Mail when something needs an operator"),
}
"""The headings of the page that stops each kind of mail."""


@web.post("/settings/email")
@auth.asks_again(own="email_password")
def change_email() -> Response:
    form = forms.posted(NewEmailForm)
    account_forms = AccountForms(email=form)
    if refused := _unproven(form, "email_password", account_forms):
        return refused
    account = auth.current_reader().account
    try:
        wired().throttle.hit("mail", limits.email(form.email.data or ""))
        with wired().database.writing() as session:
            email = credentials.ask_new_email(
                session, accounts.get(session, account.id), form.email.data or ""
            )
    except TooMany as refusal:
        return too_many_page(refusal, _("Too many mails were asked for."))
    except Invalid as refusal:
        forms.explain(form, refusal)
        return show("account", mine=account_forms, status=422)
    return page.done(
        None,
        url_for("web.settings", part="account"),
        _(
            "We have sent a mail to %(email)s. Open the link in it; until then your address stays as it is.",
            email=email,
        ),
    )


@web.post("/settings/password")
@auth.asks_again(own="current_password")
def change_password() -> Response:
    form = forms.posted(NewPasswordForm)
    account_forms = AccountForms(password=form)
    if refused := _unproven(form, "current_password", account_forms):
        return refused
    who = auth.current_reader()
    try:
        hashed = passwords.hash_password(
            form.new_password.data or "", who.account.sign_in_name, "new_password"
        )
    except Invalid as refusal:
        forms.explain(form, refusal)
        return show("account", mine=account_forms, status=422)
    with wired().database.writing() as session:
        account = accounts.get(session, who.account.id)
        credentials.change_password(session, account, hashed, who.sign_in.id)
    return page.done(
        None,
        url_for("web.settings", part="account"),
        _("Your password is changed. Every other browser is signed out."),
    )


@web.post("/settings/sessions/<uuid:sign_in_id>/end")
def end_session(sign_in_id: uuid.UUID) -> Response:
    who = auth.current_reader()
    if sign_in_id == who.sign_in.id:
        response = make_response(redirect(url_for("web.sign_in"), 303))
        session_cookie.end(response)
        flash(_("You are signed out."), "status")
        return response
    with wired().database.writing() as session:
        sessions.end_one(session, who.account.id, sign_in_id)
    return page.done(
        None, url_for("web.settings", part="account", _anchor="sessions"), _("That browser is signed out.")
    )


@web.post("/settings/sessions/end-others")
def end_other_sessions() -> Response:
    who = auth.current_reader()
    with wired().database.writing() as session:
        ended = sessions.end_all(session, who.account.id, reason=SessionEnd.ELSEWHERE, but=who.sign_in.id)
    message = (
        _("Every other browser is signed out.") if ended else _("You are signed in on this browser only.")
    )
    return page.done(None, url_for("web.settings", part="account", _anchor="sessions"), message)


@web.post("/settings/delete")
@auth.asks_again(own="delete_password")
def delete_account() -> Response:
    form = forms.posted(DeleteForm)
    account_forms = AccountForms(delete=form)
    if refused := _unproven(form, "delete_password", account_forms):
        return refused
    who = auth.current_reader()
    try:
        erased = erasure.erase(
            wired().database, who.actor, who.account.id, note_texts=bool(form.note_texts.data)
        )
        wired().forget(erased)
    except Conflict as refusal:
        return show("account", mine=account_forms, status=409, alert=f"{refusal.detail}.")
    response = make_response(redirect(url_for("web.home"), 303))
    session_cookie.end(response)
    flash(_("Your account is deleted."), "status")
    return response


@web.get("/unsubscribe/<uuid:account_id>/<token>")
@auth.from_mail
def unsubscribe(account_id: uuid.UUID, token: str) -> Response:
    """Show a button that unsubscribes. The link itself does not, because mail scanners open every link."""
    return _unsubscribe_page(wired().mail_links.unsubscribes_from(account_id, token), is_done=False)


@web.post("/unsubscribe/<uuid:account_id>/<token>")
@auth.one_click
def unsubscribe_submit(account_id: uuid.UUID, token: str) -> Response:
    """Unsubscribe, by the button or by a mail program (RFC 8058). The token in the URL replaces the form token."""
    kind = wired().mail_links.unsubscribes_from(account_id, token)
    if kind is not None:
        with wired().database.writing() as session:
            if kind is Kind.ATTENTION:
                dashboard.stop_attention_mail(session, account_id)
            else:
                digests.unsubscribe(session, account_id)
    return _unsubscribe_page(kind, is_done=True)


def _unsubscribe_page(kind: Kind | None, *, is_done: bool) -> Response:
    return page.render(
        "account/unsubscribe.html",
        status=200 if kind is not None else 404,
        valid=kind is not None,
        is_done=is_done,
        title=STOPPED_MAIL[kind] if kind is not None else _("Mail from this service"),
    )


def _unproven(form: Form, field: str, account_forms: AccountForms) -> Response | None:
    """Return the response if the form is invalid or the password in its ``field`` is wrong; None if both are right.

    An account without a password has no such field: it has proved itself in another way (``auth.asks_again``).
    Attempts count against the sign-in limits, so that a stolen session cannot try passwords.
    """
    if not form.validate():
        return show("account", mine=account_forms, status=422)
    if field not in form:
        return None
    account, password = auth.current_reader().account, form[field]
    try:
        wired().throttle.hit("sign_in", account.sign_in_name, auth.client_ip())
    except TooMany as refusal:
        return too_many_page(refusal, _("Too many tries."))
    if not passwords.has_password(account, password.data or ""):
        password.errors = [WRONG]
        return show("account", mine=account_forms, status=422)
    return None
