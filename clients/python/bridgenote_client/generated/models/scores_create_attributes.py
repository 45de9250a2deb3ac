from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ScoresCreateAttributes")


@_attrs_define
class ScoresCreateAttributes:
    """Texts to score at once. Nothing of them is stored.

    Attributes:
        texts (list[str]): The texts, at most 100, each at most 50,000 characters and not blank.
        community_server_id (None | str | Unset): Score with the rules, the model and the connected services of this
            community too, by our UUID or by the platform's id of it. Without it, only what the service ships scores.
        categories (list[str] | None | Unset): Only these categories. Without it, all.
        language (None | str | Unset): The language of all texts (BCP 47), such as `en`. Without it, each is looked at.
    """

    texts: list[str]
    community_server_id: None | str | Unset = UNSET
    categories: list[str] | None | Unset = UNSET
    language: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        texts = self.texts

        community_server_id: None | str | Unset
        if isinstance(self.community_server_id, Unset):
            community_server_id = UNSET
        else:
            community_server_id = self.community_server_id

        categories: list[str] | None | Unset
        if isinstance(self.categories, Unset):
            categories = UNSET
        elif isinstance(self.categories, list):
            categories = self.categories

        else:
            categories = self.categories

        language: None | str | Unset
        if isinstance(self.language, Unset):
            language = UNSET
        else:
            language = self.language

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "texts": texts,
            }
        )
        if community_server_id is not UNSET:
            field_dict["community_server_id"] = community_server_id
        if categories is not UNSET:
            field_dict["categories"] = categories
        if language is not UNSET:
            field_dict["language"] = language

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        texts = cast(list[str], d.pop("texts"))

        def _parse_community_server_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        community_server_id = _parse_community_server_id(
            d.pop("community_server_id", UNSET)
        )

        def _parse_categories(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                categories_type_0 = cast(list[str], data)

                return categories_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        categories = _parse_categories(d.pop("categories", UNSET))

        def _parse_language(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        language = _parse_language(d.pop("language", UNSET))

        scores_create_attributes = cls(
            texts=texts,
            community_server_id=community_server_id,
            categories=categories,
            language=language,
        )

        return scores_create_attributes
