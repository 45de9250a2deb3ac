from enum import StrEnum


class AttentionEventSubjectReason(StrEnum):
    BACKLOG = "backlog"
    OVERDUE = "overdue"
    PAUSED = "paused"
    WEBHOOK_FAILING = "webhook_failing"

    def __str__(self) -> str:
        return str(self.value)
