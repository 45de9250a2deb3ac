from enum import StrEnum


class ReportEventSubjectOutcome(StrEnum):
    ACTED = "acted"
    KEPT = "kept"
    NONE = "none"

    def __str__(self) -> str:
        return str(self.value)
