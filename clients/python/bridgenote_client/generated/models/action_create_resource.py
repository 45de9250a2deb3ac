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

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.action_create_attributes import ActionCreateAttributes


T = TypeVar("T", bound="ActionCreateResource")


@_attrs_define
class ActionCreateResource:
    """A resource object of JSON:API, of the type `moderation-actions`.

    Attributes:
        type_ (Literal['moderation-actions']): The type of the resource, always `moderation-actions`.
        attributes (ActionCreateAttributes): An action that the integration took on its platform.
        meta (Any | Unset): The member `meta` of JSON:API: accepted and ignored.
        links (Any | Unset): The member `links` of JSON:API: accepted and ignored.
    """

    type_: Literal["moderation-actions"]
    attributes: ActionCreateAttributes
    meta: Any | Unset = UNSET
    links: Any | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        attributes = self.attributes.to_dict()

        meta = self.meta

        links = self.links

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "type": type_,
                "attributes": attributes,
            }
        )
        if meta is not UNSET:
            field_dict["meta"] = meta
        if links is not UNSET:
            field_dict["links"] = links

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.action_create_attributes import ActionCreateAttributes

        d = dict(src_dict)
        type_ = cast(Literal["moderation-actions"], d.pop("type"))
        if type_ != "moderation-actions":
            raise ValueError(
                f"type must match const 'moderation-actions', got '{type_}'"
            )

        attributes = ActionCreateAttributes.from_dict(d.pop("attributes"))

        meta = d.pop("meta", UNSET)

        links = d.pop("links", UNSET)

        action_create_resource = cls(
            type_=type_,
            attributes=attributes,
            meta=meta,
            links=links,
        )

        return action_create_resource
