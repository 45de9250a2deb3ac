"""Asking again who it is, before what concerns security (``auth.asks_again``).

A form that was sent more than ten minutes after the last proof comes back in a page that asks for one. That page posts
the form again, to where it was sent, together with the proof: so it goes through in one step, and its text stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from flask import Response, abort, after_this_request, current_app, make_response, redirect, request, url_for
from wtforms import Form, HiddenField, PasswordField

from app.core import security_events
from app.core.errors import TooMany
from app.core.people import passwords, sessions
from app.core.security_events import SecurityEvent
from app.web import auth, forms, page, security
from app.web.account import session_cookie, sign_up
from app.web.account import sessions as sign_ins
from app.web.blueprint import web
from app.wiring import wired

PROOFS = ("proof_password",)
"""The fields of this page that prove something; the others are those of the form that was sent."""


class ProofForm(Form):
    """A proof that it is the person who signed in."""

    proof_password = PasswordField("Your password")


class NextForm(Form):
    """Where to go after the proof."""

    next = HiddenField()


@dataclass(frozen=True)
class Asked:
    """What is carried out after the proof: ``fields`` are posted to ``path``; ``back`` is the page before it."""

    path: str
    back: str
    fields: Sequence[tuple[str, str]]
    texts: Sequence[tuple[str, str]] = ()
    lacks: bool = False

    @classmethod
    def of_request(cls) -> "Asked | None":
        """The form that was sent, also when it comes again with a wrong proof; None if it is none of ours."""
        kept = sign_ins.of_request()
        if kept is None:
            return None
        back, lacks = request.form.get("proof_back"), "proof_lacks" in request.form
        return cls(
            kept.path,
            auth.safe_next(back) if back else kept.back,
            kept.fields,
            kept.texts,
            kept.lacks or lacks,
        )


@web.before_request
def ask_to_confirm() -> Response | None:
    """Ask for a proof if the view needs one and the last one is too old. With the right proof the view goes on."""
    view = current_app.view_functions.get(request.endpoint or "")
    if not getattr(view, "asks_again", False) or sessions.is_proved(auth.current_reader().sign_in):
        return None
    own = getattr(view, "own_proof", "")
    if own and request.form.get(own):
        return None
    if request.method in security.SAFE_METHODS or page.wants_part():
        return _lead_to_page()
    return _ask()


def require_proof() -> None:
    """Ask like ``auth.asks_again``, for views that need a proof for a part of their form alone. Call it outside of
    transactions."""
    if not sessions.is_proved(auth.current_reader().sign_in):
        response = _ask()
        if response is not None:
            abort(response)


@web.get("/confirm-it-is-you")
def confirm_page() -> Response:
    """Ask for a proof before a page, such as one that is downloaded."""
    target = auth.safe_next(forms.queried(NextForm).next.data)
    if sessions.is_proved(auth.current_reader().sign_in):
        return make_response(redirect(target, 303))
    return _show(ProofForm(), Asked(url_for("web.confirmed"), "/", (("next", target),)), 200)


@web.post("/confirm-it-is-you")
@auth.asks_again()
def confirmed() -> Response:
    return make_response(redirect(auth.safe_next(forms.posted(NextForm).next.data), 303))


def _ask() -> Response | None:
    """Check the proof that came with the form; without a right one return the page that asks for it."""
    asked = Asked.of_request()
    return _prove_or_ask(asked) if asked is not None else _lead_to_page()


def _lead_to_page() -> Response:
    is_page = request.method in security.SAFE_METHODS and not page.wants_part()
    target = auth.current_path() if is_page else auth.page_behind_part()
    url = url_for("web.confirm_page", next=target)
    if not page.wants_part():
        return make_response(redirect(url, 303))
    # Not a success: what was typed on the page is then kept as a draft.
    response = make_response("", 401)
    response.headers["HX-Redirect"] = url
    return response


def _prove_or_ask(asked: Asked) -> Response | None:
    if not any(request.form.get(name) for name in PROOFS):
        return _show(ProofForm(), asked, 401)
    form, who = forms.posted(ProofForm), auth.current_reader()
    try:
        sign_ins.count_attempt(who.account.sign_in_name)
    except TooMany as refusal:
        form.form_errors.append(sign_up.wait_words(refusal, "Too many tries."))
        response = _show(form, asked, 429)
        response.headers["Retry-After"] = str(refusal.retry_after)
        return response
    if not passwords.has_password(who.account, form.proof_password.data or ""):
        sign_ins.count_failure(who.account.sign_in_name, who.account.id)
        form.proof_password.errors = ["This is not your password."]
        return _show(form, asked, 401)
    _record(is_strong=False)
    return None


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


def _show(form: ProofForm, asked: Asked, status: int) -> Response:
    return page.render("account/confirm_identity.html", status=status, form=form, asked=asked)
