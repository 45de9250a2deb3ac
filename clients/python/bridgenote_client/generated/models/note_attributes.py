from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar
from uuid import UUID

from attrs import define as _attrs_define

from ..models.classification import Classification
from ..models.note_kind import NoteKind
from ..models.note_status import NoteStatus
from ..types import UNSET, Unset

T = TypeVar("T", bound="NoteAttributes")


@_attrs_define
class NoteAttributes:
    """Attributes without a value, or without one yet, are left out.

    Attributes:
        author_id (str): Who wrote the note, as it was sent: our UUID, or the platform's user id.
        summary (str): The text of the note, at most 5,000 characters; not blank.
        classification (Classification): What a note says of its post.
        kind (NoteKind): A note that a person or a model wrote, or the service's rationale for an action.
        status (NoteStatus): What ratings of a note came to, or what a moderator decided. Only `CURRENTLY_RATED_HELPFUL`
            is published.
        helpfulness_score (int): How helpful people across viewpoints find the note, from 0 to 100.
        ratings_count (int): How many ratings the current text has.
        ai_generated (bool): Whether a model or the service wrote the note.
        force_published (bool): Whether a moderator published the note.
        community_server_id (UUID): The community, by our UUID.
        created_at (datetime.datetime): When this was stored here.
        updated_at (datetime.datetime): When this last changed here.
        channel_id (str | Unset): The platform's id of the channel that the note belongs to.
        ai_provider (str | Unset): Who provides the model that wrote the note; `builtin` is the service itself.
        ai_model (str | Unset): The model that wrote the note, by its provider's name.
        force_published_at (datetime.datetime | Unset): When a moderator published the note.
        request_id (UUID | Unset): The request that the note is about, by our UUID.
        platform_message_id (str | Unset): The post's id on its platform, exactly as sent.
        platform_channel_id (str | Unset): The platform's id of the channel or thread that the post stands in.
    """

    author_id: str
    summary: str
    classification: Classification
    kind: NoteKind
    status: NoteStatus
    helpfulness_score: int
    ratings_count: int
    ai_generated: bool
    force_published: bool
    community_server_id: UUID
    created_at: datetime.datetime
    updated_at: datetime.datetime
    channel_id: str | Unset = UNSET
    ai_provider: str | Unset = UNSET
    ai_model: str | Unset = UNSET
    force_published_at: datetime.datetime | Unset = UNSET
    request_id: UUID | Unset = UNSET
    platform_message_id: str | Unset = UNSET
    platform_channel_id: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        author_id = self.author_id

        summary = self.summary

        classification = self.classification.value

        kind = self.kind.value

        status = self.status.value

        helpfulness_score = self.helpfulness_score

        ratings_count = self.ratings_count

        ai_generated = self.ai_generated

        force_published = self.force_published

        community_server_id = str(self.community_server_id)

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        channel_id = self.channel_id

        ai_provider = self.ai_provider

        ai_model = self.ai_model

        force_published_at: str | Unset = UNSET
        if not isinstance(self.force_published_at, Unset):
            force_published_at = self.force_published_at.isoformat()

        request_id: str | Unset = UNSET
        if not isinstance(self.request_id, Unset):
            request_id = str(self.request_id)

        platform_message_id = self.platform_message_id

        platform_channel_id = self.platform_channel_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "author_id": author_id,
                "summary": summary,
                "classification": classification,
                "kind": kind,
                "status": status,
                "helpfulness_score": helpfulness_score,
                "ratings_count": ratings_count,
                "ai_generated": ai_generated,
                "force_published": force_published,
                "community_server_id": community_server_id,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )
        if channel_id is not UNSET:
            field_dict["channel_id"] = channel_id
        if ai_provider is not UNSET:
            field_dict["ai_provider"] = ai_provider
        if ai_model is not UNSET:
            field_dict["ai_model"] = ai_model
        if force_published_at is not UNSET:
            field_dict["force_published_at"] = force_published_at
        if request_id is not UNSET:
            field_dict["request_id"] = request_id
        if platform_message_id is not UNSET:
            field_dict["platform_message_id"] = platform_message_id
        if platform_channel_id is not UNSET:
            field_dict["platform_channel_id"] = platform_channel_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        author_id = d.pop("author_id")

        summary = d.pop("summary")

        classification = Classification(d.pop("classification"))

        kind = NoteKind(d.pop("kind"))

        status = NoteStatus(d.pop("status"))

        helpfulness_score = d.pop("helpfulness_score")

        ratings_count = d.pop("ratings_count")

        ai_generated = d.pop("ai_generated")

        force_published = d.pop("force_published")

        community_server_id = UUID(d.pop("community_server_id"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        channel_id = d.pop("channel_id", UNSET)

        ai_provider = d.pop("ai_provider", UNSET)

        ai_model = d.pop("ai_model", UNSET)

        _force_published_at = d.pop("force_published_at", UNSET)
        force_published_at: datetime.datetime | Unset
        if isinstance(_force_published_at, Unset):
            force_published_at = UNSET
        else:
            force_published_at = datetime.datetime.fromisoformat(_force_published_at)

        _request_id = d.pop("request_id", UNSET)
        request_id: UUID | Unset
        if isinstance(_request_id, Unset):
            request_id = UNSET
        else:
            request_id = UUID(_request_id)

        platform_message_id = d.pop("platform_message_id", UNSET)

        platform_channel_id = d.pop("platform_channel_id", UNSET)

        note_attributes = cls(
            author_id=author_id,
            summary=summary,
            classification=classification,
            kind=kind,
            status=status,
            helpfulness_score=helpfulness_score,
            ratings_count=ratings_count,
            ai_generated=ai_generated,
            force_published=force_published,
            community_server_id=community_server_id,
            created_at=created_at,
            updated_at=updated_at,
            channel_id=channel_id,
            ai_provider=ai_provider,
            ai_model=ai_model,
            force_published_at=force_published_at,
            request_id=request_id,
            platform_message_id=platform_message_id,
            platform_channel_id=platform_channel_id,
        )

        return note_attributes
