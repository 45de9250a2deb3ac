from enum import StrEnum


class CompletedEventEvent(StrEnum):
    REQUEST_COMPLETED = "request.completed"

    def __str__(self) -> str:
        return str(self.value)
