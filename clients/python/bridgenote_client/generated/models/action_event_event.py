from enum import StrEnum


class ActionEventEvent(StrEnum):
    MODERATION_ACTION_APPLIED = "moderation_action.applied"
    MODERATION_ACTION_CONFIRMED = "moderation_action.confirmed"
    MODERATION_ACTION_CREATED = "moderation_action.created"
    MODERATION_ACTION_DISMISSED = "moderation_action.dismissed"
    MODERATION_ACTION_ENDED = "moderation_action.ended"
    MODERATION_ACTION_OVERTURNED = "moderation_action.overturned"
    MODERATION_ACTION_PROPOSED = "moderation_action.proposed"
    MODERATION_ACTION_RETRO_REVIEW_STARTED = "moderation_action.retro_review_started"

    def __str__(self) -> str:
        return str(self.value)
