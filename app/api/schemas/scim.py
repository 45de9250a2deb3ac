"""The resources that the service has for SCIM 2.0 (RFC 7643): what it publishes of them, and what it reads."""

from typing import Annotated, Any

from pydantic import Field
from scim2_models import (
    URN,
    AuthenticationScheme,
    Bulk,
    CaseExact,
    ChangePassword,
    ComplexAttribute,
    ETag,
    Filter,
    Mutability,
    Patch,
    Reference,
    Required,
    Resource,
    ScimPolicy,
    ScimProvider,
    ServiceProviderConfig,
    Sort,
    Uniqueness,
)

PAGE_MOST = 200
"""Most results of one page."""
TOLERANT = ScimPolicy(
    unknown=ScimPolicy.Unknown.ignore,
    remove_value_as_filter=ScimPolicy.RemoveValue.apply,
    unmatched_path_filter=ScimPolicy.UnmatchedPathFilter.create,
)
"""Providers send more than we keep, and Entra ID departs from the standard in these ways."""
_USER = URN("urn:ietf:params:scim:schemas:core:2.0:User")
_GROUP = URN("urn:ietf:params:scim:schemas:core:2.0:Group")


class Email(ComplexAttribute):
    value: Annotated[str | None, Required.true] = None
    """The address. A person has one here."""

    type: str | None = Field(None, examples=["work"])
    """Always ``work``."""


class UserGroup(ComplexAttribute):
    value: Annotated[str | None, Mutability.read_only, CaseExact.true] = None
    """The group's id."""

    ref: Annotated[Reference["Group"] | None, Mutability.read_only] = Field(
        None, serialization_alias="$ref", validation_alias="$ref"
    )
    """The group's URL."""

    display: Annotated[str | None, Mutability.read_only] = None
    """The group's name."""


class User(Resource[Any]):
    """A person, as the service shows them."""

    __schema__ = _USER

    user_name: Annotated[str | None, Uniqueness.server, Required.true] = None
    """The name by which the provider knows the person."""

    display_name: Annotated[str | None, Required.true] = None
    """The name that others see."""

    active: Annotated[bool | None, Required.true] = None
    """Whether the person may sign in. Without it all sessions and keys end."""

    emails: Annotated[list[Email] | None, Required.true] = None
    """The person's address."""

    groups: Annotated[list[UserGroup] | None, Mutability.read_only] = None
    """The groups that the person is in."""


class Member(ComplexAttribute):
    value: Annotated[str | None, Mutability.immutable, Required.true, CaseExact.true] = None
    """The person's id."""

    ref: Annotated[Reference["User"] | None, Mutability.immutable] = Field(
        None, serialization_alias="$ref", validation_alias="$ref"
    )
    """The person's URL."""

    type: Annotated[str | None, Mutability.immutable] = Field(None, examples=["User"])
    """Always ``User``."""


class Group(Resource[Any]):
    """A group, as the service shows it."""

    __schema__ = _GROUP

    display_name: Annotated[str | None, Uniqueness.server, Required.true] = None
    """The group's name. Roles are given by it."""

    members: list[Member] | None = None
    """The people in the group."""


class SentName(ComplexAttribute):
    formatted: str | None = None
    given_name: str | None = None
    family_name: str | None = None

    @property
    def whole(self) -> str:
        """The name as it is written; empty if none was sent."""
        parts = [part.strip() for part in (self.given_name, self.family_name) if part]
        return (self.formatted or " ".join(parts)).strip()


class SentEmail(ComplexAttribute):
    value: str | None = None
    type: str | None = None
    primary: bool | None = None


class SentUser(Resource[Any]):
    """A person, as providers send them: ``userName`` is all that each of them sends."""

    __schema__ = _USER

    user_name: Annotated[str | None, Uniqueness.server, Required.true] = None
    display_name: str | None = None
    name: SentName | None = None
    active: bool | None = None
    emails: list[SentEmail] | None = None


class SentGroup(Resource[Any]):
    """A group, as providers send it. Its members may be thousands and are read by themselves."""

    __schema__ = _GROUP

    display_name: Annotated[str | None, Uniqueness.server, Required.true] = None


def describe() -> ScimProvider:
    """Return what the service says of itself."""
    scheme = AuthenticationScheme(
        type=AuthenticationScheme.Type.oauthbearertoken,
        name="Bearer key",
        description="The key that a service admin made on the provider's page.",
        primary=True,
    )
    config = ServiceProviderConfig(
        patch=Patch(supported=True),
        bulk=Bulk(supported=False, max_operations=0, max_payload_size=0),
        filter=Filter(supported=True, max_results=PAGE_MOST),
        change_password=ChangePassword(supported=False),
        sort=Sort(supported=False),
        etag=ETag(supported=False),
        authentication_schemes=[scheme],
    )
    return ScimProvider(models=[User, Group], config=config)
