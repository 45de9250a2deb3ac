"""The JSON:API (docs/integrate/api.md).

``blueprints`` checks each request first (the key with ``auth``, the query parameters with ``adapter``). Then the view
runs: ``@input`` parses the body or the query strictly (``adapter`` does it with ``parse``), the view calls the
core's verbs in a session, and ``jsonapi`` builds the response. ``app/errors.py`` handles exceptions; ``errors`` renders
them.
"""

from apiflask import APIFlask

from app.api import (  # noqa: F401 - importing them registers their views
    batches,
    community_servers,
    doors,
    field_clients,
    metrics,
    moderation_actions,
    moderations,
    notes,
    perspective,
    ratings,
    reports,
    requests,
    scim,
    scores,
    user_profiles,
    webhooks,
)
from app.api.blueprints import ALIAS_PREFIX, PREFIX, AnyId, RequestReference, public
from app.api.documents import openapi, page


def register(app: APIFlask) -> None:
    """Add the API to the application."""
    openapi.configure(app)
    app.url_map.converters["any_id"] = AnyId
    app.url_map.converters["request_reference"] = RequestReference
    app.register_blueprint(openapi.open_documents)
    app.register_blueprint(page.docs_page)
    app.register_blueprint(public, url_prefix=PREFIX)
    app.register_blueprint(public, url_prefix=ALIAS_PREFIX, name="public_alias")
    app.register_blueprint(scores.scores, url_prefix=PREFIX)
    app.register_blueprint(scores.scores, url_prefix=ALIAS_PREFIX, name="scores_alias")
    app.register_blueprint(webhooks.endpoints, url_prefix=webhooks.PREFIX)
    app.register_blueprint(field_clients.clients)
    app.register_blueprint(perspective.discovery)
    app.register_blueprint(doors.doors)
    app.register_blueprint(metrics.metrics)
    app.register_blueprint(scim.scim)
