"""What SCIM clients send: bodies, PATCH operations, filters and pages (RFC 7644), read within limits.

The dialects of Entra ID, Okta and authentik are in ``tests/api/test_scim_dialects.py``.
"""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import flask
from scim2_models import (
    Context,
    InvalidFilterException,
    InvalidPathException,
    InvalidSyntaxException,
    InvalidValueException,
    PatchOp,
    PatchOperation,
    Path,
    Resource,
    ResponseParameters,
    ScimFilter,
    TooManyException,
)
from scim2_models.path import CompareOperator, Comparison, FilterNode, LogicalExpr, LogicalOperator, ValuePath
from werkzeug.exceptions import UnsupportedMediaType
from werkzeug.http import parse_options_header

from app.api import parse
from app.api.schemas.scim import PAGE_MOST, TOLERANT
from app.api.scim_errors import MEDIA_TYPE
from app.core import ids, limits
from app.core.people.provider_groups import MemberChanges

PAGE_SIZE = 100
OPERATIONS_MOST = 1_000
ITEMS_MOST = 100
"""Most values of an attribute other than ``members``."""
EXPRESSION_MOST = 2_000
"""Most characters of a filter, a path or a list of attributes."""
NESTING_MOST = 10
"""Most parentheses and brackets that a filter or a path opens."""
FOR_PEOPLE = {
    "username": "user_name",
    "externalid": "external_id",
    "displayname": "display_name",
    "emails": "email",
    "emails.value": "email",
    "active": "active",
    "id": "id",
}
FOR_GROUPS = {
    "displayname": "name",
    "externalid": "external_id",
    "id": "id",
    "members": "member",
    "members.value": "member",
}
"""What can be filtered by, and what the core calls it."""

Sent = TypeVar("Sent", bound=Resource[Any])


def body() -> dict[str, Any]:
    """Return the body's object.

    Raises:
        UnsupportedMediaType: it is not said to be JSON.
        RequestEntityTooLarge, Malformed: too large, or no JSON that all parsers read alike.
        InvalidSyntaxException: no object, or one with a list of too many values.
        Invalid: a text in it cannot be stored.
    """
    kind, _ = parse_options_header(flask.request.headers.get("Content-Type"))
    if kind.lower() not in (MEDIA_TYPE, "application/json"):
        raise UnsupportedMediaType(f"Content-Type must be {MEDIA_TYPE} or application/json")
    sent = parse.loads(parse.read(flask.request))
    if not isinstance(sent, dict):
        raise InvalidSyntaxException(detail="The body must be an object")
    # A refusal names what was sent, so that it must be text that can be sent back.
    limits.storable_tree(sent, "body")
    for name, value in sent.items():
        if (
            isinstance(value, list)
            and len(value) > ITEMS_MOST
            and name.lower() not in ("members", "operations")
        ):
            raise InvalidSyntaxException(detail=f"{name[:100]} has more than {ITEMS_MOST} values")
    return sent


def resource(model: type[Sent], sent: Mapping[str, Any], *, replaces: bool = False) -> Sent:
    """Return a resource to create, or one to replace another."""
    context = Context.RESOURCE_REPLACEMENT_REQUEST if replaces else Context.RESOURCE_CREATION_REQUEST
    return model.model_validate(sent, scim_ctx=context, scim_policy=TOLERANT)


def patch(model: type[Sent], current: Sent, sent: Mapping[str, Any]) -> Sequence[PatchOperation[Any]]:
    """Apply a PATCH to ``current`` and return its operations."""
    listed = next((value for name, value in sent.items() if name.lower() == "operations"), None)
    if isinstance(listed, list):
        if len(listed) > OPERATIONS_MOST:
            raise TooManyException(detail=f"A PATCH has at most {OPERATIONS_MOST:,} operations")
        for operation in listed:
            path = operation.get("path") if isinstance(operation, dict) else None
            if isinstance(path, str) and not _is_moderate(path):
                raise InvalidPathException(detail="A path is too long or nested too deeply")
    message: PatchOp[Any] = PatchOp.__class_getitem__(model).model_validate(
        sent, scim_ctx=Context.RESOURCE_PATCH_REQUEST, scim_policy=TOLERANT
    )
    message.patch(current, scim_policy=TOLERANT)
    return message.operations or []


def member_changes(operations: Iterable[PatchOperation[Any]]) -> MemberChanges:
    """Return what operations change about a group's members, all together."""
    removed: frozenset[uuid.UUID] = frozenset()
    added: frozenset[uuid.UUID] = frozenset()
    replaces = False
    for operation in operations:
        for path, value in _member_parts(operation):
            if operation.op is PatchOperation.Op.remove:
                gone = _selected(path.value_filter) if path.value_filter is not None else None
                if gone is None and value is not None:
                    gone = members(value, lenient=True)
                if gone is None:
                    removed, added, replaces = frozenset(), frozenset(), True
                else:
                    removed, added = removed | gone, added - gone
                continue
            named = members(value)
            if operation.op is PatchOperation.Op.replace_ and path.value_filter is None:
                removed, added, replaces = frozenset(), named, True
            else:
                removed, added = removed - named, added | named
    return MemberChanges(removed, added, replaces)


def members(value: Any, *, lenient: bool = False) -> frozenset[uuid.UUID]:
    """Return the ids of members that were sent: objects with a ``value``, or ids. ``lenient`` skips what is none."""
    found = set()
    for item in value if isinstance(value, list) else () if value is None else (value,):
        text = (
            next((v for k, v in item.items() if k.lower() == "value"), None)
            if isinstance(item, dict)
            else item
        )
        identity = ids.parse_id(text) if isinstance(text, str) else None
        if identity is None and not lenient:
            raise InvalidValueException(
                detail=f"members: {str(text)[:100]} is none of this provider's people"
            )
        if identity is not None:
            found.add(identity)
    return frozenset(found)


def sent_members(sent: Mapping[str, Any]) -> frozenset[uuid.UUID]:
    """Return the members in the body of a group."""
    return members(next((value for name, value in sent.items() if name.lower() == "members"), None))


def equals(names: Mapping[str, str]) -> list[tuple[str, Any]]:
    """Return the filter of this request as fields and the values that they must have, all of them.

    Raises:
        InvalidFilterException: not a filter, or one of another kind.
    """
    text = flask.request.args.get("filter", "").strip()
    if not text:
        return []
    if not _is_moderate(text):
        raise InvalidFilterException(detail="The filter is too long or nested too deeply")
    limits.storable(text, "filter")
    return list(_equalities(ScimFilter[Any](text).ast, names))


def page() -> tuple[int, int]:
    """Return the offset of the first result and how many are asked for."""
    first, count = (_number(name, usual) for name, usual in (("startIndex", 1), ("count", PAGE_SIZE)))
    return max(1, first) - 1, min(max(0, count), PAGE_MOST)


def wanted() -> ResponseParameters[Any]:
    """Return the attributes that this request asks for, or wants left out."""
    asked = {name: flask.request.args.get(name, "") for name in ("attributes", "excludedAttributes")}
    if any(not _is_moderate(text) for text in asked.values()):
        raise InvalidPathException(detail="The list of attributes is too long")
    return ResponseParameters[Any].model_validate({name: text for name, text in asked.items() if text})


def _number(name: str, usual: int) -> int:
    text = flask.request.args.get(name, "").strip()
    if not text:
        return usual
    try:
        number = int(text) if len(text) < 10 else None
    except ValueError:
        number = None
    if number is None:
        raise InvalidValueException(detail=f"{name} must be a whole number")
    return number


def _is_moderate(expression: str) -> bool:
    opened = expression.count("(") + expression.count("[")
    return len(expression) <= EXPRESSION_MOST and opened <= NESTING_MOST


def _member_parts(operation: PatchOperation[Any]) -> Iterator[tuple[Path[Any], Any]]:
    """Yield the parts of an operation that are about members: all of it, or those members of a value without a path."""
    path, value = operation.path, operation.value
    if path is None or path == "":
        for name, item in value.items() if isinstance(value, dict) else ():
            if _names_members(name):
                yield Path[Any]("members"), item
    elif _names_members(path.partition("[")[0]):
        yield Path[Any](str(path)), value


def _names_members(text: str) -> bool:
    name = text.rpartition(":")[2].lower()
    return name == "members" or name.startswith("members.")


def _selected(node: FilterNode) -> frozenset[uuid.UUID]:
    """Return the members that the filter of a path names: ``value eq "…"``, several of them joined by ``or``."""
    if isinstance(node, LogicalExpr) and node.op is LogicalOperator.or_:
        return frozenset[uuid.UUID]().union(*(_selected(term) for term in node.terms))
    if (
        isinstance(node, Comparison)
        and node.op is CompareOperator.eq
        and str(node.attr_path).lower() == "value"
    ):
        return members(node.value, lenient=True)
    raise InvalidFilterException(detail='Members are selected by value eq "…" alone')


def _equalities(node: FilterNode, names: Mapping[str, str], inside: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(node, LogicalExpr) and node.op is LogicalOperator.and_:
        for term in node.terms:
            yield from _equalities(term, names, inside)
        return
    if isinstance(node, ValuePath) and not inside:
        yield from _equalities(node.val_filter, names, f"{_name(node.attr_path)}.")
        return
    if isinstance(node, Comparison) and node.op is CompareOperator.eq:
        name = inside + _name(node.attr_path)
        # Every address is of the type "work".
        if name == "emails.type" and node.value == "work":
            return
        if name in names:
            yield names[name], _comparable(names[name], node.value)
            return
    asked = ", ".join(sorted(names))
    raise InvalidFilterException(detail=f'Only eq is supported, joined by "and", on: {asked}')


def _name(path: Any) -> str:
    return str(path).rpartition(":")[2].lower()


def _comparable(name: str, value: Any) -> Any:
    """Return the value in the form that the core compares. An id that is none is no row's."""
    if name == "active":
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
    elif isinstance(value, str):
        return (ids.parse_id(value) or uuid.UUID(int=0)) if name in ("id", "member") else value
    raise InvalidFilterException(
        detail=f"The filter compares with a value of another type: {str(value)[:100]}"
    )
