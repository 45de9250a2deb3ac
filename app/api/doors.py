"""Scores in the shapes of two other services, for clients that speak these already (docs/doors.md).

``comments:analyze`` is Perspective's, ``moderations`` is OpenAI's. Keys, quota and scorers are those of ``scores``;
bodies, keys in the query and errors are theirs. A key of one community is answered with that community's own rules,
model and services; another one with what the service ships, unless X-Adapter-Scope names a community.
"""

import json
import uuid
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import flask
from apiflask import APIBlueprint
from flask import Response
from pydantic import BaseModel, ConfigDict, ValidationError
from werkzeug.exceptions import RequestEntityTooLarge

from app.api import auth, errors, parse, scim_errors
from app.api.scores import score, scorers_for
from app.core import limits
from app.core.classify import Context
from app.core.classify.vendor_names import Counterpart
from app.core.communities import communities
from app.core.errors import Malformed, Unavailable
from app.core.requests.text_scores import Scorers, TextScores
from app.core.vocabulary import Scope
from app.errors import Explained
from app.wiring import wired

PERSPECTIVE_PREFIX = "/v1alpha1"
UNFINISHED = "A scorer that must be heard did not answer"
TOO_MUCH = "These inputs take more processor time than one call may have: send fewer at once"

doors = APIBlueprint("doors", __name__, enable_openapi=False)
doors.after_request(auth.add_rate_headers)


@doors.before_request
def authenticate() -> None:
    """Authenticate a call as those for scores. Clients of Perspective send the key as ``?key=``."""
    is_perspective = flask.request.path.startswith(PERSPECTIVE_PREFIX)
    token = flask.request.args.get("key") if is_perspective else None
    auth.authenticate(Scope.ADAPTER, Scope.SCORES, limit="scores", token=token)


class Lenient(BaseModel):
    """A part of a foreign body: members that are not read may be anything."""

    model_config = ConfigDict(extra="ignore", strict=True)


Model = TypeVar("Model", bound=Lenient)


def read_body(model: type[Model], most: int = limits.BODY_MAX_BYTES) -> Model:
    """Parse the body. Raises Malformed, RequestEntityTooLarge."""
    try:
        return model.model_validate(parse.loads(parse.read(flask.request, most)))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part)[:100] for part in first["loc"]) or "body"
        raise Malformed(f"Invalid value at {place}: {first['msg']}") from error


def scorers() -> tuple[Scorers, uuid.UUID | None]:
    """Return what scores for the caller, and the community that this is of."""
    caller = auth.caller()
    with wired().database.reading() as session:
        only = communities.only_one(session, caller.actor)
        community_id = caller.scope_id or (only.id if only is not None else None)
        return scorers_for(session, community_id), community_id


def score_all(
    scorers: Scorers, texts: Sequence[str], context: Context, theirs: Iterable[Counterpart]
) -> list[TextScores]:
    """Score texts in the categories of these counterparts.

    Raises:
        RequestEntityTooLarge: the time of a call does not reach them all.
        Unavailable: a connected service that must be heard failed, which these shapes cannot say.
    """
    categories = frozenset(one.category for one in theirs if one.category is not None)
    results = score(scorers, texts, context, categories)
    if any(not result.was_reached for result in results):
        raise RequestEntityTooLarge(TOO_MUCH)
    if any(result.failed for result in results):
        raise Unavailable(UNFINISHED, 1)
    return results


def render(explained: Explained) -> Response:
    """Return the response for an error: in the shape of the path's clients, else in ours."""
    path = flask.request.path
    if path.startswith("/v1/"):
        body = _openai_error(explained)
    elif path.startswith((f"{PERSPECTIVE_PREFIX}/", "/$discovery/")):
        body = google_error(explained.status, explained.detail)
    elif path.startswith(f"{scim_errors.ROOT}/"):
        return scim_errors.render(explained)
    else:
        return errors.render(explained)
    status = 400 if explained.status == 422 else explained.status
    response = Response(json.dumps(body), status, mimetype="application/json")
    response.headers.update(explained.headers)
    if explained.status == 401:
        # Google's client for Python cannot read a challenge without a parameter.
        response.headers["WWW-Authenticate"] = 'Bearer realm="bridgenote"'
    return response


_GOOGLE_STATUS = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    405: "UNIMPLEMENTED",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


def google_error(status: int, message: str) -> dict[str, Any]:
    status = 400 if status == 422 else status
    word = _GOOGLE_STATUS.get(status, "INVALID_ARGUMENT")
    return {"error": {"code": status, "message": message, "status": word}}


def _openai_error(explained: Explained) -> dict[str, Any]:
    kind, code = "invalid_request_error", None
    if explained.status == 401:
        code = "invalid_api_key"
    elif explained.status == 429:
        kind, code = "requests", "rate_limit_exceeded"
    elif explained.status >= 500:
        kind = "server_error"
    param = "input" if explained.detail.startswith(("Invalid value at input", "input:")) else None
    return {"error": {"message": explained.detail, "type": kind, "param": param, "code": code}}
