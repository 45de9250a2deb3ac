from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.json_object import JsonObject


T = TypeVar("T", bound="ProfileAttributes")


@_attrs_define
class ProfileAttributes:
    """A person on a platform. `is_linked`: whether the profile is linked to an account of the dashboard.

    Attributes:
        platform (str): The platform; `web` for people who signed up in the dashboard.
        platform_user_id (str): The user's id on the platform, exactly as sent.
        display_name (None | str): The name that was last sent with the user; null if none ever was.
        is_linked (bool): Whether the profile is linked to an account of the dashboard.
        created_at (datetime.datetime): When this was stored here.
        updated_at (datetime.datetime): When this last changed here.
        provider_scope (str | Unset): The server that numbers its own users, by the platform's id of the community.
        trust_level (int | Unset): The trust level that the platform last sent, from 0 to 100.
        metadata (JsonObject | Unset): A JSON object with members of any names and values.
    """

    platform: str
    platform_user_id: str
    display_name: None | str
    is_linked: bool
    created_at: datetime.datetime
    updated_at: datetime.datetime
    provider_scope: str | Unset = UNSET
    trust_level: int | Unset = UNSET
    metadata: JsonObject | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        platform = self.platform

        platform_user_id = self.platform_user_id

        display_name: None | str
        display_name = self.display_name

        is_linked = self.is_linked

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        provider_scope = self.provider_scope

        trust_level = self.trust_level

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "platform": platform,
                "platform_user_id": platform_user_id,
                "display_name": display_name,
                "is_linked": is_linked,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )
        if provider_scope is not UNSET:
            field_dict["provider_scope"] = provider_scope
        if trust_level is not UNSET:
            field_dict["trust_level"] = trust_level
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.json_object import JsonObject

        d = dict(src_dict)
        platform = d.pop("platform")

        platform_user_id = d.pop("platform_user_id")

        def _parse_display_name(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        display_name = _parse_display_name(d.pop("display_name"))

        is_linked = d.pop("is_linked")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        provider_scope = d.pop("provider_scope", UNSET)

        trust_level = d.pop("trust_level", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: JsonObject | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = JsonObject.from_dict(_metadata)

        profile_attributes = cls(
            platform=platform,
            platform_user_id=platform_user_id,
            display_name=display_name,
            is_linked=is_linked,
            created_at=created_at,
            updated_at=updated_at,
            provider_scope=provider_scope,
            trust_level=trust_level,
            metadata=metadata,
        )

        return profile_attributes
