"""The bodies of events: every member with its JSON schema and its meaning, declared once.

The event catalogue of the dashboard and the OpenAPI document read them. ``payloads`` builds the bodies.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.core.vocabulary import (
    ActionState,
    ActionTier,
    ActionType,
    AttentionReason,
    NoteKind,
    NoteStatus,
    ReportOutcome,
    ReviewGroup,
    Undo,
    UndoState,
    Verb,
)
from app.core.webhooks import payloads


@dataclass(frozen=True)
class Field:
    """A member of a payload: its JSON schema, or the enum of its words, and what it means; ``fields`` of an object.

    ``null``: it may be null; ``always``: no body leaves it out.
    """

    name: str
    schema: Mapping[str, Any] | type[StrEnum]
    meaning: str
    null: bool = False
    always: bool = True
    fields: tuple["Field", ...] = ()


@dataclass(frozen=True)
class Shape:
    """A form of body. ``name``: of its schema in the OpenAPI document. The first of ``fields`` is the event's name.

    ``flat``: members that only communities on Discourse get, for the plugin there.
    """

    name: str
    description: str
    fields: tuple[Field, ...]
    flat: tuple[Field, ...] = ()


_ID = {"type": "string", "format": "uuid"}
_TEXT = {"type": "string"}
_TIME = {"type": "string", "format": "date-time"}
_COUNT = {"type": "integer", "minimum": 0}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_OBJECT = {"type": "object"}


def _one_of(*words: str) -> dict[str, Any]:
    return {"type": "string", "enum": [str(word) for word in words]}


EVENT_ID = Field("event_id", _ID, "The same for every attempt, webhook and replay: deduplicate on it.")
"""In every body, after the event's name."""
_COMMUNITY = Field("community_server_id", _ID, "The community, by our UUID.")
_POST = Field("request_id", _ID, "The post, by our UUID.")
_EVIDENCE = Field(
    "classifier_evidence",
    _OBJECT,
    "The highest score that a classifier gave the post.",
    null=True,
    fields=(
        Field(
            "score", _SHARE, "The highest score, from 0 to 1. `classifier_evidence` is null if there is none."
        ),
        Field("category", _TEXT, "The category that this score is for, such as `spam`."),
    ),
)


def _shape_a(
    name: str,
    description: str,
    *data: Field,
    meaning: str = "What the event is about.",
    flat: tuple[Field, ...] = (),
) -> Shape:
    """Shape A: the event's name, the community, and ``data`` about the object."""
    subject = Field("data", _OBJECT, meaning, fields=data)
    return Shape(
        name,
        description,
        (Field("event", _TEXT, "What happened, by the event's name."), _COMMUNITY, subject),
        flat,
    )


def _flat(*own: Field) -> tuple[Field, ...]:
    """The members that the Discourse plugin reads; an event's ``own`` ones replace those of the same name."""
    common = (
        Field("event_type", _TEXT, "The same as `event`."),
        Field("request_id", _TEXT, "The post, by our UUID.", null=True),
        Field("action_id", _TEXT, "The action, by our UUID.", null=True),
        Field("action_type", _TEXT, "Its operation on the platform, such as `hide_post`.", null=True),
        Field(
            "recommended_action",
            _TEXT,
            "As `action_type`; null once the action ended without being carried out.",
            null=True,
        ),
        Field("review_group", _TEXT, "Who reviews the action.", null=True),
        Field("status", _TEXT, "The state of the action."),
        _EVIDENCE,
    )
    return tuple({field.name: field for field in (*common, *own)}.values())


DECISION = Shape(
    "DecisionEvent",
    "Shape B: the one decision on a request. `request_id` is the integration's own string. A `request_id` that was "
    "withdrawn and submitted again is a new request, whose decision has an `event_id` of its own: deduplicate on "
    "`event_id`, never on `request_id`.",
    (
        Field("event_type", _TEXT, "What happened, by the event's name."),
        Field("request_id", _TEXT, "The post, by your own id."),
        _COMMUNITY,
        Field(
            "decision",
            _one_of(*Verb, ActionType.SILENCE, "none"),
            "The verb that was decided, such as `hide`; `none` if the review ended without action.",
        ),
        Field("confidence", _SHARE, "How sure, from 0 to 1."),
        Field("tier", {"type": "integer", "enum": [1, 2]}, "1: acted by itself. 2: asked people."),
    ),
)
ACTION = _shape_a(
    "ActionEvent",
    "Shape A: a moderation action. `data.request_id` is our UUID. On Discourse `moderation_action.created` is sent "
    f"as `{payloads.PROPOSED}`, unless a webhook subscribes to the former name and not to the latter.",
    Field("id", _ID, "The action, by our UUID."),
    _POST,
    Field("community_server_id", _ID, "The same community again, by our UUID."),
    Field("action_type", ActionType, "What is done: `hide`, `unhide`, `delete`, `warn` or `silence`."),
    Field(
        "action_tier",
        ActionTier,
        "`tier_1_immediate` acted by itself, `tier_2_consensus` asked people; null if neither did.",
        null=True,
    ),
    Field("action_state", ActionState, "The action's state when the event was written."),
    Field("review_group", ReviewGroup, "Who reviews it; null if nobody does.", null=True),
    _EVIDENCE,
    Field("note_id", _ID, "The note that raters rate about it; null if there is none.", null=True),
    Field("category", _TEXT, "The category that it is filed under; null if it has none.", null=True),
    Field(
        "author_text",
        _TEXT,
        "What to tell the author of the post, with a `warn` or a `silence`; null with others, and before the decision.",
        null=True,
    ),
    Field(
        "until",
        _TIME,
        "When a `silence` ends; null if it has no end, and with others.",
        null=True,
        always=False,
    ),
    Field(
        "ended_at",
        _TIME,
        "Only in `moderation_action.ended`: when the service ended it, or staff lifted it.",
        always=False,
    ),
    Field(
        "undo",
        Undo,
        "Only in `moderation_action.overturned`: what to undo on the platform. Null for a `hide`, which an `unhide` "
        "undoes.",
        null=True,
        always=False,
    ),
    Field(
        "undo_state",
        UndoState,
        "Only in `moderation_action.overturned`: `proposed` until you answer `done` or `impossible`; null if there is "
        "nothing to undo.",
        null=True,
        always=False,
    ),
    flat=_flat(),
)
NOTE = _shape_a(
    "NoteEvent",
    "A note's status changed. `data.request_id` is our UUID.",
    Field("id", _ID, "The note, by our UUID."),
    Field("request_id", _ID, "The post, by our UUID; null if the note is about none.", null=True),
    Field("community_server_id", _ID, "The same community again, by our UUID."),
    Field(
        "kind",
        NoteKind,
        "`note`, or `rationale`: the service wrote it to carry the question of a review; never show it to members.",
        always=False,
    ),
    Field("status", NoteStatus, "What the ratings of the note came to, or what a moderator decided."),
    Field("helpfulness_score", {"type": "integer", "minimum": 0, "maximum": 100}, "From 0 to 100."),
    Field("force_published", {"type": "boolean"}, "Whether a moderator published it.", always=False),
    Field("ratings_count", _COUNT, "How many people rated it.", always=False),
    flat=_flat(
        Field("note_id", _TEXT, "The note, by our UUID.", null=True),
        Field("action_id", _TEXT, "The action whose rationale the note is; null for other notes.", null=True),
        Field("status", _TEXT, "What the ratings of the note came to, or what a moderator decided."),
    ),
)
COMPLETED = _shape_a(
    "CompletedEvent",
    "A request ended without action. `data.request_id` is our UUID. Only for webhooks that name this event.",
    _POST,
    Field("community_server_id", _ID, "The same community again, by our UUID."),
    Field(
        "decision",
        {"type": "string", "enum": ["none", None]},
        "`none` if a review ended without action, which `moderation.decision` says too; null if there was nothing to "
        "review.",
        null=True,
    ),
    Field("completed_at", _TIME, "When it ended."),
)
REVIEW = _shape_a(
    "ReviewEvent",
    "A review opened: people are asked about a post. `data.request_id` is our UUID. Only for webhooks that name this "
    "event.",
    _POST,
    Field("action_id", _ID, "The action that is under review."),
    Field(
        "note_id",
        _ID,
        "The rationale to rate. HELPFUL means yes, act; NOT_HELPFUL means no, keep. Never show its text to members.",
        null=True,
    ),
    Field("community_server_id", _ID, "The same community again, by our UUID."),
    Field("review_group", ReviewGroup, "Who reviews it. Where it is `staff`, ask no members.", null=True),
    Field("question", _TEXT, "What to ask, such as `Should this post be hidden?`."),
    Field("closes_at", _TIME, "When the review ends without action unless it is decided before."),
)
REPORT = _shape_a(
    "ReportEvent",
    "A report was resolved: say so to its reporter, once. It says neither the penalty nor who decided. "
    "`data.request_id` is our UUID. Only for webhooks that name this event.",
    Field("id", _ID, "The report, by our UUID."),
    Field("report_id", _TEXT, "The report, by your own id."),
    Field("reporter_id", _TEXT, "The reporter, as it was sent."),
    _POST,
    Field("community_server_id", _ID, "The same community again, by our UUID."),
    Field(
        "outcome",
        _one_of(*ReportOutcome),
        "`acted`: something was done about the post. `kept`: it stays as it is. `none`: there was no decision.",
    ),
    Field("outcome_text", _TEXT, "What to tell the reporter, in the community's words.", null=True),
)
PANEL = _shape_a(
    "PanelEvent",
    "Users of this platform were drawn to rate a note; ask them. Only for webhooks that name this event. "
    "`data.request_id` is our UUID, `data.rater_ids` are the platform's user ids.",
    _POST,
    Field("note_id", _ID, "The note to rate, by our UUID."),
    Field("community_server_id", _ID, "The same community again, by our UUID."),
    Field(
        "rater_ids",
        {"type": "array", "items": _TEXT, "minItems": 1},
        "Who was drawn, by the platform's user ids: ask them.",
    ),
    Field("expires_at", _TIME, "Until when they can answer."),
)
ATTENTION = _shape_a(
    "AttentionEvent",
    "The community wants an operator. Sent once for each reason when it begins, and again only after it has ended. "
    "Only for webhooks that name this event.",
    Field(
        "reason",
        _one_of(*AttentionReason),
        "`backlog`: many reviews wait. `overdue`: reviews wait far beyond their target time. "
        "`webhook_failing`: nothing arrives at a webhook. `paused`: automatic actions have been paused for long.",
    ),
    Field("since", _TIME, "When the reason for it began."),
    Field(
        "count",
        _COUNT,
        "How many reviews wait or are that late, or how many attempts failed; null for `paused`.",
        null=True,
    ),
)
TEST = _shape_a(
    "TestEvent", "Sent on request only, to one webhook.", meaning="Empty: there is nothing to tell."
)
