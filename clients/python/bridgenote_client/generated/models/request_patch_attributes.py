from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)
from uuid import UUID

from attrs import define as _attrs_define

from ..models.request_status import RequestStatus
from ..types import UNSET, Unset

T = TypeVar("T", bound="RequestPatchAttributes")


@_attrs_define
class RequestPatchAttributes:
    """`status` may only go from FAILED to PENDING. `escalated` sends the request to staff. Null changes nothing.

    Attributes:
        status (None | RequestStatus | Unset): Only `PENDING`, and only of a request that failed: it is scored again.
        note_id (None | Unset | UUID): A note on this request, or on none. A note that was linked can be replaced, not
            taken away.
        escalated (Literal[True] | None | Unset): True sends the request to the moderators for review.
    """

    status: None | RequestStatus | Unset = UNSET
    note_id: None | Unset | UUID = UNSET
    escalated: Literal[True] | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        status: None | str | Unset
        if isinstance(self.status, Unset):
            status = UNSET
        elif isinstance(self.status, RequestStatus):
            status = self.status.value
        else:
            status = self.status

        note_id: None | str | Unset
        if isinstance(self.note_id, Unset):
            note_id = UNSET
        elif isinstance(self.note_id, UUID):
            note_id = str(self.note_id)
        else:
            note_id = self.note_id

        escalated: Literal[True] | None | Unset
        if isinstance(self.escalated, Unset):
            escalated = UNSET
        else:
            escalated = self.escalated

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if status is not UNSET:
            field_dict["status"] = status
        if note_id is not UNSET:
            field_dict["note_id"] = note_id
        if escalated is not UNSET:
            field_dict["escalated"] = escalated

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_status(data: object) -> None | RequestStatus | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                status_type_0 = RequestStatus(data)

                return status_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RequestStatus | Unset, data)

        status = _parse_status(d.pop("status", UNSET))

        def _parse_note_id(data: object) -> None | Unset | UUID:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                note_id_type_0 = UUID(data)

                return note_id_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | UUID, data)

        note_id = _parse_note_id(d.pop("note_id", UNSET))

        def _parse_escalated(data: object) -> Literal[True] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            escalated_type_0 = cast(Literal[True], data)
            if escalated_type_0 != True:
                raise ValueError(
                    f"escalated_type_0 must match const True, got '{escalated_type_0}'"
                )
            return escalated_type_0
            return cast(Literal[True] | None | Unset, data)

        escalated = _parse_escalated(d.pop("escalated", UNSET))

        request_patch_attributes = cls(
            status=status,
            note_id=note_id,
            escalated=escalated,
        )

        return request_patch_attributes
