"""Sign-in page for service admins: the providers, and whether passwords are on (docs/run/sign-in.md)."""

import uuid

from flask import Response, url_for
from wtforms import BooleanField, Form, HiddenField, StringField
from wtforms.validators import InputRequired

from app.core import limits
from app.core.errors import Conflict, Forbidden, Invalid
from app.core.models import IdentityProvider
from app.core.people import group_maps, identities, provider_groups, providers, provisioning, ways_in
from app.core.people.openid import ProviderRefused
from app.core.people.providers import Draft
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.web import auth, forms, page
from app.web.account import providers as sign_in
from app.web.administer import factor_rule
from app.web.blueprint import web
from app.wiring import base_url, wired


class ProviderForm(Form):
    """A provider's settings. ``etag`` is the version that the page showed."""

    label = StringField(
        lazy_gettext("Label"),
        [InputRequired(lazy_gettext("Enter a label, such as Example GmbH."))],
        filters=[forms.trimmed],
    )
    client_secret = forms.SecretField(lazy_gettext("Client secret"), filters=[forms.trimmed])
    scopes = StringField(lazy_gettext("Scopes"), filters=[forms.trimmed], default="openid profile email")
    groups_claim = StringField(lazy_gettext("Groups claim"), filters=[forms.trimmed], default="groups")
    creates_accounts = BooleanField(lazy_gettext("New people get an account"), default=True)
    etag = HiddenField()


class NewProviderForm(ProviderForm):
    """A provider to add: also who it is, which never changes."""

    issuer = StringField(
        lazy_gettext("Issuer"),
        [InputRequired(lazy_gettext("Enter the issuer's URL."))],
        filters=[forms.trimmed],
    )
    client_id = StringField(
        lazy_gettext("Client id"),
        [InputRequired(lazy_gettext("Enter the client id."))],
        filters=[forms.trimmed],
    )


@web.get("/sign-in-methods")
@auth.for_service_admins
def sign_in_methods() -> Response:
    return _show_list()


@web.post("/sign-in-methods/passwords")
@auth.for_service_admins
@auth.asks_again()
def switch_passwords() -> Response:
    """Switch passwords on or off; the pressed button says which."""
    on = forms.posted_values("passwords") == ["on"]
    try:
        with wired().database.writing() as session:
            ways_in.set_passwords(session, auth.current_actor(), on)
    except Conflict as refusal:
        return _show_list(status=409, alert=f"{refusal.detail}.")
    said = (
        _("Passwords are on.") if on else _("Passwords are off. Keep a way in: see the command sign-in-link.")
    )
    return page.done(None, url_for("web.sign_in_methods"), said)


@web.get("/sign-in-methods/new")
@auth.for_service_admins
def new_provider() -> Response:
    return _show_new(NewProviderForm())


@web.post("/sign-in-methods/new")
@auth.for_service_admins
@auth.asks_again()
def add_provider() -> Response:
    form = forms.posted(NewProviderForm)
    if not form.validate():
        return _show_new(form, 422)
    draft = _draft(form, form.issuer.data or "", form.client_id.data or "")
    try:
        draft = providers.check(draft)
        document = wired().openid.discover(draft.issuer)
        with wired().database.writing() as session:
            provider = providers.add(session, auth.current_actor(), wired().sealer, draft, document)
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show_new(form, 422)
    except ProviderRefused as refusal:
        form.issuer.errors = [f"{refusal.sentence}."]
        return _show_new(form, 422)
    return page.done(None, _url(provider), _("%(label)s is added. Now try it.", label=provider.label))


@web.get("/sign-in-methods/<uuid:provider_id>")
@auth.for_service_admins
def provider_page(provider_id: uuid.UUID) -> Response:
    return show(provider_id)


@web.post("/sign-in-methods/<uuid:provider_id>")
@auth.for_service_admins
@auth.asks_again()
def save_provider(provider_id: uuid.UUID) -> Response:
    form = forms.posted(ProviderForm)
    if not form.validate():
        return show(provider_id, form, status=422)
    etag = forms.number(form.etag.data) or 0
    try:
        with wired().database.writing() as session:
            provider = providers.change(
                session, auth.current_actor(), wired().sealer, provider_id, _draft(form, "", ""), etag
            )
    except Invalid as refusal:
        forms.explain(form, refusal)
        return show(provider_id, form, status=422)
    except Conflict as refusal:
        return show(provider_id, form, status=409, alert=f"{refusal.detail}.")
    return page.done(None, _url(provider), _("%(label)s is saved.", label=provider.label))


@web.post("/sign-in-methods/<uuid:provider_id>/discover")
@auth.for_service_admins
def discover_provider(provider_id: uuid.UUID) -> Response:
    provider = _found(provider_id)
    try:
        document = wired().openid.discover(provider.issuer)
    except ProviderRefused as refusal:
        return show(provider_id, status=502, alert=f"{refusal.sentence}.")
    with wired().database.writing() as session:
        providers.record_discovered(session, provider_id, document)
    return page.done(None, _url(provider), _("The discovery document was read again."))


@web.post("/sign-in-methods/<uuid:provider_id>/try")
@auth.for_service_admins
@auth.asks_again()
def try_provider(provider_id: uuid.UUID) -> Response:
    """Send the admin to the provider; on the way back a page shows what it says of them."""
    return sign_in.leave(_found(provider_id), "try", url_for("web.provider_page", provider_id=provider_id))


@web.post("/sign-in-methods/<uuid:provider_id>/enable")
@auth.for_service_admins
@auth.asks_again()
def enable_provider(provider_id: uuid.UUID) -> Response:
    return _change(
        provider_id,
        providers.enable,
        lazy_gettext("%(provider)s is enabled. Its button is on the sign-in page."),
    )


@web.post("/sign-in-methods/<uuid:provider_id>/disable")
@auth.for_service_admins
@auth.asks_again()
def disable_provider(provider_id: uuid.UUID) -> Response:
    return _change(
        provider_id,
        providers.disable,
        lazy_gettext("%(provider)s is disabled. Sessions that began there have ended."),
    )


@web.post("/sign-in-methods/<uuid:provider_id>/remove")
@auth.for_service_admins
@auth.asks_again()
def remove_provider(provider_id: uuid.UUID) -> Response:
    return _change(provider_id, identities.remove_provider, lazy_gettext("%(provider)s is removed."))


def _change(provider_id: uuid.UUID, verb: providers.Verb, said: str) -> Response:
    try:
        with wired().database.writing() as session:
            provider = verb(session, auth.current_actor(), provider_id)
    except (Conflict, Forbidden) as refusal:
        return show(provider_id, status=409, alert=f"{refusal.detail}.")
    is_gone = provider.removed_at is not None
    url = url_for("web.sign_in_methods") if is_gone else _url(provider)
    return page.done(None, url, _(said, provider=provider.label))


def _found(provider_id: uuid.UUID) -> IdentityProvider:
    with wired().database.reading() as session:
        return providers.get(session, provider_id)


def _url(provider: IdentityProvider) -> str:
    return url_for("web.provider_page", provider_id=provider.id)


def _draft(form: ProviderForm, issuer: str, client_id: str) -> Draft:
    return Draft(
        label=form.label.data or "",
        issuer=issuer,
        client_id=client_id,
        client_secret=form.client_secret.data or "",
        scopes=form.scopes.data or "",
        groups_claim=form.groups_claim.data or "",
        creates_accounts=bool(form.creates_accounts.data),
    )


def _show_list(*, status: int = 200, alert: str | None = None) -> Response:
    with wired().database.reading() as session:
        rows = providers.listed(session)
        people = identities.counts(session)
        passwords_are_on = ways_in.passwords_are_on(session)
        factor_form = factor_rule.form_for(session)
    return page.render(
        "administer/sign_in_methods.html",
        status=status,
        alert=alert,
        rows=rows,
        people=people,
        passwords_are_on=passwords_are_on,
        factor_form=factor_form,
        is_set_by_server=providers.is_set_by_server,
    )


def _show_new(form: NewProviderForm, status: int = 200) -> Response:
    return page.render(
        "administer/new_provider.html",
        status=status,
        form=form,
        redirect_uri=sign_in.redirect_uri(),
        most=limits.PROVIDERS.number,
    )


def show(
    provider_id: uuid.UUID,
    form: ProviderForm | None = None,
    *,
    scim_key: str = "",
    status: int = 200,
    alert: str | None = None,
) -> Response:
    """Show a provider's page. ``scim_key``: a key to show once."""
    with wired().database.reading() as session:
        provider = providers.get(session, provider_id)
        people = identities.counts(session).get(provider_id, 0)
        mapped = group_maps.mapped_communities(session, provider_id)
        sent_people, _rows = provisioning.listed(session, provider_id, [], 0, 0)
        sent_groups, _groups = provider_groups.listed(session, provider_id, [], 0, 0)
    form = form or ProviderForm(
        label=provider.label,
        scopes=provider.scopes,
        groups_claim=provider.groups_claim,
        creates_accounts=provider.creates_accounts,
        etag=str(provider.etag),
    )
    return page.render(
        "administer/provider.html",
        status=status,
        alert=alert,
        provider=provider,
        form=form,
        people=people,
        is_set_by_server=providers.is_set_by_server(provider),
        redirect_uri=sign_in.redirect_uri(),
        logout_uri=f"{base_url()}{url_for('web.provider_logout', provider_id=provider.id)}",
        discovered=provider.discovered or {},
        mapped=mapped,
        scim_key=scim_key,
        scim_url=base_url() + url_for("scim.list_users").removesuffix("/Users"),
        sent_people=sent_people,
        sent_groups=sent_groups,
    )
