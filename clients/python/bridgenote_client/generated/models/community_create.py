from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.json_object import JsonObject


T = TypeVar("T", bound="CommunityCreate")


@_attrs_define
class CommunityCreate:
    """A community to open, as a plain object.

    Attributes:
        platform (str): The platform, such as `discourse`.
        platform_community_server_id (str): The community's id on its platform, exactly as sent.
        name (str): The name on the platform, at most 255 characters.
        description (None | str | Unset): What the community is about, at most 5,000 characters.
        settings (JsonObject | None | Unset): What the integration keeps with the community, at most 64 KB of JSON.
        is_active (bool | Unset): False: nobody can join the community as a rater. Default: True.
        is_public (bool | Unset): Whether anybody with an account may join as a rater and read what is under review.
            Default: False.
    """

    platform: str
    platform_community_server_id: str
    name: str
    description: None | str | Unset = UNSET
    settings: JsonObject | None | Unset = UNSET
    is_active: bool | Unset = True
    is_public: bool | Unset = False

    def to_dict(self) -> dict[str, Any]:
        from ..models.json_object import JsonObject

        platform = self.platform

        platform_community_server_id = self.platform_community_server_id

        name = self.name

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        settings: dict[str, Any] | None | Unset
        if isinstance(self.settings, Unset):
            settings = UNSET
        elif isinstance(self.settings, JsonObject):
            settings = self.settings.to_dict()
        else:
            settings = self.settings

        is_active = self.is_active

        is_public = self.is_public

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "platform": platform,
                "platform_community_server_id": platform_community_server_id,
                "name": name,
            }
        )
        if description is not UNSET:
            field_dict["description"] = description
        if settings is not UNSET:
            field_dict["settings"] = settings
        if is_active is not UNSET:
            field_dict["is_active"] = is_active
        if is_public is not UNSET:
            field_dict["is_public"] = is_public

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.json_object import JsonObject

        d = dict(src_dict)
        platform = d.pop("platform")

        platform_community_server_id = d.pop("platform_community_server_id")

        name = d.pop("name")

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        def _parse_settings(data: object) -> JsonObject | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                settings_type_0 = JsonObject.from_dict(data)

                return settings_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(JsonObject | None | Unset, data)

        settings = _parse_settings(d.pop("settings", UNSET))

        is_active = d.pop("is_active", UNSET)

        is_public = d.pop("is_public", UNSET)

        community_create = cls(
            platform=platform,
            platform_community_server_id=platform_community_server_id,
            name=name,
            description=description,
            settings=settings,
            is_active=is_active,
            is_public=is_public,
        )

        return community_create
