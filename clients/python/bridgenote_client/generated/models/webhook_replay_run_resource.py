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

if TYPE_CHECKING:
    from ..models.replay_attributes import ReplayAttributes


T = TypeVar("T", bound="WebhookReplayRunResource")


@_attrs_define
class WebhookReplayRunResource:
    """A resource object of JSON:API, of the type `webhook-replays`.

    Attributes:
        type_ (Literal['webhook-replays']): The type of the resource, always `webhook-replays`.
        id (UUID): Our UUID of the resource.
        attributes (ReplayAttributes): A range of deliveries that is sent again, 500 at a time.
    """

    type_: Literal["webhook-replays"]
    id: UUID
    attributes: ReplayAttributes

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        id = str(self.id)

        attributes = self.attributes.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "type": type_,
                "id": id,
                "attributes": attributes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.replay_attributes import ReplayAttributes

        d = dict(src_dict)
        type_ = cast(Literal["webhook-replays"], d.pop("type"))
        if type_ != "webhook-replays":
            raise ValueError(f"type must match const 'webhook-replays', got '{type_}'")

        id = UUID(d.pop("id"))

        attributes = ReplayAttributes.from_dict(d.pop("attributes"))

        webhook_replay_run_resource = cls(
            type_=type_,
            id=id,
            attributes=attributes,
        )

        return webhook_replay_run_resource
