from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.attachment_kind import AttachmentKind
from ..models.attachment_refusal import AttachmentRefusal
from ..models.attachment_state import AttachmentState
from ..types import UNSET, Unset

T = TypeVar("T", bound="AttachmentShown")


@_attrs_define
class AttachmentShown:
    """An attachment as it was sent, with its state.

    Attributes:
        url (str): Where the attachment is: https, at most 2,048 characters.
        kind (AttachmentKind): What an attachment of a post is, as the integration says. A link is never fetched.
        state (AttachmentState): `kept`: the file is stored, or the attachment is a link
            (docs/integrate/attachments.md).
        alt (str | Unset): What the picture shows, as its author wrote it; at most 2,000 characters.
        filename (str | Unset): The file's name on the platform, at most 255 characters.
        width (int | Unset): Width of the picture or video in pixels.
        height (int | Unset): Height of the picture or video in pixels.
        size (int | Unset): Size of the file in bytes.
        reason (AttachmentRefusal | Unset): Why an attachment was refused.
        media_type (str | Unset): The media type that its content shows, such as `image/jpeg`.
    """

    url: str
    kind: AttachmentKind
    state: AttachmentState
    alt: str | Unset = UNSET
    filename: str | Unset = UNSET
    width: int | Unset = UNSET
    height: int | Unset = UNSET
    size: int | Unset = UNSET
    reason: AttachmentRefusal | Unset = UNSET
    media_type: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        url = self.url

        kind = self.kind.value

        state = self.state.value

        alt = self.alt

        filename = self.filename

        width = self.width

        height = self.height

        size = self.size

        reason: str | Unset = UNSET
        if not isinstance(self.reason, Unset):
            reason = self.reason.value

        media_type = self.media_type

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "url": url,
                "kind": kind,
                "state": state,
            }
        )
        if alt is not UNSET:
            field_dict["alt"] = alt
        if filename is not UNSET:
            field_dict["filename"] = filename
        if width is not UNSET:
            field_dict["width"] = width
        if height is not UNSET:
            field_dict["height"] = height
        if size is not UNSET:
            field_dict["size"] = size
        if reason is not UNSET:
            field_dict["reason"] = reason
        if media_type is not UNSET:
            field_dict["media_type"] = media_type

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        url = d.pop("url")

        kind = AttachmentKind(d.pop("kind"))

        state = AttachmentState(d.pop("state"))

        alt = d.pop("alt", UNSET)

        filename = d.pop("filename", UNSET)

        width = d.pop("width", UNSET)

        height = d.pop("height", UNSET)

        size = d.pop("size", UNSET)

        _reason = d.pop("reason", UNSET)
        reason: AttachmentRefusal | Unset
        if isinstance(_reason, Unset):
            reason = UNSET
        else:
            reason = AttachmentRefusal(_reason)

        media_type = d.pop("media_type", UNSET)

        attachment_shown = cls(
            url=url,
            kind=kind,
            state=state,
            alt=alt,
            filename=filename,
            width=width,
            height=height,
            size=size,
            reason=reason,
            media_type=media_type,
        )

        return attachment_shown
