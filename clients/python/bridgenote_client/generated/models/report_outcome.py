from enum import StrEnum


class ReportOutcome(StrEnum):
    ACTED = "acted"
    KEPT = "kept"
    NONE = "none"

    def __str__(self) -> str:
        return str(self.value)
