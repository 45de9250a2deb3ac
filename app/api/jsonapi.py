"""JSON:API 1.1 documents: resource objects, envelopes, links and meta (docs/integrate/api.md)."""

import enum
import json
import uuid
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

import flask
from flask import Response
from pydantic import BaseModel

from app.api.blueprints import ALIAS_PREFIX, PREFIX
from app.api.parse import JSON_API
from app.core import clock
from app.core.paging import Page, next_since
from app.wiring import base_url

DESCRIBED_BY = f"{PREFIX}/openapi.json"
_POSITION = ("page[number]", "page[after]", "page[before]", "offset")


def resource(
    type: str, id: uuid.UUID, attributes: Mapping[str, Any], *, null: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return a resource object. Attributes that are None are left out, except those in ``null``."""
    shown = {
        # Most values are text, and a list has thousands of them, so text skips the call.
        name: value if value.__class__ is str else json_value(value)
        for name, value in attributes.items()
        if value is not None or name in null
    }
    return {"type": type, "id": str(id), "attributes": shown}


def shown(type: str, schema: type[BaseModel], row: Any, **own: Any) -> dict[str, Any]:
    """Return the resource object of a row with the attributes that ``schema`` declares.

    ``own``: values of attributes that the row does not have under the same name. An attribute that is None is null if
    the schema requires it, else left out.
    """
    fields = schema.model_fields
    attributes = {name: own[name] if name in own else getattr(row, name) for name in fields}
    return resource(
        type, row.id, attributes, null=tuple(name for name, field in fields.items() if field.is_required())
    )


def json_value(value: Any) -> Any:
    """Convert a value for JSON: times to UTC text with ``Z``, UUIDs and enums to text."""
    write = _WRITERS.get(type(value))
    if write is not None:
        return write(value)
    return value.value if isinstance(value, enum.Enum) else value


_WRITERS: Mapping[type, Callable[[Any], str]] = {datetime: clock.iso, uuid.UUID: str}


def document(
    data: Any,
    *,
    path: str | None = None,
    meta: Mapping[str, Any] | None = None,
    links: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a JSON:API document. ``path`` is the resource's path below the prefix, for the ``self`` link."""
    members: dict[str, Any] = {"jsonapi": {"version": "1.1"}, "data": data}
    if path is not None:
        links = {"self": url(path), "describedby": _absolute(DESCRIBED_BY), **(links or {})}
    if links:
        members["links"] = dict(links)
    if meta:
        members["meta"] = {name: json_value(value) for name, value in meta.items()}
    return members


def listing(page: Page[Any], show: Callable[[Any], dict[str, Any]], **meta: Any) -> dict[str, Any]:
    """Return the document of one page of a list. ``show`` turns a row into a resource object."""
    counted = {
        "count": page.count,
        "page": page.number,
        "pages": page.pages,
        "limit": page.part.size,
        "offset": page.offset,
    }
    return document([show(row) for row in page.rows], meta=counted | meta, links=_page_links(page))


def next_changes(page: Page[Any], since: datetime | None, column: str = "updated_at") -> dict[str, datetime]:
    """Return the ``meta`` of a list in the order of ``column`` since then; none if the list is another one."""
    if since is None:
        return {}
    return {"next_since": next_since(getattr(page.rows[-1], column) if page.rows else None, since)}


def answer(
    document: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a response with a document, ``application/vnd.api+json``."""
    body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
    return Response(body, status, headers=dict(headers or {}), content_type=JSON_API)


def answer_resource(
    shown: Mapping[str, Any],
    status: int = 200,
    *,
    located: bool = False,
    meta: Mapping[str, Any] | None = None,
) -> Response:
    """Return a response with one resource whose path is ``/{type}/{id}``; ``located``: with a ``Location`` header."""
    path = f"/{shown['type']}/{shown['id']}"
    headers = {"Location": url(path)} if located else None
    return answer(document(shown, path=path, meta=meta), status, headers)


def no_content() -> Response:
    """Return a 204 response, without a body."""
    response = Response(status=204)
    del response.headers["Content-Type"]
    return response


def url(path: str) -> str:
    """Return the absolute URL of a path such as ``/requests/…``, below the API prefix that this request used."""
    prefix = ALIAS_PREFIX if flask.request.path.startswith(f"{ALIAS_PREFIX}/") else PREFIX
    return _absolute(prefix + path)


def _absolute(path: str) -> str:
    return base_url() + quote(path)


def _page_links(page: Page[Any]) -> dict[str, str | None]:
    kept = [(name, value) for name, value in flask.request.args.items() if name not in _POSITION]
    size = page.part.size

    def link(offset: int, **cursor: str) -> str:
        position: list[tuple[str, Any]] = [("page[number]", offset // size + 1)]
        if page.part.offset is not None:
            position = [("offset", offset)]
        position += [(f"page[{name}]", value) for name, value in cursor.items()]
        return _link([*kept, *position])

    first, last = link(0), link(max(0, page.pages - 1) * size)
    # An empty page of a non-empty list is before its start or after its end. Link to the page at that end.
    beyond = page.count > 0 and not page.rows
    back, on = (last, None) if page.part.before is None else (None, first)
    if not beyond:
        back = link(max(0, page.offset - size), before=page.previous) if page.previous else None
        on = link(page.offset + size, after=page.next) if page.next else None
    return {
        "self": _link(list(flask.request.args.items())),
        "first": first,
        "prev": back,
        "next": on,
        "last": last,
        "describedby": _absolute(DESCRIBED_BY),
    }


def _link(pairs: list[tuple[str, Any]]) -> str:
    path = _absolute(flask.request.path)
    return f"{path}?{urlencode(pairs, quote_via=quote)}" if pairs else path
