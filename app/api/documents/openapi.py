"""The OpenAPI 3.1 document of the API, served without a key (docs/integrate/api.md).

APIFlask generates paths, parameters and schemas from the views. This module adds what all operations share, so that a
view declares only its models, its docstring and its special error statuses.
"""

import copy
import json
import re
from typing import Any, cast

import flask
from apiflask import APIBlueprint, APIFlask
from flask import Response

from app.api.blueprints import ALIAS_PREFIX, PREFIX, check_query_names
from app.api.documents import events, parts
from app.api.documents import examples as document_examples
from app.api.documents.parts import BASE_HEADERS, LIMIT_HEADERS, REFUSALS, TAGS
from app.api.documents.schemas import COMPONENT, markdown, merge_nested_schemas, parameter, reference
from app.api.parse import JSON_API
from app.api.shapes import Body
from app.core import limits
from app.errors import answers_json
from app.wiring import base_url

open_documents = APIBlueprint("documents", __name__, tag="About")
"""Views that need no key."""
open_documents.before_request(check_query_names)

JSON = "application/json"
COMMON = {"400", "401", "403", "406", "429", "500", "503"}
"""Error statuses of every operation that needs a key."""
OF_A_BODY = {"413", "415", "422"}

_SEGMENT_TAGS = {
    "requests": "Requests",
    "moderation-actions": "Moderation actions",
    "notes": "Notes",
    "ratings": "Ratings",
    "reports": "Reports",
    "community-servers": "Community servers",
    "user-profiles": "User profiles",
}
_PATH_NAMES = {"requests": "request_id", "community-servers": "community_server_id"}
"""The documented name of the path parameter ``reference`` (docs/integrate/api.md)."""

_UUID = {"type": "string", "format": "uuid"}
_FOREIGN = {"type": "string", "minLength": 1, "maxLength": limits.ID_MAX}
PATH_PARAMETERS: dict[str, tuple[str, dict[str, Any], str]] = {
    "request_id": ("Our UUID, or the integration's `request_id`.", _FOREIGN, document_examples.REQUEST),
    "community_server_id": (
        "Our UUID, the platform's id, or the slug.",
        _FOREIGN,
        document_examples.COMMUNITY,
    ),
    "platform_community_server_id": (
        "The community's id on its platform, exactly as sent.",
        _FOREIGN,
        "forum-1",
    ),
    "action_id": ("The action, by our UUID.", _UUID, document_examples.ACTION),
    "note_id": ("The note, by our UUID.", _UUID, document_examples.NOTE),
    "rating_id": ("The rating, by our UUID.", _UUID, document_examples.RATING),
    "report_id": ("The report, by our UUID.", _UUID, document_examples.REPORT),
    "profile_id": ("The profile of a person, by our UUID.", _UUID, document_examples.PROFILE),
    "webhook_id": ("The webhook, by our UUID.", _UUID, document_examples.WEBHOOK),
}


def configure(app: APIFlask) -> None:
    """Configure APIFlask's generator."""
    app.config.update(
        OPENAPI_VERSION="3.1.0",
        SECURITY_SCHEMES=parts.SECURITY_SCHEMES,
        VALIDATION_ERROR_SCHEMA=parts.COMMON_SCHEMAS["ValidationErrorDocument"],
        HTTP_ERROR_SCHEMA=parts.COMMON_SCHEMAS["ErrorDocument"],
        AUTO_SERVERS=False,
    )
    app.spec_processor(complete)


def complete(spec: dict[str, Any] | str) -> dict[str, Any] | str:
    """Complete the generated document: remove alias paths and HTML pages, add what all operations share."""
    if isinstance(spec, str):
        raise TypeError("the document is generated as JSON")
    paths = {
        path: item
        for path, item in spec["paths"].items()
        if answers_json(path) and path.replace(ALIAS_PREFIX, PREFIX, 1) not in spec["paths"].keys() - {path}
    }
    document = merge_nested_schemas(spec | {"paths": paths})
    views = _views()
    finished: dict[str, Any] = {}
    for path, item in document["paths"].items():
        segment = _segment(path)
        documented_path = path.replace("{reference}", "{" + _PATH_NAMES.get(segment, "reference") + "}")
        for method, operation in item.items():
            _finish(operation, documented_path, method, views[path, method])
        finished[documented_path] = item
    order = list(TAGS)
    document["paths"] = dict(
        sorted(finished.items(), key=lambda pair: (order.index(_tag_of(pair[1])), pair[0]))
    )
    components = document["components"]
    components["schemas"] |= parts.COMMON_SCHEMAS | events.schemas()
    components["schemas"] = dict(sorted(components["schemas"].items()))
    components["parameters"] = parts.ADAPTER_HEADERS
    components["headers"] = parts.HEADERS
    components["responses"] = parts.responses()
    return {
        "openapi": document["openapi"],
        "info": document["info"] | {"title": parts.TITLE, "description": parts.DESCRIPTION},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {"key": []}],
        "tags": [{"name": name, "description": description} for name, description in TAGS.items()],
        "paths": document["paths"],
        "webhooks": events.webhooks(),
        "components": components,
    }


def _views() -> dict[tuple[str, str], tuple[str, Any]]:
    """Return blueprint name and view function by OpenAPI path and method."""
    app = flask.current_app
    views = {}
    for rule in app.url_map.iter_rules():
        path = re.sub(r"<(?:[^<:]+:)?([^>]+)>", r"{\1}", rule.rule)
        for method in rule.methods or ():
            blueprint = rule.endpoint.rpartition(".")[0]
            views[path, method.lower()] = (blueprint, app.view_functions[rule.endpoint])
    return views


def _segment(path: str) -> str:
    """Return the first segment of a path below the prefix: the name of the collection."""
    return path.removeprefix(PREFIX).removeprefix(ALIAS_PREFIX).strip("/").partition("/")[0]


def _tag_of(item: dict[str, Any]) -> str:
    tag: str = next(iter(item.values()))["tags"][0]
    return tag


def _finish(operation: dict[str, Any], path: str, method: str, view: tuple[str, Any]) -> None:
    blueprint, function = view
    operation["operationId"] = function.__name__
    operation["summary"] = markdown(operation.get("summary", "")).rstrip(".")
    if "description" in operation:
        operation["description"] = markdown(operation["description"])
    if blueprint == "public":
        is_rating = path.endswith(("/ratings", "/ratings/stats"))
        tag = "Ratings" if is_rating else _SEGMENT_TAGS[_segment(path)]
        operation["tags"] = ["Notes" if path.endswith("/ai-notes") else tag]
    is_open = blueprint == open_documents.name
    if is_open:
        operation["security"] = []
    _finish_parameters(operation, path, is_open)
    body = operation.get("requestBody")
    if body is not None:
        _finish_body(operation, body, function)
    _finish_responses(operation, path, method, is_open)


def _finish_parameters(operation: dict[str, Any], path: str, is_open: bool) -> None:
    finished = []
    for item in operation.pop("parameters", []):
        if item["in"] == "path":
            name = item["name"]
            if name == "reference":
                name = _PATH_NAMES[_segment(path)]
            description, schema, example = PATH_PARAMETERS[name]
            item = {
                "name": name,
                "in": "path",
                "required": True,
                "description": description,
                "schema": schema,
                "example": example,
            }
        else:
            item = parameter(item)
        finished.append(item)
    if not is_open:
        finished += [{"$ref": f"#/components/parameters/{name}"} for name in parts.ADAPTER_HEADERS]
    operation["parameters"] = finished


def _finish_body(operation: dict[str, Any], body: dict[str, Any], view: Any) -> None:
    model = view._spec["body"]
    examples = {
        name: {"summary": summary, "value": value}
        for name, (summary, value) in document_examples.BODIES.get(operation["operationId"], {}).items()
    }
    content = body["content"][JSON]
    if examples:
        content["examples"] = examples
    is_document = issubclass(model, Body) and (model.resource or model.batch_of) is not None
    body["content"] = ({JSON_API: content} if is_document else {}) | {JSON: content}
    body["required"] = not model.optional


def _finish_responses(operation: dict[str, Any], path: str, method: str, is_open: bool) -> None:
    declared = operation["responses"]
    successes = {code: response for code, response in declared.items() if code < "400"}
    refused = {code for code in declared if code >= "400"}
    if is_open:
        refused |= {"500"}
    else:
        refused |= COMMON
    if any(item.get("in") == "path" for item in operation["parameters"]):
        refused.add("404")
    if "requestBody" in operation:
        refused |= OF_A_BODY
        if JSON_API in operation["requestBody"]["content"]:
            refused.add("409")  # the body's id differs from the path's (JSON:API 1.1: Updating Resources)
    _share_success(successes)
    for code, response in successes.items():
        headers = dict(BASE_HEADERS) | ({} if is_open else LIMIT_HEADERS)
        if code == "201" and not path.startswith("/api/v1/"):
            headers["Location"] = "Location"
        response["headers"] = parts.headers(headers)
        response["description"] = _SUCCESS[code] if method != "get" else "Found."
        for content in response.get("content", {}).values():
            example = _example(content["schema"], operation["operationId"], code, path)
            if example is not None:
                content["example"] = example
    operation["responses"] = dict(sorted(successes.items())) | {
        code: {"$ref": f"#/components/responses/{REFUSALS[int(code)][0]}"} for code in sorted(refused)
    }


_SUCCESS = {
    "200": "Done, or it was so before.",
    "201": "Created.",
    "202": "Under way.",
    "204": "Done; there is nothing to say.",
}


def _share_success(successes: dict[str, Any]) -> None:
    """Give all success statuses the body of the one that has a model. 204 has no body."""
    described = [item["content"] for item in successes.values() if JSON_API in item.get("content", {})]
    for code, response in successes.items() if described else ():
        if code != "204":
            # A copy, because each status has an example of its own.
            response["content"] = copy.deepcopy(described[0])


def _example(schema: dict[str, Any], operation: str, status: str, path: str) -> Any:
    """Return an example of the body that a component schema describes, or None."""
    name = schema.get("$ref", "").removeprefix(COMPONENT)
    if name in document_examples.FLAT:
        return document_examples.flat(name, operation, status)
    if name.endswith("Document"):
        return document_examples.document(_TYPES[name.removesuffix("Document")], operation, status)
    if name.endswith("List"):
        type = _TYPES[name.removesuffix("List")]
        return document_examples.listing(type, operation, status, _example_path(path))
    return None


_TYPES = {
    "Request": "requests",
    "ModerationAction": "moderation-actions",
    "Note": "notes",
    "Rating": "ratings",
    "RatingStats": "rating-stats",
    "Report": "reports",
    "CommunityServer": "community-servers",
    "UserProfile": "user-profiles",
    "AuthorStanding": "author-standings",
    "Webhook": "webhooks",
    "WebhookDelivery": "webhook-deliveries",
    "WebhookReplayRun": "webhook-replays",
    "Scores": "scores",
}


def _example_path(path: str) -> str:
    """Return a path with example values for its parameters."""
    for name, (_, _, example) in PATH_PARAMETERS.items():
        path = path.replace("{" + name + "}", example)
    return path


_OPENAPI_RESPONSES: Any = {200: {"content": {JSON: {"schema": reference("OpenApi")}}}}


@open_documents.get(f"{PREFIX}/openapi.json")
@open_documents.get(f"{ALIAS_PREFIX}/openapi.json")
@open_documents.doc(responses=_OPENAPI_RESPONSES)
def read_openapi() -> Response:
    """Read this document."""
    document = generated_document(cast(APIFlask, flask.current_app)) | {"servers": [{"url": base_url()}]}
    return Response(json.dumps(document), mimetype=JSON)


def generated_document(app: APIFlask) -> dict[str, Any]:
    """Return the OpenAPI document of this application. It is generated once."""
    if "bridgenote_openapi" not in app.extensions:
        for blueprint in app.blueprints.values():
            if not isinstance(blueprint, APIBlueprint):
                # APIFlask reads this attribute of every blueprint; those of the dashboard are plain Flask blueprints.
                blueprint.enable_openapi = False  # type: ignore[attr-defined]
        app.extensions["bridgenote_openapi"] = app.spec
    document: dict[str, Any] = app.extensions["bridgenote_openapi"]
    return document
