"""Signing in with a passkey. The browser's script asks for a challenge, and the form sends what the passkey answers."""

from flask import Response, g, make_response
from wtforms import Form, HiddenField

from app.core import security_events
from app.core.errors import TooMany
from app.core.models import Account
from app.core.people import passkeys
from app.core.people.passkeys import Challenge, Proof
from app.core.security_events import SecurityEvent
from app.core.texts import gettext as _
from app.core.vocabulary import SignInMethod, SignInStepPurpose
from app.web import auth, forms
from app.web.account import kept_forms, session_cookie, sign_up
from app.web.account import sessions as sign_ins
from app.web.account.relying_party import require_party
from app.web.blueprint import web
from app.wiring import wired


class PasskeyForm(Form):
    """What a passkey answered, as the browser's script wrote it down."""

    credential = HiddenField()
    next = HiddenField()


def options_response(challenge: Challenge, purpose: SignInStepPurpose) -> Response:
    """Return the challenge to the script, and its token to the browser."""
    response = make_response(challenge.options)
    response.headers["Content-Type"] = "application/json"
    session_cookie.set_step(response, purpose, challenge.token, passkeys.LASTS)
    return response


def begin_proof(account: Account | None) -> Response:
    """Return a challenge for any passkey, or for one of this account's."""
    party, former = require_party(), session_cookie.step_token(SignInStepPurpose.PASSKEY)
    with wired().database.writing() as session:
        challenge = passkeys.begin_proof(session, party, account, former)
    return options_response(challenge, SignInStepPurpose.PASSKEY)


def finish_proof(credential: str, account: Account | None = None) -> Proof:
    """Check what a passkey answered to the challenge of this browser. Callers count attempts."""
    party, token = require_party(), session_cookie.step_token(SignInStepPurpose.PASSKEY)
    with wired().database.writing() as session:
        return passkeys.finish_proof(session, party, token, credential, account)


@web.post("/sign-in/passkey/options")
@auth.signs_in
def passkey_options() -> Response:
    wired().throttle.hit("sign_in_address", auth.client_ip())
    return begin_proof(None)


@web.post("/sign-in/passkey")
@auth.signs_in
def sign_in_with_passkey() -> Response:
    g.referrer_policy = "strict-origin"
    form, kept = forms.posted(PasskeyForm), kept_forms.carried()
    target = auth.safe_next(form.next.data)
    try:
        wired().throttle.hit("sign_in_address", auth.client_ip())
    except TooMany as refusal:
        return sign_up.too_many_page(refusal, _("Too many sign-in attempts."))
    proof = finish_proof(form.credential.data or "")
    if proof.account is None:
        security_events.log(SecurityEvent.SIGN_IN_FAILED, account_id=None, client_ip=auth.client_ip())
        return sign_ins.show_failure(f"{proof.refusal}.", target, kept)
    response = sign_ins.response_for(proof.account, target, kept)
    session_cookie.begin(response, proof.account, method=SignInMethod.PASSKEY, is_strong=True)
    session_cookie.end_step(response, SignInStepPurpose.PASSKEY)
    return response
