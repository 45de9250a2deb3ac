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
    from ..models.action_patch_attributes import ActionPatchAttributes


T = TypeVar("T", bound="ActionPatchResource")


@_attrs_define
class ActionPatchResource:
    """A resource object of JSON:API, of the type `moderation-actions`.

    Attributes:
        type_ (Literal['moderation-actions']): The type of the resource, always `moderation-actions`.
        id (str): The id in the path of the call.
        attributes (ActionPatchAttributes): A move, the answer about an undo, or another end of a silence; one of
            `action_state`, `undo_state` and `until` is required.

            `platform_action_id` belongs to `applied`; an appeal is `retro_review` with its `reason`.
        meta (Any | Unset): The member `meta` of JSON:API: accepted and ignored.
        links (Any | Unset): The member `links` of JSON:API: accepted and ignored.
    """

    type_: Literal["moderation-actions"]
    id: str
    attributes: ActionPatchAttributes
    meta: Any | Unset = UNSET
    links: Any | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        id = self.id

        attributes = self.attributes.to_dict()

        meta = self.meta

        links = self.links

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
        if links is not UNSET:
            field_dict["links"] = links

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.action_patch_attributes import ActionPatchAttributes

        d = dict(src_dict)
        type_ = cast(Literal["moderation-actions"], d.pop("type"))
        if type_ != "moderation-actions":
            raise ValueError(
                f"type must match const 'moderation-actions', got '{type_}'"
            )

        id = d.pop("id")

        attributes = ActionPatchAttributes.from_dict(d.pop("attributes"))

        meta = d.pop("meta", UNSET)

        links = d.pop("links", UNSET)

        action_patch_resource = cls(
            type_=type_,
            id=id,
            attributes=attributes,
            meta=meta,
            links=links,
        )

        return action_patch_resource
