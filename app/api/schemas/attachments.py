"""Input and output models of attachments (docs/integrate/attachments.md)."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType

from app.api.shapes import STORABLE, Shown, like, one_of
from app.core import limits
from app.core.attachments.adding import NewAttachment
from app.core.errors import Invalid
from app.core.vocabulary import AttachmentKind, AttachmentRefusal, AttachmentState


def _https(value: str) -> str:
    try:
        return limits.attachment_url(value)
    except Invalid as refused:
        raise PydanticCustomError("value_error", "{why}", {"why": refused.problems[0].msg}) from refused


MediaUrl = Annotated[
    str,
    Field(
        min_length=1,
        max_length=limits.ATTACHMENT_URL_MAX,
        json_schema_extra={"pattern": limits.ATTACHMENT_URL_PATTERN},
    ),
    AfterValidator(_https),
]
"""The address of an attachment."""


def _whole(value: Any) -> Any:
    # To JSON Schema, 4.0 is an integer.
    return int(value) if isinstance(value, float) and value.is_integer() else value


Side = Annotated[int, Field(ge=0, le=limits.SIDE_MAX), BeforeValidator(_whole)]
Size = Annotated[int, Field(ge=0, le=limits.SIZE_MAX), BeforeValidator(_whole)]
Kind = Annotated[AttachmentKind, one_of(AttachmentKind)]
FlatAttachmentKind = TypeAliasType(
    "FlatAttachmentKind",
    Annotated[
        Literal["image", "video", "file"],
        Field(
            description="What the attachment of the flat attributes is. Sounds and links cannot be sent that way."
        ),
    ],
)


class AttachmentCreate(BaseModel):
    """A picture, video, sound, file or link of the post. All but links are fetched once, after the answer."""

    model_config = ConfigDict(extra="forbid", strict=True)

    url: MediaUrl = Field(
        description=f"Where the attachment is: https, at most {limits.ATTACHMENT_URL_MAX:,} characters."
    )
    kind: Kind = Field(description="What the attachment is. A link is shown, never fetched.")
    alt: Annotated[str, Field(max_length=limits.ALT_MAX), STORABLE] | None = Field(
        None,
        description=f"What the picture shows, as its author wrote it; at most {limits.ALT_MAX:,} characters.",
    )
    filename: Annotated[str, Field(max_length=limits.FILENAME_MAX), STORABLE] | None = Field(
        None, description=f"The file's name on the platform, at most {limits.FILENAME_MAX} characters."
    )
    width: Side | None = Field(None, description="Width of the picture or video in pixels.")
    height: Side | None = Field(None, description="Height of the picture or video in pixels.")
    size: Size | None = Field(None, description="Size of the file in bytes.")


class AttachmentShown(Shown):
    """An attachment as it was sent, with its state."""

    url: str = like(AttachmentCreate, "url")
    kind: AttachmentKind = like(AttachmentCreate, "kind")
    alt: str | None = like(AttachmentCreate, "alt", None)
    filename: str | None = like(AttachmentCreate, "filename", None)
    width: int | None = like(AttachmentCreate, "width", None)
    height: int | None = like(AttachmentCreate, "height", None)
    size: int | None = like(AttachmentCreate, "size", None)
    state: AttachmentState = Field(
        description="`waiting` to be fetched, `kept` here (a link is so at once), or `refused`."
    )
    reason: AttachmentRefusal | None = Field(None, description="Why the attachment was refused.")
    media_type: str | None = Field(
        None, description="The media type that its content shows, such as `image/jpeg`."
    )


def from_flat(
    url: str | None, kind: str | None, details: dict[str, Any] | None, embedded_image: str | None
) -> list[NewAttachment]:
    """The attachments that the flat attributes mean: one for ``attachment_url``, one for ``embedded_image_url``.

    ``details`` is ``attachment_metadata``, a free object: what is not usable in it is ignored.
    """
    found = []
    if url is not None:
        given = details or {}
        found.append(
            NewAttachment(
                url,
                AttachmentKind(kind or "file"),
                alt=_text(given, limits.ALT_MAX, "alt", "description"),
                filename=_text(given, limits.FILENAME_MAX, "filename", "name"),
                width=_number(given, "width", limits.SIDE_MAX),
                height=_number(given, "height", limits.SIDE_MAX),
                size=_number(given, "size", limits.SIZE_MAX),
            )
        )
    if embedded_image is not None:
        found.append(NewAttachment(embedded_image, AttachmentKind.IMAGE))
    return found


def _text(given: dict[str, Any], most: int, *names: str) -> str | None:
    for name in names:
        value = given.get(name)
        if isinstance(value, str) and value:
            try:
                return limits.text(value[:most], name, most, least=0)
            except Invalid:
                return None
    return None


def _number(given: dict[str, Any], name: str, most: int) -> int | None:
    value = given.get(name)
    is_number = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most
    return value if is_number else None
