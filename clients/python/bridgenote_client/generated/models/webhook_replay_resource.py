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
    from ..models.webhook_replay_attributes import WebhookReplayAttributes


T = TypeVar("T", bound="WebhookReplayResource")


@_attrs_define
class WebhookReplayResource:
    """A resource object of JSON:API, of the type `webhook-replays`.

    Attributes:
        type_ (Literal['webhook-replays']): The type of the resource, always `webhook-replays`.
        attributes (WebhookReplayAttributes): Which of a webhook's deliveries to send again, with the same event ids.
            Without members: all that failed.
        meta (Any | Unset): The member `meta` of JSON:API: accepted and ignored.
        links (Any | Unset): The member `links` of JSON:API: accepted and ignored.
    """

    type_: Literal["webhook-replays"]
    attributes: WebhookReplayAttributes
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
        from ..models.webhook_replay_attributes import WebhookReplayAttributes

        d = dict(src_dict)
        type_ = cast(Literal["webhook-replays"], d.pop("type"))
        if type_ != "webhook-replays":
            raise ValueError(f"type must match const 'webhook-replays', got '{type_}'")

        attributes = WebhookReplayAttributes.from_dict(d.pop("attributes"))

        meta = d.pop("meta", UNSET)

        links = d.pop("links", UNSET)

        webhook_replay_resource = cls(
            type_=type_,
            attributes=attributes,
            meta=meta,
            links=links,
        )

        return webhook_replay_resource
