"""What SCIM calls answer with: people, groups and lists in the form of RFC 7643 and RFC 7644."""

import json
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from flask import Response
from scim2_models import Context, ListResponse, Meta, Resource
from sqlalchemy.orm import Session
from werkzeug.exceptions import NotFound

from app.api import scim_requests
from app.api.schemas.scim import Email, Group, Member, User, UserGroup
from app.api.scim_errors import MEDIA_TYPE, ROOT
from app.core.models import ProviderGroup
from app.core.people import provider_groups
from app.core.people.provisioning import Person
from app.wiring import base_url

LISTED_MEMBERS = 20_000
"""After this many members a page of groups ends early; it has one group at least."""


def user(person: Person) -> User:
    """Return a person as a resource."""
    identity, fields = person.identity, person.fields
    return User(
        id=str(identity.id),
        external_id=fields.external_id,
        user_name=fields.user_name,
        display_name=fields.display_name,
        active=fields.active,
        emails=[Email(value=fields.email, type="work")],
        groups=[
            UserGroup.model_validate(
                {"value": str(group_id), "$ref": _url("Groups", group_id), "display": name}
            )
            for group_id, name in person.groups
        ],
        meta=Meta(
            resource_type="User",
            created=identity.created_at,
            last_modified=identity.updated_at,
            location=_url("Users", identity.id),
        ),
    )


def groups(session: Session, rows: Sequence[ProviderGroup]) -> list[dict[str, Any]]:
    """Return the groups as they are answered. Only one member is a model: a group may have thousands."""
    shown = [_dump(_group(group)) for group in rows]
    if not any("members" in one for one in shown):
        return shown
    inside = provider_groups.members(session, [group.id for group in rows])
    for group, answered in zip(rows, shown, strict=True):
        names = answered["members"][0].keys()
        answered["members"] = [
            {name: value for name, value in _member(identity_id).items() if name in names}
            for identity_id in inside[group.id]
        ]
    return shown


def _group(group: ProviderGroup) -> Group:
    """The group with a member that stands for all."""
    return Group(
        id=str(group.id),
        external_id=group.external_id,
        display_name=group.name,
        members=[Member.model_validate(_member(group.id))],
        meta=Meta(
            resource_type="Group",
            created=group.created_at,
            last_modified=group.updated_at,
            location=_url("Groups", group.id),
        ),
    )


def _member(identity_id: uuid.UUID) -> dict[str, str]:
    return {"value": str(identity_id), "$ref": _url("Users", identity_id), "type": "User"}


def within_reach(session: Session, rows: Sequence[ProviderGroup]) -> Sequence[ProviderGroup]:
    """Return the first groups, until they have ``LISTED_MEMBERS`` members together, at least one."""
    sizes = provider_groups.sizes(session, [group.id for group in rows])
    total, count = 0, 0
    for group in rows:
        total += sizes[group.id]
        if count and total > LISTED_MEMBERS:
            break
        count += 1
    return rows[:count]


def shows_members() -> bool:
    """Whether the request asks for the members of groups."""
    return "members" in _dump(Group(members=[Member.model_validate(_member(uuid.UUID(int=0)))]))


def _url(collection: str, identity: object) -> str:
    return f"{base_url()}{ROOT}/v2/{collection}/{identity}"


def placed(described: Resource[Any], kind: str, collection: str) -> Resource[Any]:
    """Say where a description can be read."""
    described.meta = Meta(resource_type=kind, location=_url(collection, described.id))
    return described


def named(described: Iterable[Resource[Any]], name: str, kind: str, collection: str) -> Response:
    """Return the one with this id, without regard to case. Raises NotFound if there is none."""
    for one in described:
        if (one.id or "").lower() == name.lower():
            return resource(placed(one, kind, collection))
    raise NotFound(f"{kind} not found")


def _dump(shown: Resource[Any]) -> dict[str, Any]:
    """The resource with the attributes that the request asks for."""
    context = Context.RESOURCE_QUERY_RESPONSE
    return shown.model_dump(scim_ctx=context, response_parameters=scim_requests.wanted())


def resource(shown: Resource[Any] | dict[str, Any], status: int = 200) -> Response:
    """Return the response with one resource."""
    body = shown if isinstance(shown, dict) else _dump(shown)
    response = Response(json.dumps(body), status, content_type=MEDIA_TYPE)
    location = body.get("meta", {}).get("location")
    if location and status == 201:
        response.headers["Location"] = location
    return response


def listing(
    resources: Sequence[Resource[Any]] | Sequence[dict[str, Any]],
    *,
    total: int | None = None,
    offset: int = 0,
) -> Response:
    shown = [resource if isinstance(resource, dict) else _dump(resource) for resource in resources]
    body = {
        "schemas": [str(ListResponse.__schema__)],
        "totalResults": len(shown) if total is None else total,
        "startIndex": offset + 1,
        "itemsPerPage": len(shown),
        "Resources": shown,
    }
    return Response(json.dumps(body), content_type=MEDIA_TYPE)
