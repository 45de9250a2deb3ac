"""Makes APIFlask's ``@input`` parse strictly: importing this module replaces APIFlask's pydantic adapter.

APIFlask's own adapter parses JSON leniently and has its own error format. With this one ``@public.input(Model)`` passes
``json_data`` from ``parse.body`` to the view, and ``@public.input(Model, location="query")`` passes ``query_data`` from
``read_query``, which refuses unknown parameters (docs/integrate/api.md). The OpenAPI document shows the JSON:API form
of a body, and the plain form where it is accepted.
"""

from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import unquote, unquote_to_bytes

from apiflask.schema_adapters import registry
from apiflask.schema_adapters.pydantic import PydanticAdapter
from flask import Request
from pydantic import BaseModel, ValidationError

from app.api import parse
from app.api.errors import Located, pydantic_problems
from app.api.shapes import Body
from app.core.errors import Malformed, Problem

_FAMILIES = ("filter", "page", "field", "sort", "include")

Model = TypeVar("Model", bound=BaseModel)


def query_names(model: type[BaseModel]) -> frozenset[str]:
    """Return the names of the parameters that a query model reads."""
    return frozenset(field.alias or name for name, field in model.model_fields.items())


def check_query(request: Request, allowed: frozenset[str]) -> None:
    """Refuse (400) repeated parameters, and unknown ones that may mean a filter, a page, fields, an order, an include.

    Those are in every spelling: ``Filter[…]``, ``filters.…``, encoded twice. Passed over, one would give the caller
    everything instead of the part that was asked for.
    """
    try:
        unquote_to_bytes(request.query_string).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed("The query is not UTF-8") from error
    for name, values in request.args.lists():
        if len(values) > 1:
            raise Malformed(f"Query parameter {name[:100]} is repeated")
        if name not in allowed and _decoded(name).startswith(_FAMILIES):
            known = ", ".join(sorted(allowed)) or "none"
            raise Malformed(f"Unknown query parameter {name[:100]}; this call reads: {known}")


def _decoded(name: str) -> str:
    """The name in lower case without what encoding it once more, or several times, put into it."""
    while (decoded := unquote(name)) != name:
        name = decoded
    return name.strip().lower()


def read_query(request: Request, model: type[Model]) -> Model:
    """Parse the query as ``model``. A bad value is 422, with ``loc`` such as ``query, page[size]``."""
    try:
        return model.model_validate(request.args.to_dict())
    except ValidationError as error:
        problems = pydantic_problems(error, ("query",))
        raise Located(*(_as_sent(problem, request) for problem in problems)) from error


def _as_sent(problem: Problem, request: Request) -> Problem:
    """The problem with the parameter's text as ``input``; pydantic may report what that text was converted to."""
    return replace(problem, input=request.args.get(str(problem.loc[1]), problem.input))


def _ignored(member: str) -> dict[str, Any]:
    return {"description": f"The member `{member}` of JSON:API: accepted and ignored."}


def _object(description: str, required: list[str], members: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "required": required,
        "properties": members,
        "additionalProperties": False,
    }


class StrictAdapter(PydanticAdapter):
    """Reads input with ``parse`` and ``read_query``."""

    def validate_input(self, request: Request, location: str, **kwargs: Any) -> Any:
        """Return the parsed input of a view. Raises what ``parse.body`` and ``read_query`` raise."""
        if location == "json":
            if not issubclass(self.model_class, Body):
                raise TypeError(f"{self.model_class.__name__} is no Body")
            return parse.body(request, self.model_class)
        if location == "query":
            return read_query(request, self.model_class)
        raise ValueError(f"no view reads input from {location}")

    def get_openapi_schema(self, **kwargs: Any) -> dict[str, Any]:
        """Return the schema of a model. For a body, the attributes are wrapped in a JSON:API document.

        Each object is a component of its own, because generators of clients name a class after it: ``NoteCreate`` is
        the document, with ``NoteCreateResource`` and ``NoteCreateAttributes`` in it. Where the body may also be the
        plain attributes, ``ActionCreate`` is either ``ActionCreateDocument`` or ``ActionCreateAttributes``.
        """
        schema: dict[str, Any] = super().get_openapi_schema(**kwargs)
        model = self.model_class
        if issubclass(model, Body) and model.batch_of is not None:
            item = f"#/components/schemas/{model.batch_of.__name__}Resource"
            schema["properties"]["data"]["items"] = {"$ref": item}
        if not issubclass(model, Body) or model.resource is None:
            return schema
        name = self.get_schema_name()
        components: dict[str, Any] = schema.pop("$defs", {})

        def component(part: str, part_schema: dict[str, Any]) -> dict[str, str]:
            components[name + part] = part_schema
            return {"$ref": f"#/components/schemas/{name}.{name}{part}"}

        attributes = component("Attributes", schema)
        document = _document(component("Resource", _resource(model, attributes)))
        if model.plain:
            document = {
                "description": "A document of JSON:API, or the attributes as a plain object.",
                "anyOf": [component("Document", document), attributes],
            }
        return document | {"$defs": components}


def _resource(model: type[Body], attributes: dict[str, str]) -> dict[str, Any]:
    type_schema = {
        "type": "string",
        "const": model.resource,
        "description": f"The type of the resource, always `{model.resource}`.",
    }
    id_schema = {"type": "string", "description": "The id in the path of the call."}
    required = ["attributes"] if model.loose else ["type", "attributes"]
    if model.needs_id and not model.loose:
        required.append("id")
    members: dict[str, Any] = {
        "type": type_schema,
        **({} if model.creates else {"id": id_schema}),
        "attributes": attributes | {"description": "The values of the resource that this call sets."},
        "meta": _ignored("meta"),
        "links": _ignored("links"),
    }
    return _object(f"A resource object of JSON:API, of the type `{model.resource}`.", required, members)


def _document(resource: dict[str, str]) -> dict[str, Any]:
    members: dict[str, Any] = {
        "data": resource | {"description": "The resource that this call creates or changes."},
        "jsonapi": _ignored("jsonapi"),
        "meta": _ignored("meta"),
        "links": _ignored("links"),
    }
    return _object("A document of JSON:API with one resource.", ["data"], members)


registry.register("pydantic", StrictAdapter)
