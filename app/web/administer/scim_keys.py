"""The SCIM key on a sign-in provider's page: made and shown once, replaced, removed (docs/run/scim.md)."""

import uuid

from flask import Response, url_for

from app.core.people import scim_keys
from app.core.texts import gettext as _
from app.web import auth, page
from app.web.administer import sign_in_methods
from app.web.blueprint import web
from app.wiring import wired


@web.post("/sign-in-methods/<uuid:provider_id>/scim-key")
@auth.for_service_admins
@auth.asks_again()
def make_scim_key(provider_id: uuid.UUID) -> Response:
    """Make a key and show its text in this response. A redirect could not show it: only its hash is stored."""
    with wired().database.writing() as session:
        text = scim_keys.make(session, auth.current_actor(), provider_id)
    return sign_in_methods.show(provider_id, scim_key=text)


@web.post("/sign-in-methods/<uuid:provider_id>/scim-key/remove")
@auth.for_service_admins
@auth.asks_again()
def remove_scim_key(provider_id: uuid.UUID) -> Response:
    with wired().database.writing() as session:
        scim_keys.remove(session, auth.current_actor(), provider_id)
    url = url_for("web.provider_page", provider_id=provider_id) + "#scim"
    return page.done(None, url, _("The SCIM key is removed. Calls with it are refused."))
