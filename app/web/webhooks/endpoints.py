"""Webhooks pages for operators: state of each webhook, and the same verbs as in the API.

A new secret is shown only in the response to the POST that set it. Posting the form again changes and shows nothing.
"""

import uuid
from typing import Any
from urllib.parse import urlsplit

from flask import Response, url_for

from app.core import clock
from app.core.communities import communities
from app.core.errors import Conflict, Invalid
from app.core.models import Webhook
from app.core.permissions import Permission
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.webhooks import catalogue, deliveries, health, signing
from app.core.webhooks import registrations as webhooks
from app.throttle import OverLimit
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.webhooks import catalogue as webhooks_catalogue
from app.web.webhooks.forms import (
    EditForm,
    RegisterForm,
    RemovalForm,
    RotationForm,
    StateForm,
)
from app.wiring import wired

LATEST = 5
"""How many deliveries a webhook's page shows."""


@web.get("/endpoints")
@auth.needs(Permission.MANAGE_WEBHOOKS)
def endpoints() -> Response:
    return _show_all()


@web.post("/endpoints")
@auth.needs(Permission.MANAGE_WEBHOOKS)
def register_webhook() -> Response:
    form = forms.posted(RegisterForm)
    if not form.validate():
        return _show_all(form, status=422)
    actor, community_id = auth.current_actor(), auth.current_community().id
    secret, shown = form.chosen_secret()
    try:
        with wired().database.writing() as session:
            if webhooks.find_by_url(session, actor, community_id, form.url.data or "") is not None:
                raise Invalid.field("url", _("is registered already. Open it below to change it"))
            webhook, _is_new = webhooks.register(
                session,
                actor,
                wired().sealer,
                wired().allow,
                communities.get(session, actor, community_id),
                form.url.data or "",
                secret,
                form.chosen_events(),
            )
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show_all(form, status=422)
    if shown is None:
        return page.done(None, _url(webhook.id), _("%(webhook)s is registered.", webhook=place_of(webhook)))
    return _show(webhook.id, secret=shown)


@web.get("/endpoints/<uuid:webhook_id>")
def webhook_page(webhook_id: uuid.UUID) -> Response:
    return _show(webhook_id)


@web.post("/endpoints/<uuid:webhook_id>")
def save_webhook(webhook_id: uuid.UUID) -> Response:
    form = forms.posted(EditForm)
    if not form.validate():
        return _show(webhook_id, form, status=422)
    try:
        _change(
            webhook_id,
            url=form.url.data,
            event_names=form.chosen_events(),
            based_on=form.version.data or None,
            reason=form.reason.data or "",
        )
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show(webhook_id, form, status=422)
    except webhooks.Outdated as refusal:
        # Typed values stay, with the current version, so that the user can check them and save again.
        form.version.data = ""
        return _show(webhook_id, form, status=409, outdated=f"{refusal.detail}.")
    except Conflict as refusal:
        return _show(webhook_id, form, status=409, alert=f"{refusal.detail}.")
    return page.done(None, _url(webhook_id), _("The webhook is saved."))


@web.post("/endpoints/<uuid:webhook_id>/enable")
def enable_webhook(webhook_id: uuid.UUID) -> Response:
    return _set_active(
        webhook_id, lazy_gettext("%(webhook)s is enabled. What waited is sent now."), active=True
    )


@web.post("/endpoints/<uuid:webhook_id>/disable")
def disable_webhook(webhook_id: uuid.UUID) -> Response:
    return _set_active(
        webhook_id,
        lazy_gettext("%(webhook)s is disabled. What is due to it waits until you enable it."),
        active=False,
    )


@web.post("/endpoints/<uuid:webhook_id>/rotate")
@auth.asks_again()
def rotate_secret(webhook_id: uuid.UUID) -> Response:
    form = forms.posted(RotationForm)
    if not form.validate():
        return _show(webhook_id, form, status=422)
    secret, shown = form.chosen_secret()
    try:
        _change(webhook_id, secret=secret, etag=form.etag.data or "", reason=form.reason.data or "")
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show(webhook_id, form, status=422)
    except Conflict as refusal:
        return _show(
            webhook_id,
            status=409,
            alert=_("%(detail)s, so nothing was changed. It is not shown again.", detail=refusal.detail),
        )
    if shown is None:
        return page.done(
            None,
            _url(webhook_id),
            _("The new secret signs from now on. Give it to the receiver within 24 hours."),
        )
    return _show(webhook_id, secret=shown)


@web.post("/endpoints/<uuid:webhook_id>/end-secret")
def end_former_secrets(webhook_id: uuid.UUID) -> Response:
    _change(webhook_id, end_former=True)
    return page.done(None, f"{_url(webhook_id)}#secret", _("Only the present secret signs from now on."))


@web.post("/endpoints/<uuid:webhook_id>/test")
def test_webhook(webhook_id: uuid.UUID) -> Response:
    """Send a test event and redirect to its delivery, whose page shows the progress."""
    with wired().database.reading() as session:
        webhooks.get(session, auth.current_actor(), webhook_id)
    try:
        wired().throttle.hit("webhook_tests", str(webhook_id))
        with wired().database.writing() as session:
            event = webhooks.send_test(session, auth.current_actor(), webhook_id)
            delivery_id = deliveries.of_event(session, event.id, webhook_id)
    except Conflict as refusal:
        return page.done(None, _url(webhook_id), f"{refusal.detail}.", status=409)
    except OverLimit as refusal:
        alert = _(
            "Too many test events were sent to this webhook. Try again in %(retry_after)s seconds.",
            retry_after=refusal.retry_after,
        )
        limited = _show(webhook_id, status=429, alert=alert)
        limited.headers["Retry-After"] = str(refusal.retry_after)
        return limited
    url = url_for("web.delivery_page", delivery_id=delivery_id)
    return page.done(None, url, _("The test event is on its way."))


@web.post("/endpoints/<uuid:webhook_id>/remove")
def remove_webhook(webhook_id: uuid.UUID) -> Response:
    form = forms.posted(RemovalForm)
    if not form.validate():
        return _show(webhook_id, form, status=422)
    with wired().database.writing() as session:
        gone = webhooks.remove(session, auth.current_actor(), webhook_id, form.reason.data or "")
    return page.done(
        None,
        url_for("web.endpoints"),
        _("%(gone)s is removed. Its deliveries stay listed.", gone=place_of(gone)),
    )


def place_of(webhook: Webhook) -> str:
    """Return host and path of a webhook. The query is left out, because it may contain the receiver's token."""
    parts = urlsplit(webhook.url)
    return f"{parts.netloc}{parts.path}"


def _change(webhook_id: uuid.UUID, **values: Any) -> Webhook:
    """Change a webhook in a transaction of its own; ``values`` are the arguments of ``registrations.change``."""
    with wired().database.writing() as session:
        return webhooks.change(
            session, auth.current_actor(), wired().sealer, wired().allow, webhook_id, **values
        )


def _set_active(webhook_id: uuid.UUID, said: str, *, active: bool) -> Response:
    form = forms.posted(StateForm)
    if not form.validate():
        return _show(webhook_id, form, status=422)
    webhook = _change(webhook_id, is_active=active, reason=form.reason.data or "")
    return page.done(None, _url(webhook_id), _(said, webhook=place_of(webhook)))


def _show_all(form: RegisterForm | None = None, *, status: int = 200) -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        rows = webhooks.visible(session, actor, community.id)
        figures = health.for_webhooks(session, [row.id for row in rows])
    return page.render(
        "webhooks/endpoints.html",
        status=status,
        form=form or RegisterForm(data={"all_events": True}),
        rows=rows,
        figures=figures,
        place_of=place_of,
        event_words=catalogue.labels(),
    )


def _show(
    webhook_id: uuid.UUID,
    form: EditForm | RotationForm | RemovalForm | StateForm | None = None,
    *,
    status: int = 200,
    alert: str | None = None,
    outdated: str | None = None,
    secret: str | None = None,
) -> Response:
    with wired().database.reading() as session:
        webhook = webhooks.get(session, auth.current_actor(), webhook_id)
        auth.enter(webhook.community_id)
        figures = health.for_webhooks(session, [webhook.id])[webhook.id]
        latest = deliveries.latest(session, auth.current_actor(), webhook, LATEST)
        known = deliveries.subjects(session, [line.delivery.event for line in latest])
    rotated = form if isinstance(form, RotationForm) else RotationForm()
    rotated.etag.data = signing.secret_etag(webhook)
    edited = form if isinstance(form, EditForm) else EditForm.from_webhook(webhook)
    if outdated is not None:
        alert = f"{outdated} {_in_force(webhook, edited)}"
    if not edited.version.data:
        edited.version.data = webhooks.edit_etag(webhook)
    return page.render(
        "webhooks/endpoint.html",
        status=status,
        alert=alert,
        form=form or edited,
        edited=edited,
        rotation=rotated,
        removal=form if isinstance(form, RemovalForm) else RemovalForm(),
        state=form if isinstance(form, StateForm) else StateForm(),
        row=webhook,
        one=figures,
        latest=latest,
        about=lambda event: webhooks_catalogue.in_words(event, known),
        now=clock.now(),
        both_until=signing.former_secret_until(webhook, clock.now()),
        secret=secret,
        place=place_of(webhook),
        event_words=catalogue.labels(),
    )


def _in_force(webhook: Webhook, typed: EditForm) -> str:
    """Return a text with the current values that differ from the typed ones, and what to do about them."""
    now = []
    if webhook.url != typed.url.data:
        now.append(_("The URL is %(url)s now.", url=webhook.url))
    if set(webhook.events or ()) != set(typed.chosen_events() or ()):
        words = catalogue.labels()
        events = ", ".join(str(words.get(name, name)) for name in webhook.events or ())
        now.append(_("The events are now: %(them)s.", them=events or _("all of them")))
    if not now:
        return _("They are the same as yours, so there is nothing left to save.")
    return " ".join((*now, _("Yours are kept below: save again to put them in force instead.")))


def _url(webhook_id: uuid.UUID) -> str:
    return url_for("web.webhook_page", webhook_id=webhook_id)
