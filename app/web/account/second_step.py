"""The second step of a sign-in with a password: a code, a recovery code or a passkey, within ten minutes."""

from datetime import timedelta

from flask import Response, g, make_response, redirect, url_for
from wtforms import Form, HiddenField, StringField

from app.core import limits
from app.core.errors import TooMany
from app.core.models import Account
from app.core.people import passwords, second_factors, sign_in_steps
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import SignInStepPurpose
from app.web import auth, forms, page
from app.web.account import kept_forms, passkeys, providers, session_cookie, sign_up
from app.web.account import sessions as sign_ins
from app.web.account.kept_forms import KeptForm
from app.web.account.relying_party import relying_party
from app.web.account.sessions import SecondFactorNeeded
from app.web.blueprint import web
from app.wiring import wired

LASTS = timedelta(minutes=limits.SECOND_FACTOR_MINUTES)
PURPOSE = SignInStepPurpose.SECOND_FACTOR
OVER = lazy_gettext("The second step took too long. Sign in again.")
WRONG_CODE = lazy_gettext(
    "This code is wrong, or it was used already. Wait for the next one, then try again."
)

WRONG_RECOVERY_CODE = lazy_gettext("This recovery code is wrong, or it was used already.")


class SecondStepForm(Form):
    """A code, a recovery code, or what a passkey answered (``credential``)."""

    code = StringField(lazy_gettext("Code"), id="second-step-code")
    recovery_code = StringField(lazy_gettext("Recovery code"))
    credential = HiddenField()
    next = HiddenField()


@web.errorhandler(SecondFactorNeeded)
def begin_second_step(needed: SecondFactorNeeded) -> Response:
    """Remember that the password was right, and ask for the second factor."""
    account = needed.account
    with wired().database.writing() as session:
        former = session_cookie.step_token(PURPOSE)
        token = sign_in_steps.begin(session, PURPOSE, LASTS, account_id=account.id, replaces=former)
        if needed.renewed_hash is not None:
            passwords.renew_hash(session, account, needed.renewed_hash)
    if needed.kept is None and not page.wants_part():
        response = make_response(redirect(url_for("web.second_step", next=needed.target), 303))
    else:
        response = _show(SecondStepForm(next=needed.target), account, 200, needed.kept)
    session_cookie.set_step(response, PURPOSE, token, LASTS)
    return response


@web.get("/sign-in/second-step")
@auth.open_to_all
def second_step() -> Response:
    g.referrer_policy = "strict-origin"
    target = auth.safe_next(forms.queried(SecondStepForm).next.data)
    if auth.reader() is not None:
        return make_response(redirect(target, 303))
    account = _begun()
    if account is None:
        return make_response(redirect(url_for("web.sign_in", next=target), 303))
    return _show(SecondStepForm(next=target), account, 200, None)


@web.post("/sign-in/second-step/options")
@auth.signs_in
def second_step_options() -> Response:
    account = _begun()
    return passkeys.begin_proof(account) if account is not None else make_response("", 401)


@web.post("/sign-in/second-step")
@auth.signs_in
def second_step_submit() -> Response:
    g.referrer_policy = "strict-origin"
    form, kept, account = forms.posted(SecondStepForm), kept_forms.carried(), _begun()
    target = auth.safe_next(form.next.data)
    providers.require_passwords()
    if account is None:
        return sign_ins.show_failure(OVER, target, kept)
    try:
        refusal = check(account, form.code.data or form.recovery_code.data or "", form.credential.data or "")
    except TooMany as too_many:
        if kept is None:
            return sign_up.too_many_page(too_many, _("Too many tries."))
        form.form_errors.append(sign_up.wait_words(too_many, _("Too many tries.")))
        return _show(form, account, 429, kept)
    if refusal and form.credential.data:
        form.form_errors.append(refusal)
    elif refusal:
        field = form.recovery_code if form.recovery_code.data else form.code
        field.errors = [WRONG_RECOVERY_CODE if form.recovery_code.data else refusal]
    if refusal:
        return _show(form, account, 401, kept)
    with wired().database.writing() as session:
        taken = sign_in_steps.take(session, session_cookie.step_token(PURPOSE), PURPOSE)
    if taken is None:
        return sign_ins.show_failure(OVER, target, kept)
    response = sign_ins.response_for(account, target, kept)
    session_cookie.begin(response, account, is_strong=True)
    session_cookie.end_step(response, PURPOSE)
    session_cookie.end_step(response, SignInStepPurpose.PASSKEY)
    return response


def check(account: Account, code: str, credential: str) -> str:
    """Check a code or what a passkey answered, and use it up. Return why it is refused; empty if it is right.

    Attempts count as those of passwords do. Beside that, only so many wrong codes a day are taken
    (``limits.WRONG_CODES``): a code has six digits.

    Raises:
        TooMany: too many attempts.
    """
    name, throttle = account.sign_in_name, wired().throttle
    whom = (str(account.id), session_cookie.device_for(name) or "")
    sign_ins.count_attempt(name)
    if credential:
        refusal = passkeys.finish_proof(credential, account).refusal
        refusal = f"{refusal}." if refusal else ""
    else:
        throttle.check("wrong_codes", *whom)
        with wired().database.writing() as session:
            is_right = second_factors.verify_code(session, wired().sealer, account, code)
        refusal = "" if is_right else WRONG_CODE
        if refusal:
            throttle.reaches("wrong_codes", *whom)
    if refusal:
        sign_ins.count_failure(name, account.id)
    return refusal


def _begun() -> Account | None:
    """The account whose password this browser has just given; None if it has not, or too long ago."""
    with wired().database.reading() as session:
        step = sign_in_steps.find(session, session_cookie.step_token(PURPOSE), PURPOSE)
        account = session.get(Account, step.account_id) if step is not None else None
    return account if account is not None and account.disabled_at is None else None


def _show(form: SecondStepForm, account: Account, status: int, kept: KeptForm | None) -> Response:
    with wired().database.reading() as session:
        factors = second_factors.of_account(session, account)
    return page.render(
        "account/second_step.html",
        "account/_second_step_here.html",
        status=422 if page.wants_part() and status >= 400 else status,
        form=form,
        factors=factors,
        offers_passkeys=factors.passkeys > 0 and relying_party() is not None,
        kept=kept,
    )
