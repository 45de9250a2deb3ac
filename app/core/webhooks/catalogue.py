"""The events, each declared once: name, words, receivers, deadline, shape and sample.

The dispatcher, the forms and pages of webhooks, the API's schemas and the OpenAPI document read ``EVENTS``. A new
event needs a name in ``EventName``, an entry here, and a function in ``payloads`` that builds it. Samples are built by
``payloads`` from invented objects that are never stored, so they have the members that a real payload has; all of them
tell of the same post.
"""

import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from app.core.errors import Invalid, Problem
from app.core.models import Action, Community, Decision, Note, Report, Request
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import (
    ActionState,
    ActionTier,
    ActionType,
    AttentionReason,
    EventName,
    NoteStatus,
    ReportState,
    ReviewGroup,
    UndoState,
    Verb,
)
from app.core.webhooks import payloads, shapes, signing
from app.core.webhooks.shapes import EVENT_ID, Field, Shape

COMMUNITY = "019a8f00-0b6e-7c02-9a44-5d1f6e2b7a90"
REQUEST = "019a8f00-5e1c-7a31-8f5e-3c1f0a9b7d10"
ACTION = "019a8f00-5f0a-7d55-b0c2-8e7d6c5b4a39"
NOTE = "019a8f00-5f0b-7e66-a1d3-9f8e7d6c5b40"
REPORT = "019a8f00-5f0d-7a21-9c64-1e2d3c4b5a60"
EVENT = "019a8f00-5f0c-7f10-85b7-d3c2b1a09f84"
POST = "post-1"
"""The post by the id that its platform gave it."""
SECRET = "a sample secret, never for use"  # noqa: S105 - shown to everybody, to check a signature with
TIMESTAMP = 1_769_860_800
_SINCE = datetime(2026, 1, 31, 12, tzinfo=UTC)


class Receivers(StrEnum):
    """Which webhooks get an event: also those that want all of them, only those that name it, or one that asks."""

    SUBSCRIBED = "subscribed"
    NAMED = "named"
    ONE = "one"


@dataclass(frozen=True, kw_only=True)
class EventKind:
    """One event. ``label`` is its name for people; ``when`` says when it is sent; ``deadline``: seconds to answer.

    ``alias``: another name under which it may be subscribed to, and what that one is, in words.
    """

    name: str
    label: str
    when: str
    shape: Shape
    sample: Callable[[Community], dict[str, Any]]
    receivers: Receivers = Receivers.SUBSCRIBED
    deadline: float = 10.0
    alias: tuple[str, str] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which a webhook can subscribe to it."""
        return (self.name, self.alias[0]) if self.alias is not None else (self.name,)


@dataclass(frozen=True)
class Row:
    """A field of a payload by its path ("data.id"), the kind of value that the sample has, and what it means."""

    path: str
    kind: str
    meaning: str


def _community(platform: str) -> Community:
    return Community(id=uuid.UUID(COMMUNITY), platform=platform)


def _request() -> Request:
    return Request(id=uuid.UUID(REQUEST), request_id=POST, completed_at=_SINCE)


def _action(state: ActionState = ActionState.UNDER_REVIEW) -> Action:
    is_overturned = state is ActionState.OVERTURNED
    return Action(
        id=uuid.UUID(ACTION),
        request_id=uuid.UUID(REQUEST),
        action_type=ActionType.DELETE if is_overturned else ActionType.HIDE,
        action_tier=ActionTier.IMMEDIATE,
        action_state=state,
        review_group=ReviewGroup.COMMUNITY,
        evidence={"score": 0.9712, "category": "spam"},
        category="spam",
        decided_verb=Verb.HIDE,
        note_id=uuid.UUID(NOTE),
        undo_state=UndoState.PROPOSED if is_overturned else None,
        created_at=_SINCE,
    )


def _silence() -> Action:
    action = _action(ActionState.APPLIED)
    action.action_type, action.decided_verb = ActionType.SILENCE, ActionType.SILENCE.value
    action.until = action.ended_at = _SINCE + timedelta(days=7)
    return action


def _note() -> Note:
    return Note(
        id=uuid.UUID(NOTE),
        request_id=uuid.UUID(REQUEST),
        status=NoteStatus.CURRENTLY_RATED_HELPFUL,
        helpfulness_score=78,
        force_published=False,
        ratings_count=7,
        rationale=True,
    )


def _report() -> Report:
    return Report(
        id=uuid.UUID(REPORT),
        report_id="report-1",
        reporter_ref="204",
        request_id=uuid.UUID(REQUEST),
        state=ReportState.UPHELD,
        outcome_text="Thank you for your report. Something was done about the post.",
    )


def _of_action(name: EventName, state: ActionState, label: str, when: str, **more: Any) -> EventKind:
    """An event about an action that came into ``state``."""
    return EventKind(
        name=name,
        label=label,
        when=when,
        shape=shapes.ACTION,
        sample=lambda community: payloads.action_event(name, community, _action(state)),
        **more,
    )


_LIST = (
    EventKind(
        name=EventName.DECISION,
        label=lazy_gettext("Decision about a post"),
        when=lazy_gettext(
            "The service decided about a request: at once (Tier 1) or when raters agreed (Tier 2)."
        ),
        shape=shapes.DECISION,
        sample=lambda community: payloads.decision_event(
            community, _request(), Decision(decision="hide", confidence=0.9712, tier=1)
        ),
        deadline=5.0,
    ),
    _of_action(
        EventName.ACTION_CREATED,
        ActionState.PROPOSED,
        lazy_gettext("Action waits for the platform"),
        "An action waits to be carried out on the platform.",
        alias=(
            payloads.PROPOSED,
            lazy_gettext("Action waits for the platform, by the name the Discourse plugin knows"),
        ),
    ),
    _of_action(
        EventName.ACTION_APPLIED,
        ActionState.APPLIED,
        lazy_gettext("Action applied"),
        "An action was acknowledged or recorded.",
    ),
    _of_action(
        EventName.ACTION_RETRO_REVIEW,
        ActionState.RETRO_REVIEW,
        lazy_gettext("Second look opened"),
        "An applied action gets a second look.",
    ),
    _of_action(
        EventName.ACTION_CONFIRMED,
        ActionState.CONFIRMED,
        lazy_gettext("Action confirmed"),
        "The second look confirmed the action.",
    ),
    _of_action(
        EventName.ACTION_OVERTURNED,
        ActionState.OVERTURNED,
        lazy_gettext("Action overturned"),
        "The action was overturned; an `unhide` of its own follows a `hide`, `undo` says what undoes any other.",
    ),
    _of_action(
        EventName.ACTION_DISMISSED,
        ActionState.DISMISSED,
        lazy_gettext("Action dismissed"),
        "A review ended without action, or a proposal was withdrawn.",
    ),
    EventKind(
        name=EventName.ACTION_ENDED,
        label=lazy_gettext("Silence ended"),
        when=lazy_gettext(
            "The time of a silence is over, or staff lifted it early. Off unless a webhook names this event."
        ),
        shape=shapes.ACTION,
        sample=lambda community: payloads.action_event(EventName.ACTION_ENDED, community, _silence()),
        receivers=Receivers.NAMED,
    ),
    EventKind(
        name=EventName.NOTE_STATUS,
        label=lazy_gettext("Note has another status"),
        when=lazy_gettext("A note was published, withdrawn, or went back to needing ratings."),
        shape=shapes.NOTE,
        sample=lambda community: payloads.note_event(community, _note(), _action()),
    ),
    EventKind(
        name=EventName.REQUEST_COMPLETED,
        label=lazy_gettext("Request ended without action"),
        when=lazy_gettext(
            "A request ended without action: nothing was found, or a review ended without action. Off unless a "
            "webhook names this event."
        ),
        shape=shapes.COMPLETED,
        sample=lambda community: payloads.completed_event(community, _request(), None),
        receivers=Receivers.NAMED,
    ),
    EventKind(
        name=EventName.REVIEW_OPENED,
        label=lazy_gettext("Review opened"),
        when=lazy_gettext("People are asked about a post. Off unless a webhook names this event."),
        shape=shapes.REVIEW,
        sample=lambda community: payloads.review_event(community, _action(), timedelta(days=14)),
        receivers=Receivers.NAMED,
    ),
    EventKind(
        name=EventName.REPORT_RESOLVED,
        label=lazy_gettext("Report resolved"),
        when=lazy_gettext(
            "A report that a person made was resolved: the reporter can hear what became of it. Off unless a webhook "
            "names this event."
        ),
        shape=shapes.REPORT,
        sample=lambda community: payloads.report_event(community, _report()),
        receivers=Receivers.NAMED,
    ),
    EventKind(
        name=EventName.PANEL_DRAWN,
        label=lazy_gettext("Users were drawn for a panel"),
        when=lazy_gettext(
            "Users of the platform were drawn for a panel. Off unless a webhook names this event."
        ),
        shape=shapes.PANEL,
        sample=lambda community: payloads.panel_event(
            community,
            _action(),
            _note().id,
            ["17", "204"],
            _SINCE + timedelta(days=1),
        ),
        receivers=Receivers.NAMED,
    ),
    EventKind(
        name=EventName.ATTENTION,
        label=lazy_gettext("The community needs an operator"),
        when=lazy_gettext(
            "The community wants an operator: once for each reason when it begins. Off unless a webhook names this "
            "event."
        ),
        shape=shapes.ATTENTION,
        sample=lambda community: payloads.attention_event(community, AttentionReason.BACKLOG, _SINCE, 512),
        receivers=Receivers.NAMED,
    ),
    EventKind(
        name=EventName.TEST,
        label=lazy_gettext("Test event"),
        when=lazy_gettext("You asked for it with `POST /webhooks/{webhook_id}/test`."),
        shape=shapes.TEST,
        sample=lambda community: payloads.test_event(community.id),
        receivers=Receivers.ONE,
    ),
)
EVENTS: dict[str, EventKind] = {kind.name: kind for kind in _LIST}
"""Every event by name."""


def names(shape: Shape | None = None) -> list[str]:
    """The names of all events, or those of a shape, to which a webhook can subscribe; aliases come last."""
    kinds = [kind for kind in EVENTS.values() if shape is None or kind.shape is shape]
    return [kind.name for kind in kinds] + [kind.alias[0] for kind in kinds if kind.alias is not None]


def labels() -> dict[str, str]:
    """The label of each event by name."""
    return {name: kind.label for name, kind in EVENTS.items()}


def opt_in() -> list[str]:
    """Events that only webhooks get that name them: it is not enough to subscribe to everything."""
    return sorted(name for name, kind in EVENTS.items() if kind.receivers is Receivers.NAMED)


def is_wanted(name: str, subscribed: Sequence[str] | None) -> bool:
    """Whether a webhook with these subscriptions gets an event; None: it subscribes to everything."""
    kind = EVENTS[name]
    if subscribed is None:
        return kind.receivers is Receivers.SUBSCRIBED
    return not set(kind.names).isdisjoint(subscribed)


def checked(chosen: Sequence[str] | None) -> list[str] | None:
    """The chosen event names without duplicates; None means all events. Raises Invalid for unknown names."""
    if chosen is None:
        return None
    if not chosen:
        raise Invalid.field("events", _("must name at least one event, or be null for all of them"), [])
    known = names()
    problems = [
        Problem("enum", ("events", index), _("must be one of %(choices)s", choices=", ".join(known)), name)
        for index, name in enumerate(chosen)
        if name not in known
    ]
    if problems:
        raise Invalid(*problems)
    return list(dict.fromkeys(chosen))


def sample(name: str, platform: str = "") -> dict[str, Any]:
    """A sample of this event's payload as it is stored, for communities of this platform."""
    (first, named), *rest = EVENTS[name].sample(_community(platform)).items()
    return {first: named, EVENT_ID.name: EVENT, **dict(rest)}


def signed(sample: Mapping[str, Any]) -> dict[str, Any]:
    """The sample with its timestamp and its signature, made with ``SECRET``."""
    sent = json.loads(signing.sign_body(sample, SECRET, TIMESTAMP))
    return {
        **sample,
        **{member: sent[member] for member in (signing.TIMESTAMP_FIELD, signing.SIGNATURE_FIELD)},
    }


def fields(name: str, sample: Mapping[str, Any]) -> list[Row]:
    """The fields of this event in the order of the sample.

    Raises:
        KeyError: a field of the sample is not declared.
    """
    shape = EVENTS[name].shape
    return list(_rows((EVENT_ID, *shape.fields, *shape.flat), sample))


def _rows(declared: Sequence[Field], sample: Mapping[str, Any], above: str = "") -> Iterator[Row]:
    by_name = {field.name: field for field in declared}
    for member, value in sample.items():
        field, path = by_name[member], f"{above}{member}"
        if isinstance(value, Mapping) and value:
            yield from _rows(field.fields, value, f"{path}.")
        else:
            yield Row(path, _kind(value), field.meaning)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    if value is None:
        return "null"
    return "list" if isinstance(value, list) else "object"
