"""Cleans up the generated OpenAPI schemas: one component per name, descriptions in Markdown."""

import json
import re
from typing import Any

from app.api.shapes import without_null

COMPONENT = "#/components/schemas/"
_QUALIFIED = re.compile(rf'"{COMPONENT}(?:[^".]+\.)?([^".]+)"')
_NAMES = {
    "HTTPError": "ErrorDocument",
    "ValidationError": "ValidationErrorDocument",
    "Version": "JsonApiVersion",
    "WebhookDocumentWithId": "WebhookDocument",
}
"""Schema names that are clearer than the names of our classes."""
_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions"})


def merge_nested_schemas(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the document with each nested schema as one component.

    The generator repeats a nested model under every model that uses it (``RequestList.Links``). Raises TypeError if two
    different models have the same name.
    """
    text = _QUALIFIED.sub(_reference, json.dumps(spec))
    document: dict[str, Any] = json.loads(text)
    shared: dict[str, Any] = {}
    for qualified, schema in document["components"].pop("schemas", {}).items():
        name = _name(qualified.rpartition(".")[2])
        tidied = tidy(schema)
        if shared.setdefault(name, tidied) != tidied:
            raise TypeError(f"two different schemas are called {name}")
    document["components"]["schemas"] = dict(sorted(shared.items()))
    return document


def _name(class_name: str) -> str:
    return _NAMES.get(class_name, class_name)


def _reference(match: re.Match[str]) -> str:
    return f'"{COMPONENT}{_name(match.group(1))}"'


def reference(name: str) -> dict[str, str]:
    """Return a reference to a component schema."""
    return {"$ref": COMPONENT + name}


def tidy(schema: Any, *, is_map: bool = False) -> Any:
    """Return a schema without pydantic's generated titles and null defaults, with descriptions in Markdown."""
    if isinstance(schema, list):
        return [tidy(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    tidied = {}
    for name, value in schema.items():
        if not is_map and (name == "title" or (name == "default" and value is None)):
            continue
        if not is_map and name == "description" and isinstance(value, str):
            tidied[name] = markdown(value)
        elif not is_map and name in {"const", "enum", "default", "examples"}:
            tidied[name] = value
        else:
            tidied[name] = tidy(value, is_map=not is_map and name in _MAPS)
    return tidied


def markdown(text: str) -> str:
    """Convert a docstring to Markdown: join the lines of a paragraph, put code between single backticks."""
    paragraphs = re.split(r"\n\s*\n", text.replace("``", "`").strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def parameter(generated: dict[str, Any]) -> dict[str, Any]:
    """Return a parameter without the choice null: a parameter has a value or is left out."""
    schema = without_null(tidy(generated["schema"]))
    description = schema.pop("description", None) or generated.get("description")
    cleaned = {name: value for name, value in generated.items() if name not in {"schema", "description"}}
    if description:
        cleaned["description"] = markdown(description)
    return cleaned | {"schema": schema}
