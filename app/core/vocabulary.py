"""The enums of the service: closed sets of words (docs/integrate/api.md)."""

from enum import StrEnum


class RequestStatus(StrEnum):
    """How far a request is. It stays ``IN_PROGRESS`` while people review it; ``FAILED``: it could not be scored."""

    PENDING = "PENDING"
    IN_PROGRESS = "IN_PROGRESS"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"


class NoteStatus(StrEnum):
    """What ratings of a note came to, or what a moderator decided. Only ``CURRENTLY_RATED_HELPFUL`` is published."""

    NEEDS_MORE_RATINGS = "NEEDS_MORE_RATINGS"
    CURRENTLY_RATED_HELPFUL = "CURRENTLY_RATED_HELPFUL"
    CURRENTLY_RATED_NOT_HELPFUL = "CURRENTLY_RATED_NOT_HELPFUL"


class NoteKind(StrEnum):
    """A note that a person or a model wrote, or the service's rationale for an action."""

    NOTE = "note"
    RATIONALE = "rationale"


class Classification(StrEnum):
    """What a note says of its post."""

    NOT_MISLEADING = "NOT_MISLEADING"
    MISLEADING = "MISINFORMED_OR_POTENTIALLY_MISLEADING"


class HelpfulnessLevel(StrEnum):
    """What a rater answers about a note."""

    HELPFUL = "HELPFUL"
    SOMEWHAT_HELPFUL = "SOMEWHAT_HELPFUL"
    NOT_HELPFUL = "NOT_HELPFUL"


class ClaimRating(StrEnum):
    """A fact-checker's verdict about a claim, in the terms common among fact-checkers (docs/run/datasets.md)."""

    FALSE = "false"
    MOSTLY_FALSE = "mostly_false"
    MIXTURE = "mixture"
    MOSTLY_TRUE = "mostly_true"
    TRUE = "true"
    MISLEADING = "misleading"
    UNPROVEN = "unproven"
    SATIRE = "satire"
    LEGEND = "legend"
    OUTDATED = "outdated"


class ActionType(StrEnum):
    """What the integration does on its platform."""

    HIDE = "hide"
    UNHIDE = "unhide"
    WARN = "warn"
    SILENCE = "silence"
    DELETE = "delete"


class Verb(StrEnum):
    """What a category's tier is configured to do (docs/integrate/api.md)."""

    HIDE = "hide"
    DELETE = "delete"
    FLAG = "flag"
    NOTIFY = "notify"

    @property
    def action_type(self) -> ActionType:
        """The platform action. ``notify`` and ``flag`` both warn; a flag while under review (docs/integrate/api.md)."""
        return {Verb.HIDE: ActionType.HIDE, Verb.DELETE: ActionType.DELETE}.get(self, ActionType.WARN)


def decision_word(action_type: ActionType) -> str:
    """The ``decision`` for an action that a moderator chose: the verb that leads to it, or its own name."""
    return {ActionType.WARN: Verb.NOTIFY.value}.get(action_type, action_type.value)


class ActionTier(StrEnum):
    """How an action began: a score acted at once, or people were asked first."""

    IMMEDIATE = "tier_1_immediate"
    CONSENSUS = "tier_2_consensus"

    @property
    def number(self) -> int:
        return 1 if self is ActionTier.IMMEDIATE else 2


class ActionState(StrEnum):
    """How far an action is. ``proposed``: the integration is to carry it out, and answers with ``applied``.

    ``under_review`` and ``retro_review`` (a second look) ask people. ``confirmed``, ``overturned``, ``dismissed`` and
    ``scan_exempt`` end it.
    """

    PROPOSED = "proposed"
    APPLIED = "applied"
    RETRO_REVIEW = "retro_review"
    CONFIRMED = "confirmed"
    OVERTURNED = "overturned"
    SCAN_EXEMPT = "scan_exempt"
    UNDER_REVIEW = "under_review"
    DISMISSED = "dismissed"


CHOOSABLE = (ActionType.HIDE, ActionType.WARN, ActionType.SILENCE, ActionType.DELETE)
"""What a moderator may have the platform do instead of what the category is configured for."""
CARRY_TEXT = (ActionType.WARN, ActionType.SILENCE)
"""What reaches the author, and so may carry a moderator's text to them."""


class Undo(StrEnum):
    """What the integration is to undo on its platform when an action that is no hide was overturned."""

    RESTORE = "restore"
    UNSILENCE = "unsilence"
    RETRACT = "retract"


class UndoState(StrEnum):
    """Whether the integration has undone it. ``impossible``: its platform cannot."""

    PROPOSED = "proposed"
    DONE = "done"
    IMPOSSIBLE = "impossible"


UNDONE_BY = {
    ActionType.DELETE: Undo.RESTORE,
    ActionType.SILENCE: Undo.UNSILENCE,
    ActionType.WARN: Undo.RETRACT,
}
"""What undoes each type of action. An ``unhide``, an action of its own, undoes a ``hide``."""


class StrikeStep(StrEnum):
    """What an author's strikes lead to, by the number of points (docs/moderate/authors.md)."""

    WARN = "warn"
    SILENCE_1 = "silence_1"
    SILENCE_7 = "silence_7"
    SILENCE_30 = "silence_30"
    SILENCE = "silence"

    @property
    def action_type(self) -> ActionType:
        return ActionType.WARN if self is StrikeStep.WARN else ActionType.SILENCE

    @property
    def days(self) -> int | None:
        """How long the silence lasts; None for a warning, and for a silence without end."""
        return {StrikeStep.SILENCE_1: 1, StrikeStep.SILENCE_7: 7, StrikeStep.SILENCE_30: 30}.get(self)


class StrikesAct(StrEnum):
    """What follows when an author's points reach a step: people are asked, nothing, or it is done at once."""

    ASK = "ask"
    OBSERVE = "observe"
    ACT = "act"


IN_REVIEW = (ActionState.UNDER_REVIEW, ActionState.RETRO_REVIEW)
"""The states in which raters or moderators are asked: the first review, and the second look."""


class Standing(StrEnum):
    """What stands on the platform now, as far as it has reported: of the post, or else of its author."""

    UP = "up"
    HIDDEN = "hidden"
    DELETED = "deleted"
    WARNED = "warned"
    SILENCED = "silenced"


class ReportState(StrEnum):
    """How far a report is. ``upheld``: the platform acted; ``rejected``: the post stays; ``undecided``: no decision."""

    OPEN = "open"
    UPHELD = "upheld"
    REJECTED = "rejected"
    UNDECIDED = "undecided"
    WITHDRAWN = "withdrawn"


class ReportOutcome(StrEnum):
    """What the reporter hears: never the penalty, nor who decided."""

    ACTED = "acted"
    KEPT = "kept"
    NONE = "none"


OUTCOMES = {
    ReportState.UPHELD: ReportOutcome.ACTED,
    ReportState.REJECTED: ReportOutcome.KEPT,
    ReportState.UNDECIDED: ReportOutcome.NONE,
}
"""What the reporter hears once a report is in this state."""


class ReportOrigin(StrEnum):
    """Where a report comes from. ``elsewhere``: an integration reports for a user of another platform than the post's.

    ``author``: the post's author reports it, which counts nothing.
    """

    PLATFORM = "platform"
    DASHBOARD = "dashboard"
    ELSEWHERE = "elsewhere"
    AUTHOR = "author"


class ReviewGroup(StrEnum):
    """Who is asked in a review: all members, trusted ones, or the moderators."""

    COMMUNITY = "community"
    TRUSTED = "trusted"
    STAFF = "staff"


class Role(StrEnum):
    """Roles of a community, lowest first. A service admin is admin in every community."""

    RATER = "rater"
    MODERATOR = "moderator"
    OPERATOR = "operator"
    ADMIN = "admin"

    @property
    def rank(self) -> int:
        return list(Role).index(self)


class LinkPurpose(StrEnum):
    """The purpose of a one-time link. All links but the first admin's are sent by mail."""

    CONFIRM = "confirm"
    RESET = "reset"
    CHANGE_EMAIL = "change_email"
    INVITE = "invite"
    FIRST_ADMIN = "first_admin"
    SIGN_IN = "sign_in"


class SignInMethod(StrEnum):
    """How a browser's session began."""

    PASSWORD = "password"  # noqa: S105 - the name of a method
    PASSKEY = "passkey"
    PROVIDER = "provider"
    LINK = "link"


class SessionEnd(StrEnum):
    """Why a session was ended by someone else than its own browser. People read it at their next page."""

    PASSWORD = "password"  # noqa: S105 - the name of a reason
    ELSEWHERE = "elsewhere"
    ADMIN = "admin"
    ROLES = "roles"
    PROVIDER = "provider"


class SignInStepPurpose(StrEnum):
    """What a step of a sign-in that is not finished is for."""

    PROVIDER = "provider"
    PASSKEY = "passkey"
    SECOND_FACTOR = "second_factor"
    ADD_PASSKEY = "add_passkey"


class Digest(StrEnum):
    """How often a member gets the mail about items that need help."""

    OFF = "off"
    DAILY = "daily"
    WEEKLY = "weekly"


class KeyTemplate(StrEnum):
    ADAPTER = "adapter"
    READ_ONLY = "read-only"
    METRICS = "metrics"
    SCORES = "scores"
    ASSISTANTS = "assistants"


class Scope(StrEnum):
    ADAPTER = "platform:adapter"
    METRICS = "metrics:read"
    SCORES = "scores:read"
    ASSISTANTS = "assistants:read"


class EventName(StrEnum):
    """Every event that a webhook can receive (docs/integrate/api.md)."""

    DECISION = "moderation.decision"
    ACTION_CREATED = "moderation_action.created"
    ACTION_APPLIED = "moderation_action.applied"
    ACTION_RETRO_REVIEW = "moderation_action.retro_review_started"
    ACTION_CONFIRMED = "moderation_action.confirmed"
    ACTION_OVERTURNED = "moderation_action.overturned"
    ACTION_DISMISSED = "moderation_action.dismissed"
    ACTION_ENDED = "moderation_action.ended"
    NOTE_STATUS = "note.status_changed"
    REQUEST_COMPLETED = "request.completed"
    REVIEW_OPENED = "review.opened"
    REPORT_RESOLVED = "report.resolved"
    PANEL_DRAWN = "panel.drawn"
    ATTENTION = "community.attention"
    TEST = "webhook.test"


class AttentionReason(StrEnum):
    """Why a community wants an operator (docs/run/operations.md)."""

    BACKLOG = "backlog"
    OVERDUE = "overdue"
    WEBHOOK_FAILING = "webhook_failing"
    PAUSED = "paused"


class DeliveryState(StrEnum):
    """``parked``: restored from a backup; perhaps sent since, so a person must decide whether to send it again."""

    DUE = "due"
    DELIVERED = "delivered"
    DEAD = "dead"
    CANCELLED = "cancelled"
    PARKED = "parked"


class ActionVerb(StrEnum):
    """What is done to an action. Each row of ``states.ACTION`` names the verb that makes its move."""

    PROPOSE = "propose"
    OPEN_REVIEW = "open_review"
    RECORD = "record"
    REOPEN = "reopen"
    FORCE_PUBLISH = "force_publish"
    DISMISS = "dismiss"
    ACKNOWLEDGE = "acknowledge"
    RETURN_TO_REVIEW = "return_to_review"
    OPEN_SECOND_LOOK = "open_second_look"
    CONFIRM = "confirm"
    OVERTURN = "overturn"
    EXEMPT = "exempt"


HELD_VERBS = (
    ActionVerb.FORCE_PUBLISH,
    ActionVerb.DISMISS,
    ActionVerb.OVERTURN,
    ActionVerb.CONFIRM,
    ActionVerb.REOPEN,
)
"""Decisions that moderators make in the dashboard. They are held until they can no longer be undone."""


class ReopenTo(StrEnum):
    """Where a reopened dismissal goes: to the members, to the moderators, or straight to the platform."""

    COMMUNITY = "community"
    STAFF = "staff"
    ACT = "act"


class WhoDecides(StrEnum):
    """Whose ratings decide a review: everybody's, or a drawn panel's, always or in doubt (docs/moderate/panels.md)."""

    EVERYONE = "everyone"
    PANEL_WHEN_NEEDED = "panel_when_needed"
    PANEL = "panel"


class PanelOutcome(StrEnum):
    """How a panel ended. ``TOO_FEW``: too few people can be drawn, so everybody's ratings decide as without panels.

    ``STAFF``: no agreement in time, moderators decide. ``OVERTAKEN``: the review ended, or went elsewhere or to a
    second panel.
    """

    DECIDED = "decided"
    STAFF = "staff"
    TOO_FEW = "too_few"
    OVERTAKEN = "overtaken"


class SeatState(StrEnum):
    """The state of a seat. ``CLOSED``: the panel ended first. ``PASSED``: this person could not be asked, and the draw
    went on to the next.
    """

    OPEN = "open"
    ANSWERED = "answered"
    DECLINED = "declined"
    LAPSED = "lapsed"
    CLOSED = "closed"
    PASSED = "passed"


class OverturnState(StrEnum):
    """The state of a bulk overturn."""

    RUNNING = "running"
    FINISHED = "finished"
    STOPPED = "stopped"


class OverturnItemState(StrEnum):
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"


class ServiceMode(StrEnum):
    """Whether a connected service is asked about posts, and whether its scores count (docs/run/classifiers.md)."""

    OBSERVE = "observe"
    IN_FORCE = "in_force"
    OFF = "off"


class ImportFormat(StrEnum):
    """The form of a file of fact-checks (docs/run/datasets.md)."""

    JSON_LINES = "json_lines"
    JSON = "json"
    CSV = "csv"
    PAGE = "page"


class ImportState(StrEnum):
    """The life of an import: its columns are chosen (CSV only), it is read, waits for a person, is stored."""

    COLUMNS = "columns"
    READING = "reading"
    READ = "read"
    STORING = "storing"
    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"


class AfterReading(StrEnum):
    """What follows when an import has been read: it waits for a person, or is stored without asking."""

    WAIT = "wait"
    STORE_IF_ALL_GOOD = "store_if_all_good"
    STORE = "store"


class RowOutcome(StrEnum):
    """What importing an item of a file does, or would do. ``TAKEN``: the item is not this community's and stays."""

    ADD = "add"
    CHANGE = "change"
    LEAVE = "leave"
    TAKEN = "taken"
    REFUSE = "refuse"


class FeedOutcome(StrEnum):
    """The result of one look at a feed."""

    IMPORTED = "imported"
    UNCHANGED = "unchanged"
    FAILED = "failed"


class AttachmentKind(StrEnum):
    """What an attachment of a post is, as the integration says. A link is never fetched."""

    IMAGE = "image"
    VIDEO = "video"
    AUDIO = "audio"
    FILE = "file"
    LINK = "link"


class AttachmentState(StrEnum):
    """``kept``: the file is stored, or the attachment is a link (docs/integrate/attachments.md)."""

    WAITING = "waiting"
    KEPT = "kept"
    REFUSED = "refused"


class AttachmentRefusal(StrEnum):
    """Why an attachment was refused."""

    BAD_ADDRESS = "bad_address"
    NOT_FOUND = "not_found"
    UNREACHABLE = "unreachable"
    TOO_SLOW = "too_slow"
    TOO_LARGE = "too_large"
    TOO_MANY_PIXELS = "too_many_pixels"
    WRONG_TYPE = "wrong_type"
    UNSUPPORTED = "unsupported"
    DAMAGED = "damaged"
    NOT_STORED = "not_stored"


class MediaVeil(StrEnum):
    """How pictures of posts in sensitive categories look until the reader opens them."""

    BLUR = "blur"
    GREYSCALE = "greyscale"
    NEITHER = "neither"
