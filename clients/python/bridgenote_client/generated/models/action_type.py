from enum import StrEnum


class ActionType(StrEnum):
    DELETE = "delete"
    HIDE = "hide"
    SILENCE = "silence"
    UNHIDE = "unhide"
    WARN = "warn"

    def __str__(self) -> str:
        return str(self.value)
