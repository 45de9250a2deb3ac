from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)
from uuid import UUID

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.batch_meta import BatchMeta
    from ..models.request_attributes import RequestAttributes


T = TypeVar("T", bound="RequestBatchResource")


@_attrs_define
class RequestBatchResource:
    """A resource object of JSON:API, of the type `requests`, with `meta` where it was known.

    Attributes:
        type_ (Literal['requests']): The type of the resource, always `requests`.
        id (UUID): Our UUID of the resource.
        attributes (RequestAttributes): Attributes without a value yet are left out, except `note_id`, which is null.

            `content` is always there. It is null once the community's content retention has removed the text.
        meta (BatchMeta | Unset): That a submission of a batch was known.
    """

    type_: Literal["requests"]
    id: UUID
    attributes: RequestAttributes
    meta: BatchMeta | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        id = str(self.id)

        attributes = self.attributes.to_dict()

        meta: dict[str, Any] | Unset = UNSET
        if not isinstance(self.meta, Unset):
            meta = self.meta.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "type": type_,
                "id": id,
                "attributes": attributes,
            }
        )
        if meta is not UNSET:
            field_dict["meta"] = meta

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.batch_meta import BatchMeta
        from ..models.request_attributes import RequestAttributes

        d = dict(src_dict)
        type_ = cast(Literal["requests"], d.pop("type"))
        if type_ != "requests":
            raise ValueError(f"type must match const 'requests', got '{type_}'")

        id = UUID(d.pop("id"))

        attributes = RequestAttributes.from_dict(d.pop("attributes"))

        _meta = d.pop("meta", UNSET)
        meta: BatchMeta | Unset
        if isinstance(_meta, Unset):
            meta = UNSET
        else:
            meta = BatchMeta.from_dict(_meta)

        request_batch_resource = cls(
            type_=type_,
            id=id,
            attributes=attributes,
            meta=meta,
        )

        return request_batch_resource
