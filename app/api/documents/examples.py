"""The examples of the OpenAPI document, from ``examples.json``. All operations show the same case.

Tests validate each example, and compare each answer with what the operation really answers.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from string import Template
from typing import Any

from app.api.schemas.webhooks import ROTATION
from app.core.webhooks import catalogue

COMMUNITY = catalogue.COMMUNITY
REQUEST = catalogue.REQUEST
ACTION = catalogue.ACTION
NOTE = catalogue.NOTE
REPORT = catalogue.REPORT
RATING = "019a8f04-11aa-7f77-92e4-a09f8e7d6c51"
PROFILE = "019a8e10-22bb-7a88-83f5-b1a09f8e7d62"
WEBHOOK = "019a8e20-33cc-7b99-94a6-c2b1a09f8e73"
_NAMED = {
    "COMMUNITY": COMMUNITY,
    "REQUEST": REQUEST,
    "ACTION": ACTION,
    "NOTE": NOTE,
    "REPORT": REPORT,
    "RATING": RATING,
    "WEBHOOK": WEBHOOK,
    "EVENT": catalogue.EVENT,
    "PROFILE": PROFILE,
    "DELIVERY": "019a8f05-44dd-7c00-85a7-d3c2b1a09f85",
    "REPLAY": "019a8f05-55ee-7d11-96b8-e4d3c2b1a096",
    "ROTATION": ROTATION,
    "CONTENT": "Double your Bitcoin today, guaranteed profits! Send 0.1 BTC, get 0.2 back.",
    "SUMMARY": "The offer is a known scam: nobody doubles what is sent to them.",
}
"""What ``examples.json`` names with a ``$``."""
BASE = "https://bridgenote.example"
PREFIX = "/api/public/v1"


@dataclass(frozen=True)
class Answer:
    """How the answer of one operation with one status differs from the example resource of its type."""

    changes: Mapping[str, Any] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    """Attributes that are left out, because they have no value yet."""
    meta: Mapping[str, Any] = field(default_factory=dict)


def _read() -> dict[str, Any]:
    text = resources.files("app.api.documents").joinpath("examples.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(Template(text).substitute(_NAMED))
    return content


_CONTENT = _read()
ATTRIBUTES: dict[str, tuple[str, dict[str, Any]]] = {
    type: (entry["id"], entry["attributes"]) for type, entry in _CONTENT["resources"].items()
}
"""An example resource by type: its id and attributes. Other types have no example."""
ANSWERS: dict[tuple[str, str], Answer] = {
    (operation, status): Answer(**{**entry, "absent": frozenset(entry.get("absent", ()))})
    for (operation, status), entry in ((name.split(), entry) for name, entry in _CONTENT["answers"].items())
}
"""Operations and statuses whose answer differs from the example resource of its type; the others show that."""
FLAT: dict[str, dict[str, Any]] = _CONTENT["flat"]
"""Example bodies that are not JSON:API documents, by schema."""
BODIES: dict[str, dict[str, tuple[str, Any]]] = {
    operation: {name: (entry["summary"], entry["value"]) for name, entry in named.items()}
    for operation, named in _CONTENT["bodies"].items()
}
"""Request bodies by operation: name, summary and value of each example."""


def resource(type: str, answer: Answer) -> dict[str, Any]:
    """Return the example resource object of a type."""
    id, attributes = ATTRIBUTES[type]
    shown = {name: value for name, value in attributes.items() if name not in answer.absent}
    return {"type": type, "id": id, "attributes": {**shown, **answer.changes}}


def flat(schema: str, operation: str, status: str) -> dict[str, Any]:
    """Return the example of a body that is not a JSON:API document."""
    return {**FLAT[schema], **_answer(operation, status).changes}


def document(type: str, operation: str, status: str) -> dict[str, Any]:
    """Return the example document of one resource, as the operation answers it with this status."""
    answer = _answer(operation, status)
    shown = resource(type, answer)
    members: dict[str, Any] = {"jsonapi": {"version": "1.1"}, "data": shown}
    if type in _SELF:
        link = BASE + _SELF[type].format(id=shown["id"])
        members["links"] = {"self": link, "describedby": f"{BASE}{PREFIX}/openapi.json"}
    if answer.meta:
        members["meta"] = dict(answer.meta)
    return members | ({"id": shown["id"]} if type == "webhooks" else {})


_SELF = {
    **{
        type: f"{PREFIX}/{type}/{{id}}"
        for type in ("requests", "moderation-actions", "notes", "ratings", "reports", "community-servers")
    },
    "rating-stats": f"{PREFIX}/notes/{{id}}/ratings/stats",
    "webhooks": "/webhooks/{id}",
}
"""The path of a resource by its type. Profiles have none."""


def listing(type: str, operation: str, status: str, path: str) -> dict[str, Any]:
    """Return the example document of a page with one resource, as returned at ``path``."""
    answer = _answer(operation, status)
    first = f"{BASE}{path}?page%5Bnumber%5D=1"
    links = {
        "self": BASE + path,
        "first": first,
        "prev": None,
        "next": None,
        "last": first,
        "describedby": f"{BASE}{PREFIX}/openapi.json",
    }
    meta = {"count": 1, "page": 1, "pages": 1, "limit": 20, "offset": 0, **answer.meta}
    return {"jsonapi": {"version": "1.1"}, "data": [resource(type, answer)], "links": links, "meta": meta}


def _answer(operation: str, status: str) -> Answer:
    return ANSWERS.get((operation, status), Answer())
