from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.batch_refusal import BatchRefusal
    from ..models.json_api_version import JsonApiVersion
    from ..models.request_batch_resource import RequestBatchResource


T = TypeVar("T", bound="RequestBatchAnswers")


@_attrs_define
class RequestBatchAnswers:
    """What came of each submission, in the order of the call: its resource, or why it was refused.

    Attributes:
        jsonapi (JsonApiVersion): What the document conforms to.
        data (list[BatchRefusal | RequestBatchResource]): The answers, as many as there were submissions.
    """

    jsonapi: JsonApiVersion
    data: list[BatchRefusal | RequestBatchResource]

    def to_dict(self) -> dict[str, Any]:
        from ..models.request_batch_resource import RequestBatchResource

        jsonapi = self.jsonapi.to_dict()

        data = []
        for data_item_data in self.data:
            data_item: dict[str, Any]
            if isinstance(data_item_data, RequestBatchResource):
                data_item = data_item_data.to_dict()
            else:
                data_item = data_item_data.to_dict()

            data.append(data_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "jsonapi": jsonapi,
                "data": data,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.batch_refusal import BatchRefusal
        from ..models.json_api_version import JsonApiVersion
        from ..models.request_batch_resource import RequestBatchResource

        d = dict(src_dict)
        jsonapi = JsonApiVersion.from_dict(d.pop("jsonapi"))

        data = []
        _data = d.pop("data")
        for data_item_data in _data:

            def _parse_data_item(data: object) -> BatchRefusal | RequestBatchResource:
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    data_item_type_0 = RequestBatchResource.from_dict(data)

                    return data_item_type_0
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                if not isinstance(data, dict):
                    raise TypeError()
                data_item_type_1 = BatchRefusal.from_dict(data)

                return data_item_type_1

            data_item = _parse_data_item(data_item_data)

            data.append(data_item)

        request_batch_answers = cls(
            jsonapi=jsonapi,
            data=data,
        )

        return request_batch_answers
