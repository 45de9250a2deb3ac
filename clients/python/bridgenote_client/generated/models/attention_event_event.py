from enum import StrEnum


class AttentionEventEvent(StrEnum):
    COMMUNITY_ATTENTION = "community.attention"

    def __str__(self) -> str:
        return str(self.value)
