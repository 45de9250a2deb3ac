"""Connected services: added, changed, observed, counted and removed by operators (docs/run/classifiers.md)."""

import uuid
from collections.abc import Callable, Mapping
from typing import Any

from flask import Response, url_for
from sqlalchemy.orm import Session
from wtforms import Form

from app.core.errors import Conflict, Invalid, NotFound
from app.core.models import ConnectedService
from app.core.permissions import Permission
from app.core.services import reading, services
from app.core.services.kinds import Kind
from app.core.services.services import Registry
from app.core.services.settings import pinned
from app.core.texts import gettext as _
from app.core.thresholds import threshold_sets
from app.core.vocabulary import ServiceMode
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.services import service_page
from app.web.services.service_forms import (
    OPTION,
    KeyForm,
    ModeForm,
    NewServiceForm,
    RemoveForm,
    SettingsForm,
    VersionForm,
    settings_form,
)
from app.web.services.service_words import ServiceWords, words_of
from app.wiring import wired


def registry() -> Registry:
    """What the verbs need to know of this installation."""
    pool = wired().services
    return Registry(pool.kinds, pool.sealer, pool.allow)


@web.get("/classifiers/services/new")
@auth.needs(Permission.REVISE_POLICY)
def new_service() -> Response:
    """Show the kinds, or with ``kind`` the form for one."""
    name = forms.query_arg("kind")
    if not name:
        return page.render("services/service_kinds.html", kinds=list(registry().kinds.values()))
    kind = _kind(name)
    form = settings_form(kind, NewServiceForm)(data={"url": kind.url, "model": kind.model})
    return _show_new(kind, form)


@web.post("/classifiers/services/new")
@auth.needs(Permission.REVISE_POLICY)
def add_service() -> Response:
    kind = _kind(next(iter(forms.posted_values("kind")), ""))
    form = forms.posted(settings_form(kind, NewServiceForm))
    if not form.validate():
        return _show_new(kind, form, status=422)
    try:
        settings = pinned(form.settings(), kind)
        with wired().database.writing() as session:
            service = services.add(
                session,
                auth.current_actor(),
                auth.current_community().id,
                registry(),
                kind.name,
                form.name.data or "",
                settings,
                form.reason.data or "",
                key=form.key.data or "",
                consent=bool(form.consent.data),
            )
    except Invalid as refusal:
        _explain(form, kind, refusal)
        return _show_new(kind, form, status=422)
    message = _("%(service)s is added.", service=service.name)
    return page.done(None, _url(service.id), f"{message} {words_of(kind).added}")


@web.get("/classifiers/services/<uuid:service_id>")
def service_detail(service_id: uuid.UUID) -> Response:
    return service_page.show(service_id)


@web.post("/classifiers/services/<uuid:service_id>")
def save_service(service_id: uuid.UUID) -> Response:
    kind = _kind(_found(service_id).kind)
    form = forms.posted(settings_form(kind, SettingsForm))
    if not form.validate():
        return service_page.show(service_id, settings=form, status=422)
    try:
        settings = pinned(form.settings(), kind)
    except Invalid as refusal:
        _explain(form, kind, refusal)
        return service_page.show(service_id, settings=form, status=422)

    def change(session: Session) -> str:
        version = services.change(
            session,
            auth.current_actor(),
            service_id,
            registry(),
            settings,
            consent=bool(form.consent.data),
            **_reason_and_etag(form),
        )
        if reading.find(session, auth.current_actor(), service_id).version == version.version:
            return _("Version %(version)s is in use.", version=version.version)
        message = _("Version %(version)s is saved.", version=version.version)
        return f"{message} {words_of(kind).saved}"

    return _done(service_id, "settings", form, change, kind=kind)


@web.post("/classifiers/services/<uuid:service_id>/key")
def replace_service_key(service_id: uuid.UUID) -> Response:
    _found(service_id)
    form = forms.posted(KeyForm)

    def change(session: Session) -> str:
        key = form.key.data or ""
        services.set_key(session, auth.current_actor(), service_id, registry(), key, **_reason_and_etag(form))
        return _("The new key is used from now on.")

    return _done(service_id, "key", form, change)


@web.post("/classifiers/services/<uuid:service_id>/mode")
def set_service_mode(service_id: uuid.UUID) -> Response:
    """Count, observe or switch off; the pressed button has the mode. Counting says what happens if it fails."""
    said = _words(service_id)
    form = forms.posted(ModeForm)
    chosen = form.mode.data or ""
    if chosen not in set(ServiceMode):
        form.validate()
        # Enter in the reason presses no button: say so, instead of choosing one.
        form.form_errors.append(_("Press one of the buttons below the reason."))
        return service_page.show(service_id, mode=form, status=422)
    mode = ServiceMode(chosen)

    def change(session: Session) -> str:
        services.set_mode(
            session,
            auth.current_actor(),
            service_id,
            mode,
            if_it_fails=form.if_it_fails.data,
            **_reason_and_etag(form),
        )
        return said.done[mode]

    return _done(service_id, "mode", form, change)


@web.post("/classifiers/services/<uuid:service_id>/required")
def require_service(service_id: uuid.UUID) -> Response:
    """For each category, set what happens when the service fails: a new version of the thresholds."""
    service = _found(service_id)
    form = forms.posted(service_page.require_form_of(service))

    def change(session: Session) -> str:
        made = threshold_sets.require_classifier(
            session,
            auth.current_actor(),
            service.community_id,
            service_page.name_of(service),
            form.on_error(),
            form.reason.data or "",
        )
        return (
            _("Saved with version %(version)s of the thresholds.", version=made.version)
            if made
            else _("Nothing was changed.")
        )

    return _done(service_id, "required", form, change)


@web.post("/classifiers/services/<uuid:service_id>/versions/<int:number>/put-in-force")
def put_service_version_in_force(service_id: uuid.UUID, number: int) -> Response:
    said = _words(service_id)
    form = forms.posted(VersionForm)

    def change(session: Session) -> str:
        services.put_in_force(session, auth.current_actor(), service_id, number, **_reason_and_etag(form))
        message = _("Version %(version)s is in use.", version=number)
        return f"{message} {said.in_force}"

    return _done(service_id, "version", form, change)


@web.post("/classifiers/services/<uuid:service_id>/remove")
def remove_service(service_id: uuid.UUID) -> Response:
    said = _words(service_id)
    form = forms.posted(RemoveForm)

    def change(session: Session) -> str:
        removed = services.remove(session, auth.current_actor(), service_id, **_reason_and_etag(form))
        message = _("%(service)s is removed.", service=removed.name)
        return f"{message} {said.removed}"

    return _done(service_id, "remove", form, change, url=url_for("web.classifiers"))


def _reason_and_etag(form: Form) -> dict[str, Any]:
    return {"reason": form["reason"].data or "", "etag": forms.number(form["etag"].data)}


def _done(
    service_id: uuid.UUID,
    name: str,
    form: Form,
    change: Callable[[Session], str],
    *,
    kind: Kind | None = None,
    url: str | None = None,
) -> Response:
    """Make a change in one transaction and lead back to the page; a refusal shows the typed values again.

    ``name`` is the form's on the page (`service_page.show`).
    """
    posted: dict[str, Any] = {name: form}
    if not form.validate():
        return service_page.show(service_id, status=422, **posted)
    try:
        with wired().database.writing() as session:
            message = change(session)
    except Invalid as refusal:
        _explain(form, kind, refusal)
        return service_page.show(service_id, status=422, **posted)
    except Conflict as refusal:
        form["etag"].data = ""
        alert = _(
            "%(conflict)s. What you typed is kept: check it, then press again.", conflict=refusal.detail
        )
        return service_page.show(service_id, status=409, alert=alert, **posted)
    return page.done(None, url or _url(service_id), message)


def _found(service_id: uuid.UUID) -> ConnectedService:
    with wired().database.reading() as session:
        service = reading.find(session, auth.current_actor(), service_id)
    auth.enter(service.community_id)
    return service


def _words(service_id: uuid.UUID) -> ServiceWords:
    return words_of(registry().kinds.get(_found(service_id).kind))


def _kind(name: str) -> Kind:
    try:
        return registry().kinds[name]
    except KeyError:
        raise NotFound("service kind") from None


def _explain(form: Form, kind: Kind | None, refusal: Invalid) -> None:
    """Show the core's errors at their fields; those of a kind's own options too."""
    options: Mapping[str, str] = {
        option.name: OPTION + option.name for option in (kind.options if kind is not None else ())
    }
    forms.explain(form, refusal, options)


def _show_new(kind: Kind, form: SettingsForm, *, status: int = 200) -> Response:
    return page.render("services/new_service.html", status=status, form=form, kind=kind, words=words_of(kind))


def _url(service_id: uuid.UUID) -> str:
    return url_for("web.service_detail", service_id=service_id)
