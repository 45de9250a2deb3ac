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
from app.web import auth, forms, page, security
from app.web.account import kept_forms, session_cookie, sign_up
from app.web.account.kept_forms import KeptForm
from app.web.blueprint import web
from app.wiring import wired

OF_ANOTHER = "What was typed before belongs to another person, so it was dropped. Nothing was changed."


class SignInForm(Form):
    """The address's syntax is not checked, so that every failure gets the same response."""

    email = EmailField("Email", [InputRequired("Enter your email address.")], id="sign-in-email")
    password = PasswordField("Password", [InputRequired("Enter your password.")], id="sign-in-password")
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
    kept = kept_forms.carried()
    if not form.validate():
        return _show(form, 422, kept=kept)
    email = (form.email.data or "").strip()
    try:
        account_name = email.casefold()[:254]
        # Three limits: one account from many IP addresses, many accounts from one, and one account from one.
        wired().throttle.hit("sign_in_address", auth.client_ip())
        wired().throttle.hit("sign_in_account", account_name)
        wired().throttle.hit("sign_in", account_name, auth.client_ip())
    except TooMany as refusal:
        if kept is None:
            return sign_up.too_many_page(refusal, "Too many sign-in attempts.")
        form.form_errors.append(sign_up.wait_words(refusal, "Too many sign-in attempts."))
        response = _show(form, 429, kept=kept)
        response.headers["Retry-After"] = str(refusal.retry_after)
        return response
    try:
        with wired().database.reading() as reading:
            account = accounts.verify_credentials(reading, email, form.password.data or "")
    except Unconfirmed as refusal:
        session[sign_up.UNCONFIRMED] = str(refusal.account_id)
        return _show(form, 401, unconfirmed=True, kept=kept)
    except Unauthenticated as refusal:
        form.form_errors.append(f"{refusal.detail}.")
        return _show(form, 401, kept=kept)
    if kept is None and not page.wants_part():
        response = make_response(redirect(auth.safe_next(form.next.data), 303))
    elif kept is None or not kept.belongs_to(account.id):
        response = page.done(None, url_for("web.home"), OF_ANOTHER, status=409)
    elif page.wants_part():
        response = page.done(
            "account/_sign_in_here.html", "", "You are signed in. Press the button again.", form=None
        )
        page.renew_token(response, security.csrf_token_for(account.id))
    else:
        response = kept_forms.ask_to_send(kept, account.id, 200)
    session_cookie.begin(response, account)
    return response


@web.errorhandler(auth.SignedOut)
def ask_again(error: auth.SignedOut) -> Response:
    """Answer a form that was sent signed out: with a sign-in form that carries it along."""
    kept = kept_forms.of_request()
    form = SignInForm(next=kept.back if kept is not None else "/")
    return _show(form, 401, kept=kept, signed_out=f"{error.detail}.")


@web.post("/sign-out")
@auth.open_to_all
def sign_out() -> Response:
    response = make_response(redirect(url_for("web.sign_in"), 303))
    session_cookie.end(response)
    flash("You are signed out.", "status")
    return response


def _show(
    form: SignInForm,
    status: int,
    *,
    unconfirmed: bool = False,
    kept: KeptForm | None = None,
    signed_out: str = "",
) -> Response:
    # htmx swaps 422, so that the errors appear in the dialog; a 401 opens it.
    in_place = page.wants_part() and not signed_out
    return page.render(
        "account/sign_in.html",
        "account/_sign_in_here.html",
        status=422 if in_place else status,
        form=form,
        demo=demo_sign_ins(),
        unconfirmed=unconfirmed,
        can_sign_up=sign_up.is_open(),
        kept=kept,
        signed_out=signed_out,
    )


def demo_sign_ins() -> Sequence[SignIn]:
    """Return the demo accounts to show: only in development, and only for a browser on this machine."""
    settings = wired().settings
    if not settings.is_demo_allowed or not auth.is_from_this_machine():
        return ()
    return sign_ins.load_sign_ins(settings.data_dir)
