"""Creates the WSGI application. Each process does this once, from its wiring."""

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flask
from apiflask import APIFlask
from werkzeug.routing import MapAdapter

from app import api, errors, web
from app.api.blueprints import path_to_match
from app.api.doors import render
from app.core import texts
from app.process import hosts, observing, tracing
from app.web.errors import render_error
from app.wiring import EXTENSION, Wiring

_HERE = Path(__file__).parent


def folder(name: str) -> Path:
    """Path of ``templates`` or ``static``: inside the package when installed from a wheel, beside it in a checkout."""
    packaged = _HERE / name
    return packaged if packaged.is_dir() else _HERE.parent / name


class _App(APIFlask):
    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return ``func`` unchanged: we have no async views or hooks, and Flask would check a dozen times a request."""
        return func

    def create_url_adapter(self, request: flask.Request | None) -> MapAdapter | None:
        """Return the router for a request, which sees what the client wrote where decoding would lose a meaning."""
        adapter = super().create_url_adapter(request)
        if adapter is not None and request is not None:
            adapter.path_info = path_to_match(request, adapter.path_info)
        return adapter


def create_app(wiring: Wiring, version: str) -> APIFlask:
    """Create the WSGI application: the JSON:API, which states ``version``, and the dashboard."""
    app = _App(
        "app",
        title="Bridgenote",
        version=version,
        docs_path=None,
        spec_path=None,
        json_errors=False,
        template_folder=str(folder("templates")),
        static_folder=str(folder("static")),
    )
    app.extensions[EXTENSION] = wiring
    app.config.update(
        SECRET_KEY=wiring.settings.secret_key.get_secret_value(),
        # ``api.parse`` limits bodies and explains its 413; werkzeug's own limit is not needed.
        MAX_CONTENT_LENGTH=None,
        PROPAGATE_EXCEPTIONS=False,
        VERSION=version,
    )
    app.before_request(_set_request_id)
    app.after_request(_add_request_id_header)
    observing.register(app, log_requests=wiring.settings.logs_as_json)
    hosts.register(app)
    errors.register(app, as_json=render, as_page=render_error)
    api.register(app)
    web.register(app)
    if wiring.settings.tracing:
        tracing.follow(app)
    return app


def _set_request_id() -> None:
    texts.choose(None)  # the thread still has the language of the request before
    flask.g.request_id = uuid.uuid4().hex


def _add_request_id_header(response: Any) -> Any:
    response.headers["X-Request-Id"] = flask.g.get("request_id") or uuid.uuid4().hex
    return response
