"""Input and output models of notes, ratings and their counts (docs/integrate/api.md)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from app.api.schemas.requests import Time, Uuid, document_of, list_of, resource_of
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

    summary: Summary
    classification: Class
    community_server_id: ForeignId
    author_id: ForeignId | None = Field(None, description=PERSON)
    request_id: ForeignId | None = Field(None, description="Our UUID, or the integration's request_id.")
    channel_id: ForeignId | None = None


class NoteEdit(Body):
    """New text of a rated note starts a new version: earlier ratings no longer count. Null keeps the classification."""

    resource = "notes"
    needs_id = True

    summary: Summary
    classification: Class | None = None


class NoteVerdict(Body):
    """Why staff publishes or dismisses a note. The body is optional."""

    resource = "notes"
    plain = True
    loose = True
    optional = True

    reason: Annotated[str, Field(max_length=limits.REASON_MAX), STORABLE] | None = None


class NoteQuery(Paged):
    """Filters of the list; they combine with AND."""

    status: State | None = Field(None, alias="filter[status]")
    status_not: State | None = Field(None, alias="filter[status__neq]")
    classification: Class | None = Field(None, alias="filter[classification]")
    kind: Kind | None = Field(
        None, alias="filter[kind]", description="Only notes that people or models wrote, or only rationales."
    )
    community: Id | None = Field(None, alias="filter[community_server_id]")
    author: ForeignId | None = Field(None, alias="filter[author_id]", description=FILTERED)
    request: ForeignId | None = Field(None, alias="filter[request_id]")
    platform_message_id: ForeignId | None = Field(None, alias="filter[platform_message_id]")
    created_from: Instant | None = Field(None, alias="filter[created_at__gte]")
    created_to: Instant | None = Field(None, alias="filter[created_at__lte]")
    updated_from: Instant | None = Field(None, alias="filter[updated_at__gte]", description=CHANGES)
    rater: ForeignId | None = Field(None, alias="filter[rater_id]", description=FILTERED)
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

    author_id: str
    summary: str
    classification: Classification
    kind: NoteKind = Field(
        description=(
            "`note`: a person or a model wrote it. `rationale`: the service wrote it to carry the question of a "
            "review; never show it to members."
        )
    )
    status: NoteStatus
    helpfulness_score: Annotated[int, Field(ge=0, le=100)]
    ratings_count: Annotated[int, Field(ge=0)]
    ai_generated: bool
    force_published: bool
    community_server_id: Uuid
    created_at: Time
    updated_at: Time
    channel_id: str | None = None
    ai_provider: str | None = None
    ai_model: str | None = None
    force_published_at: Time | None = None
    request_id: Uuid | None = None
    platform_message_id: str | None = None
    platform_channel_id: str | None = None


_note = resource_of("Note", "notes", NoteAttributes)
NoteDocument = document_of("Note", _note)
NoteList = list_of("Note", _note)


# Ratings


class RatingCreate(Body):
    """One rating per note and rater; rating again changes it."""

    resource = "ratings"
    creates = True

    note_id: Id
    helpfulness_level: Level
    rater_id: ForeignId | None = Field(None, description=PERSON)


class RatingEdit(Body):
    """A new level for a rating; only its rater may change it."""

    resource = "ratings"
    needs_id = True

    helpfulness_level: Level


class RatingAttributes(Shown):
    """``rater_id`` is as it was sent."""

    note_id: Uuid
    rater_id: str
    helpfulness_level: HelpfulnessLevel
    created_at: Time
    updated_at: Time
    counts: Literal[False] | None = Field(
        None,
        description=(
            "False if the rating does not count; absent if it does. Only in the answer to the call that gives or "
            "changes it."
        ),
    )
    why: str | None = Field(None, description="Beside `counts`: why it does not count, as a sentence.")


class PanelCounts(Shown):
    """How many seats the drawn panel had that decided, and how many of them answered (docs/moderate/panels.md)."""

    seats: Annotated[int, Field(ge=1)]
    answered: Annotated[int, Field(ge=0)]


class StatsAttributes(Shown):
    """Counts for the note's current text. ``average_score`` is from 1 to 3, or 0 without ratings.

    ``panel`` is there once a drawn panel has decided, and never before.
    """

    total: Annotated[int, Field(ge=0)]
    helpful: Annotated[int, Field(ge=0)]
    somewhat_helpful: Annotated[int, Field(ge=0)]
    not_helpful: Annotated[int, Field(ge=0)]
    average_score: Annotated[float, Field(ge=0, le=3)]
    created_at: Time
    updated_at: Time
    panel: PanelCounts | None = None


_rating = resource_of("Rating", "ratings", RatingAttributes)
RatingDocument = document_of("Rating", _rating)
RatingList = list_of("Rating", _rating)
StatsDocument = document_of("RatingStats", resource_of("RatingStats", "rating-stats", StatsAttributes))
