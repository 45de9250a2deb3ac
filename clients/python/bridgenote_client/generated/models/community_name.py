from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.json_object import JsonObject


T = TypeVar("T", bound="CommunityName")


@_attrs_define
class CommunityName:
    """A community's current name on its platform. With `server_stats` null the last figures stay.

    Attributes:
        name (str): The name on the platform, at most 255 characters.
        server_stats (JsonObject | None | Unset): Figures of the platform about the community, at most 64 KB of JSON.
    """

    name: str
    server_stats: JsonObject | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.json_object import JsonObject

        name = self.name

        server_stats: dict[str, Any] | None | Unset
        if isinstance(self.server_stats, Unset):
            server_stats = UNSET
        elif isinstance(self.server_stats, JsonObject):
            server_stats = self.server_stats.to_dict()
        else:
            server_stats = self.server_stats

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
            }
        )
        if server_stats is not UNSET:
            field_dict["server_stats"] = server_stats

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.json_object import JsonObject

        d = dict(src_dict)
        name = d.pop("name")

        def _parse_server_stats(data: object) -> JsonObject | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                server_stats_type_0 = JsonObject.from_dict(data)

                return server_stats_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(JsonObject | None | Unset, data)

        server_stats = _parse_server_stats(d.pop("server_stats", UNSET))

        community_name = cls(
            name=name,
            server_stats=server_stats,
        )

        return community_name
