from enum import StrEnum


class CompletedEventSubjectDecisionType2Type1(StrEnum):
    NONE = "none"

    def __str__(self) -> str:
        return str(self.value)
