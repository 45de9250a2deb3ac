"""Blueprints that require an API key: the blueprint authenticates, not the view (docs/develop/architecture.md)."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar
from urllib.parse import unquote

import flask
from apiflask import APIBlueprint
from pydantic import BaseModel
from werkzeug.routing import BaseConverter

from app.api import adapter, auth, parse
from app.core import limits
from app.core.vocabulary import Scope
from app.throttle import LimitName

PREFIX = "/api/public/v1"
ALIAS_PREFIX = "/api/v2"

View = TypeVar("View", bound=Callable[..., Any])


class AnyId(BaseConverter):
    """Path converter for ids of the integration. They may contain slashes: servers decode ``%2F``, and an id may be a
    URL."""

    part_isolating = False
    regex = r"(?s:.+?)"


_AI_NOTES = "/ai-notes"
_OF_THE_ID = "\udc2fai-notes"
"""Replaces an ``/ai-notes`` whose slash was encoded. No path has this character, because paths are UTF-8."""


class RequestReference(AnyId):
    """Path converter for requests. A ``request_id`` may end in ``/ai-notes`` if that slash is percent-encoded;
    otherwise the ending is the path of a request's AI notes."""

    regex = r"(?s:.+?)(?<!/ai-notes)"

    def to_python(self, value: str) -> str:
        if value.endswith(_OF_THE_ID):
            return value.removesuffix(_OF_THE_ID) + _AI_NOTES
        return value


def path_to_match(request: flask.Request, path: str) -> str:
    """Return the decoded ``path`` so that the router can tell an encoded slash before ``ai-notes`` from a plain one."""
    last_segment = request.environ.get("REQUEST_URI", path).partition("?")[0].rpartition("/")[2]
    is_request = path.startswith((f"{PREFIX}/requests/", f"{ALIAS_PREFIX}/requests/"))
    if is_request and path.endswith(_AI_NOTES) and f"/{unquote(last_segment)}" != _AI_NOTES:
        return path.removesuffix(_AI_NOTES) + _OF_THE_ID
    return path


class Guarded(APIBlueprint):
    """A blueprint whose views all need a key; made by ``guarded``."""

    def answers(
        self, model: type[BaseModel], status: int = 200, *, also: Sequence[int]
    ) -> Callable[[View], View]:
        """Declare a view's JSON:API document with its status, and the other statuses that it answers with."""

        def declare(view: View) -> View:
            documented: View = self.doc(responses=list(also))(view)
            declared: View = self.output(model, status, content_type=parse.JSON_API)(documented)
            return declared

        return declare


def guarded(name: str, *scopes: Scope, limit: LimitName = "key", **options: Any) -> Guarded:
    """Create a blueprint whose views all need a key with one of ``scopes``, by default that of integrations.

    Its calls count against ``limit``, and its responses carry the rate limit headers.
    """
    blueprint = Guarded(name, __name__, **options)
    blueprint.before_request(partial(auth.authenticate, *(scopes or (Scope.ADAPTER,)), limit=limit))
    blueprint.before_request(_check_size)
    blueprint.before_request(_check_accept)
    blueprint.before_request(check_query_names)
    blueprint.after_request(auth.add_rate_headers)
    return blueprint


def _check_size() -> None:
    # Checked even if the view does not read the body.
    parse.check_size(flask.request, getattr(_declared("body"), "bytes_max", limits.BODY_MAX_BYTES))


def _check_accept() -> None:
    parse.check_accept(flask.request)


def check_query_names() -> None:
    """Refuse query parameters that the view does not read and that may mean a filter (``adapter.check_query``)."""
    declared = _declared("args") or ()
    allowed = [adapter.query_names(model) for model, location in declared if location == "query"]
    adapter.check_query(flask.request, frozenset().union(*allowed))


def _declared(what: str) -> Any:
    """What ``@input`` declared of this call's view; None for nothing."""
    view = flask.current_app.view_functions[flask.request.endpoint or ""]
    # APIFlask stores it in ``_spec``, which is private; tests of unknown filters and of large bodies guard this.
    return getattr(view, "_spec", {}).get(what)


def opens_communities(view: View) -> View:
    """Mark a view that may open an unknown community: ``X-Adapter-Scope`` may name one that does not exist yet."""
    view.opens_communities = True  # type: ignore[attr-defined]
    return view


def polls(view: View) -> View:
    """Mark a view that integrations poll for decisions."""
    view.is_poll = True  # type: ignore[attr-defined]
    return view


public = guarded("public")
"""Every view under ``/api/public/v1``, also served under ``/api/v2`` (docs/integrate/api.md)."""
