"""Signing in at a provider: the way there, the way back, connecting an account, and logouts that the provider sends.

The browser's cookie holds the token of a ``SignInStep``; the provider gets another one as ``state``. Both have to come
back, and the step is used once, so that nobody can be signed in by a link that somebody else made.
"""

import hmac
import secrets
import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from flask import Response, g, make_response, redirect, request, url_for

from app.core import clock, ids, security_events
from app.core.errors import Conflict, Forbidden, NotFound, Refused, Unavailable
from app.core.models import IdentityProvider, SignInStep
from app.core.people import identities, providers, refreshes, sessions, sign_in_steps, ways_in
from app.core.people.identities import AddressKnown
from app.core.people.openid import Attempt, Claims, Client, ProviderRefused
from app.core.people.refreshes import Replayed
from app.core.sealing import SealBroken
from app.core.security_events import SecurityEvent
from app.core.texts import gettext as _
from app.core.vocabulary import SignInMethod, SignInStepPurpose
from app.web import auth, page
from app.web.account import kept_forms, session_cookie
from app.web.account.kept_forms import KeptForm
from app.web.blueprint import web
from app.wiring import base_url, wired

PURPOSE = SignInStepPurpose.PROVIDER
LASTS = timedelta(minutes=10)
"""How long a person may take at the provider."""
LOGOUT_LIVES = timedelta(hours=1)
"""How long the ids of logout tokens are kept; tokens are valid for some minutes."""
_FIELDS = ("code", "iss", "error")
ANSWER_MOST = 8_192
"""The longest parameter that a callback may have, in characters."""


@web.post("/sign-in/with/<uuid:provider_id>")
@auth.signs_in
def sign_in_with(provider_id: uuid.UUID) -> Response:
    """Send the browser to the provider to sign in."""
    target = auth.safe_next(request.form.get("next"))
    if auth.reader() is not None:
        return make_response(redirect(target, 303))
    return leave(_enabled(provider_id), "sign_in", target, kept=kept_forms.carried())


@web.post("/sign-in/again/<uuid:provider_id>")
def prove_with(provider_id: uuid.UUID) -> Response:
    """Let the person who is signed in prove at the provider who they are, right now."""
    target, kept = auth.safe_next(request.form.get("next")), kept_forms.carried()
    return leave(_enabled(provider_id), "prove", target, max_age=0, kept=kept)


@web.post("/settings/providers/<uuid:provider_id>/connect")
@auth.asks_again()
def connect_provider(provider_id: uuid.UUID) -> Response:
    return leave(
        _enabled(provider_id), "connect", url_for("web.settings", part="account", _anchor="providers")
    )


@web.post("/settings/providers/<uuid:identity_id>/disconnect")
@auth.asks_again()
def disconnect_provider(identity_id: uuid.UUID) -> Response:
    back = url_for("web.settings", part="account", _anchor="providers")
    try:
        with wired().database.writing() as session:
            provider = identities.disconnect(session, auth.current_reader().account.id, identity_id)
    except Conflict as refusal:
        return page.done(None, back, f"{refusal.detail}.", status=409)
    return page.done(None, back, _("%(provider)s is disconnected.", provider=provider.label))


@web.get("/sign-in/callback")
@auth.open_to_all
def sign_in_callback() -> Response:
    """Take the provider's answer and do what the step was begun for."""
    g.referrer_policy = "no-referrer"  # the URL has the code
    wired().throttle.hit("sign_in_address", auth.client_ip())
    step = _take_step()
    if step is None or step.provider_id is None:
        return _failed(
            None,
            _("This sign-in is over, was used before, or began in another browser. Begin again"),
            url_for("web.sign_in"),
            400,
        )
    intent, target = step.details["intent"], auth.safe_next(step.details["next"])
    try:
        provider = _provider(step.provider_id, is_enabled=intent != "try")
    except NotFound:
        return _failed(None, _("This provider was switched off meanwhile"), url_for("web.sign_in"), 404)
    back = url_for("web.sign_in", next=target) if intent == "sign_in" else target
    try:
        answer = {
            name: request.args[name]
            for name in _FIELDS
            if name in request.args and len(request.args[name]) <= ANSWER_MOST
        }
        claims = wired().openid.finish(client_of(provider), _attempt(step), answer)
        return _finish(step, provider, claims, intent, target)
    except ProviderRefused as refusal:
        security_events.log(
            SecurityEvent.PROVIDER_REFUSED, provider_id=provider.id, client_ip=auth.client_ip()
        )
        return _failed(provider, refusal.sentence, back, 502 if refusal.is_down else 400)
    except Refused as refusal:
        is_known = isinstance(refusal, AddressKnown)
        status = 409 if is_known or isinstance(refusal, Conflict) else 403
        return _failed(provider, refusal.detail, back, status, is_known=is_known)


@web.post("/sign-in/logout/<uuid:provider_id>")
@auth.from_server
def provider_logout(provider_id: uuid.UUID) -> Response:
    """End the sessions that the provider has ended (OpenID Connect Back-Channel Logout 1.0)."""
    # A token may cost a call to the provider, so that a flood is refused before it is read.
    wired().throttle.check("sign_in_address", auth.client_ip())
    try:
        client = client_of(_provider(provider_id, is_enabled=True))
        token = wired().openid.read_logout(client, request.form.get("logout_token", ""))
        with wired().database.writing() as session:
            refreshes.log_out(session, provider_id, token, clock.now() + LOGOUT_LIVES)
    except (ProviderRefused, Replayed) as refusal:
        # Only what is refused counts: an organisation may sign out by the thousand.
        wired().throttle.hit("sign_in_address", auth.client_ip())
        sentence = refusal.sentence if isinstance(refusal, ProviderRefused) else refusal.detail
        security_events.log(
            SecurityEvent.PROVIDER_REFUSED, provider_id=provider_id, client_ip=auth.client_ip()
        )
        return make_response({"error": "invalid_request", "error_description": sentence}, 400)
    return make_response("", 200)


def leave(
    provider: IdentityProvider,
    intent: str,
    target: str,
    *,
    max_age: int | None = None,
    kept: KeptForm | None = None,
) -> Response:
    """Begin a step and return the page that leads to the provider at once. ``kept`` goes on after the way back.

    A redirect would not do: ``form-action`` of the page with the button forbids those to other hosts.
    """
    who = auth.reader()
    attempt = Attempt(
        state=ids.new_token(),
        nonce=ids.new_token(),
        code_verifier=secrets.token_urlsafe(48),
        redirect_uri=redirect_uri(),
        max_age=max_age,
    )
    try:
        url = wired().openid.authorization_url(client_of(provider), attempt)
    except ProviderRefused as refusal:
        return _failed(provider, refusal.sentence, target, 502)
    with wired().database.writing() as session:
        token = sign_in_steps.begin(
            session,
            PURPOSE,
            LASTS,
            account_id=who.account.id if who is not None else None,
            provider_id=provider.id,
            details={
                "intent": intent,
                "next": target,
                "state": ids.token_digest(attempt.state),
                "nonce": attempt.nonce,
                "code_verifier": attempt.code_verifier,
                "redirect_uri": attempt.redirect_uri,
                "max_age": max_age,
                "kept": kept.as_portable() if kept is not None else None,
            },
            replaces=session_cookie.step_token(PURPOSE),
        )
    response = page.render("account/leaving.html", provider=provider, url=url)
    response.headers["Refresh"] = f"0; url={url}"
    session_cookie.set_step(response, PURPOSE, token, LASTS)
    return response


def redirect_uri() -> str:
    """Where providers send people back to; it is registered with each of them."""
    return f"{base_url()}{url_for('web.sign_in_callback')}"


def client_of(provider: IdentityProvider) -> Client:
    """This service as the provider's client, with its discovery document: read now if it never was.

    Raises:
        ProviderRefused: the document cannot be read, or the secret cannot be opened.
    """
    if provider.discovered is None:
        document = wired().openid.discover(provider.issuer)
        with wired().database.writing() as session:
            providers.record_discovered(session, provider.id, document)
        provider.discovered = document
    try:
        return providers.client_of(provider, wired().sealer)
    except SealBroken:
        raise ProviderRefused(_("Its client secret cannot be read. Enter it again")) from None


def buttons() -> Mapping[str, Any]:
    """What the sign-in page needs: the providers to sign in with, and whether passwords are on."""
    with wired().database.reading() as session:
        return {
            "providers": providers.enabled(session),
            "passwords_are_on": ways_in.passwords_are_on(session),
        }


def require_passwords() -> None:
    """Refuse what needs a password while passwords are switched off. Raises Forbidden."""
    with wired().database.reading() as session:
        if not ways_in.passwords_are_on(session):
            raise Forbidden(_("Passwords are switched off here. Sign in with your organisation's account"))


def _finish(
    step: SignInStep, provider: IdentityProvider, claims: Claims, intent: str, target: str
) -> Response:
    kept = kept_forms.read(step.details.get("kept") or "")
    if intent == "sign_in":
        with wired().database.writing() as session:
            account = identities.sign_in(session, wired().sealer, provider, claims)
        response = kept_forms.return_to(target, kept, account.id)
        session_cookie.begin(
            response,
            account,
            method=SignInMethod.PROVIDER,
            is_strong=True,
            provider_id=provider.id,
            provider_session=claims.session,
        )
        return _without_cookie(response)
    who = auth.reader()
    if who is None or who.account.id != step.account_id:
        raise Forbidden(_("You signed out here meanwhile, or signed in as another person. Begin again"))
    if intent == "try":
        with wired().database.writing() as session:
            providers.record_try(session, who.actor, provider.id)
            identity = identities.find(session, provider.id, claims.subject)
        return _without_cookie(
            page.render(
                "administer/provider_tried.html",
                provider=provider,
                claims=claims,
                is_mine=identity is not None and identity.account_id == who.account.id,
            )
        )
    if intent == "connect":
        with wired().database.writing() as session:
            identities.connect(session, wired().sealer, provider, who.account.id, claims)
        return _without_cookie(
            page.done(None, target, _("%(provider)s is connected.", provider=provider.label))
        )
    with wired().database.writing() as session:
        identity = identities.find(session, provider.id, claims.subject)
        if identity is None or identity.account_id != who.account.id:
            raise Forbidden(_("At %(provider)s you signed in as another person", provider=provider.label))
        token = sessions.record_proof(session, who.sign_in.id, is_strong=True)
    security_events.log(SecurityEvent.PROVED_AGAIN, account_id=who.account.id, client_ip=auth.client_ip())
    response = kept_forms.return_to(target, kept, who.account.id)
    session_cookie.renew(response, token)
    return _without_cookie(response)


def _take_step() -> SignInStep | None:
    """Use up the step of this browser, if the answer's ``state`` is of it."""
    with wired().database.writing() as session:
        step = sign_in_steps.take(session, session_cookie.step_token(PURPOSE), PURPOSE)
    state = ids.token_digest(request.args.get("state", ""))
    if step is None or not hmac.compare_digest(step.details.get("state", ""), state):
        return None
    return step


def _attempt(step: SignInStep) -> Attempt:
    details = step.details
    return Attempt(
        state="",
        nonce=details["nonce"],
        code_verifier=details["code_verifier"],
        redirect_uri=details["redirect_uri"],
        max_age=details["max_age"],
    )


def _provider(provider_id: uuid.UUID, *, is_enabled: bool) -> IdentityProvider:
    with wired().database.reading() as session:
        return providers.get(session, provider_id, is_enabled=is_enabled)


def _enabled(provider_id: uuid.UUID) -> IdentityProvider:
    wired().throttle.hit("sign_in_address", auth.client_ip())
    provider = _provider(provider_id, is_enabled=True)
    try:
        client_of(provider)
    except ProviderRefused as refusal:
        raise Unavailable(
            _("%(provider)s cannot be used now. %(reason)s", provider=provider.label, reason=refusal.sentence)
        ) from None
    return provider


def _failed(
    provider: IdentityProvider | None, sentence: str, back: str, status: int, *, is_known: bool = False
) -> Response:
    return _without_cookie(
        page.render(
            "account/provider_failed.html",
            status=status,
            provider=provider,
            sentence=sentence,
            back=back,
            is_known=is_known,
        )
    )


def _without_cookie(response: Response) -> Response:
    session_cookie.end_step(response, PURPOSE)
    return response
