from enum import StrEnum


class EventName(StrEnum):
    COMMUNITY_ATTENTION = "community.attention"
    MODERATION_ACTION_APPLIED = "moderation_action.applied"
    MODERATION_ACTION_CONFIRMED = "moderation_action.confirmed"
    MODERATION_ACTION_CREATED = "moderation_action.created"
    MODERATION_ACTION_DISMISSED = "moderation_action.dismissed"
    MODERATION_ACTION_ENDED = "moderation_action.ended"
    MODERATION_ACTION_OVERTURNED = "moderation_action.overturned"
    MODERATION_ACTION_PROPOSED = "moderation_action.proposed"
    MODERATION_ACTION_RETRO_REVIEW_STARTED = "moderation_action.retro_review_started"
    MODERATION_DECISION = "moderation.decision"
    NOTE_STATUS_CHANGED = "note.status_changed"
    PANEL_DRAWN = "panel.drawn"
    REPORT_RESOLVED = "report.resolved"
    REQUEST_COMPLETED = "request.completed"
    REVIEW_OPENED = "review.opened"
    WEBHOOK_TEST = "webhook.test"

    def __str__(self) -> str:
        return str(self.value)
