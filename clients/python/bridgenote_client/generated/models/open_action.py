from enum import StrEnum


class OpenAction(StrEnum):
    COMMUNITY_REVIEW = "community_review"
    IMMEDIATE_ACTION = "immediate_action"

    def __str__(self) -> str:
        return str(self.value)
