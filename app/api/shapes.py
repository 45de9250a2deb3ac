"""Building blocks of the input and output models: strict field types and the base classes of bodies and queries."""

import enum
import json
import re
import uuid
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType

from app.core import limits
from app.core.errors import Invalid
from app.core.ids import parse_id
from app.core.paging import Slice
from app.core.vocabulary import RequestStatus

_INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_WHOLE = re.compile(r"[0-9]+")
_DIGITS_MAX = 18
PAGE_NUMBER_MAX = 1_000_000_000


def _read_instant(value: Any) -> datetime:
    """Parse RFC 3339 text with a zone, and convert it to UTC. pydantic alone would accept numbers and no zone."""
    match = _INSTANT.fullmatch(value) if isinstance(value, str) else None
    if match is not None:
        day, time, fraction, zone = match.groups()
        zone = "+00:00" if zone in "Zz" else zone
        try:
            text = f"{day}T{time}.{(fraction or '0')[:6].ljust(6, '0')}{zone}"
            return datetime.fromisoformat(text).astimezone(UTC)
        except (ValueError, OverflowError):
            pass
    why = "Input should be an ISO 8601 date and time with a zone, such as 2026-01-31T12:00:00Z"
    if isinstance(value, str) and " " in value:
        why += "; T stands before the time, and + is %2B in a query"
    raise PydanticCustomError("datetime_parsing", "{why}", {"why": why})


def _read_id(value: Any) -> uuid.UUID:
    identity = parse_id(value) if isinstance(value, str) else None
    if identity is None:
        raise PydanticCustomError("uuid_parsing", "Input should be a valid UUID in its hyphenated form")
    return identity


def _read_whole(value: Any) -> int:
    if not isinstance(value, str) or not _WHOLE.fullmatch(value):
        raise PydanticCustomError("int_parsing", "Input should be a whole number in plain digits")
    # A longer number is above every limit; the check of the limit then reports it.
    return int(value) if len(value) <= _DIGITS_MAX else 10**_DIGITS_MAX


def _storable(value: str) -> str:
    try:
        return limits.storable(value, "text")
    except Invalid as refused:
        raise PydanticCustomError("value_error", "{why}", {"why": refused.problems[0].msg}) from refused


def _read_yes(value: Any) -> bool:
    if value is not True:
        raise PydanticCustomError("literal_error", "Input should be true")
    return True


def one_of(kind: type[enum.StrEnum], *, any_case: bool = False) -> BeforeValidator:
    """Validator that parses a value of an enum: ``Annotated[NoteStatus, one_of(NoteStatus)]``.

    Needed because strict pydantic models do not convert text to an enum.
    """

    def read_word(value: Any) -> enum.StrEnum:
        if isinstance(value, str):
            for word in kind:
                if value == word.value or (any_case and value.upper() == word.value.upper()):
                    return word
        words = ", ".join(f"'{word.value}'" for word in kind)
        raise PydanticCustomError("enum", "Input should be one of {words}", {"words": words})

    return BeforeValidator(read_word)


Instant = Annotated[
    datetime, BeforeValidator(_read_instant), WithJsonSchema({"type": "string", "format": "date-time"})
]
"""A point in time in a body or a query."""
Id = Annotated[uuid.UUID, BeforeValidator(_read_id), WithJsonSchema({"type": "string", "format": "uuid"})]
"""One of our own ids."""
STORABLE = AfterValidator(_storable)
"""Put it after the limits of a text: after a function, pydantic's message would count items instead of characters."""
Text = Annotated[str, STORABLE]
"""Text that a database can store: no NUL, no lone surrogates."""
ForeignId = Annotated[str, Field(min_length=1, max_length=limits.ID_MAX), STORABLE]
"""An id of the integration's platform, stored exactly as sent."""
Cursor = Annotated[str, STORABLE, WithJsonSchema({"type": "string", "format": "cursor"})]
"""A position in a list, from a link in an earlier response."""
NOT_BLANK: JsonDict = {"pattern": r"\S"}
"""In the OpenAPI document: the text must contain more than white space. The core checks it."""
JsonObject = TypeAliasType(
    "JsonObject",
    Annotated[dict[str, Any], Field(description="A JSON object with members of any names and values.")],
)
Platform = Annotated[str, Field(pattern=limits.PLATFORM_PATTERN)]
Status = Annotated[RequestStatus, one_of(RequestStatus, any_case=True)]
"""A request's status in either case (docs/integrate/api.md)."""


def like(model: type[BaseModel], name: str, default: Any = ...) -> Any:
    """Field that means the same as the field ``name`` of ``model``, and so has its description."""
    return Field(default, description=model.model_fields[name].description)


def whole(least: int, most: int, default: int, alias: str, description: str = "") -> Any:
    """Field for a whole number in a query: ``size: Whole = whole(1, 100, 20, "page[size]")``."""
    return Field(default, alias=alias, ge=least, le=most, description=description or None)


Yes = Annotated[bool, BeforeValidator(_read_yes), WithJsonSchema({"const": True})]
"""A member that is either true or absent."""
DIGITS = BeforeValidator(_read_whole)
"""Put it after the limits of a number, or they are missing in the OpenAPI document."""
Whole = Annotated[int, DIGITS]
"""A whole number in a query: only ASCII digits; ``int`` would accept more."""


class Body(BaseModel):
    """The attributes of a request body. Unknown members are refused; enums need ``one_of``.

    ``resource`` is the JSON:API ``type`` of the wrapped form (None: only a plain object is accepted). ``plain`` also
    accepts a plain object. ``loose`` allows leaving out ``type`` and ``id`` and does not compare the id. ``needs_id``
    requires ``id``, as JSON:API does for PATCH; ``creates`` refuses it. ``optional`` treats a missing body as empty.
    ``bytes_max``: how large the body may be. ``batch_of``: ``data`` is a list of resources with these attributes.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    resource: ClassVar[str | None] = None
    plain: ClassVar[bool] = False
    loose: ClassVar[bool] = False
    needs_id: ClassVar[bool] = False
    creates: ClassVar[bool] = False
    optional: ClassVar[bool] = False
    bytes_max: ClassVar[int] = limits.BODY_MAX_BYTES
    batch_of: "ClassVar[type[Body] | None]" = None


class Query(BaseModel):
    """Query parameters by their aliases. Others that begin with ``filter``, ``page``, … are 400, the rest ignored."""

    model_config = ConfigDict(extra="ignore", populate_by_name=False)

    def list_name(self, *extra: object) -> str:
        """Return a name of the list for ``Slice.of``: the same for all pages, different for other filters.

        ``extra`` are further properties of the list that are not query parameters.
        """
        filters = self.model_dump(mode="json", exclude=_POSITION, exclude_none=True)
        return json.dumps([type(self).__name__, filters, *map(str, extra)], sort_keys=True)


_POSITION = {"number", "size", "after", "before", "limit", "offset"}
"""Fields that select a page of a list."""


class Paged(Query):
    """The parameters of every list (docs/integrate/api.md)."""

    number: Whole = whole(1, PAGE_NUMBER_MAX, 1, "page[number]", "Page, from 1; shows the live list.")
    size: Whole = whole(1, 100, 20, "page[size]", "How many rows a page has at most.")
    after: Cursor | None = Field(None, alias="page[after]", description="Cursor that `links.next` carries.")
    before: Cursor | None = Field(None, alias="page[before]", description="Cursor that `links.prev` carries.")

    def slice(self, *extra: object) -> Slice:
        """Return the page parameters for the core's ``paginate``; ``extra`` as in ``list_name``."""
        return Slice(self.number, self.size, after=self.after, before=self.before, of=self.list_name(*extra))


CHANGES = "Changed then or later, in the order of changes; `meta.next_since` is the value of the next call."
"""What ``filter[updated_at__gte]`` of a list does."""


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value without the choice null."""
    choices = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) != 1:
        return schema
    return {**choices[0], **{name: value for name, value in schema.items() if name != "anyOf"}}


def _leave_out_null(schema: dict[str, Any]) -> None:
    required = schema.get("required", ())
    members = schema.get("properties", {})
    schema["properties"] = {
        name: member if name in required else without_null(member) for name, member in members.items()
    }


class Shown(BaseModel):
    """Attributes of a resource in a response. Used for documentation; the tests check every response against them.

    An attribute that is None is null if the model requires it, else left out (``jsonapi.shown``).
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra=_leave_out_null)
