"""SCIM 2.0 (RFC 7643, RFC 7644): a sign-in provider creates and deactivates people and sends groups (docs/run/scim.md).

The bearer key names the provider, which sees its own people and groups alone. Errors are in SCIM's form
(``scim_errors``).
"""

import uuid
from collections.abc import Callable
from dataclasses import replace

import flask
from apiflask import APIBlueprint
from flask import Response
from pydantic import ValidationError
from scim2_models import Error, Meta, SCIMException
from sqlalchemy.orm import Session
from werkzeug.exceptions import NotImplemented as NotOffered

from app.api import auth, scim_answers, scim_requests
from app.api.schemas.scim import (
    SentEmail,
    SentGroup,
    SentUser,
    describe,
)
from app.api.scim_errors import ROOT, answer
from app.core import ids, security_events
from app.core.errors import Unauthenticated
from app.core.models import IdentityProvider
from app.core.people import provider_groups, provisioning, scim_keys
from app.core.people.provisioning import Fixed, PersonFields, Taken
from app.core.security_events import SecurityEvent
from app.wiring import base_url, wired

PREFIX = f"{ROOT}/v2"

scim = APIBlueprint("scim", __name__, enable_openapi=False, url_prefix=PREFIX)
scim.after_request(auth.add_rate_headers)


@scim.before_request
def authenticate() -> None:
    """Find the provider by its key, and count the call against its limit."""
    scheme, _, token = flask.request.headers.get("Authorization", "").strip().partition(" ")
    with wired().database.reading() as session:
        provider = scim_keys.authenticate(session, token.strip()) if scheme.lower() == "bearer" else None
        if provider is None:
            if token:
                security_events.log(SecurityEvent.KEY_REFUSED, client_ip=flask.request.remote_addr)
            raise Unauthenticated(auth.WRONG if token else auth.MISSING)
        flask.g.provider_id = provider.id
    flask.g.standing = ("key", auth.count("key", f"scim {flask.g.provider_id}"))


@scim.errorhandler(SCIMException)
def refuse(error: SCIMException) -> Response:
    return answer(error.status, error.detail, error.scim_type or None)


@scim.errorhandler(ValidationError)
def refuse_body(error: ValidationError) -> Response:
    first = Error.from_validation_errors(error.errors(include_url=False, include_input=False)[:1])[0]
    return answer(first.status or 400, first.detail or "Invalid body", first.scim_type)


@scim.errorhandler(Taken)
def refuse_taken(error: Taken) -> Response:
    return answer(409, error.detail, "uniqueness")


@scim.errorhandler(Fixed)
def refuse_fixed(error: Fixed) -> Response:
    return answer(400, error.detail, "mutability")


@scim.get("/ServiceProviderConfig")
def read_config() -> Response:
    config = describe().config
    assert config is not None  # noqa: S101 - narrows the type
    config.meta = Meta(
        resource_type="ServiceProviderConfig", location=f"{base_url()}{PREFIX}/ServiceProviderConfig"
    )
    return scim_answers.resource(config)


@scim.get("/Schemas")
def list_schemas() -> Response:
    return scim_answers.listing(
        [scim_answers.placed(schema, "Schema", "Schemas") for schema in describe().schemas]
    )


@scim.get("/Schemas/<schema_id>")
def read_schema(schema_id: str) -> Response:
    return scim_answers.named(describe().schemas, schema_id, "Schema", "Schemas")


@scim.get("/ResourceTypes")
def list_resource_types() -> Response:
    return scim_answers.listing(
        [scim_answers.placed(kind, "ResourceType", "ResourceTypes") for kind in describe().resource_types]
    )


@scim.get("/ResourceTypes/<name>")
def read_resource_type(name: str) -> Response:
    return scim_answers.named(describe().resource_types, name, "ResourceType", "ResourceTypes")


@scim.post("/.search")
@scim.post("/Bulk")
def refuse_unsupported() -> Response:
    """Searching several types at once, and several calls in one, are not supported."""
    raise NotOffered("This operation is not supported")


@scim.get("/Users")
def list_users() -> Response:
    offset, size = scim_requests.page()
    equals = scim_requests.equals(scim_requests.FOR_PEOPLE)
    with wired().database.reading() as session:
        total, people = provisioning.listed(session, _provider_id(), equals, offset, size)
        return scim_answers.listing(
            [scim_answers.user(person) for person in people], total=total, offset=offset
        )


@scim.get("/Users/<user_id>")
def read_user(user_id: str) -> Response:
    with wired().database.reading() as session:
        return scim_answers.resource(
            scim_answers.user(provisioning.get(session, _provider_id(), ids.require_id(user_id, "user")))
        )


@scim.post("/Users")
def create_user() -> Response:
    sent = scim_requests.resource(SentUser, scim_requests.body())
    with wired().database.writing() as session:
        person = provisioning.create(session, _provider(session), _fields(sent))
        return scim_answers.resource(scim_answers.user(person), 201)


@scim.put("/Users/<user_id>")
def replace_user(user_id: str) -> Response:
    sent = scim_requests.resource(SentUser, scim_requests.body(), replaces=True)
    return _update_user(user_id, lambda current: sent)


@scim.patch("/Users/<user_id>")
def patch_user(user_id: str) -> Response:
    body = scim_requests.body()

    def patched(current: SentUser) -> SentUser:
        scim_requests.patch(SentUser, current, body)
        return current

    return _update_user(user_id, patched)


@scim.delete("/Users/<user_id>")
def delete_user(user_id: str) -> Response:
    with wired().database.writing() as session:
        provisioning.remove(session, _provider(session), ids.require_id(user_id, "user"))
    return Response(status=204)


@scim.get("/Groups")
def list_groups() -> Response:
    offset, size = scim_requests.page()
    equals = scim_requests.equals(scim_requests.FOR_GROUPS)
    with wired().database.reading() as session:
        total, groups = provider_groups.listed(session, _provider_id(), equals, offset, size)
        if scim_answers.shows_members():
            groups = scim_answers.within_reach(session, groups)
        return scim_answers.listing(scim_answers.groups(session, groups), total=total, offset=offset)


@scim.get("/Groups/<group_id>")
def read_group(group_id: str) -> Response:
    with wired().database.reading() as session:
        group = provider_groups.get(session, _provider_id(), ids.require_id(group_id, "group"))
        return scim_answers.resource(scim_answers.groups(session, [group])[0])


@scim.post("/Groups")
def create_group() -> Response:
    body = scim_requests.body()
    sent, members = scim_requests.resource(SentGroup, body), scim_requests.sent_members(body)
    with wired().database.writing() as session:
        group = provider_groups.create(
            session, _provider(session), sent.display_name or "", sent.external_id, members
        )
        return scim_answers.resource(scim_answers.groups(session, [group])[0], 201)


@scim.put("/Groups/<group_id>")
def replace_group(group_id: str) -> Response:
    body = scim_requests.body()
    sent, members = scim_requests.resource(SentGroup, body, replaces=True), scim_requests.sent_members(body)
    changes = provider_groups.MemberChanges(added=members, replaces=True)
    with wired().database.writing() as session:
        group = provider_groups.update(
            session,
            _provider(session),
            ids.require_id(group_id, "group"),
            sent.display_name or "",
            sent.external_id,
            changes,
        )
        return scim_answers.resource(scim_answers.groups(session, [group])[0])


@scim.patch("/Groups/<group_id>")
def patch_group(group_id: str) -> Response:
    """Change a group. The answer has no body unless attributes are asked for: thousands of members would be in it."""
    body = scim_requests.body()
    with wired().database.writing() as session:
        provider = _provider(session)
        group = provider_groups.get(session, provider.id, ids.require_id(group_id, "group"))
        current = SentGroup(id=str(group.id), display_name=group.name, external_id=group.external_id)
        changes = scim_requests.member_changes(scim_requests.patch(SentGroup, current, body))
        group = provider_groups.update(
            session, provider, group.id, current.display_name or "", current.external_id, changes
        )
        if not flask.request.args.keys() & {"attributes", "excludedAttributes"}:
            return Response(status=204)
        return scim_answers.resource(scim_answers.groups(session, [group])[0])


@scim.delete("/Groups/<group_id>")
def delete_group(group_id: str) -> Response:
    with wired().database.writing() as session:
        provider_groups.remove(session, _provider(session), ids.require_id(group_id, "group"))
    return Response(status=204)


def _provider_id() -> uuid.UUID:
    provider_id: uuid.UUID = flask.g.provider_id
    return provider_id


def _provider(session: Session) -> IdentityProvider:
    """The provider that calls. A key that was removed meanwhile is refused."""
    provider = session.get(IdentityProvider, _provider_id())
    if provider is None or provider.scim_token_hash is None or provider.removed_at is not None:
        raise Unauthenticated(auth.WRONG)
    return provider


def _update_user(user_id: str, change: Callable[[SentUser], SentUser]) -> Response:
    with wired().database.writing() as session:
        provider = _provider(session)
        person = provisioning.get(session, provider.id, ids.require_id(user_id, "user"))
        before = person.fields
        current = SentUser(
            id=str(person.identity.id),
            external_id=before.external_id,
            user_name=before.user_name,
            display_name=before.display_name,
            active=before.active,
            emails=[SentEmail(value=before.email, type="work", primary=True)],
        )
        sent = change(current)
        # A replacement that leaves it out would otherwise part the person from their sign-in.
        external_id = sent.external_id if sent is current else sent.external_id or before.external_id
        fields = replace(_fields(sent, before), external_id=external_id)
        return scim_answers.resource(
            scim_answers.user(provisioning.update(session, provider, person.identity.id, fields))
        )


def _fields(sent: SentUser, before: PersonFields | None = None) -> PersonFields:
    """Return what was sent of a person. What was left out stays as it was ``before``, or follows from the user name."""
    user_name = sent.user_name or ""
    emails = sorted(sent.emails or (), key=lambda email: (not email.primary, email.type != "work"))
    address = next((email.value for email in emails if email.value), None)
    name = sent.display_name or (sent.name.whole if sent.name is not None else "")
    return PersonFields(
        user_name=user_name,
        external_id=sent.external_id,
        display_name=name or (before.display_name if before else user_name.partition("@")[0]),
        email=address or (before.email if before else user_name),
        active=sent.active if sent.active is not None else before.active if before else True,
    )
