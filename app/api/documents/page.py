"""The page for people beside the OpenAPI document: the same words, rendered here, without script of others."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import flask
from apiflask import APIBlueprint, APIFlask
from flask import Response, render_template

from app.api.blueprints import ALIAS_PREFIX, PREFIX, check_query_names
from app.api.documents import openapi
from app.api.parse import JSON_API
from app.wiring import base_url

Document = Mapping[str, Any]

docs_page = APIBlueprint("docs_page", __name__, enable_openapi=False)
docs_page.before_request(check_query_names)


@dataclass(frozen=True)
class Field:
    """A member of a body, a parameter or a header, in words."""

    name: str
    kind: str
    required: bool
    description: str
    place: str = ""


@dataclass(frozen=True)
class Answer:
    """A status that an operation answers; ``body`` is an example, as text."""

    status: str
    description: str
    headers: tuple[str, ...] = ()
    body: str | None = None
    fields: tuple[Field, ...] = ()


@dataclass(frozen=True)
class Operation:
    """One method of one path, or one event that arrives."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    parameters: tuple[Field, ...]
    body: tuple[Field, ...]
    body_note: str
    examples: tuple[tuple[str, str], ...]
    answers: tuple[Answer, ...]
    refusals: tuple[str, ...]
    needs_key: bool


@dataclass
class Group:
    """The operations of a tag, with the fields of its resources."""

    id: str
    name: str
    description: str
    operations: list[Operation] = field(default_factory=list)
    resources: list[tuple[str, tuple[Field, ...]]] = field(default_factory=list)


@docs_page.get(f"{ALIAS_PREFIX}/docs")
@docs_page.get(f"{PREFIX}/docs")  # registered first, so it is the one that links lead to
def read_docs() -> Response:
    """The page. It reads no key, and shows the same to everybody."""
    app = cast(APIFlask, flask.current_app)
    document = openapi.generated_document(app)
    if "bridgenote_docs" not in app.extensions:
        app.extensions["bridgenote_docs"] = list(groups(document))
    page = render_template(
        "api_docs.html",
        base_url=base_url(),
        document_url=f"{PREFIX}/openapi.json",
        intro=document["info"]["description"].strip().split("\n\n"),
        headers=[_parameter(document, one) for one in document["components"]["parameters"].values()],
        refusals=[_answer(document, *one) for one in _refusals(document)],
        sections=app.extensions["bridgenote_docs"],
        events=[_event(document, name, item["post"]) for name, item in document["webhooks"].items()],
    )
    response = Response(page, mimetype="text/html")
    # Somebody signed in sees their navigation beside it.
    response.headers["Cache-Control"] = "no-store"
    return response


def groups(document: Document) -> Iterator[Group]:
    """The operations by tag, in the document's order."""
    made = {
        tag["name"]: Group(tag["name"].lower().replace(" ", "-"), tag["name"], tag["description"])
        for tag in document["tags"]
    }
    for path, item in document["paths"].items():
        for method, operation in item.items():
            group = made[operation["tags"][0]]
            group.operations.append(_operation(document, path, method, operation))
            _add_resource(document, group, operation)
    yield from (group for group in made.values() if group.operations)


def _add_resource(document: Document, group: Group, operation: Document) -> None:
    """Note the attributes of the resource that an operation answers with, once."""
    for response in operation["responses"].values():
        for content in response.get("content", {}).values():
            data = resolve(document, content["schema"]).get("properties", {}).get("data")
            if data is None or "anyOf" in data.get("items", ()):
                continue  # the answers of a batch, whose resource another operation has
            resource = resolve(document, data.get("items", data))
            name = resource["properties"]["type"]["const"]
            if name not in {known for known, _ in group.resources}:
                group.resources.append((name, fields(document, resource["properties"]["attributes"])))


def resolve(document: Document, schema: Document) -> Document:
    """A schema, or what it refers to."""
    while "$ref" in schema:
        found: Any = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        schema = found
    return schema


def fields(document: Document, schema: Document) -> tuple[Field, ...]:
    """The members of an object, and of the objects inside it, in words."""
    return tuple(_fields(document, schema))


def _fields(document: Document, schema: Document, prefix: str = "") -> Iterator[Field]:
    schema = resolve(document, schema)
    required = schema.get("required", ())
    for name, member in schema.get("properties", {}).items():
        shown = resolve(document, member)
        words = member.get("description") or ("" if "enum" in shown else shown.get("description", ""))
        yield Field(prefix + name, kind(document, member), name in required, words)
        inner = resolve(document, shown.get("items", shown))
        choices = (resolve(document, choice) for choice in inner.get("anyOf", ()))
        inner = next((choice for choice in choices if "properties" in choice), inner)
        if "properties" in inner and prefix.count(".") < 2:
            yield from _fields(document, inner, f"{prefix}{name}{'[]' if 'items' in shown else ''}.")


def kind(document: Document, schema: Document) -> str:
    """What a value may be, in a few words."""
    schema = resolve(document, schema)
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(kind(document, one) for one in schema["anyOf"]))
    if "const" in schema:
        return f"`{_plain(schema['const'])}`"
    if "enum" in schema:
        return " or ".join(f"`{_plain(one)}`" for one in schema["enum"])
    written = schema.get("type", "any JSON")
    words = " or ".join(written) if isinstance(written, list) else str(written)
    if words == "array":
        words = "list of " + kind(document, schema.get("items", {}))
    if "format" in schema:
        words += f" ({schema['format']})"
    return words + "".join(f", {limit}" for limit in _limits(schema))


def _limits(schema: Document) -> Iterator[str]:
    for least, most, unit in (
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
    ):
        if least in schema and most in schema:
            yield f"{schema[least]:,} to {schema[most]:,}{unit}"
        elif most in schema:
            yield f"at most {schema[most]:,}{unit}"
        elif schema.get(least):
            yield f"at least {schema[least]:,}{unit}"
    if "default" in schema and schema["default"] not in ("", None):
        yield f"default {_plain(schema['default'])}"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _parameter(document: Document, one: Document) -> Field:
    words = kind(document, one["schema"])
    return Field(one["name"], words, bool(one.get("required")), one.get("description", ""), one["in"])


def _refusals(document: Document) -> Iterator[tuple[str, Document]]:
    """Status and component of every refusal, in order of status."""
    found: dict[str, Document] = {}
    for item in document["paths"].values():
        for operation in item.values():
            for status, response in operation["responses"].items():
                if "$ref" in response:
                    found[status] = response
    yield from sorted(found.items())


def _answer(document: Document, status: str, response: Document) -> Answer:
    is_shared = "$ref" in response
    shown = resolve(document, response)
    content: Document = next(iter(shown.get("content", {}).values()), {})
    body = json.dumps(content["example"], indent=2, ensure_ascii=False) if "example" in content else None
    schema = resolve(document, content.get("schema", {}))
    is_flat = "data" not in schema.get("properties", {}) and not is_shared
    return Answer(
        status,
        shown["description"],
        tuple(shown.get("headers", {})),
        body,
        fields(document, schema) if is_flat else (),
    )


def _operation(document: Document, path: str, method: str, operation: Document) -> Operation:
    own = [one for one in operation["parameters"] if "$ref" not in one]
    body = operation.get("requestBody")
    examples: tuple[tuple[str, str], ...] = ()
    members: tuple[Field, ...] = ()
    note = ""
    if body is not None:
        content = next(iter(body["content"].values()))
        members, note = _body(document, content["schema"], required=body["required"])
        examples = tuple(
            (example["summary"], _curl(method, path, own, example["value"]))
            for example in content.get("examples", {}).values()
        )
    elif operation.get("security") != []:
        examples = (("", _curl(method, path, own)),)
    answers = [_answer(document, *one) for one in operation["responses"].items()]
    return Operation(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        description=operation.get("description", ""),
        parameters=tuple(_parameter(document, one) for one in own),
        body=members,
        body_note=note,
        examples=examples,
        answers=tuple(one for one in answers if one.status < "400"),
        refusals=tuple(one.status for one in answers if one.status >= "400"),
        needs_key=operation.get("security") != [],
    )


def _body(document: Document, schema: Document, *, required: bool) -> tuple[tuple[Field, ...], str]:
    """The attributes of a body, and how they may be wrapped."""
    resolved = resolve(document, schema)
    wrapped = resolve(document, resolved["anyOf"][0]) if "anyOf" in resolved else resolved
    optional = "" if required else " The body may be left out."
    data = wrapped.get("properties", {}).get("data")
    if data is None:
        return fields(document, resolved), "A plain JSON object." + optional
    is_batch = "items" in data
    data = resolve(document, data["items"] if is_batch else data)
    attributes = data["properties"]["attributes"]
    envelope = (
        "`data` is a list, and of each " * is_batch
        + f"`data.type` is `{data['properties']['type']['const']}`"
    )
    if "id" in data["required"]:
        envelope += ", `data.id` is the path's"
    either = ", or the attributes as a plain object" if "anyOf" in resolved else ""
    return fields(document, attributes), f"A JSON:API document: {envelope}{either}." + optional


def _curl(method: str, path: str, parameters: list[Any], body: Any = None) -> str:
    """A call as a shell takes it; ``$BASE`` and ``$KEY`` stand for the reader's."""
    query = []
    for one in parameters:
        if one["in"] == "path":
            path = path.replace("{" + one["name"] + "}", str(one["example"]))
        elif one.get("required"):
            query.append(f"{one['name']}=user-7" if "user" in one["name"] else f"{one['name']}=forum-1")
    target = f'"$BASE{path}{"?" + "&".join(query) if query else ""}"'
    lines = [f"curl -X {method.upper()} {target}" if method != "get" else f"curl {target}"]
    lines.append('  -H "Authorization: Bearer $KEY"')
    if body is not None:
        lines.append(f"  -H 'Content-Type: {JSON_API if 'data' in body else openapi.JSON}'")
        lines.append("  -d " + shlex.quote(json.dumps(body, indent=2, ensure_ascii=False)))
    return " \\\n".join(lines)


def _event(document: Document, name: str, operation: Document) -> Operation:
    content = next(iter(operation["requestBody"]["content"].values()))
    return Operation(
        id=operation["operationId"],
        method="POST",
        path=name,
        summary=operation["summary"],
        description=resolve(document, content["schema"]).get("description", ""),
        parameters=tuple(_parameter(document, one) for one in operation["parameters"]),
        body=fields(document, content["schema"]),
        body_note="",
        examples=(("", json.dumps(content["example"], indent=2)),),
        answers=tuple(_answer(document, *one) for one in operation["responses"].items()),
        refusals=(),
        needs_key=False,
    )
