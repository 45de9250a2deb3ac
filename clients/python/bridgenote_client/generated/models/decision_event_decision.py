from enum import StrEnum


class DecisionEventDecision(StrEnum):
    DELETE = "delete"
    FLAG = "flag"
    HIDE = "hide"
    NONE = "none"
    NOTIFY = "notify"
    SILENCE = "silence"

    def __str__(self) -> str:
        return str(self.value)
