"""The JSON:API documents around all resources, and the attributes that all of them have.

``resource_of`` registers the attributes under their type in ``SHOWN``. The tests check every response body against
it, so an undeclared attribute fails a test.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model

from app.api.shapes import ForeignId, JsonObject, Shown

Time = Annotated[
    str,
    Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""A point in time in a response."""
Uuid = Annotated[
    str,
    Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"),
    WithJsonSchema({"type": "string", "format": "uuid"}),
]
"""One of our ids in a response."""

Created = Annotated[Time, Field(description="When this was stored here.")]
Updated = Annotated[Time, Field(description="When this last changed here.")]
CommunityId = Annotated[Uuid, Field(description="The community, by our UUID.")]
CommunityRef = Annotated[
    ForeignId, Field(description="The community, by our UUID or by the platform's id of it.")
]
IN_COMMUNITY = "Only of this community, by our UUID."
"""Description of the filter by community."""

SHOWN: dict[str, type[Shown]] = {}
"""The model of the attributes by resource type."""


class Version(BaseModel):
    """What the document conforms to."""

    model_config = ConfigDict(extra="forbid")

    version: Literal["1.1"] = Field(description="The version of JSON:API: `1.1`.")


class Links(BaseModel):
    """Absolute URLs of a document."""

    model_config = ConfigDict(extra="forbid")

    self: str = Field(description="Absolute URL of this resource, or of this page of the list.")
    describedby: str = Field(description="Absolute URL of the OpenAPI document.")


class PageLinks(Links):
    """Absolute URLs of a list; null if there is no such page."""

    first: str | None = Field(description="Absolute URL of the first page.")
    prev: str | None = Field(description="Absolute URL of the page before; null on the first page.")
    next: str | None = Field(description="Absolute URL of the page after; null on the last page.")
    last: str | None = Field(description="Absolute URL of the last page.")


class PageMeta(BaseModel):
    """The list has ``count`` items on ``pages`` pages of ``limit`` items."""

    model_config = ConfigDict(extra="allow")

    count: int = Field(ge=0, description="How many items the whole list has.")
    page: int = Field(ge=1, description="Which page this is, counted from 1.")
    pages: int = Field(ge=0, description="How many pages the list has; 0 if it is empty.")
    limit: int = Field(ge=1, description="How many items a page has at most.")
    offset: int = Field(ge=0, description="How many items of the list stand before this page.")


_VERSION: Any = Field(description="The version of JSON:API that the document conforms to.")


def resource_of(name: str, type: str, attributes: type[Shown]) -> type[BaseModel]:
    """Create the model of a resource object: ``{type, id, attributes}``."""
    SHOWN[type] = attributes
    kind: Any = Literal[type]
    return create_model(
        f"{name}Resource",
        __config__=ConfigDict(extra="forbid"),
        __doc__=f"A resource object of JSON:API, of the type ``{type}``.",
        type=(kind, Field(description=f"The type of the resource, always ``{type}``.")),
        id=(Uuid, Field(description="Our UUID of the resource.")),
        attributes=(attributes, Field(description="What the service knows about it, by name.")),
    )


def document_of(name: str, resource: type[BaseModel]) -> type[BaseModel]:
    """Create the model of a document with one resource."""
    return create_model(
        f"{name}Document",
        __config__=ConfigDict(extra="forbid"),
        __doc__="A document of JSON:API with one resource.",
        jsonapi=(Version, _VERSION),
        data=(resource, Field(description="The resource that was asked for or changed.")),
        links=(Links, Field(None, description="URLs of the resource and of the OpenAPI document.")),
        meta=(JsonObject, Field(None, description="What else there is to say of this answer.")),
    )


def list_of(name: str, resource: type[BaseModel]) -> type[BaseModel]:
    """Create the model of a document with one page of resources."""
    return create_model(
        f"{name}List",
        __config__=ConfigDict(extra="forbid"),
        __doc__="A document of JSON:API with one page of a list.",
        jsonapi=(Version, _VERSION),
        data=(list[resource], Field(description="The resources of this page.")),  # type: ignore[valid-type]  # made at run time
        links=(PageLinks, Field(description="URLs of this page and of the others.")),
        meta=(PageMeta, Field(description="How long the list is, and where this page stands in it.")),
    )
