"""Input and output models of reports (docs/integrate/reports.md)."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.schemas.documents import (
    IN_COMMUNITY,
    CommunityId,
    Created,
    Time,
    Updated,
    Uuid,
    document_of,
    list_of,
    resource_of,
)
from app.api.schemas.notes import FILTERED, PERSON
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
    like,
    one_of,
)
from app.core import limits
from app.core.vocabulary import ReportOrigin, ReportOutcome, ReportState

State = Annotated[ReportState, one_of(ReportState)]
_PostText = Annotated[
    str, Field(min_length=1, max_length=limits.CONTENT_MAX, json_schema_extra=NOT_BLANK), STORABLE
]
CategoryName = Annotated[str, Field(min_length=1, max_length=40), STORABLE]


class ReportCreate(RequestCreate):
    """A report of a post. With a text and the other attributes of a submission, an unknown post is submitted too."""

    resource = "reports"

    report_id: ForeignId = Field(
        description="The integration's own id of the report; the key of idempotency within the community."
    )
    reporter_id: ForeignId | None = Field(None, description=f"Who reports the post. {PERSON}")
    request_id: ForeignId | None = Field(  # type: ignore[assignment]  # wider than a submission's
        None,
        description="The post, by our UUID or by the integration's own id. Of an unknown post that is submitted: its "
        "id, by default `report:` and the `report_id`.",
    )
    platform_message_id: ForeignId | None = Field(
        None,
        description="The post's id on its platform, exactly as sent. It finds the post if `request_id` does not, which "
        "can then be left out.",
    )
    category: CategoryName | None = Field(
        None, description="What is wrong with the post: a category of the community, or `other`, the default."
    )
    text: Annotated[str, Field(max_length=limits.REPORT_MAX), STORABLE] | None = Field(
        None,
        description=f"The reporter's words, at most {limits.REPORT_MAX:,} characters; for moderators alone.",
    )
    reported_at: Instant | None = Field(None, description="When the post was reported; default: now.")
    requested_by: ForeignId | None = Field(  # type: ignore[assignment]  # wider than a submission's
        None, description="Of an unknown post: who asks for moderation, by default the reporter."
    )
    original_message_content: _PostText | None = Field(  # type: ignore[assignment]  # wider than a submission's
        None,
        description=f"The post's text, at most {limits.CONTENT_MAX:,} characters, so that an unknown one is submitted.",
    )


class ReportPatch(Body):
    """Takes a report back. Only its reporter may, and the integration where no user acts."""

    resource = "reports"
    plain = True
    loose = True

    state: Literal["withdrawn"] = Field(description="Only `withdrawn`, while the report is `open`.")


class ReportQuery(Paged):
    """Filters of the list; they combine with AND."""

    state: State | None = Field(None, alias="filter[state]", description="Only reports in this state.")
    category: CategoryName | None = Field(
        None, alias="filter[category]", description="Only reports that name this category."
    )
    reporter: ForeignId | None = Field(
        None, alias="filter[reporter_id]", description=f"Only reports by this person. {FILTERED}"
    )
    request: ForeignId | None = Field(
        None,
        alias="filter[request_id]",
        description="Only reports of this post, by our UUID or by the integration's own id.",
    )
    community: Id | None = Field(None, alias="filter[community_server_id]", description=IN_COMMUNITY)
    reported_from: Instant | None = Field(
        None, alias="filter[reported_at__gte]", description="Only reports made then or later."
    )
    reported_to: Instant | None = Field(
        None, alias="filter[reported_at__lte]", description="Only reports made then or earlier."
    )
    updated_from: Instant | None = Field(None, alias="filter[updated_at__gte]", description=CHANGES)


class ReportAttributes(Shown):
    """Attributes without a value, or without one yet, are left out."""

    report_id: str = like(ReportCreate, "report_id")
    reporter_id: str = Field(description="Who reported the post, as it was sent.")
    community_server_id: CommunityId
    request_id: str = Field(description="The post, by the integration's own id: its first request.")
    post_id: Uuid = Field(description="The post's first request, by our UUID.")
    category: str = Field(description="What is wrong with the post: a category of the community, or `other`.")
    origin: ReportOrigin = Field(
        description="`platform`: by a user of the post's platform. `dashboard`: by a member here. `elsewhere`: an "
        "integration reported it for a user of another platform. `author`: by the post's author, which counts nothing."
    )
    state: ReportState = Field(
        description="`open` until the post is decided: then `upheld` if something was done, `rejected` if it stays, or "
        "`undecided`. `withdrawn`: taken back."
    )
    reported_at: Time = Field(description="When the post was reported.")
    created_at: Created
    updated_at: Updated
    platform_message_id: str | None = Field(None, description="The post's id on its platform.")
    text: str | None = Field(
        None, description="The reporter's words; left out once the community's retention has removed them."
    )
    resolved_at: Time | None = Field(None, description="When the reporter got an outcome.")
    outcome: ReportOutcome | None = Field(
        None,
        description="What the reporter may hear. `acted`: something was done about the post. `kept`: it stays. "
        "`none`: there was no decision. Never what was done, nor who decided.",
    )
    outcome_text: str | None = Field(None, description="The same in the community's words.")


_report = resource_of("Report", "reports", ReportAttributes)
ReportDocument = document_of("Report", _report)
ReportList = list_of("Report", _report)
