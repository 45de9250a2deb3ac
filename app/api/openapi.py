"""The OpenAPI 3.1 document of the API, served without a key (Contract: section 2)."""

from typing import Any, cast

import flask
from apiflask import APIBlueprint, APIFlask
from flask import Response

from app.api.blueprints import ALIAS_PREFIX, PREFIX
from app.api.parse import JSON_API
from app.api.schemas import ERROR, PROBLEMS
from app.errors import is_for_programs

open_documents = APIBlueprint("documents", __name__, enable_openapi=False)
"""What needs no key."""

SECURITY: dict[str, Any] = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}


def configure(app: APIFlask) -> None:
    """Set what APIFlask's generator takes from the configuration."""
    app.config.update(
        OPENAPI_VERSION="3.1.0",
        SECURITY_SCHEMES=SECURITY,
        VALIDATION_ERROR_SCHEMA=PROBLEMS,
        HTTP_ERROR_SCHEMA=ERROR,
        AUTO_OPERATION_ID=True,
        AUTO_SERVERS=False,
    )
    app.spec_processor(complete)


def complete(spec: dict[str, Any] | str) -> dict[str, Any] | str:
    """The generated document without the alias paths and pages, with what every operation has in common."""
    if isinstance(spec, str):
        raise TypeError("the document is generated as JSON")
    paths = spec["paths"]
    spec["paths"] = {
        path: item
        for path, item in paths.items()
        if is_for_programs(path) and path.replace(ALIAS_PREFIX, PREFIX, 1) not in paths.keys() - {path}
    }
    spec["security"] = [{"bearer": []}, {"key": []}]
    for item in spec["paths"].values():
        for operation in item.values():
            body = operation.get("requestBody")
            if body is not None:
                body["content"][JSON_API] = body["content"]["application/json"]
                body["required"] = True
            _share_success(operation["responses"])
            for status, description in (("401", "Unauthorized"), ("403", "Forbidden"), ("429", "Too many")):
                operation["responses"].setdefault(
                    status,
                    {"description": description, "content": {"application/json": {"schema": ERROR}}},
                )
    return spec


def _share_success(responses: dict[str, Any]) -> None:
    """A success that was only named has the same body as the one that was described."""
    successes = [one for code, one in responses.items() if "200" <= code < "204"]
    described = [one["content"] for one in successes if JSON_API in one.get("content", {})]
    for one in successes if described else ():
        one["content"] = described[0]


@open_documents.get(f"{PREFIX}/openapi.json")
def openapi() -> Response:
    """The document, generated once per application."""
    extensions = flask.current_app.extensions
    if "bridgenote_openapi" not in extensions:
        extensions["bridgenote_openapi"] = flask.json.dumps(generate(cast(APIFlask, flask.current_app)))
    return Response(extensions["bridgenote_openapi"], mimetype="application/json")


def generate(app: APIFlask) -> dict[str, Any] | str:
    """The document of this application."""
    for blueprint in app.blueprints.values():
        if not isinstance(blueprint, APIBlueprint):
            # APIFlask asks every blueprint that has a before_request; the dashboard's are plain ones.
            blueprint.enable_openapi = False  # type: ignore[attr-defined]
    return app.spec
