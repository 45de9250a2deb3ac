"""Request bodies: media types, size, and a strict JSON parser (docs/integrate/api.md)."""

import json
import math
import re
from collections import deque
from collections.abc import Iterable
from itertools import islice
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import flask
from flask import Request
from pydantic import ValidationError
from werkzeug.exceptions import NotAcceptable, RequestEntityTooLarge, UnsupportedMediaType
from werkzeug.http import parse_options_header

from app.api.errors import LISTED, NO_OBJECT, Located, limit_problems, pydantic_problems
from app.api.shapes import Body, JsonObject
from app.core import limits
from app.core.errors import Conflict, Forbidden, Malformed, Problem
from app.core.ids import parse_id

JSON_API = "application/vnd.api+json"
NESTING_MAX = 64
ITEMS_MAX = 100
"""Most items of a list or object whose items are validated one by one. No field allows more."""
STRINGS_MAX = 20_000
"""Most strings, names of members included, of a body of more than ``limits.BODY_MAX_BYTES``."""
_INTEGER_DIGITS = 20
_TOP_MEMBERS = frozenset({"data", "jsonapi", "meta", "links"})
_DATA_MEMBERS = frozenset({"type", "id", "attributes", "meta", "links"})

Model = TypeVar("Model", bound=Body)
Loc = tuple[str | int, ...]


def body(request: Request, model: type[Model]) -> Model:
    """Parse the request's body as ``model``, from a JSON:API document or a plain object.

    Stores in ``flask.g`` the path of the attributes (``body_loc``), their names (``body_members``) and the body's
    ``id`` (``body_id``), so that errors raised later by the core are reported at the right path.

    Raises:
        Malformed: not JSON, or JSON that two parsers would understand differently (400).
        Forbidden: what is to be created has an ``id`` already (403, JSON:API 1.1: Client-Generated IDs).
        Conflict: ``id`` differs from the path's (409, JSON:API 1.1: Updating Resources).
        Located: it parses but is invalid (422), ``type`` included.
    """
    flask.g.body_loc = ("body",)
    flask.g.body_id = None
    raw = read(request, model.bytes_max)
    if not raw and model.optional:
        return validated(model, {}, ("body",))
    if not raw:
        raise Malformed("Request body is empty")
    check_media_type(request)
    document = loads(raw)
    if model.creates:
        _refuse_id(document)
    attributes, loc = unwrap(document, model)
    place_errors(loc, attributes.keys() if isinstance(attributes, dict) else ())
    return validated(model, attributes, loc)


def item(model: type[Model], resource: Any, index: int) -> Model:
    """Parse one resource of a batch as ``body`` does, with paths that begin with ``body, data, index``."""
    _refuse_id({"data": resource})
    attributes, loc = _attributes_of(resource, model, ("body", "data", index))
    return validated(model, attributes, loc)


def place_errors(loc: Loc, members: Iterable[str]) -> None:
    """Say that these attributes stand at ``loc`` of the body: there are the problems that the core finds in them."""
    flask.g.body_loc, flask.g.body_members = loc, frozenset(members)


def validated(model: type[Model], attributes: Any, loc: Loc) -> Model:
    """Return the validated model. Raises ``Located`` with at most ``LISTED`` problems.

    Unknown members and long lists are refused before pydantic runs, because it would describe every problem of a
    million items, of which we would list only twenty.
    """
    if not isinstance(attributes, dict):
        raise _no_object(attributes, loc)
    known = {name: value for name, value in attributes.items() if name in model.model_fields}
    if long := _long_lists(model, known, loc):
        raise Located(*long)
    problems: list[Problem] = []
    try:
        validated = model.model_validate(known)
    except ValidationError as error:
        problems = pydantic_problems(error, loc)
    extra = len(attributes) - len(known)
    if not extra and not problems:
        return validated
    unknown_names = (name for name in attributes if name not in known)
    unknown = [_unknown(loc, name, attributes[name]) for name in islice(unknown_names, LISTED)]
    raise Located(*limit_problems([*problems, *unknown], len(problems) + extra))


def _unknown(loc: Loc, name: str, value: Any) -> Problem:
    return Problem("extra_forbidden", (*loc, name), "Extra inputs are not permitted", value)


def _long_lists(model: type[Body], known: dict[str, Any], loc: Loc) -> list[Problem]:
    """Return a problem for the first list or object, nested ones included, with more than ``ITEMS_MAX`` items."""
    waiting: deque[tuple[tuple[str | int, ...], Any]] = deque(
        ((name,), value)
        for name, value in known.items()
        if isinstance(value, list | dict) and not _is_free(model.model_fields[name].annotation)
    )
    while waiting:
        path, value = waiting.popleft()
        if len(value) > ITEMS_MAX:
            kind = "List" if isinstance(value, list) else "Object"
            msg = f"{kind} should have at most {ITEMS_MAX} items, not {len(value):,}"
            return [Problem("too_long", (*loc, *path), msg, value)]
        members = value.items() if isinstance(value, dict) else enumerate(value)
        waiting.extend(((*path, name), member) for name, member in members if isinstance(member, list | dict))
    return []


def _is_free(annotation: Any) -> bool:
    """Whether a field accepts any JSON object or list, whose members are not validated one by one."""
    if annotation in (JsonObject, dict, list[Any]) or get_origin(annotation) is dict:
        return True
    is_choice = get_origin(annotation) in {Union, UnionType, Annotated}
    return is_choice and any(_is_free(arg) for arg in get_args(annotation))


def read(request: Request, limit: int = limits.BODY_MAX_BYTES) -> bytes:
    """Return the body's bytes, declared or chunked; never reads more than ``limit`` + 1. Larger bodies are 413."""
    check_size(request, limit)
    parts: list[bytes] = []
    left = limit + 1
    while left > 0:
        part = request.stream.read(min(left, 65_536))
        if not part:
            break
        parts.append(part)
        left -= len(part)
    if left == 0:
        raise _too_large(limit)
    return b"".join(parts)


def check_size(request: Request, limit: int = limits.BODY_MAX_BYTES) -> None:
    """Raise 413 if Content-Length is more than ``limit`` bytes."""
    if request.content_length is not None and request.content_length > limit:
        raise _too_large(limit)


def _too_large(limit: int) -> RequestEntityTooLarge:
    return RequestEntityTooLarge(f"Request body is larger than {limit} bytes")


def check_media_type(request: Request) -> None:
    """Raise 415 unless the body is JSON or JSON:API; the latter only with the parameter ``profile`` (no extensions)."""
    kind, options = parse_options_header(request.headers.get("Content-Type"))
    kind = kind.lower()
    if kind == JSON_API and not options.keys() - {"profile"}:
        return
    if kind == "application/json" and options.get("charset", "utf-8").lower() in {"utf-8", "utf8"}:
        return
    raise UnsupportedMediaType(
        f"Content-Type must be {JSON_API}, with no parameter but profile, or application/json in UTF-8"
    )


def check_accept(request: Request) -> None:
    """Raise 406 if every JSON:API type in ``Accept`` has parameters (JSON:API 1.1: Server Responsibilities)."""
    accepted = [
        parse_options_header(part.strip())
        for part in re.split(r',(?=(?:[^"]*"[^"]*")*[^"]*$)', request.headers.get("Accept", ""))
    ]
    ours = [options for kind, options in accepted if kind.lower() == JSON_API]
    if ours and all(options.keys() - {"profile", "q"} for options in ours):
        raise NotAcceptable(f"{JSON_API} is served without parameters other than profile")


def loads(raw: bytes) -> Any:
    """Parse strict JSON (RFC 8259, I-JSON): UTF-8 without byte order mark, unique names, numbers within 64 bits.

    Lone surrogates are accepted here; fields that store text refuse them (422).
    """
    if len(raw) > limits.BODY_MAX_BYTES:
        _check_mostly_text(raw)
    if raw.startswith(b"\xef\xbb\xbf"):
        raise Malformed("Request body must not start with a byte order mark")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed("Request body is not UTF-8") from error
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_constant,
        )
    except json.JSONDecodeError as error:
        # Some of the parser's words end with "at" already.
        said = error.msg.removesuffix(" at")
        raise Malformed(f"Request body is not valid JSON: {said} at character {error.pos}") from error
    except RecursionError as error:
        raise Malformed(f"Request body is nested more than {NESTING_MAX} levels deep") from error
    _check_nesting(value)
    return value


_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


def _check_mostly_text(raw: bytes) -> None:
    """Refuse a large body that is not large for its texts: 8 MiB of brackets take seconds and half a gigabyte."""
    at = outside = 0
    for _ in range(STRINGS_MAX):
        quote = raw.find(b'"', at)
        outside += (quote if quote >= 0 else len(raw)) - at
        string = _STRING.match(raw, quote) if quote >= 0 and outside <= limits.BODY_MAX_BYTES else None
        if string is None:
            break
        at = string.end()
    else:
        raise Malformed(f"Request body has more than {STRINGS_MAX:,} strings")
    if outside > limits.BODY_MAX_BYTES:
        raise Malformed(f"Request body has more than {limits.BODY_MAX_BYTES:,} bytes beside its strings")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise Malformed(f"Request body has the member {json.dumps(twice[:100])} twice")
    return members


def _integer(text: str) -> int:
    if len(text) <= _INTEGER_DIGITS:
        value = int(text)
        if -limits.INT64_MAX - 1 <= value <= limits.INT64_MAX:
            return value
    raise Malformed("Request body holds an integer beyond 64 bits")


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise Malformed("Request body holds a number beyond 64 bits")
    return value


def _constant(name: str) -> Any:
    raise Malformed(f"Request body holds {name}, which is not JSON")


def _check_nesting(value: Any) -> None:
    level = [value]
    for depth in range(NESTING_MAX + 1):
        containers = [item for item in level if isinstance(item, dict | list)]
        if not containers:
            return
        if depth == NESTING_MAX:
            break
        level = [
            inner for item in containers for inner in (item.values() if isinstance(item, dict) else item)
        ]
    raise Malformed(f"Request body is nested more than {NESTING_MAX} levels deep")


def unwrap(document: Any, model: type[Body]) -> tuple[Any, Loc]:
    """Return the attributes of a document and their path in it."""
    if model.resource is None or (model.plain and not (isinstance(document, dict) and "data" in document)):
        return document, ("body",)
    if isinstance(document, dict) and "data" not in document:
        # Report this before unknown members: without ``data``, every attribute would be an unknown member.
        form = json.dumps({"data": {"type": model.resource, "attributes": {}}})
        raise Located(Problem("missing", ("body", "data"), f"Field required: the body is {form}", document))
    _check_object(document, _TOP_MEMBERS, ("body",))
    return _attributes_of(document["data"], model, ("body", "data"))


def _attributes_of(data: Any, model: type[Body], loc: Loc) -> tuple[Any, Loc]:
    """Return the attributes of a resource at ``loc``, and their path."""
    _check_object(data, _DATA_MEMBERS, loc)
    _check_type(data, model, loc)
    _check_id(data, model)
    if "attributes" not in data:
        raise Located(Problem("missing", (*loc, "attributes"), "Field required", data))
    return data["attributes"], (*loc, "attributes")


def _check_object(value: Any, members: frozenset[str], loc: Loc) -> None:
    if not isinstance(value, dict):
        raise _no_object(value, loc)
    extra = [name for name in value if name not in members]
    if extra:
        unknown = [_unknown(loc, name, value[name]) for name in extra[:LISTED]]
        raise Located(*limit_problems(unknown, len(extra)))


def _no_object(value: Any, loc: Loc) -> Located:
    return Located(Problem("dict_type", loc, NO_OBJECT, value))


def _check_type(data: dict[str, Any], model: type[Body], at: Loc) -> None:
    loc = (*at, "type")
    if "type" not in data:
        if model.loose:
            return
        raise Located(Problem("missing", loc, "Field required", data))
    if not isinstance(data["type"], str):
        raise Located(Problem("string_type", loc, "Input should be a valid string", data["type"]))
    if data["type"] != model.resource:
        # JSON:API says 409, but our clients understand 409 as "submitted before" (docs/integrate/api.md).
        raise Located(Problem("literal_error", loc, f"Input should be '{model.resource}'", data["type"]))


def _refuse_id(document: Any) -> None:
    """Raise Forbidden if a plain object, or the resource or the attributes of a wrapped one, have a member ``id``."""
    data = document.get("data") if isinstance(document, dict) else None
    attributes = data.get("attributes") if isinstance(data, dict) else None
    for place, holder in (("id", document), ("data.id", data), ("data.attributes.id", attributes)):
        if isinstance(holder, dict) and "id" in holder:
            raise Forbidden(f"Client-generated ids are not supported: leave out {place}")


def _check_id(data: dict[str, Any], model: type[Body]) -> None:
    """Raise Conflict if the body's ``id`` differs from the path's. For ``loose`` models the view compares them."""
    if "id" not in data:
        if model.needs_id and not model.loose:
            raise Located(Problem("missing", ("body", "data", "id"), "Field required", data))
        return
    body_id = data["id"]
    if not isinstance(body_id, str):
        loc = ("body", "data", "id")
        raise Located(Problem("string_type", loc, "Input should be a valid string", body_id))
    flask.g.body_id = body_id
    path_ids = list((flask.request.view_args or {}).values())
    if not path_ids or model.loose:
        return
    path_id = path_ids[-1]
    if (parse_id(body_id) or body_id) != (parse_id(path_id) or path_id):
        raise Conflict("The id in the body differs from the id in the path")
