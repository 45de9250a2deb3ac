"""APIFlask's ``@input`` and ``@output`` with our strict reading: importing this replaces its pydantic adapter.

APIFlask's own reads JSON leniently and words errors its own way. With this adapter ``@public.input(Model)`` gives the
view ``json_data`` from ``parse.body``, and ``@public.input(Model, location="query")`` gives ``query_data`` from
``query.read``; the OpenAPI document shows the wrapped form of a body, and the plain one where it is accepted.
"""

from typing import Any

from apiflask.schema_adapters import registry
from apiflask.schema_adapters.pydantic import PydanticAdapter
from flask import Request

from app.api import parse, query
from app.api.shapes import Body

IGNORED: dict[str, Any] = {"description": "Accepted and ignored."}
"""The schema of a member that JSON:API allows and nobody reads."""


class StrictAdapter(PydanticAdapter):
    """Reads input by ``parse`` and ``query``."""

    def validate_input(self, request: Request, location: str, **kwargs: Any) -> Any:
        """The input of a view. Raises what ``parse.body`` and ``query.read`` raise."""
        if location == "json":
            if not issubclass(self.model_class, Body):
                raise TypeError(f"{self.model_class.__name__} is no Body")
            return parse.body(request, self.model_class)
        if location == "query":
            return query.read(request, self.model_class)
        raise ValueError(f"no view reads input from {location}")

    def get_openapi_schema(self, **kwargs: Any) -> dict[str, Any]:
        """The schema of a model; of a body with its JSON:API wrapping around the attributes."""
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
            "id": {"type": "string"},
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
