from enum import StrEnum


class HelpfulnessLevel(StrEnum):
    HELPFUL = "HELPFUL"
    NOT_HELPFUL = "NOT_HELPFUL"
    SOMEWHAT_HELPFUL = "SOMEWHAT_HELPFUL"

    def __str__(self) -> str:
        return str(self.value)
