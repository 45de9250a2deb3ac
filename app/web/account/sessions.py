"""Signs in and out. A form that was sent signed out goes along with the sign-in (``kept_forms.py``)."""

import uuid
from collections.abc import Sequence

from flask import Response, flash, g, make_response, redirect, session, url_for
from wtforms import EmailField, Form, HiddenField, PasswordField
from wtforms.validators import InputRequired

from app.core import security_events
from app.core.errors import TooMany, Unauthenticated
from app.core.models import Account
from app.core.people import accounts, credentials, mailed_links, passwords, second_factors
from app.core.people.accounts import Unconfirmed, WrongCredentials
from app.core.people.mailed_links import LinkOver
from app.core.security_events import SecurityEvent
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import LinkPurpose, SignInMethod
from app.demo import sign_ins
from app.demo.sign_ins import SignIn
from app.web import auth, forms, page, security
from app.web.account import joining, kept_forms, providers, session_cookie, sign_up
from app.web.account.kept_forms import KeptForm
from app.web.account.relying_party import relying_party
from app.web.blueprint import web
from app.wiring import wired


class SecondFactorNeeded(Unauthenticated):
    """The password is right, and the account has a second factor to ask for (``second_step.py``)."""

    def __init__(
        self, account: Account, target: str, kept: KeptForm | None, renewed_hash: str | None
    ) -> None:
        super().__init__("")
        self.account, self.target, self.kept, self.renewed_hash = account, target, kept, renewed_hash


class SignInForm(Form):
    """The address's syntax is not checked, so that every failure gets the same response."""

    email = EmailField(
        lazy_gettext("Email"), [InputRequired(lazy_gettext("Enter your email address."))], id="sign-in-email"
    )
    password = PasswordField(
        lazy_gettext("Password"), [InputRequired(lazy_gettext("Enter your password."))], id="sign-in-password"
    )
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
    return _show(SignInForm(next=target), 200, signed_out=session_cookie.why_signed_out())


@web.post("/sign-in")
@auth.signs_in
def sign_in_submit() -> Response:
    g.referrer_policy = "strict-origin"
    form = forms.posted(SignInForm)
    kept = kept_forms.carried()
    providers.require_passwords()
    if not form.validate():
        return _show(form, 422, kept=kept)
    email, password = form.email.data or "", form.password.data or ""
    try:
        count_attempt(accounts.sign_in_name(email))
    except TooMany as refusal:
        if kept is None:
            return sign_up.too_many_page(refusal, _("Too many sign-in attempts."))
        form.form_errors.append(sign_up.wait_words(refusal, _("Too many sign-in attempts.")))
        response = _show(form, 429, kept=kept)
        response.headers["Retry-After"] = str(refusal.retry_after)
        return response
    try:
        with wired().database.reading() as reading:
            account = accounts.verify_credentials(reading, email, password)
            needs_more = second_factors.has_strong(reading, account)
    except Unconfirmed as refusal:
        session[sign_up.UNCONFIRMED] = str(refusal.account_id)
        return _show(form, 401, unconfirmed=True, kept=kept)
    except WrongCredentials as refusal:
        count_failure(accounts.sign_in_name(email), refusal.account_id)
        form.form_errors.append(f"{refusal.detail}.")
        return _show(form, 401, kept=kept)
    renewed = passwords.renewed_hash(account, password)
    if needs_more:
        raise SecondFactorNeeded(account, auth.safe_next(form.next.data), kept, renewed)
    response = response_for(account, auth.safe_next(form.next.data), kept)
    session_cookie.begin(response, account, renewed)
    return response


def response_for(account: Account, target: str, kept: KeptForm | None) -> Response:
    """Return the response to a sign-in that succeeded: go to ``target``, or on with the form that was kept."""
    if not page.wants_part() or (kept is not None and not kept.belongs_to(account.id)):
        return kept_forms.return_to(target, kept, account.id)
    if kept is None:
        return page.done(None, url_for("web.home"), kept_forms.OF_ANOTHER, status=409)
    response = page.done(
        "account/_sign_in_here.html", "", _("You are signed in. Press the button again."), form=None
    )
    page.renew_token(response, security.csrf_token_for(account.id))
    return response


def show_failure(message: str, target: str, kept: KeptForm | None) -> Response:
    """Return the sign-in page with the reason why another way of signing in failed."""
    form = SignInForm(next=target)
    form.form_errors.append(message)
    return _show(form, 401, kept=kept)


@web.errorhandler(auth.SignedOut)
def ask_again(error: auth.SignedOut) -> Response:
    """Answer a form that was sent signed out: with a sign-in form that carries it along."""
    kept = kept_forms.of_request()
    form = SignInForm(next=kept.back if kept is not None else "/")
    why = session_cookie.why_signed_out()
    return _show(
        form,
        401,
        kept=kept,
        signed_out=_("%(reason)s Nothing was changed.", reason=why) if why else f"{error.detail}.",
    )


def count_attempt(sign_in_name: str) -> None:
    """Count an attempt. A browser where the account signed in before is counted by itself, whatever others do.

    Elsewhere there are three limits: one account from many IP addresses, many accounts from one, and one account from
    one.

    Raises:
        TooMany: a limit is exceeded.
    """
    throttle, ip = wired().throttle, auth.client_ip()
    device = session_cookie.device_for(sign_in_name)
    if device is not None:
        throttle.hit("sign_in", sign_in_name, f"device:{device}")
        return
    throttle.hit("sign_in_address", ip)
    throttle.hit("sign_in_account", sign_in_name)
    throttle.hit("sign_in", sign_in_name, ip)


def count_failure(sign_in_name: str, account_id: uuid.UUID | None) -> None:
    fields = {"account_id": account_id, "client_ip": auth.client_ip()}
    security_events.log(SecurityEvent.SIGN_IN_FAILED, **fields)
    if wired().throttle.reaches("sign_in_failures", sign_in_name):
        security_events.log(SecurityEvent.SIGN_IN_FAILED_OFTEN, **fields)
        if account_id is not None:
            with wired().database.writing() as writing:
                credentials.warn_of_failures(writing, account_id)


@web.get("/sign-in/link/<token>")
@auth.from_mail
def sign_in_link(token: str) -> Response:
    """Show a button that signs in with the link of the command ``sign-in-link``."""
    try:
        with wired().database.reading() as reading:
            link = mailed_links.find(reading, token, LinkPurpose.SIGN_IN)
    except LinkOver:
        return sign_up.invalid_link_page("sign_in")
    return page.render("account/sign_in_link.html", email=link.email)


@web.post("/sign-in/link/<token>")
@auth.from_mail
def sign_in_link_submit(token: str) -> Response:
    wired().throttle.hit("sign_in_address", auth.client_ip())
    try:
        with wired().database.writing() as writing:
            account = credentials.use_sign_in_link(writing, token)
    except LinkOver:
        return sign_up.invalid_link_page("sign_in")
    response = page.done(None, url_for("web.sign_in_methods"), _("You are signed in."))
    session_cookie.begin(response, account, method=SignInMethod.LINK)
    return response


@web.post("/sign-out")
@auth.open_to_all
def sign_out() -> Response:
    response = make_response(redirect(url_for("web.sign_in"), 303))
    session_cookie.end(response)
    flash(_("You are signed out."), "status")
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
        role_words=joining.ROLE_WORDS,
        unconfirmed=unconfirmed,
        can_sign_up=sign_up.is_open(),
        kept=kept,
        signed_out=signed_out,
        **providers.buttons(),
        offers_passkeys=relying_party() is not None,
    )


def demo_sign_ins() -> Sequence[SignIn]:
    """Return the demo accounts to show: only in development, and only for a browser on this machine."""
    settings = wired().settings
    if not settings.is_demo_allowed or not auth.is_from_this_machine():
        return ()
    demo = sign_ins.load(settings.data_dir)
    return demo.sign_ins if demo is not None else ()
