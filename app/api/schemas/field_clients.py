"""Flat JSON bodies of the paths for existing clients (docs/integrate/api.md). They are not JSON:API documents."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from app.api.schemas.requests import Time, Uuid
from app.api.shapes import NOT_BLANK, STORABLE, Body, ForeignId, Platform, Query
from app.core import limits

Name = Annotated[str, Field(min_length=1, max_length=limits.NAME_MAX, json_schema_extra=NOT_BLANK), STORABLE]
Description = Annotated[str, Field(max_length=limits.SUMMARY_MAX), STORABLE]


class CommunityCreate(Body):
    """A community to open, as a plain object."""

    creates = True

    platform: Platform
    platform_community_server_id: ForeignId
    name: Name
    description: Description | None = None
    settings: dict[str, Any] | None = Field(None, description="At most 64 KB of JSON.")
    is_active: bool = True
    is_public: bool = Field(
        False,
        description="Whether anybody with an account may join as a rater and read what is under review.",
    )


class CommunityName(Body):
    """A community's current name on its platform. With ``server_stats`` null the last figures stay."""

    name: Name
    server_stats: dict[str, Any] | None = Field(None, description="At most 64 KB of JSON.")


class CommunityNameQuery(Query):
    """``platform`` is needed only if two platforms of the key use the same id."""

    platform: Platform | None = None


class Flat(BaseModel):
    """A flat body in a response. The tests check every response against its model."""

    model_config = ConfigDict(extra="forbid")


class FlatCommunity(Flat):
    """A community with its ``id`` beside its other members."""

    id: Uuid
    platform: str
    platform_community_server_id: str
    slug: str
    name: str
    description: str | None
    settings: dict[str, Any]
    server_stats: dict[str, Any] | None
    is_active: bool
    is_public: bool
    created_at: Time
    updated_at: Time


class RatingThresholds(Flat):
    """A note needs ``min_ratings_needed`` ratings before it gets a status. A rater has one rating per note."""

    min_ratings_needed: int
    min_raters_per_note: int


class Activity(Flat):
    """Activity totals. Each ``…_last_7_days`` is part of the total of the same name."""

    requests: int
    requests_last_7_days: int
    actions: int
    notes: int
    ratings: int
    ratings_last_7_days: int
    raters: int


class Consensus(Flat):
    """How reviews end. ``agreement``: share of ratings that match the note's status, 0.0–1.0; null while unknown."""

    in_review: int
    second_look: int
    decided_in_review: int
    decided_to_act: int
    decided_not_to_act: int
    notes_needing_ratings: int
    notes_helpful: int
    notes_not_helpful: int
    agreement: float | None


class Reviewer(Flat):
    """``accuracy``: share of this rater's ratings that match the note's status, 0.0–1.0; null while unknown."""

    username: str
    review_count: int
    accuracy: float | None


class ScoringAnalysis(Flat):
    """``classification``: number of actions by category, the most frequent first."""

    activity: Activity
    classification: dict[str, int]
    consensus: Consensus
    top_reviewers: list[Reviewer]
