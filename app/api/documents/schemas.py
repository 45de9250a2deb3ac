"""From the generator's schemas to the document's: one component per name, and words as Markdown writes them."""

import json
import re
from typing import Any

COMPONENT = "#/components/schemas/"
_QUALIFIED = re.compile(rf'"{COMPONENT}(?:[^".]+\.)?([^".]+)"')
_NAMES = {
    "HTTPError": "Error",
    "ValidationError": "ValidationErrors",
    "Version": "JsonApiVersion",
    "WebhookDocumentWithId": "WebhookDocument",
}
"""Names that say more than those of our classes."""
_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions"})


def share(spec: dict[str, Any]) -> dict[str, Any]:
    """The document with each nested schema as one component of its own name.

    The generator repeats a nested model under every model that uses it (``RequestList.Links``). Raises TypeError
    where two different models have the same name, which would leave a reader guessing.
    """
    written = _QUALIFIED.sub(_reference, json.dumps(spec))
    made: dict[str, Any] = json.loads(written)
    shared: dict[str, Any] = {}
    for qualified, schema in made["components"].pop("schemas", {}).items():
        name = _name(qualified.rpartition(".")[2])
        tidied = tidy(schema)
        if shared.setdefault(name, tidied) != tidied:
            raise TypeError(f"two different schemas are called {name}")
    made["components"]["schemas"] = dict(sorted(shared.items()))
    return made


def _name(written: str) -> str:
    return _NAMES.get(written, written)


def _reference(match: re.Match[str]) -> str:
    return f'"{COMPONENT}{_name(match.group(1))}"'


def reference(name: str) -> dict[str, str]:
    """A reference to a component schema."""
    return {"$ref": COMPONENT + name}


def tidy(schema: Any, *, is_map: bool = False) -> Any:
    """A schema without the titles that pydantic makes of names, without null defaults, described in Markdown."""
    if isinstance(schema, list):
        return [tidy(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {}
    for name, value in schema.items():
        if not is_map and (name == "title" or (name == "default" and value is None)):
            continue
        if not is_map and name == "description" and isinstance(value, str):
            made[name] = markdown(value)
        elif not is_map and name in {"const", "enum", "default", "examples"}:
            made[name] = value
        else:
            made[name] = tidy(value, is_map=not is_map and name in _MAPS)
    return made


def markdown(text: str) -> str:
    """A docstring's words: lines joined within paragraphs, code between single backticks."""
    paragraphs = re.split(r"\n\s*\n", text.replace("``", "`").strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def parameter(written: dict[str, Any]) -> dict[str, Any]:
    """A parameter as it is sent: it is left out or has a value, so null is no choice of its own."""
    schema = tidy(written["schema"])
    choices = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if len(choices) == 1:
        rest = {name: value for name, value in schema.items() if name != "anyOf"}
        schema = choices[0] | rest
    description = schema.pop("description", None) or written.get("description")
    made = {name: value for name, value in written.items() if name not in {"schema", "description"}}
    if description:
        made["description"] = markdown(description)
    return made | {"schema": schema}
