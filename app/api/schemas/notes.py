"""Input and output models of notes, ratings and their counts (docs/integrate/api.md)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from app.api.schemas.documents import (
    IN_COMMUNITY,
    CommunityId,
    CommunityRef,
    Created,
    Time,
    Updated,
    Uuid,
    document_of,
    list_of,
    resource_of,
)
from app.api.schemas.requests import RequestCreate
from app.api.shapes import (
    CHANGES,
    NOT_BLANK,
    STORABLE,
    Body,
    ForeignId,
    Id,
    Instant,
    Paged,
    Shown,
    Text,
    like,
    one_of,
)
from app.core import limits
from app.core.vocabulary import Classification, HelpfulnessLevel, NoteKind, NoteStatus

Class = Annotated[Classification, one_of(Classification)]
Level = Annotated[HelpfulnessLevel, one_of(HelpfulnessLevel)]
State = Annotated[NoteStatus, one_of(NoteStatus)]
Kind = Annotated[NoteKind, one_of(NoteKind)]
Summary = Annotated[
    str, Field(min_length=1, max_length=limits.SUMMARY_MAX, json_schema_extra=NOT_BLANK), STORABLE
]
WHOSE = "A user id is one of the platform in X-Adapter-Platform, else of the community's own platform."
PERSON = f"Profile UUID, or the platform's user id; default: the acting user. {WHOSE}"
FILTERED = f"Profile UUID, or the platform's user id. {WHOSE}"
PEOPLE_MAX = 100


def _is_list_of_ids(value: str) -> str:
    people = value.split(",")
    if not all(0 < len(person) <= limits.ID_MAX for person in people) or len(people) > PEOPLE_MAX:
        why = f"Input should be 1 to {PEOPLE_MAX} ids with commas between them"
        raise PydanticCustomError("value_error", "{why}", {"why": why})
    return value


People = Annotated[
    Text,
    AfterValidator(_is_list_of_ids),
    Field(
        json_schema_extra={
            "pattern": f"^[^,]{{1,{limits.ID_MAX}}}(,[^,]{{1,{limits.ID_MAX}}}){{0,{PEOPLE_MAX - 1}}}$"
        }
    ),
]
"""Ids separated by commas."""

# Notes


class NoteCreate(Body):
    """A note. ``community_server_id`` and ``request_id`` can each be our UUID or the integration's own id."""

    resource = "notes"
    creates = True

    summary: Summary = Field(
        description=f"The text of the note, at most {limits.SUMMARY_MAX:,} characters; not blank."
    )
    classification: Class = Field(description="What the note says of the post.")
    community_server_id: CommunityRef
    author_id: ForeignId | None = Field(None, description=f"Who writes the note. {PERSON}")
    request_id: ForeignId | None = Field(
        None, description="The request that the note is about, by our UUID or by the integration's own id."
    )
    channel_id: ForeignId | None = Field(
        None, description="The platform's id of the channel that the note belongs to."
    )


class NoteEdit(Body):
    """New text of a rated note starts a new version: earlier ratings no longer count. Null keeps the classification."""

    resource = "notes"
    needs_id = True

    summary: Summary = like(NoteCreate, "summary")
    classification: Class | None = like(NoteCreate, "classification", None)


class NoteVerdict(Body):
    """Why staff publishes or dismisses a note. The body is optional."""

    resource = "notes"
    plain = True
    loose = True
    optional = True

    reason: Annotated[str, Field(max_length=limits.REASON_MAX), STORABLE] | None = Field(
        None, description=f"Why, in words for the history; at most {limits.REASON_MAX:,} characters."
    )


class NoteQuery(Paged):
    """Filters of the list; they combine with AND."""

    status: State | None = Field(None, alias="filter[status]", description="Only notes with this status.")
    status_not: State | None = Field(
        None, alias="filter[status__neq]", description="Only notes with another status than this."
    )
    classification: Class | None = Field(
        None, alias="filter[classification]", description="Only notes that say this of the post."
    )
    kind: Kind | None = Field(
        None, alias="filter[kind]", description="Only notes that people or models wrote, or only rationales."
    )
    community: Id | None = Field(None, alias="filter[community_server_id]", description=IN_COMMUNITY)
    author: ForeignId | None = Field(
        None, alias="filter[author_id]", description=f"Only notes of this author. {FILTERED}"
    )
    request: ForeignId | None = Field(
        None,
        alias="filter[request_id]",
        description="Only notes about this request, by our UUID or by the integration's own id.",
    )
    platform_message_id: ForeignId | None = Field(
        None,
        alias="filter[platform_message_id]",
        description="Only notes about the post with this id of the platform.",
    )
    created_from: Instant | None = Field(
        None, alias="filter[created_at__gte]", description="Only notes written then or later."
    )
    created_to: Instant | None = Field(
        None, alias="filter[created_at__lte]", description="Only notes written then or earlier."
    )
    updated_from: Instant | None = Field(None, alias="filter[updated_at__gte]", description=CHANGES)
    rater: ForeignId | None = Field(
        None, alias="filter[rater_id]", description=f"Only notes that this person rated. {FILTERED}"
    )
    drawn: ForeignId | None = Field(
        None,
        alias="filter[drawn_rater_id]",
        description="Notes that this platform user was drawn to rate, until their seat ends. Read-only keys get none. "
        + WHOSE,
    )
    raters_not_in: People | None = Field(
        None,
        alias="filter[rater_id__not_in]",
        description=f"Notes that none of these people rated: 1 to {PEOPLE_MAX} ids with commas between them. {WHOSE}",
    )


class NoteAttributes(Shown):
    """Attributes without a value, or without one yet, are left out."""

    author_id: str = Field(
        description="Who wrote the note, as it was sent: our UUID, or the platform's user id."
    )
    summary: str = like(NoteCreate, "summary")
    classification: Classification = like(NoteCreate, "classification")
    kind: NoteKind = Field(
        description=(
            "`note`: a person or a model wrote it. `rationale`: the service wrote it to carry the question of a "
            "review; never show it to members."
        )
    )
    status: NoteStatus = Field(description="Whether the note is published, and if not, why.")
    helpfulness_score: Annotated[int, Field(ge=0, le=100)] = Field(
        description="How helpful people across viewpoints find the note, from 0 to 100."
    )
    ratings_count: Annotated[int, Field(ge=0)] = Field(description="How many ratings the current text has.")
    ai_generated: bool = Field(description="Whether a model or the service wrote the note.")
    force_published: bool = Field(description="Whether a moderator published the note.")
    community_server_id: CommunityId
    created_at: Created
    updated_at: Updated
    channel_id: str | None = like(NoteCreate, "channel_id", None)
    ai_provider: str | None = Field(
        None, description="Who provides the model that wrote the note; `builtin` is the service itself."
    )
    ai_model: str | None = Field(None, description="The model that wrote the note, by its provider's name.")
    force_published_at: Time | None = Field(None, description="When a moderator published the note.")
    request_id: Uuid | None = Field(None, description="The request that the note is about, by our UUID.")
    platform_message_id: str | None = like(RequestCreate, "platform_message_id", None)
    platform_channel_id: str | None = like(RequestCreate, "platform_channel_id", None)


_note = resource_of("Note", "notes", NoteAttributes)
NoteDocument = document_of("Note", _note)
NoteList = list_of("Note", _note)


# Ratings


class RatingCreate(Body):
    """One rating per note and rater; rating again changes it."""

    resource = "ratings"
    creates = True

    note_id: Id = Field(description="The note that is rated, by our UUID.")
    helpfulness_level: Level = Field(description="How helpful the person finds the note.")
    rater_id: ForeignId | None = Field(None, description=f"Who rates the note. {PERSON}")


class RatingEdit(Body):
    """A new level for a rating; only its rater may change it."""

    resource = "ratings"
    needs_id = True

    helpfulness_level: Level = like(RatingCreate, "helpfulness_level")


class RatingAttributes(Shown):
    """What one person answered about one note."""

    note_id: Uuid = like(RatingCreate, "note_id")
    rater_id: str = Field(description="Who rated, as it was sent: our UUID, or the platform's user id.")
    helpfulness_level: HelpfulnessLevel = like(RatingCreate, "helpfulness_level")
    created_at: Created
    updated_at: Updated
    counts: Literal[False] | None = Field(
        None,
        description=(
            "False if the rating does not count; absent if it does. Only in the answer to the call that gives or "
            "changes it."
        ),
    )
    why: str | None = Field(None, description="Beside `counts`: why it does not count, as a sentence.")


class PanelCounts(Shown):
    """The drawn panel that decided (docs/moderate/panels.md)."""

    seats: Annotated[int, Field(ge=1)] = Field(description="How many people were drawn.")
    answered: Annotated[int, Field(ge=0)] = Field(description="How many of them answered in time.")


class StatsAttributes(Shown):
    """Counts for the note's current text."""

    total: Annotated[int, Field(ge=0)] = Field(description="How many ratings there are.")
    helpful: Annotated[int, Field(ge=0)] = Field(description="How many of them are `HELPFUL`.")
    somewhat_helpful: Annotated[int, Field(ge=0)] = Field(
        description="How many of them are `SOMEWHAT_HELPFUL`."
    )
    not_helpful: Annotated[int, Field(ge=0)] = Field(description="How many of them are `NOT_HELPFUL`.")
    average_score: Annotated[float, Field(ge=0, le=3)] = Field(
        description="Average level, from 1 (not helpful) to 3 (helpful); 0 without ratings."
    )
    created_at: Time = Field(
        description="When the first rating was given; without ratings when the note was written."
    )
    updated_at: Time = Field(description="When a rating last changed; without ratings when the note did.")
    panel: PanelCounts | None = Field(
        None, description="The panel that decided; left out until one has decided."
    )


_rating = resource_of("Rating", "ratings", RatingAttributes)
RatingDocument = document_of("Rating", _rating)
RatingList = list_of("Rating", _rating)
StatsDocument = document_of("RatingStats", resource_of("RatingStats", "rating-stats", StatsAttributes))
