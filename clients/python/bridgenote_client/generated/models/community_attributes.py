from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.category_shown import CategoryShown


T = TypeVar("T", bound="CommunityAttributes")


@_attrs_define
class CommunityAttributes:
    """A community with its current category configuration.

    Attributes:
        platform (str): The platform, such as `discourse`.
        platform_community_server_id (str): The community's id on its platform, exactly as sent.
        slug (str): The community's name in addresses: lower case, digits and dashes.
        name (str): The name on the platform, at most 255 characters.
        description (None | str): What the community is about; null if nothing was said.
        is_active (bool): False if it was opened so or is archived: nobody joins it.
        is_public (bool): Whether anybody with an account may join as a rater and read what is under review.
        config_version (int): The number of the thresholds in force; each change counts one up.
        categories (list[CategoryShown]): The thresholds in force, one entry a category.
        created_at (datetime.datetime): When this was stored here.
        updated_at (datetime.datetime): When this last changed here.
    """

    platform: str
    platform_community_server_id: str
    slug: str
    name: str
    description: None | str
    is_active: bool
    is_public: bool
    config_version: int
    categories: list[CategoryShown]
    created_at: datetime.datetime
    updated_at: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        platform = self.platform

        platform_community_server_id = self.platform_community_server_id

        slug = self.slug

        name = self.name

        description: None | str
        description = self.description

        is_active = self.is_active

        is_public = self.is_public

        config_version = self.config_version

        categories = []
        for categories_item_data in self.categories:
            categories_item = categories_item_data.to_dict()
            categories.append(categories_item)

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "platform": platform,
                "platform_community_server_id": platform_community_server_id,
                "slug": slug,
                "name": name,
                "description": description,
                "is_active": is_active,
                "is_public": is_public,
                "config_version": config_version,
                "categories": categories,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.category_shown import CategoryShown

        d = dict(src_dict)
        platform = d.pop("platform")

        platform_community_server_id = d.pop("platform_community_server_id")

        slug = d.pop("slug")

        name = d.pop("name")

        def _parse_description(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        description = _parse_description(d.pop("description"))

        is_active = d.pop("is_active")

        is_public = d.pop("is_public")

        config_version = d.pop("config_version")

        categories = []
        _categories = d.pop("categories")
        for categories_item_data in _categories:
            categories_item = CategoryShown.from_dict(categories_item_data)

            categories.append(categories_item)

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        community_attributes = cls(
            platform=platform,
            platform_community_server_id=platform_community_server_id,
            slug=slug,
            name=name,
            description=description,
            is_active=is_active,
            is_public=is_public,
            config_version=config_version,
            categories=categories,
            created_at=created_at,
            updated_at=updated_at,
        )

        return community_attributes
