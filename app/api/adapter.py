"""Makes APIFlask's ``@input`` parse strictly: importing this module replaces APIFlask's pydantic adapter.

APIFlask's own adapter parses JSON leniently and has its own error format. With this one ``@public.input(Model)`` passes
``json_data`` from ``parse.body`` to the view, and ``@public.input(Model, location="query")`` passes ``query_data`` from
``query.read``. The OpenAPI document shows the JSON:API form of a body, and the plain form where it is accepted.
"""

from typing import Any

from apiflask.schema_adapters import registry
from apiflask.schema_adapters.pydantic import PydanticAdapter
from flask import Request

from app.api import parse, query
from app.api.shapes import Body

IGNORED: dict[str, Any] = {"description": "Accepted and ignored."}
"""The schema of a member that JSON:API allows and that we ignore."""


class StrictAdapter(PydanticAdapter):
    """Reads input with ``parse`` and ``query``."""

    def validate_input(self, request: Request, location: str, **kwargs: Any) -> Any:
        """Return the parsed input of a view. Raises what ``parse.body`` and ``query.read`` raise."""
        if location == "json":
            if not issubclass(self.model_class, Body):
                raise TypeError(f"{self.model_class.__name__} is no Body")
            return parse.body(request, self.model_class)
        if location == "query":
            return query.read(request, self.model_class)
        raise ValueError(f"no view reads input from {location}")

    def get_openapi_schema(self, **kwargs: Any) -> dict[str, Any]:
        """Return the schema of a model. For a body, the attributes are wrapped in a JSON:API document."""
        schema: dict[str, Any] = super().get_openapi_schema(**kwargs)
        model = self.model_class
        if not issubclass(model, Body) or model.resource is None:
            return schema
        named = f"{self.get_schema_name()}Attributes"
        definitions = schema.pop("$defs", {}) | {named: schema}
        attributes = {"$ref": f"#/components/schemas/{self.get_schema_name()}.{named}"}
        required = ["attributes"] if model.loose else ["type", "attributes"]
        members: dict[str, Any] = {
            "type": {"const": model.resource},
            **({} if model.creates else {"id": {"type": "string"}}),
            "attributes": attributes,
            "meta": IGNORED,
            "links": IGNORED,
        }
        if model.needs_id and not model.loose:
            required.append("id")
        wrapped: dict[str, Any] = {
            "type": "object",
            "required": ["data"],
            "properties": {
                "data": {
                    "type": "object",
                    "required": required,
                    "properties": members,
                    "additionalProperties": False,
                },
                "jsonapi": IGNORED,
                "meta": IGNORED,
                "links": IGNORED,
            },
            "additionalProperties": False,
        }
        shown = {"anyOf": [wrapped, attributes]} if model.plain else wrapped
        return shown | {"$defs": definitions}


registry.register("pydantic", StrictAdapter)
