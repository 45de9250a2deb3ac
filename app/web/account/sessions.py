"""Sign in and sign out."""

from collections.abc import Sequence

from flask import Response, flash, g, make_response, redirect, session, url_for
from wtforms import EmailField, Form, HiddenField, PasswordField
from wtforms.validators import InputRequired

from app.core.errors import TooMany, Unauthenticated
from app.core.people import accounts
from app.core.people.accounts import Unconfirmed
from app.demo import sign_ins
from app.demo.sign_ins import SignIn
from app.web import auth, forms, page
from app.web.account import session_cookie, sign_up
from app.web.blueprint import web
from app.wiring import wired


class SignInForm(Form):
    """The address's syntax is not checked, so that every failure gets the same response."""

    email = EmailField("Email", [InputRequired("Enter your email address.")])
    password = PasswordField("Password", [InputRequired("Enter your password.")])
    next = HiddenField()


@web.get("/sign-in")
@auth.open_to_all
def sign_in() -> Response:
    # ``next`` can contain a link from a mail: do not send it as the referrer when this page loads files.
    g.referrer_policy = "strict-origin"
    form = forms.queried(SignInForm)
    target = auth.safe_next(form.next.data)
    if auth.reader() is not None:
        return make_response(redirect(target, 303))
    # Query parameters must not fill in the password field.
    return _show(SignInForm(next=target), 200)


@web.post("/sign-in")
@auth.signs_in
def sign_in_submit() -> Response:
    g.referrer_policy = "strict-origin"
    form = forms.posted(SignInForm)
    if not form.validate():
        return _show(form, 422)
    email = (form.email.data or "").strip()
    try:
        account_name = email.casefold()[:254]
        # Three limits: one account from many IP addresses, many accounts from one, and one account from one.
        wired().throttle.hit("sign_in_address", auth.client_ip())
        wired().throttle.hit("sign_in_account", account_name)
        wired().throttle.hit("sign_in", account_name, auth.client_ip())
    except TooMany as refusal:
        return sign_up.too_many_page(refusal, "Too many sign-in attempts.")
    try:
        with wired().database.reading() as reading:
            account = accounts.verify_credentials(reading, email, form.password.data or "")
    except Unconfirmed as refusal:
        session[sign_up.UNCONFIRMED] = str(refusal.account_id)
        return _show(form, 401, unconfirmed=True)
    except Unauthenticated as refusal:
        form.form_errors.append(f"{refusal.detail}.")
        return _show(form, 401)
    response = make_response(redirect(auth.safe_next(form.next.data), 303))
    session_cookie.begin(response, account)
    return response


@web.post("/sign-out")
@auth.open_to_all
def sign_out() -> Response:
    response = make_response(redirect(url_for("web.sign_in"), 303))
    session_cookie.end(response)
    flash("You are signed out.", "status")
    return response


def _show(form: SignInForm, status: int, *, unconfirmed: bool = False) -> Response:
    return page.render(
        "account/sign_in.html",
        status=status,
        form=form,
        demo=demo_sign_ins(),
        unconfirmed=unconfirmed,
        can_sign_up=sign_up.is_open(),
    )


def demo_sign_ins() -> Sequence[SignIn]:
    """Return the demo accounts to show: only in development, and only for a browser on this machine."""
    settings = wired().settings
    if not settings.is_demo_allowed or not auth.is_from_this_machine():
        return ()
    return sign_ins.load_sign_ins(settings.data_dir)
