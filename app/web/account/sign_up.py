"""Creates accounts, confirms their addresses and replaces forgotten passwords (docs/run/reliability.md).

No response reveals whether an address has an account.
"""

from typing import Any

from flask import Response, make_response, redirect, session, url_for

from app.core import limits
from app.core.errors import Forbidden, Invalid, TooMany
from app.core.models import Account, AccountLink
from app.core.people import accounts, credentials, mailed_links, passwords
from app.core.people.mailed_links import LinkOver
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.core.vocabulary import LinkPurpose
from app.web import auth, errors, forms, page
from app.web.account import providers
from app.web.account.forms import ForgotForm, ResetForm, SignUpForm
from app.web.blueprint import web
from app.wiring import wired

UNCONFIRMED = "unconfirmed"
"""Key in the form cookie: the id of an unconfirmed account for which the right password was entered."""
CLOSED = lazy_gettext("New accounts need an invitation here. Ask an admin of your community for one")


def is_open() -> bool:
    """Whether anyone may create an account."""
    return wired().settings.open_sign_up


@web.get("/sign-up")
@auth.open_to_all
def sign_up() -> Response:
    if auth.reader() is not None:
        return make_response(redirect(url_for("web.home"), 303))
    providers.require_passwords()
    if not is_open():
        raise Forbidden(CLOSED)
    return page.render("account/sign_up.html", form=SignUpForm(), password_min=limits.PASSWORD_MIN)


@web.post("/sign-up")
@auth.open_to_all
def sign_up_submit() -> Response:
    providers.require_passwords()
    if not is_open():
        raise Forbidden(CLOSED)
    form = forms.posted(SignUpForm)
    if not form.validate():
        return _again(form)
    try:
        email = limits.email(form.email.data or "")
        limits.text(form.display_name.data or "", "display_name", limits.NAME_MAX)
        if refused := too_many_mails(email):
            return refused
        # Hashing is slow: do it before the transaction, and always, so that the time does not reveal taken addresses.
        hashed = passwords.hash_password(form.password.data or "", email)
        with wired().database.writing() as writing:
            credentials.sign_up(writing, email, form.display_name.data or "", hashed)
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _again(form)
    return mail_sent_response("confirm")


@web.post("/confirm/again")
@auth.open_to_all
def send_confirmation_again() -> Response:
    """Mail the confirmation again, to the account in the signed form cookie: its password was just entered."""
    account_id: Any = session.get(UNCONFIRMED)
    if account_id is None:
        return make_response(redirect(url_for("web.sign_in"), 303))
    with wired().database.reading() as reading:
        email = accounts.email_of(reading, account_id)
    if email is not None:
        if refused := too_many_mails(email):
            return refused
        with wired().database.writing() as writing:
            credentials.send_again(writing, email)
    return mail_sent_response("confirm")


@web.get("/mail-sent")
@auth.open_to_all
def mail_sent() -> Response:
    """Show the same page for every address. If mail goes to a folder, say so to browsers on this machine."""
    about = forms.query_arg("about")
    settings = wired().settings
    shows_folder = settings.is_demo_allowed and not settings.smtp_host and auth.is_from_this_machine()
    return page.render(
        "account/mail_sent.html",
        about=about if about in {"confirm", "reset"} else "confirm",
        folder=settings.data_dir.resolve() / "mail" if shows_folder else None,
        confirm_hours=limits.CONFIRM_HOURS,
        reset_minutes=limits.RESET_MINUTES,
    )


@web.get("/confirm/<token>")
@auth.from_mail
def confirm(token: str) -> Response:
    """Show a button that confirms. The link itself does not, because mail scanners open every link."""
    try:
        link = _found(token)
    except LinkOver:
        return invalid_link_page("confirm")
    is_new = link.purpose is LinkPurpose.CHANGE_EMAIL
    return page.render("account/confirm.html", email=link.email, is_new=is_new)


@web.post("/confirm/<token>")
@auth.from_mail
def confirm_submit(token: str) -> Response:
    try:
        purpose = _found(token).purpose
        with wired().database.writing() as writing:
            if purpose is LinkPurpose.CHANGE_EMAIL:
                account: Account = credentials.confirm_email(writing, token)
            else:
                account = credentials.confirm(writing, token)
    except LinkOver:
        return invalid_link_page("confirm")
    session.pop(UNCONFIRMED, None)
    who = auth.reader()
    if who is not None and who.account.id == account.id:
        return page.done(
            None,
            url_for("web.settings", part="account"),
            _("You sign in with %(email)s from now on.", email=account.email),
        )
    return page.done(None, url_for("web.sign_in"), _("Your email address is confirmed. Sign in to go on."))


def _found(token: str) -> AccountLink:
    with wired().database.reading() as reading:
        try:
            return mailed_links.find(reading, token, LinkPurpose.CONFIRM)
        except LinkOver:
            return mailed_links.find(reading, token, LinkPurpose.CHANGE_EMAIL)


def _again(form: SignUpForm) -> Response:
    return page.render("account/sign_up.html", status=422, form=form, password_min=limits.PASSWORD_MIN)


def mail_sent_response(about: str) -> Response:
    """Redirect to the page about the sent mail; the same if no mail was sent because there is no account."""
    response = make_response(redirect(url_for("web.mail_sent", about=about), 303))
    response.vary.add("HX-Request")
    return response


def invalid_link_page(about: str) -> Response:
    """Render the page for a link that is invalid or expired. It says how to get another."""
    return page.render("account/link_over.html", status=410, about=about, can_sign_up=is_open())


def too_many_mails(email: str) -> Response | None:
    """Count a mail requested by a signed-out user. Returns the error page if the limit is exceeded, else None.

    Addresses without an account are counted too.
    """
    try:
        wired().throttle.hit("sign_up", auth.client_ip())
        wired().throttle.hit("mail", email)
    except TooMany as refusal:
        return too_many_page(refusal, _("Too many mails were asked for."))
    return None


def too_many_page(refusal: TooMany, what: str) -> Response:
    """Render the page that says how long to wait."""
    response = errors.render_error(429, wait_words(refusal, what))
    response.headers["Retry-After"] = str(refusal.retry_after)
    return response


def wait_words(refusal: TooMany, what: str) -> str:
    """Return the sentence that says how long to wait."""
    minutes = -(-refusal.retry_after // 60)
    wait = ngettext("Wait %(num)s minute, then try again.", "Wait %(num)s minutes, then try again.", minutes)
    return f"{what} {wait}"


@web.get("/forgot")
@auth.open_to_all
def forgot() -> Response:
    providers.require_passwords()
    if auth.reader() is not None:
        return make_response(redirect(url_for("web.settings", part="account"), 303))
    return page.render("account/forgot.html", form=ForgotForm())


@web.post("/forgot")
@auth.open_to_all
def forgot_submit() -> Response:
    providers.require_passwords()
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
    providers.require_passwords()
    try:
        return _show(ResetForm(username=_email_of(token)))
    except LinkOver:
        return invalid_link_page("reset")


@web.post("/reset/<token>")
@auth.from_mail
def reset_submit(token: str) -> Response:
    providers.require_passwords()
    form = forms.posted(ResetForm)
    try:
        email = _email_of(token)
        form.username.data = email
        if not form.validate():
            return _show(form, 422)
        hashed = passwords.hash_password(form.password.data or "", email)
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
        _("Your password is changed, and you are signed out everywhere. Sign in with it."),
    )


def _email_of(token: str) -> str:
    with wired().database.reading() as reading:
        return mailed_links.find(reading, token, LinkPurpose.RESET).email


def _show(form: ResetForm, status: int = 200) -> Response:
    return page.render("account/reset.html", status=status, form=form, password_min=limits.PASSWORD_MIN)
