"""Input and output models of scores (docs/integrate/api.md)."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from app.api.schemas.documents import CommunityRef, Time, document_of, resource_of
from app.api.shapes import NOT_BLANK, STORABLE, Body, Shown
from app.core import limits

ScoredText = Annotated[
    str, Field(min_length=1, max_length=limits.CONTENT_MAX, json_schema_extra=NOT_BLANK), STORABLE
]
CategoryName = Annotated[str, Field(pattern=limits.CATEGORY_PATTERN)]
Language = Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}([_-][A-Za-z0-9]{1,8}){0,4}$")]


class ScoresCreate(Body):
    """Texts to score at once. Nothing of them is stored."""

    resource = "scores"
    creates = True
    bytes_max = limits.SCORES_BODY_MAX_BYTES

    texts: Annotated[list[ScoredText], Field(min_length=1, max_length=limits.SCORED_TEXTS.number)] = Field(
        description=f"The texts, at most {limits.SCORED_TEXTS.number}, each at most {limits.CONTENT_MAX:,} characters "
        "and not blank."
    )
    community_server_id: CommunityRef | None = Field(
        None,
        description="Score with the rules, the model and the connected services of this community too, by our UUID or "
        "by the platform's id of it. Without it, only what the service ships scores.",
    )
    categories: Annotated[list[CategoryName], Field(max_length=limits.CATEGORIES.number)] | None = Field(
        None, description="Only these categories. Without it, all."
    )
    language: Language | None = Field(
        None, description="The language of all texts (BCP 47), such as `en`. Without it, each is looked at."
    )


class ScoredPassage(BaseModel):
    """A passage of a text, in code points."""

    model_config = ConfigDict(extra="forbid")

    start: int = Field(ge=0, description="Where it begins, in code points of the text.")
    end: int = Field(ge=1, description="Where it ends, in code points; this one is no longer part of it.")


class TextCategoryScore(BaseModel):
    """The score of a text in one category."""

    model_config = ConfigDict(extra="forbid")

    category: str = Field(description="What the text was scored for, such as `spam`.")
    score: float = Field(ge=0, le=1, description="The score, from 0 to 1: the highest of all scorers.")
    scorer: str = Field(
        description="Who gave it, such as `builtin.rules`, `builtin.seed` or a connected service."
    )
    version: str = Field(description="Its version, which changes whenever its scores could.")
    passages: list[ScoredPassage] = Field(description="The passages that rules matched, in order.")


class TextResult(BaseModel):
    """What one text came to."""

    model_config = ConfigDict(extra="forbid")

    scores: list[TextCategoryScore] = Field(
        description="What the text was scored, a category each, the highest first."
    )
    not_scored: list[str] = Field(
        description="The categories without a score, and those in which a scorer that must be heard did not answer. "
        "That is not 0."
    )


class ScoresAttributes(Shown):
    """The results of a call for scores."""

    results: list[TextResult] = Field(description="One for each text, in the order of the texts.")
    created_at: Time = Field(description="When the texts were scored; nothing of them is stored.")
    updated_at: Time = Field(description="The same time, because scores are not changed later.")


ScoresDocument = document_of("Scores", resource_of("Scores", "scores", ScoresAttributes))
