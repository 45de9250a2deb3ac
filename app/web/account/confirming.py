"""Asking again who it is, before what concerns security (``auth.asks_again``).

A form that was sent more than ten minutes after the last proof comes back in a page that asks for one. That page posts
the form again, to where it was sent, together with the proof: so it goes through in one step, and its text stays. Only
a provider takes people away; their form waits in the step and is sent by a button when they are back.
"""

from dataclasses import replace
from typing import Any

from flask import Response, abort, after_this_request, current_app, make_response, redirect, request, url_for
from wtforms import Form, HiddenField, PasswordField, StringField

from app.core import security_events
from app.core.errors import TooMany
from app.core.people import identities, passwords, second_factors, sessions, ways_in
from app.core.security_events import SecurityEvent
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.web import auth, forms, page, security
from app.web.account import kept_forms, passkeys, second_step, session_cookie, sign_up
from app.web.account import sessions as sign_ins
from app.web.account.kept_forms import KeptForm
from app.web.account.relying_party import relying_party
from app.web.blueprint import web
from app.wiring import wired


class ProofForm(Form):
    """A proof that it is the person who signed in. The other fields of the page are those of the form that was sent.

    ``credential``: what a passkey answered, where ``proof_passkey`` says that this page asked for it.
    """

    proof_password = PasswordField(lazy_gettext("Your password"))
    proof_code = StringField(lazy_gettext("Code"))
    proof_passkey = HiddenField()
    credential = HiddenField()


class NextForm(Form):
    """Where to go after the proof."""

    next = HiddenField()


@web.before_request
def ask_to_confirm() -> Response | None:
    """Ask for a proof if the view needs one and the last one is too old. With the right proof the view goes on."""
    view = current_app.view_functions.get(request.endpoint or "")
    if not getattr(view, "asks_again", False):
        return None
    who = auth.current_reader()
    own = getattr(view, "own_proof", "")
    proves_itself = own and request.form.get(own) and _ways()["password"]
    return None if proves_itself or sessions.is_proved(who.sign_in) else _ask()


def require_proof() -> None:
    """Ask as ``auth.asks_again`` does, where only a part of a form needs it. Call it outside of transactions."""
    response = None if sessions.is_proved(auth.current_reader().sign_in) else _ask()
    if response is not None:
        abort(response)


@web.get("/confirm-it-is-you")
def confirm_page() -> Response:
    """Ask for a proof before a page, such as one that is downloaded."""
    target = auth.safe_next(forms.queried(NextForm).next.data)
    if sessions.is_proved(auth.current_reader().sign_in):
        return make_response(redirect(target, 303))
    return _show(ProofForm(), KeptForm(url_for("web.confirmed"), "/", "", (("next", target),), False), 200)


@web.post("/confirm-it-is-you")
@auth.asks_again()
def confirmed() -> Response:
    return make_response(redirect(auth.safe_next(forms.posted(NextForm).next.data), 303))


@web.post("/confirm-it-is-you/options")
def proof_options() -> Response:
    """Return a challenge for a passkey of the reader's."""
    return passkeys.begin_proof(auth.current_reader().account)


def _ask() -> Response | None:
    """Check the proof that came with the form; without a right one return the page that asks for it."""
    is_page = request.method in security.SAFE_METHODS and not page.wants_part()
    kept = None if is_page or page.wants_part() else kept_forms.of_request()
    if kept is not None:
        # Known when the form comes again with a wrong proof.
        back = auth.safe_next(request.form.get("proof_back")) if "proof_back" in request.form else kept.back
        return _prove_or_ask(replace(kept, back=back, lacks=kept.lacks or "proof_lacks" in request.form))
    url = url_for("web.confirm_page", next=auth.current_path() if is_page else auth.page_behind_part())
    if not page.wants_part():
        return make_response(redirect(url, 303))
    # Not a success: what was typed on the page is then kept as a draft.
    response = make_response("", 401)
    response.headers["HX-Redirect"] = url
    return response


def _prove_or_ask(kept: KeptForm) -> Response | None:
    form, account = forms.posted(ProofForm), auth.current_reader().account
    code = (form.proof_code.data or "").strip()
    credential = (form.credential.data or "") if form.proof_passkey.data else ""
    if not (form.proof_password.data or code or credential):
        return _show(form, kept, 401)
    try:
        if code or credential:
            refusal = second_step.check(account, code, credential)
        else:
            refusal = _check_password(form.proof_password.data or "")
    except TooMany as too_many:
        form.form_errors.append(sign_up.wait_words(too_many, _("Too many tries.")))
        response = _show(form, kept, 429)
        response.headers["Retry-After"] = str(too_many.retry_after)
        return response
    if not refusal:
        _record(is_strong=bool(code or credential))
        return None
    if credential:
        form.form_errors.append(refusal)
    else:
        (form.proof_code if code else form.proof_password).errors = [refusal]
    return _show(form, kept, 401)


def _check_password(password: str) -> str:
    """Return why the password is refused; empty if it is right. Raises TooMany."""
    account = auth.current_reader().account
    sign_ins.count_attempt(account.sign_in_name)
    if _ways()["password"] and passwords.has_password(account, password):
        return ""
    sign_ins.count_failure(account.sign_in_name, account.id)
    return _("This is not your password.")


def _ways() -> dict[str, Any]:
    """Return how the reader can prove who they are."""
    account = auth.current_reader().account
    with wired().database.reading() as reading:
        connected = identities.connections(reading, account.id)
        factors = second_factors.of_account(reading, account)
        has_password = account.password_hash != passwords.NO_PASSWORD and ways_in.passwords_are_on(reading)
    providers = [
        one.provider for one in connected if one.identity is not None and one.provider.enabled_at is not None
    ]
    has_passkey = factors.passkeys > 0 and relying_party() is not None
    has_code = factors.has_codes or factors.recovery_codes > 0
    return {"password": has_password, "code": has_code, "passkey": has_passkey, "providers": providers}


def _record(*, is_strong: bool) -> None:
    """Record the proof, and give the session a new token (ASVS 7.2.4)."""
    who = auth.current_reader()
    with wired().database.writing() as writing:
        token = sessions.record_proof(writing, who.sign_in.id, is_strong=is_strong)
    security_events.log(SecurityEvent.PROVED_AGAIN, account_id=who.account.id, client_ip=auth.client_ip())

    @after_this_request
    def renew(response: Response) -> Response:
        # A view that ends the session, such as one that deletes the account, has the last word.
        if not session_cookie.is_set(response):
            session_cookie.renew(response, token)
        return response


def _show(form: ProofForm, kept: KeptForm, status: int) -> Response:
    # A provider leads back to a page, or to the form that was sent.
    is_page = kept.path == url_for("web.confirmed")
    return page.render(
        "account/confirm_identity.html",
        status=status,
        form=form,
        kept=kept,
        ways=_ways(),
        next_page=dict(kept.fields).get("next", "/") if is_page else kept.back,
        away=None if is_page else kept.as_portable(),
        is_too_long=not is_page and kept.as_portable() is None,
    )
