from enum import StrEnum


class WebhookReplayAttributesStatesItem(StrEnum):
    DEAD = "dead"
    DELIVERED = "delivered"
    PARKED = "parked"

    def __str__(self) -> str:
        return str(self.value)
