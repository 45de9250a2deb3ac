"""Blueprints that nobody enters without a key: authentication is theirs, not the views' (docs/architecture.md)."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import flask
from apiflask import APIBlueprint
from werkzeug.routing import BaseConverter

from app.api import (
    adapter,  # noqa: F401 - replaces APIFlask's reading before any view is decorated
    auth,
    parse,
    query,
)
from app.core.vocabulary import Scope

PREFIX = "/api/public/v1"
ALIAS_PREFIX = "/api/v2"

View = TypeVar("View", bound=Callable[..., Any])


class AnyId(BaseConverter):
    """An id of the integration's in a path: servers decode ``%2F`` before we see it, and an id may be a URL."""

    part_isolating = False
    regex = r"(?s:.+?)"


class RequestReference(AnyId):
    """A request's. One that ends like a path of ours is found by our UUID alone."""

    regex = r"(?s:.+?)(?<!/ai-notes)"


def guarded(name: str, *, scope: Scope = Scope.ADAPTER, **options: Any) -> APIBlueprint:
    """A blueprint whose every view needs a key with ``scope``; answers carry the key's rate limit."""
    made = APIBlueprint(name, __name__, **options)
    made.before_request(partial(auth.authenticate, scope))
    made.before_request(_check_size)
    made.before_request(_check_question)
    made.after_request(auth.add_rate_headers)
    return made


def _check_size() -> None:
    # Also where no view reads the body; of one that is far too large the server hands over nothing else.
    parse.check_size(flask.request)


def _check_question() -> None:
    parse.check_accept(flask.request)
    view = flask.current_app.view_functions[flask.request.endpoint or ""]
    # APIFlask keeps what @input declared in ``_spec``; a test of unknown filters guards this.
    declared = getattr(view, "_spec", {}).get("args", [])
    allowed = [query.names(model) for model, location in declared if location == "query"]
    query.check(flask.request, frozenset().union(*allowed))


def opens_communities(view: View) -> View:
    """Mark a view that may open an unknown community: its ``X-Adapter-Scope`` may name one that is not there yet."""
    view.opens_communities = True  # type: ignore[attr-defined]
    return view


def polls(view: View) -> View:
    """Mark a view that integrations ask again and again to learn of decisions."""
    view.is_poll = True  # type: ignore[attr-defined]
    return view


public = guarded("public")
"""Everything under ``/api/public/v1``, and again under ``/api/v2`` (docs/integration.md)."""
