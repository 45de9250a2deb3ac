from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.json_object import JsonObject


T = TypeVar("T", bound="FlatCommunity")


@_attrs_define
class FlatCommunity:
    """A community with its `id` beside its other members.

    Attributes:
        id (UUID): Our UUID of the community.
        platform (str): The platform, such as `discourse`.
        platform_community_server_id (str): The community's id on its platform, exactly as sent.
        slug (str): The community's name in addresses: lower case, digits and dashes.
        name (str): The name on the platform, at most 255 characters.
        description (None | str): What the community is about; null if nothing was said.
        settings (JsonObject): A JSON object with members of any names and values.
        server_stats (JsonObject | None): Figures of the platform about the community, at most 64 KB of JSON.
        is_active (bool): False if it was opened so or is archived: nobody joins it.
        is_public (bool): Whether anybody with an account may join as a rater and read what is under review.
        created_at (datetime.datetime): When this was stored here.
        updated_at (datetime.datetime): When this last changed here.
    """

    id: UUID
    platform: str
    platform_community_server_id: str
    slug: str
    name: str
    description: None | str
    settings: JsonObject
    server_stats: JsonObject | None
    is_active: bool
    is_public: bool
    created_at: datetime.datetime
    updated_at: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        from ..models.json_object import JsonObject

        id = str(self.id)

        platform = self.platform

        platform_community_server_id = self.platform_community_server_id

        slug = self.slug

        name = self.name

        description: None | str
        description = self.description

        settings = self.settings.to_dict()

        server_stats: dict[str, Any] | None
        if isinstance(self.server_stats, JsonObject):
            server_stats = self.server_stats.to_dict()
        else:
            server_stats = self.server_stats

        is_active = self.is_active

        is_public = self.is_public

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "platform": platform,
                "platform_community_server_id": platform_community_server_id,
                "slug": slug,
                "name": name,
                "description": description,
                "settings": settings,
                "server_stats": server_stats,
                "is_active": is_active,
                "is_public": is_public,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.json_object import JsonObject

        d = dict(src_dict)
        id = UUID(d.pop("id"))

        platform = d.pop("platform")

        platform_community_server_id = d.pop("platform_community_server_id")

        slug = d.pop("slug")

        name = d.pop("name")

        def _parse_description(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        description = _parse_description(d.pop("description"))

        settings = JsonObject.from_dict(d.pop("settings"))

        def _parse_server_stats(data: object) -> JsonObject | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                server_stats_type_0 = JsonObject.from_dict(data)

                return server_stats_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(JsonObject | None, data)

        server_stats = _parse_server_stats(d.pop("server_stats"))

        is_active = d.pop("is_active")

        is_public = d.pop("is_public")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        flat_community = cls(
            id=id,
            platform=platform,
            platform_community_server_id=platform_community_server_id,
            slug=slug,
            name=name,
            description=description,
            settings=settings,
            server_stats=server_stats,
            is_active=is_active,
            is_public=is_public,
            created_at=created_at,
            updated_at=updated_at,
        )

        return flat_community
