from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.attachment_kind import AttachmentKind
from ..types import UNSET, Unset

T = TypeVar("T", bound="AttachmentCreate")


@_attrs_define
class AttachmentCreate:
    """A picture, video, sound, file or link of the post. All but links are fetched once, after the answer.

    Attributes:
        url (str): Where the attachment is: https, at most 2,048 characters.
        kind (AttachmentKind): What an attachment of a post is, as the integration says. A link is never fetched.
        alt (None | str | Unset): What the picture shows, as its author wrote it; at most 2,000 characters.
        filename (None | str | Unset): The file's name on the platform, at most 255 characters.
        width (int | None | Unset): Width of the picture or video in pixels.
        height (int | None | Unset): Height of the picture or video in pixels.
        size (int | None | Unset): Size of the file in bytes.
    """

    url: str
    kind: AttachmentKind
    alt: None | str | Unset = UNSET
    filename: None | str | Unset = UNSET
    width: int | None | Unset = UNSET
    height: int | None | Unset = UNSET
    size: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        url = self.url

        kind = self.kind.value

        alt: None | str | Unset
        if isinstance(self.alt, Unset):
            alt = UNSET
        else:
            alt = self.alt

        filename: None | str | Unset
        if isinstance(self.filename, Unset):
            filename = UNSET
        else:
            filename = self.filename

        width: int | None | Unset
        if isinstance(self.width, Unset):
            width = UNSET
        else:
            width = self.width

        height: int | None | Unset
        if isinstance(self.height, Unset):
            height = UNSET
        else:
            height = self.height

        size: int | None | Unset
        if isinstance(self.size, Unset):
            size = UNSET
        else:
            size = self.size

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "url": url,
                "kind": kind,
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

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        url = d.pop("url")

        kind = AttachmentKind(d.pop("kind"))

        def _parse_alt(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        alt = _parse_alt(d.pop("alt", UNSET))

        def _parse_filename(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        filename = _parse_filename(d.pop("filename", UNSET))

        def _parse_width(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        width = _parse_width(d.pop("width", UNSET))

        def _parse_height(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        height = _parse_height(d.pop("height", UNSET))

        def _parse_size(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        size = _parse_size(d.pop("size", UNSET))

        attachment_create = cls(
            url=url,
            kind=kind,
            alt=alt,
            filename=filename,
            width=width,
            height=height,
            size=size,
        )

        return attachment_create
