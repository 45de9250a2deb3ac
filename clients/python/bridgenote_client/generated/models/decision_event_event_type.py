from enum import StrEnum


class DecisionEventEventType(StrEnum):
    MODERATION_DECISION = "moderation.decision"

    def __str__(self) -> str:
        return str(self.value)
